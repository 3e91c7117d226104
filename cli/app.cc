// Parses the command line, suggests what a mistyped word may have meant, and turns failures into exit codes.
#include "cli/app.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <iterator>
#include <memory>
#include <new>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_text.h"
#include "cli/comparisons/verbs.h"
#include "cli/costs/verbs.h"
#include "cli/imports/verbs.h"
#include "cli/inputs/verbs.h"
#include "cli/licences.h"
#include "cli/networks/verbs.h"
#include "cli/plan/verbs.h"
#include "cli/search/verbs.h"
#include "cli/steps/verbs.h"
#include "cli/terminal/command_words.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/version.h"
#include "cli/validation/verbs.h"
#include "cli/verbs.h"
#include "cli/weeks/verbs.h"
#include "engine/check.h"
#include "prediction/step_length.h"
#include "topology/fabric_spec.h"

namespace podsim {
namespace {

// What the parser rejected, said so that the user can mend it.
std::string rejection(const CLI::App& app, const std::vector<std::string>& words,
                      const CLI::ParseError& error) {
  const CommandText command = describe(app);
  const auto first =
      std::find_if(words.begin(), words.end(), [](const std::string& word) { return word[0] != '-'; });
  const VerbText* scope = first == words.end() ? &command.program : find_verb(command, *first);
  if (scope == nullptr) return unknown_verb(command, *first);
  const std::vector<std::string> options = flag_names(*scope);
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (name.rfind("--", 0) != 0 || std::find(options.begin(), options.end(), name) != options.end())
      continue;
    return "unknown option \"" + name + "\"" + did_you_mean(name, options);
  }
  return error.what();
}

int parse_and_run(CLI::App& app, const std::vector<std::string>& words, const int& exit_code) {
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // it takes words from the back
    return exit_code;
  } catch (const CLI::Success& wanted) {  // --help, --version
    std::ostringstream out, err;
    const int code = app.exit(wanted, out, err);
    emit(out.str(), "");
    tell(err.str());
    return code;
  } catch (const CLI::ParseError& error) {
    if (words.empty()) {
      emit(app.help(), "");
      return kInputError;
    }
    std::vector<std::string> visible = words;
    std::erase(visible, "");
    spdlog::error("{}", visible.empty() ? "name a verb" : rejection(app, visible, error));
    const bool of_verb = !visible.empty() && find_verb(describe(app), visible.front()) != nullptr;
    tell("See podsim " + (of_verb ? visible.front() + " " : "") + "--help.\n");
    return kInputError;
  }
}

// Options that need or exclude others name them in the order of the alphabet: CLI11 has them by address.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    sort_names(get_label("Needs"), option->get_needs(), text);
    sort_names(get_label("Excludes"), option->get_excludes(), text);
    return text;
  }

 private:
  static void sort_names(const std::string& label, const std::set<CLI::Option*>& options, std::string& text) {
    std::vector<std::string> names;
    for (const CLI::Option* option : options) names.push_back(option->get_name());
    const auto list = [&] {
      std::string listed = " " + label + ":";
      for (const std::string& name : names) listed += " " + name;
      return listed;
    };
    const std::string written = list();
    std::ranges::sort(names);
    if (const std::size_t at = text.find(written); !names.empty() && at != std::string::npos)
      text.replace(at, written.size(), list());
  }
};

struct Verb {
  std::string_view name;
  void (*add)(CLI::App& app, int& exit_code);
};

constexpr Verb kVerbs[] = {
    {"run", add_run},
    {"own", add_own},
    {"compare", add_compare},
    {"scale", add_scale},
    {"sweep", add_sweep},
    {"search", add_search},
    {"plan", add_plan},
    {"sensitivity", add_sensitivity},
    {"breakeven", add_breakeven},
    {"certificate", add_certificate},
    {"store", add_store},
    {"collective", add_collective},
    {"flows", add_flows},
    {"shard", add_shard},
    {"replay", add_replay},
    {"whatif", add_whatif},
    {"explain", add_explain},
    {"validate", [](CLI::App& app, int& exit_code) { add_validate(app, exit_code, run_command); }},
    {"catalog", add_catalog},
    {"draw", add_draw},
    {"availability", add_availability},
    {"reliability", add_reliability},
    {"check", add_check},
    {"init", add_init},
    {"import", add_import},
    {"inference", add_inference},
    {"fleet", add_fleet},
    {"serve", add_serve},
};

// These tell of all others.
constexpr Verb kVerbsAboutVerbs[] = {{"help", add_help}, {"completion", add_completion}, {"man", add_man}};

// To add the options of all verbs takes a quarter of what the shortest command does: where the first word
// names a verb, no other one can matter.
void add_verbs(CLI::App& app, const std::vector<std::string>& words, int& exit_code) {
  if (words == std::vector<std::string>{"--version"}) return;
  if (const auto asked = words.empty() ? std::end(kVerbs) : std::ranges::find(kVerbs, words[0], &Verb::name);
      asked != std::end(kVerbs)) {
    asked->add(app, exit_code);
    const auto has_name = [&](const CLI::App* added) { return added->get_name() == words[0]; };
    PODSIM_CHECK(app.get_subcommands(has_name).size() == 1, "a verb adds what has its name");
    return;
  }
  for (const Verb& verb : kVerbs) verb.add(app, exit_code);
  for (const Verb& verb : kVerbsAboutVerbs) verb.add(app, exit_code);
}

}  // namespace

int run_command(const std::vector<std::string>& words) {
  const CommandWords remembered(words);
  CLI::App app("podsim predicts the step time, cost and energy of a training job on a GPU or TPU cluster.",
               "podsim");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", "podsim " + version() + (commit().empty() ? "" : " (" + commit() + ")"));
  app.add_flag_callback(
      "--licences",
      [] {
        emit(licences(), "");
        throw CLI::Success();
      },
      "Print the licences of podsim and of what it is made of");
  app.require_subcommand(1);
  app.footer(
      "Begin with: podsim run scenarios/llama3_70b_512_h100.textproto\nEach verb explains itself: podsim "
      "help run");
  int exit_code = kDone;
  add_verbs(app, words, exit_code);
  try {
    return parse_and_run(app, words, exit_code);
  } catch (const InputWouldBeLost& refusal) {
    spdlog::error("{}", refusal.what());
    return kInputError;
  } catch (const TooManyChips& refusal) {
    spdlog::error("{}", refusal.what());
    return kInputError;
  } catch (const StepTooLong& refusal) {
    spdlog::error("{}", refusal.what());
    return kInputError;
  } catch (const std::bad_alloc&) {
    spdlog::critical("out of memory");
    return kInternalError;
  } catch (const std::exception& failure) {
    spdlog::critical("{}", failure.what());
    return kInternalError;
  }
}

int run_app(int argc, char** argv) {
  set_up_log();
  const int exit_code = run_command({argv + 1, argv + argc});
  if (std::cout.flush()) return exit_code;
  spdlog::critical("cannot write to standard output");
  return kInternalError;
}

}  // namespace podsim
