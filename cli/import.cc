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
#include "ingest/nccl_tests.h"
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

// What a file holds, for programs and for people.
struct Imported {
  std::vector<Figure> figures;
  std::string text;
};

// Every stated loop is one of the modules.
bool loops_exist(const Trips& trips, const std::string& file, const std::vector<hlo::Summary>& modules) {
  for (const auto& [name, count] : trips) {
    std::vector<std::string> loops;
    for (const hlo::Summary& module : modules)
      for (const auto& [loop, found] : module.loops.by_name) loops.push_back(loop);
    if (std::find(loops.begin(), loops.end(), name) != loops.end()) continue;
    spdlog::error("--trips {}: {} has no such loop{}", name, file, did_you_mean(name, loops));
    return false;
  }
  return true;
}

bool all_known(const std::string& file, const hlo::Account& account) {
  for (const auto& [name, count] : account.unknown)
    spdlog::error("{}: {} occurs {} times and is not known (--strict)", file, name, count);
  return account.unknown.empty();
}

std::optional<Imported> import_hlo(const std::string& file, const std::string& text, const ImportVerb& verb,
                                   const Trips& trips) {
  std::vector<Problem> problems;
  const auto modules = hlo::parse_modules(file, text, problems);
  print_problems(problems);
  if (!modules) return std::nullopt;
  std::vector<hlo::Summary> summaries;
  for (const hlo::Module& module : *modules) summaries.push_back(hlo::summarize(module, trips));
  if (!loops_exist(trips, file, summaries)) return std::nullopt;
  Imported imported;
  std::vector<Figure> each;
  bool known = true;
  for (std::size_t i = 0; i < modules->size(); ++i) {
    const hlo::Account account = hlo::account_of((*modules)[i]);
    known = (!verb.strict || all_known(file, account)) && known;
    each.push_back(Figure::group("", hlo::module_figures(summaries[i], account)));
    imported.text += (i == 0 ? "" : "\n") + hlo::module_text(file, summaries[i], account);
  }
  if (!known) return std::nullopt;
  if (each.size() == 1) {
    imported.figures = std::move(each.front().parts);
  } else {
    imported.figures.emplace_back("modules", static_cast<std::int64_t>(each.size()));
    imported.figures.push_back(Figure::list("module", std::move(each)));
  }
  return imported;
}

std::optional<Imported> import_nccl_tests(const std::string& file, const std::string& text) {
  std::vector<Problem> problems;
  const auto tests = read_nccl_tests(file, text, problems);
  print_problems(problems);
  if (!tests) return std::nullopt;
  return Imported{nccl_tests_figures(*tests), nccl_tests_text(file, *tests)};
}

std::optional<Imported> import_file(const std::string& file, const ImportVerb& verb, const Trips& trips) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  std::vector<Problem> problems;
  const auto text = read_file(file, problems, kMostBytes);
  print_problems(problems);
  if (!text) return std::nullopt;
  if (text->find_first_not_of(" \t\r\n") == std::string::npos) {
    spdlog::error("{}: the file is empty", file);
    return std::nullopt;
  }
  const FileKind kind = verb.as == "hlo"          ? FileKind::kHlo
                        : verb.as == "nccl-tests" ? FileKind::kNcclTests
                                                  : file_kind(*text);
  if (kind == FileKind::kHlo) return import_hlo(file, *text, verb, trips);
  if (kind == FileKind::kNcclTests && !trips.empty()) {
    spdlog::error("--trips {}: {} is {} and has no loops", trips.begin()->first, file, describe(kind));
    return std::nullopt;
  }
  if (kind == FileKind::kNcclTests) return import_nccl_tests(file, *text);
  spdlog::error("{}: this is {}; podsim import reads HLO modules as text and output of nccl-tests", file,
                describe(kind));
  return std::nullopt;
}

std::string json_of(const std::string& file, Imported imported, const ImportVerb& verb) {
  std::string words = "import";
  for (const std::string& trips : verb.trips) words += " " + trips;
  std::vector<Figure> whole = {{"file", file}};
  append(whole, std::move(imported.figures));
  return json_text(result_figure(sha256_of_files(words, {file}), std::move(whole)), JsonNumbers::kShortest);
}

int import(const ImportVerb& verb) {
  const auto trips = stated_trips(verb.trips);
  if (!trips) return kInputError;
  int exit_code = kDone;
  const bool json = verb.format == "json";
  std::vector<NamedContent> results;
  for (const std::string& file : verb.files) {
    auto imported = import_file(file, verb, *trips);
    if (!imported) exit_code = kInputError;
    if (imported)
      results.push_back({file, json ? json_of(file, *std::move(imported), verb) : imported->text});
  }
  if (exit_code == kDone) emit(joined(results, json), "");
  return exit_code;
}

}  // namespace

void add_import(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand("import", "Tell what is in files that other tools have written");
  const auto options = std::make_shared<ImportVerb>();
  verb.add_option("FILE", options->files,
                  "HLO modules as text, output of nccl-tests; plain or compressed by gzip")
      ->required();
  verb.add_option("--as", options->as, "What the files are, instead of by their content")
      ->check(CLI::IsMember({"hlo", "nccl-tests"}));
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
      "  podsim import all_reduce_perf.log\n"
      "  podsim import module.hlo.gz --trips while.1=80 --format json\n"
      "Exit codes: 0 done, 2 a file cannot be read, or with --strict has something unknown.");
  verb.callback([options, &exit_code] { exit_code = import(*options); });
}

}  // namespace podsim
