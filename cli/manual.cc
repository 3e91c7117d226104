// podsim man: the help texts as manual pages.
#include "cli/manual.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <sstream>

#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "cli/terminal/version.h"
#include "cli/verbs.h"
#include "engine/words.h"

namespace podsim {
namespace {

// Text as troff reads it.
std::string plain(const std::string& text) {
  std::string safe = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\') {
      safe += "\\e";
    } else {
      if (c == '-') safe += '\\';
      safe += c;
    }
  }
  return safe;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + plain(text) + "\\fR"; }

std::string page_name(const VerbText& verb) { return "podsim-" + verb.name; }

std::string page_heading(const std::string& name, const std::string& description) {
  std::string capitals = name;
  for (char& c : capitals) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return ".TH " + plain(capitals) + " 1 \"\" \"podsim " + version() + "\" \"podsim\"\n.SH NAME\n" +
         plain(name) + " \\- " + plain(description) + "\n";
}

std::string synopsis(const VerbText& verb) {
  std::string line = bold("podsim " + verb.name) + " [" + italic("OPTIONS") + "]";
  for (const OptionText& option : verb.options) {
    if (!option.positional()) continue;
    const std::string name = italic(option.value) + (option.repeated ? "..." : "");
    line += option.required ? " " + name : " [" + name + "]";
  }
  return ".SH SYNOPSIS\n" + line + "\n";
}

std::string option_entry(const OptionText& option) {
  std::string names;
  for (const std::string& flag : option.flags) names += (names.empty() ? "" : ", ") + bold(flag);
  if (!option.value.empty()) names += (names.empty() ? "" : " ") + italic(option.value);
  std::string text = plain(option.description) + ".\n";
  if (!option.choices.empty()) text += "One of " + plain(separated(option.choices, ", ")) + ".\n";
  if (!option.limit.empty()) text += plain(option.limit) + ".\n";
  if (!option.default_value.empty()) text += "Default: " + plain(option.default_value) + ".\n";
  if (option.required) text += "Must be given.\n";
  if (option.repeated) text += "May be repeated.\n";
  return ".TP\n" + names + "\n" + text;
}

std::string option_entries(const VerbText& verb) {
  std::string entries = ".SH OPTIONS\n";
  for (const OptionText& option : verb.options) entries += option_entry(option);
  return entries;
}

// The footer of a help text: examples are indented, exit codes have a line that begins so, the rest are
// notes.
std::string notes(const std::string& footer) {
  std::string text, section;
  std::istringstream in(footer);
  for (std::string line; std::getline(in, line);) {
    const bool example = line.starts_with("  ");
    if (line.empty() || line == "Examples:") continue;
    const std::string wanted = example ? "EXAMPLES" : line.starts_with("Exit code") ? "EXIT STATUS" : "NOTES";
    if (wanted != section) text += ".SH " + wanted + "\n";
    section = wanted;
    text += example ? ".nf\n" + plain(line.substr(2)) + "\n.fi\n" : plain(line) + "\n";
  }
  return text;
}

struct ManOptions {
  std::string verb, out;
};

int man(const CommandText& command, const ManOptions& options) {
  if (is_folder(options.out)) {
    std::vector<NamedContent> pages = {{"podsim", program_page(command)}};
    for (const VerbText& verb : command.verbs) pages.push_back({page_name(verb), verb_page(verb)});
    emit_each(pages, "1", options.out);
    return kDone;
  }
  if (options.verb.empty()) {
    emit(program_page(command), options.out);
    return kDone;
  }
  const VerbText* verb = find_verb(command, options.verb);
  if (verb == nullptr) {
    spdlog::error("{}", unknown_verb(command, options.verb));
    return kInputError;
  }
  emit(verb_page(*verb), options.out);
  return kDone;
}

}  // namespace

std::string program_page(const CommandText& command) {
  std::string page = page_heading("podsim", command.program.description) + ".SH SYNOPSIS\n" + bold("podsim") +
                     " " + italic("VERB") + " [" + italic("OPTIONS") + "]\n.SH VERBS\n";
  for (const VerbText& verb : command.verbs)
    page += ".TP\n" + bold(page_name(verb)) + "(1)\n" + plain(verb.description) + ".\n";
  return page + option_entries(command.program) + notes(command.program.footer);
}

std::string verb_page(const VerbText& verb) {
  return page_heading(page_name(verb), verb.description) + synopsis(verb) + option_entries(verb) +
         notes(verb.footer) + ".SH SEE ALSO\n" + bold("podsim") + "(1)\n";
}

void add_man(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand("man", "Write the manual page of podsim or of a verb");
  const auto options = std::make_shared<ManOptions>();
  verb.add_option("VERB", options->verb, "The verb; podsim itself without it");
  verb.add_option("--out", options->out, "Write to this file, or every page into this folder")
      ->type_name("PATH");
  verb.footer("Examples:\n  podsim man run --out podsim-run.1\n  podsim man --out man1/");
  verb.callback([&app, options, &exit_code] { exit_code = man(describe(app), *options); });
}

}  // namespace podsim
