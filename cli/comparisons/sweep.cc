// podsim sweep: a scenario at every value of some fields, any figure as a column.
#include "cli/scenarios/sweep.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/answers/render.h"
#include "cli/answers/report_figures.h"
#include "cli/comparisons/verbs.h"
#include "cli/options/options.h"
#include "cli/options/store_option.h"
#include "cli/parts/parts.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"
#include "engine/parallel_for.h"
#include "engine/words.h"
#include "planner/search/stored_steps.h"
#include "prediction/evaluator.h"
#include "prediction/step_length.h"
#include "proto/scenario/sweep.h"
#include "proto/text/override.h"
#include "proto/text/quantities.h"
#include "proto/writing/answer_textproto.h"
#include "proto/writing/result_json.h"
#include "proto/writing/write.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

constexpr std::size_t kMostSweptPoints = 10'000;
constexpr const char* kStepOfShapes = "shapes.step_s";
constexpr const char* kUsualColumns =
    "step_time_s,tokens_per_s_per_chip,mfu_causal,exposed_communication_s.total,pipeline_bubble_s,"
    "cost_usd_per_million_tokens,memory_per_chip_gib.total,fits";

struct SweepVerb {
  std::string file;
  std::vector<std::string> over;
  bool zip = false;
  std::string columns = kUsualColumns;
  std::string store;
  PartOptions parts;
  std::string format = "table", out;
  LoadOptions load;
  int threads = 0;
  bool quiet = false;
};

// "a=1..8x2" as "a=1,2,4,8"; lists stay. Nothing, with the reason logged, where a range is none.
std::optional<std::vector<Override>> overs_of(const SweepVerb& verb) {
  std::vector<Override> overrides;
  for (const std::string& over : verb.over) {
    const std::size_t equals = over.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == over.size()) {
      spdlog::error("--over \"{}\": expected PATH=VALUES, such as job.microbatch_sequences=1,2,4", over);
      return std::nullopt;
    }
    Override each{over.substr(0, equals), over.substr(equals + 1)};
    if (each.value.find("..") != std::string::npos) {
      const auto range = parse_count_range(each.value);
      if (!range) {
        spdlog::error("--over \"{}\": expected a range such as 1..8x2 or 64..512+64, or a list", over);
        return std::nullopt;
      }
      each.value = separated_numbers(*range, ",");
    }
    overrides.push_back(std::move(each));
  }
  return overrides;
}

std::optional<Sweep> sweep_of(const SweepVerb& verb) {
  auto overrides = verb.load.overrides();
  const auto overs = overs_of(verb);
  if (!overrides || !overs) return std::nullopt;
  overrides->insert(overrides->end(), overs->begin(), overs->end());
  auto sweep = verb.zip ? zipped_sweep(*overrides) : sweep_of(*overrides, kMostSweptPoints);
  if (!sweep && verb.zip) spdlog::error("--zip: give every --over as many values");
  if (!sweep && !verb.zip)
    spdlog::error("--over: the values have more than {} combinations", kMostSweptPoints);
  return sweep;
}

// A report that was kept for a scenario of another name.
std::string renamed(const std::string& report, const std::string& name) {
  const std::string label = "\"scenario\": ";
  const std::size_t from = report.find(label) + label.size();
  return report.substr(0, from) + nlohmann::json(name).dump() + report.substr(report.find(",\n", from));
}

// The store, and the sweep as a study of it, of which this process may do a part.
class StoredSweep {
 public:
  // `all` = the points of all parts.
  StoredSweep(const SweepVerb& verb, const CommandPart& part, std::span<const SweptScenario> all)
      : store_(open_result_store(verb.store)), part_(part) {
    if (!store_) return;
    std::vector<std::string> keys;
    for (const SweptScenario& point : all) keys.push_back(point.spec.sha256);
    study_ = store_->begin_study(
        {"podsim sweep " + verb.file, question_sha256("sweep", keys), part.number, part.of});
  }

  Store* store() { return store_.get(); }

  // `points` = those of the part, of which those that are left out have no rows.
  void end(std::span<const SweptScenario> points, const LeftOutSteps& left_out) {
    if (!store_) return;
    std::vector<StudyRow> rows;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto place = static_cast<std::int64_t>(i) * part_.of + part_.number;
      if (left_out[i].empty()) rows.push_back({points[i].spec.sha256, points[i].name, place});
    }
    store_->end_study(study_, StudyState::kComplete, 0, rows);
  }

 private:
  const std::unique_ptr<Store> store_;
  const CommandPart part_;
  std::int64_t study_ = 0;
};

// The report of each point as JSON. Points that cannot be simulated have none.
std::vector<std::string> reports_of_points(const SweepVerb& verb, std::vector<SweptScenario>& points,
                                           StoredSweep& stored, LeftOutSteps& left_out) {
  left_out.assign(points.size(), "");
  for (SweptScenario& point : points) point.spec.name = point.name;
  Store* const store = stored.store();
  Progress progress(points.size(), "scenarios", verb.quiet);
  std::vector<std::string> reports(points.size());
  std::atomic<std::size_t> next = 0, known = 0;
  const int threads = std::min(threads_or_cores(verb.threads), static_cast<int>(points.size()));
  parallel_for(static_cast<std::size_t>(threads), threads, [&](std::size_t) {
    Evaluator evaluator;  // neighbours have much in common
    for (std::size_t i; (i = next.fetch_add(1)) < points.size(); progress.one_done()) {
      const auto simulated = [&] { return evaluator.predict(points[i].spec, {}).report; };
      try {
        if (!store) {
          reports[i] = report_json(simulated());
          continue;
        }
        const StoredScenario scenario{points[i].spec.sha256, points[i].text, points[i].name};
        const StoredStep step = stored_step(*store, scenario, simulated);
        reports[i] = step.known ? renamed(step.report, points[i].name) : step.report;
        known += step.known ? 1 : 0;
      } catch (const StepTooLong& refusal) {
        left_out[i] = refusal.what();
      }
    }
  });
  stored.end(points, left_out);
  if (known > 0) spdlog::info("{} of {} steps were in {}", known.load(), points.size(), verb.store);
  return reports;
}

std::string exact_cell(const std::optional<ReportFigure>& figure) {
  if (!figure) return "";
  return figure->kind == ReportFigure::Kind::kWord ? cell_text(figure->exact) : figure->exact;
}

std::string short_cell(const std::optional<ReportFigure>& figure) {
  if (!figure || figure->kind == ReportFigure::Kind::kNone) return "-";
  if (figure->kind == ReportFigure::Kind::kTruth) return figure->exact == "true" ? "yes" : "no";
  return figure->kind == ReportFigure::Kind::kReal ? significant(figure->number, 5) : figure->exact;
}

bool row_fits(const ReportFigures& report) { return report.holds("fits"); }

struct SweptRows {
  std::vector<std::string> columns;
  std::vector<ReportFigures> reports;
  const Settings& settings;
};

// False where one is no figure of any report; the reason is then logged.
bool are_figures(const SweptRows& rows) {
  for (const std::string& column : rows.columns) {
    if (std::ranges::any_of(rows.reports,
                            [&](const ReportFigures& each) { return each.at(column).has_value(); }))
      continue;
    spdlog::error("--columns: {}", rows.reports.front().there_is_no(column));
    return false;
  }
  return true;
}

std::string table_of(const SweptRows& rows, const std::string& name) {
  std::vector<std::vector<std::string>> cells = {rows.columns};
  std::size_t best = rows.reports.size();
  const auto rate = [&](std::size_t i) {
    const auto figure = rows.reports[i].at("tokens_per_s");
    return figure ? figure->number : 0;
  };
  for (std::size_t i = 0; i < rows.reports.size(); ++i) {
    std::vector<std::string>& row = cells.emplace_back();
    for (const std::string& column : rows.columns) row.push_back(short_cell(rows.reports[i].at(column)));
    if (row_fits(rows.reports[i]) && (best == rows.reports.size() || rate(i) > rate(best))) best = i;
  }
  rows.settings.add_to_table(cells);
  std::string text = name + "\n\n" + align(cells) + "\n";
  if (best == rows.reports.size()) return text + "None of these settings fits in memory.\n";
  if (rows.settings.paths.empty()) return text;
  return text + "The most tokens per second that fit in memory: " +
         settings_text(rows.settings.paths, rows.settings.values[best]) + ", " + significant(rate(best), 4) +
         " tokens/s.\n";
}

std::string csv_of(const SweptRows& rows) {
  std::string text = csv_line(rows.columns);
  for (const ReportFigures& report : rows.reports) {
    std::vector<std::string> cells;
    for (const std::string& column : rows.columns) cells.push_back(exact_cell(report.at(column)));
    text += csv_line(cells);
  }
  return rows.settings.added_to_csv(text);
}

// The rows of the table with every digit.
std::string textproto_of(const SweptRows& rows, const std::string& name) {
  auto json = result_json<nlohmann::ordered_json>("");
  json["scenario"] = name;
  json["rows"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < rows.reports.size(); ++i) {
    nlohmann::ordered_json row;
    for (std::size_t p = 0; p < rows.settings.paths.size(); ++p)
      row["set"].push_back({{"path", rows.settings.paths[p]}, {"value", rows.settings.values[i][p]}});
    for (const std::string& column : rows.columns) {
      nlohmann::ordered_json& each = row["figures"].emplace_back();
      each["name"] = column;
      const auto figure = rows.reports[i].at(column);
      if (!figure || figure->kind == ReportFigure::Kind::kNone) continue;
      const bool number =
          figure->kind == ReportFigure::Kind::kWhole || figure->kind == ReportFigure::Kind::kReal;
      if (number) each["number"] = figure->number;
      if (!number) each["word"] = figure->exact;
    }
    json["rows"].push_back(std::move(row));
  }
  return answer_textproto(json.dump(), "SweepAnswer");
}

// Of the values in their order every so manieth.
void keep_part(const CommandPart& part, Swept<SweptScenario>& swept) {
  std::vector<SweptScenario> things;
  auto values = std::move(swept.settings.values);
  swept.settings.values.clear();
  const auto first = static_cast<std::size_t>(part.number - 1), step = static_cast<std::size_t>(part.of);
  for (std::size_t i = first; i < swept.things.size(); i += step) {
    things.push_back(std::move(swept.things[i]));
    if (i < values.size()) swept.settings.values.push_back(std::move(values[i]));
  }
  swept.things = std::move(things);
}

int sweep_fields(const SweepVerb& verb) {
  if (verb.quiet) spdlog::set_level(spdlog::level::err);
  const auto part = part_of(verb.parts);
  const auto asked = part ? sweep_of(verb) : std::nullopt;
  auto swept = asked ? load_points(verb.file, verb.load, *asked) : std::nullopt;
  if (!swept) return kInputError;
  if (const auto code = run_by_engine(verb.parts, {{verb.file}, verb.load.catalog_directories, verb.store}))
    return *code;
  for (const SweptScenario& point : swept->things)
    if (!have_one_job({&point.spec, 1}, "sweep")) return kInputError;
  StoredSweep stored(verb, *part, swept->things);
  keep_part(*part, *swept);
  LeftOutSteps left_out;
  std::vector<std::string> reports = reports_of_points(verb, swept->things, stored, left_out);
  if (swept->things.empty()) {
    spdlog::warn("this part has none of the values");
    return kDone;
  }
  std::vector<Spec> specs;
  for (SweptScenario& point : swept->things) specs.push_back(std::move(point.spec));
  const bool some_left = some_are_left(specs, left_out);
  if (!some_left) return part->of > 1 ? kDone : kInputError;  // what others have is the answer
  take_left_out(left_out, reports);
  take_left_out(left_out, swept->things);
  take_left_out(left_out, swept->settings.values);
  SweptRows rows{split(verb.columns, ','), {}, swept->settings};
  for (std::string& column : rows.columns) column = trim(column);
  for (const std::string& report : reports) rows.reports.emplace_back(report);
  if (!are_figures(rows)) return kInputError;
  if (std::ranges::any_of(rows.reports, [](const auto& each) { return each.at(kStepOfShapes).has_value(); }))
    spdlog::warn(
        "{} pads its documents: the step and all that follows from it are those of the longest shape. "
        "Columns "
        "such as {} and shapes.tokens_per_s have the mean over all shapes",
        verb.file, kStepOfShapes);
  if (verb.format == "json") {
    std::vector<std::string> objects;
    for (std::size_t i = 0; i < reports.size(); ++i)
      objects.push_back(swept->settings.added_to_json(reports[i], i));
    emit(json_array(objects), verb.out);
  } else if (verb.format == "csv") {
    emit(csv_of(rows), verb.out);
  } else {
    const std::string name = swept->settings.unset(swept->things.front().name, 0);
    emit(verb.format == "textproto" ? textproto_of(rows, name) : table_of(rows, name), verb.out);
  }
  return part->of > 1 || std::ranges::any_of(rows.reports, row_fits) ? kDone : kInfeasible;
}

}  // namespace

void add_sweep(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "sweep", "Run a scenario at every value of some fields, with any figure of the report as a column");
  const auto options = std::make_shared<SweepVerb>();
  verb.add_option("FILE", options->file, "Scenario file")->required();
  verb.add_option("--over", options->over,
                  "Field and values: cluster.chips=256,512 or job.microbatch_sequences=1..8x2; several such "
                  "options make every combination")
      ->required()
      ->type_name("PATH=VALUES")
      ->take_all();
  verb.add_flag("--zip", options->zip, "Not every combination: the first values together, then the second");
  verb.add_option("--columns", options->columns,
                  "Figures, by the names of the JSON report: step_time_s,memory_per_chip_gib.total")
      ->type_name("FIGURE,...");
  add_store_option(verb, options->store);
  add_part_options(verb, options->parts);
  verb.add_option("--format", options->format, "Form of the answer; JSON has the whole reports")
      ->check(CLI::IsMember(report_formats()));
  verb.add_option("--out", options->out, "Write to this file instead of standard output")->type_name("FILE");
  verb.add_option("--threads", options->threads, "Threads; without it as many as the machine has cores")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  verb.add_flag("-q,--quiet", options->quiet, "No progress and no warnings");
  add_load_options(verb, options->load);
  verb.footer(
      "A value that the scenario cannot have is left out, with a warning that says why. "
      "docs/guide/planning.md "
      "tells of stores.\n"
      "Examples:\n"
      "  podsim sweep scenarios/qwen3_14b_8_h100.textproto --over job.global_batch_sequences=8..64x2\n"
      "  podsim sweep scenarios/qwen3_14b_8_h100.textproto --over job.microbatch_sequences=1,2 --over "
      "job.recompute=none,full --columns step_time_s,memory_per_chip_gib.activations --format csv\n"
      "  podsim sweep scenarios/qwen3_14b_8_h100.textproto --over job.global_batch_sequences=16,32 --over "
      "job.microbatch_sequences=1,2 --zip --store runs.db\n"
      "Exit codes: 0 done, 1 podsim failed, 2 the input must be changed, 3 no row fits in memory.");
  verb.callback([options, &exit_code] { exit_code = sweep_fields(*options); });
}

}  // namespace podsim
