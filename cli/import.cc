// podsim import: what is in files that other tools have written.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/batch.h"
#include "cli/command_text.h"
#include "cli/output.h"
#include "cli/question.h"
#include "cli/render.h"
#include "cli/verbs.h"
#include "ingest/file_kind.h"
#include "ingest/hlo/module_figures.h"
#include "ingest/hlo/parse.h"
#include "proto/text/read_file.h"
#include "proto/writing/figure_json.h"

namespace podsim {
namespace {

struct ImportVerb {
  std::vector<std::string> files, trips;
  std::string as, format = "table";
  bool strict = false;
};

using Trips = std::map<std::string, std::int64_t>;

// Of --trips NAME=N; nothing where one is wrong, which is said.
std::optional<Trips> stated_trips(const std::vector<std::string>& texts) {
  Trips trips;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    std::int64_t count = -1;
    if (equals != std::string::npos) {
      const char* end = text.data() + text.size();
      const auto [rest, error] = std::from_chars(text.data() + equals + 1, end, count);
      if (error != std::errc() || rest != end) count = -1;
    }
    if (count < 0) {
      spdlog::error("--trips \"{}\": expected the name of a loop and how often it runs, such as while.1=80",
                    text);
      return std::nullopt;
    }
    trips[text.substr(0, equals)] = count;
  }
  return trips;
}

struct Imported {
  std::string file;
  std::vector<hlo::Summary> modules;
  std::vector<hlo::Account> accounts;
};

// Every stated loop is one of the modules.
bool loops_exist(const Trips& trips, const Imported& imported) {
  for (const auto& [name, count] : trips) {
    std::vector<std::string> loops;
    for (const hlo::Summary& module : imported.modules)
      for (const auto& [loop, found] : module.loops) loops.push_back(loop);
    if (std::find(loops.begin(), loops.end(), name) != loops.end()) continue;
    spdlog::error("--trips {}: {} has no such loop{}", name, imported.file, did_you_mean(name, loops));
    return false;
  }
  return true;
}

bool all_known(const Imported& imported) {
  bool known = true;
  for (const hlo::Account& account : imported.accounts)
    for (const auto& [name, count] : account.unknown) {
      spdlog::error("{}: {} occurs {} times and is not known (--strict)", imported.file, name, count);
      known = false;
    }
  return known;
}

std::optional<Imported> import_file(const std::string& file, const ImportVerb& verb, const Trips& trips) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  std::vector<Problem> problems;
  const auto text = read_file(file, problems, kMostBytes);
  print_problems(problems);
  if (!text) return std::nullopt;
  const FileKind kind = verb.as == "hlo" ? FileKind::kHlo : file_kind(*text);
  if (kind != FileKind::kHlo && text->find_first_not_of(" \t\r\n") != std::string::npos) {
    spdlog::error("{}: this is {}; podsim import reads HLO modules as text", file, describe(kind));
    return std::nullopt;
  }
  const auto modules = hlo::parse_modules(file, *text, problems);
  print_problems(problems);
  if (!modules) return std::nullopt;
  Imported imported;
  imported.file = file;
  for (const hlo::Module& module : *modules) {
    imported.modules.push_back(hlo::summarize(module, trips));
    imported.accounts.push_back(hlo::account_of(module));
  }
  if (!loops_exist(trips, imported) || (verb.strict && !all_known(imported))) return std::nullopt;
  return imported;
}

std::string json_of(const Imported& imported, const ImportVerb& verb) {
  const auto figures = [&](std::size_t i) {
    return hlo::module_figures(imported.modules[i], imported.accounts[i]);
  };
  std::string words = "import";
  for (const std::string& trips : verb.trips) words += " " + trips;
  std::vector<Figure> whole = {{"file", imported.file}};
  if (imported.modules.size() == 1) {
    append(whole, figures(0));
  } else {
    std::vector<Figure> modules;
    for (std::size_t i = 0; i < imported.modules.size(); ++i)
      modules.push_back(Figure::group("", figures(i)));
    whole.emplace_back("modules", static_cast<std::int64_t>(imported.modules.size()));
    whole.push_back(Figure::list("module", std::move(modules)));
  }
  return json_text(result_figure(sha256_of_files(words, {imported.file}), std::move(whole)),
                   JsonNumbers::kShortest);
}

std::string text_of(const Imported& imported) {
  std::string text;
  for (std::size_t i = 0; i < imported.modules.size(); ++i)
    text += (i == 0 ? "" : "\n") + hlo::module_text(imported.file, imported.modules[i], imported.accounts[i]);
  return text;
}

int import(const ImportVerb& verb) {
  const auto trips = stated_trips(verb.trips);
  if (!trips) return kInputError;
  int exit_code = kDone;
  std::vector<NamedContent> results;
  for (const std::string& file : verb.files) {
    const auto imported = import_file(file, verb, *trips);
    if (!imported) exit_code = kInputError;
    if (imported)
      results.push_back({file, verb.format == "json" ? json_of(*imported, verb) : text_of(*imported)});
  }
  if (exit_code == kDone) emit(joined(results, verb.format == "json"), "");
  return exit_code;
}

}  // namespace

void add_import(CLI::App& app, int& exit_code) {
  CLI::App& verb =
      *app.add_subcommand("import", "Tell what is in files that other tools have written: HLO modules");
  const auto options = std::make_shared<ImportVerb>();
  verb.add_option("FILE", options->files, "HLO modules as text, plain or compressed by gzip")->required();
  verb.add_option("--as", options->as, "What the files are, instead of by their content")
      ->check(CLI::IsMember({"hlo"}));
  verb.add_option("--trips", options->trips, "How often a loop runs that does not say so; may be given again")
      ->type_name("NAME=N")
      ->allow_extra_args(false);
  verb.add_flag("--strict", options->strict, "Fail where something is not known, instead of counting it");
  verb.add_option("--format", options->format, "How to write the result")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  verb.footer(
      "docs/guide/import.md has the figures and the JSON keys.\n"
      "Examples:\n"
      "  podsim import module_0042.after_optimizations.txt\n"
      "  podsim import module.hlo.gz --trips while.1=80 --format json\n"
      "Exit codes: 0 done, 2 a file cannot be read, or with --strict has something unknown.");
  verb.callback([options, &exit_code] { exit_code = import(*options); });
}

}  // namespace podsim
