// podsim store: what is in files of results, joined, exported and verified.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/options/options.h"
#include "cli/options/store_option.h"
#include "cli/parts/part_progress.h"
#include "cli/scenarios/batch.h"
#include "cli/search/verbs.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "planner/store/contents.h"
#include "prediction/evaluator.h"
#include "proto/scenario/load.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

struct StoreVerb {
  std::string what, file;
  std::vector<std::string> more;  // a key, or other stores
  std::int64_t study = 0;
  int sample = 0;
  std::string format = "table", out;
  std::vector<std::string> catalogs;
};

std::string whole(std::int64_t n) { return std::to_string(n); }

std::string listed_as_json(const StoreContents& contents) {
  nlohmann::ordered_json json;
  json["podsim"] = model_version();
  json["scenarios"] = contents.scenarios;
  json["versions"] = nlohmann::ordered_json::array();
  for (const StoreContents::OfVersion& each : contents.versions)
    json["versions"].push_back({{"version", each.version}, {"results", each.results}, {"cpu_s", each.cpu_s}});
  json["studies"] = nlohmann::ordered_json::array();
  for (const StoredStudy& each : contents.studies)
    json["studies"].push_back(
        {{"study", each.id},
         {"command", each.command},
         {"version", each.version},
         {"state", each.state},
         {"part", each.shard},
         {"parts", each.shards},
         {"gap", each.state == "running" ? nlohmann::ordered_json() : nlohmann::ordered_json(each.gap)},
         {"rows", each.rows}});
  return json.dump(2) + "\n";
}

std::string listed_as_csv(const StoreContents& contents) {
  std::string text = "study,part,parts,state,gap,rows,version,command\n";
  for (const StoredStudy& each : contents.studies)
    text += whole(each.id) + "," + whole(each.shard) + "," + whole(each.shards) + "," + each.state + "," +
            (each.state == "running" ? "" : shortest(each.gap)) + "," + whole(each.rows) + "," +
            csv_text_cell(each.version) + "," + csv_text_cell(each.command) + "\n";
  return text;
}

int list_store(const StoreVerb& verb) {
  const StoreContents contents = contents_of(verb.file);
  if (verb.format != "table") {
    emit(verb.format == "json" ? listed_as_json(contents) : listed_as_csv(contents), verb.out);
    return kDone;
  }
  std::string text = whole(contents.scenarios) + " scenarios\n";
  for (const StoreContents::OfVersion& version : contents.versions)
    text += "  podsim " + version.version + (version.version == model_version() ? " (this one)" : "") + ": " +
            whole(version.results) + " steps, simulated in " + significant(version.cpu_s, 3) +
            " CPU seconds\n";
  if (!contents.studies.empty()) {
    std::vector<std::vector<std::string>> rows = {{"study", "part", "state", "gap", "rows", "command"}};
    for (const StoredStudy& study : contents.studies)
      rows.push_back({whole(study.id), whole(study.shard) + "/" + whole(study.shards), study.state,
                      study.state == "running" ? "-" : percent(study.gap), whole(study.rows), study.command});
    text += "\n" + align(rows);
  }
  emit(text, verb.out);
  return kDone;
}

std::vector<std::string> figure_cells(const MainFigures& figures) {
  return {fixed(figures.step_time.in_seconds(), 4),
          significant(figures.tokens_per_s_per_chip, 4),
          percent(figures.mfu_causal),
          fixed(figures.memory_gib, 1),
          figures.fits ? "yes" : "no",
          significant(figures.cost_usd_per_million_tokens, 4),
          significant(figures.energy_j_per_token, 4)};
}

std::string csv_header() {
  return "key,version,name,step_time_s,compute_s,exposed_communication_s,pipeline_bubble_s,optimizer_s,"
         "skew_wait_s,memory_gib,fits,tokens_per_s,tokens_per_s_per_chip,mfu_causal,"
         "cost_usd_per_million_tokens,energy_j_per_token,cpu_s\n";
}

std::string csv_row(const StoredResult& result) {
  const MainFigures& f = result.figures;
  std::string text = result.key + "," + csv_text_cell(result.version) + "," + csv_text_cell(result.name);
  for (const Time time :
       {f.step_time, f.compute, f.exposed_communication, f.pipeline_bubble, f.optimizer, f.skew_wait})
    text += "," + exact_seconds(time);
  text += "," + shortest(f.memory_gib) + (f.fits ? ",true" : ",false");
  for (const double value :
       {f.tokens_per_s, f.tokens_per_s_per_chip, f.mfu_causal, f.cost_usd_per_million_tokens,
        f.energy_j_per_token, 1e-6 * static_cast<double>(result.cpu_us)})
    text += "," + shortest(value);
  return text + "\n";
}

int show_study(const StoreVerb& verb) {
  const StudyAnswer answer = answer_of(verb.file, verb.study);
  if (verb.format == "csv") {
    std::string text = csv_header();
    for (const StoredResult& row : answer.rows) text += csv_row(row);
    emit(text, verb.out);
    return kDone;
  }
  std::vector<std::vector<std::string>> rows = {
      {"", "step s", "tokens/s/chip", "MFU", "GiB", "fits", "USD/Mtoken", "J/token", "key"}};
  for (const StoredResult& row : answer.rows) {
    std::vector<std::string>& cells = rows.emplace_back(figure_cells(row.figures));
    cells.insert(cells.begin(), row.name);
    constexpr std::size_t kTold = 12;
    cells.push_back(row.key.substr(0, kTold));
  }
  std::string text = answer.study.command + "\n\n" + align(rows) + "\n";
  if (!answer.missing.empty()) {
    text += answer.study.shards > 1
                ? "Parts of " + whole(answer.study.shards) + " that are missing or not done:"
                : "It is not done";
    for (std::size_t i = 0; answer.study.shards > 1 && i < answer.missing.size(); ++i)
      text += " " + whole(answer.missing[i]);
    text += ".\n";
  } else if (answer.study.shards > 1) {
    text += "All " + whole(answer.study.shards) + " parts are done" +
            (answer.study.gap > 0 ? ": nothing is better by more than " + percent(answer.study.gap) : "") +
            ".\n";
  }
  emit(text, verb.out);
  return kDone;
}

int show_stored(const StoreVerb& verb) {
  if (verb.study > 0) return show_study(verb);
  if (verb.more.size() != 1) {
    spdlog::error("store show needs the beginning of a key, or --study N; podsim store list has the studies");
    return kInputError;
  }
  const std::vector<StoredReports> found = stored_reports(verb.file, verb.more.front());
  if (found.size() != 1) {
    spdlog::error(
        "{} has {} with a key that begins with {}", verb.file,
        found.empty() ? "no scenario" : whole(static_cast<std::int64_t>(found.size())) + " scenarios",
        verb.more.front());
    return kInputError;
  }
  const StoredReports& one = found.front();
  std::string text = "# " + one.scenario.name + "\n" + one.scenario.text;
  for (const StoredReports::OfVersion& each : one.reports)
    text += "# podsim " + each.version + ":\n" + each.report;
  emit(verb.format == "json" && !one.reports.empty() ? one.reports.back().report : text, verb.out);
  return kDone;
}

int merge_into(const StoreVerb& verb) {
  if (verb.more.empty()) {
    spdlog::error("store merge needs the store to write to, and those to join to it");
    return kInputError;
  }
  for (const std::string& file : verb.more)
    if (!std::filesystem::exists(file)) {
      spdlog::error("there is no store {}", file);
      return kInputError;
    }
  const MergeCounts counts = merge_stores(verb.file, verb.more);
  emit(whole(counts.results) + " results read, " + whole(counts.known) + " of them known before\n", "");
  std::map<std::pair<std::string, int>, std::int64_t> told;
  for (const StoredStudy& study : contents_of(verb.file).studies) {
    if (study.shards == 1 || !told.emplace(std::pair(study.question, study.shards), study.id).second)
      continue;
    const StudyAnswer answer = answer_of(verb.file, study.id);
    std::string missing;
    for (const int shard : answer.missing) missing += " " + whole(shard);
    emit("study " + whole(study.id) + ", " + study.command + ": " +
             (missing.empty()
                  ? "all " + whole(study.shards) + " parts are done"
                  : "parts of " + whole(study.shards) + " that are missing or not done:" + missing) +
             "\n",
         "");
  }
  return kDone;
}

int export_results(const StoreVerb& verb) {
  std::string text = csv_header();
  each_result(verb.file, [&](const StoredResult& result) { text += csv_row(result); });
  emit(text, verb.out);
  return kDone;
}

// Whether the text of a scenario still means its key, and whether steps are what is kept; of this version.
int verify_store(const StoreVerb& verb) {
  std::vector<std::string> wrong = damage_of(verb.file);
  const auto catalog = open_catalog(verb.catalogs);
  if (!catalog) return kInputError;
  std::vector<StoredResult> own;
  each_result(verb.file, [&](const StoredResult& result) {
    if (result.version == model_version()) own.push_back(result);
  });
  const std::size_t every =
      verb.sample > 0 ? std::max<std::size_t>(1, own.size() / static_cast<std::size_t>(verb.sample)) : 0;
  int simulated = 0;
  Evaluator evaluator;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const StoredResult& result = own[i];
    const std::vector<StoredReports> of_key = stored_reports(verb.file, result.key);
    const LoadResult loaded =
        load_scenario("scenario", of_key.empty() ? "" : of_key.front().scenario.text, *catalog, {});
    if (!loaded.spec || loaded.spec->sha256 != result.key) {
      wrong.push_back("the text of a scenario does not have its key: " + result.key);
      continue;
    }
    if (every == 0 || i % every != 0 || simulated == verb.sample) continue;
    ++simulated;
    const MainFigures again = main_figures(evaluator.predict(*loaded.spec, {}).report);
    if (again != result.figures)
      wrong.push_back(result.key + " has a step of " + exact_seconds(result.figures.step_time) +
                      " s, and simulated again one of " + exact_seconds(again.step_time) + " s");
  }
  for (const std::string& each : wrong) spdlog::error("{}: {}", verb.file, each);
  if (!wrong.empty()) return kInternalError;
  emit(verb.file + ": " + whole(static_cast<std::int64_t>(own.size())) +
           " results of this podsim are whole, " + whole(simulated) + " simulated again are the same\n",
       verb.out);
  return kDone;
}

int tell_progress(const StoreVerb& verb) {
  const std::string text = parts_text(verb.file);
  if (text.empty()) {
    spdlog::error("no command with --engine has parts beside {}", verb.file);
    return kInputError;
  }
  emit(text, verb.out);
  return kDone;
}

int look_at_store(const StoreVerb& verb) {
  if (verb.what == "progress") return tell_progress(verb);
  if (verb.what != "merge" && !std::filesystem::exists(verb.file)) {
    spdlog::error("there is no store {}", verb.file);
    return kInputError;
  }
  if (verb.what == "list") return list_store(verb);
  if (verb.what == "show") return show_stored(verb);
  if (verb.what == "merge") return merge_into(verb);
  return verb.what == "export" ? export_results(verb) : verify_store(verb);
}

}  // namespace

void add_store(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "store", "Look at, join, export and verify files of simulated steps (--store of sweep, search, plan)");
  const auto options = std::make_shared<StoreVerb>();
  verb.add_option("WHAT", options->what, "list, show, merge, progress, export or verify")
      ->required()
      ->check(CLI::IsMember({"list", "show", "merge", "progress", "export", "verify"}));
  verb.add_option("STORE", options->file,
                  "The store; of merge the one that is written to, of progress that of --engine")
      ->required();
  verb.add_option("MORE", options->more, "show: the beginning of a key; merge: the stores to join to it");
  verb.add_option("--study", options->study, "show: the answer of this study, from all of its parts")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 62))
      ->type_name("N");
  verb.add_option("--sample", options->sample, "verify: simulate so many of the results again")
      ->check(CLI::Range(0, 1'000'000))
      ->type_name("N");
  verb.add_option("--format", options->format, "list, show: form of the answer")
      ->check(CLI::IsMember({"table", "json", "csv"}));
  verb.add_option("--out", options->out, "Write to this file instead of standard output")->type_name("FILE");
  add_catalog_option(verb, options->catalogs);
  verb.footer(
      "A store is a SQLite file: the tables scenario, result, report and study can be asked by whatever "
      "reads "
      "these.\n"
      "Examples:\n"
      "  podsim store list runs.db\n"
      "  podsim store show runs.db --study 1\n"
      "  podsim store merge all.db part-1.db part-2.db\n"
      "  podsim store progress runs.db\n"
      "  podsim store export runs.db --out results.csv\n"
      "  podsim store verify runs.db --sample 10\n"
      "Exit codes: 0 done, 1 the store is damaged, of a newer podsim, or cannot be written, 2 the input must "
      "be "
      "changed.");
  verb.callback([options, &exit_code] { exit_code = look_at_store(*options); });
}

}  // namespace podsim
