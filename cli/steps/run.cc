// podsim run: one report per scenario.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>

#include "cli/answers/figure_columns.h"
#include "cli/answers/page_output.h"
#include "cli/answers/render.h"
#include "cli/answers/trace_output.h"
#include "cli/scenarios/anchored.h"
#include "cli/scenarios/batch.h"
#include "cli/scenarios/sweep.h"
#include "cli/steps/verbs.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "prediction/dump.h"
#include "proto/pages/run_page.h"
#include "proto/traces/trace_file.h"
#include "report/pictures/run_pictures.h"
#include "report/pictures/svg.h"
#include "report/tables/write.h"
#include "report/text/align.h"
#include "report/text/text.h"
#include "scheduler/question/spec.h"

namespace podsim {
namespace {

struct RunVerb {
  std::vector<std::string> files;
  LoadOptions load;
  RunOptions run;
  AnchorOptions anchor;
  OutputOptions output;
  std::string color = "auto";
  bool detail = false;  // figures of pages in JSON
};

// What a stage holds, instead of the report.
void write_dumps(const std::vector<Prediction>& predictions, const OutputOptions& output) {
  std::string all;
  for (const Prediction& prediction : predictions) all += prediction.dump;
  emit(all, output.out);
}

const std::string& scenario_of(const Prediction& prediction) {
  return prediction.jobs ? prediction.jobs->scenario : prediction.report.scenario;
}

void write_reports(std::span<const Prediction> predictions, const OutputOptions& output) {
  if (!is_folder(output.out)) return emit(render(predictions, output.format), output.out);
  std::vector<NamedContent> files;
  for (const Prediction& prediction : predictions)
    files.push_back({scenario_of(prediction), render({&prediction, 1}, output.format)});
  emit_each(files, extension(output.format), output.out);
}

// Where the step goes, for who reads the table of one job on a terminal.
void write_plot(const std::vector<Prediction>& predictions, const RunVerb& verb) {
  const bool table = verb.output.format == "table" && verb.output.out.empty();
  if (!table || predictions.size() != 1 || predictions.front().jobs || !draws_plots(verb.color)) return;
  const NamedReport one{"step", &predictions.front().report, ""};
  emit_plot(breakdown_picture({&one, 1}), verb.color);
}

// Of each job alone.
std::vector<const Report*> all_reports(std::span<const Prediction> predictions) {
  std::vector<const Report*> reports;
  for (const Prediction& prediction : predictions) {
    if (!prediction.jobs) {
      reports.push_back(&prediction.report);
      continue;
    }
    for (const JobReport& job : prediction.jobs->jobs) reports.push_back(&job.alone);
  }
  return reports;
}

// Says on standard error which jobs do not fit; a table that the user sees has told the details.
int judge_memory(std::span<const Prediction> predictions, const OutputOptions& output) {
  int exit_code = kDone;
  for (const Report* report : all_reports(predictions)) {
    if (report->memory.fits) continue;
    exit_code = kInputError;
    if (output.format == "table" && output.out.empty()) {
      spdlog::error("{} does not fit in the memory of its chips", report->scenario);
    } else {
      tell(memory_verdict(*report));
    }
  }
  return exit_code;
}

// Times and FLOPs of measured layers may contradict each other.
void judge_measured_rates(std::span<const Prediction> predictions) {
  for (const Report* report : all_reports(predictions)) {
    if (report->hfu_full <= 1) continue;
    spdlog::warn(
        "{}: {:.0f}% of the chip's peak is not possible: the times of job.measured_layers are too short for "
        "their model_gflop_per_token",
        report->scenario, 100 * report->hfu_full);
  }
}

// False where there is none to write; the reason is then logged.
bool write_steps(const RunVerb& verb, const std::vector<Prediction>& predictions) {
  if (verb.run.trace.empty()) return true;
  if (predictions.size() != 1 || !predictions.front().trace) {
    spdlog::error("--trace: {}",
                  predictions.size() != 1
                      ? "give one scenario with one job"
                      : "only jobs by themselves on gpipe, 1f1b and interleaved schedules have steps "
                        "that a trace can tell");
    return false;
  }
  const Report& report = predictions.front().report;
  const RecordedTrace& trace = *predictions.front().trace;
  const std::string &path = verb.run.trace, rows = trace_rows(trace);
  write_whole(path, path.ends_with(".gz") ? gzipped(rows) : rows);
  write_whole(meta_path(path), trace_meta(trace, report.scenario, report.chips));
  return true;
}

// A step for viewers of traces. False where there is none to write; the reason is then logged.
bool write_tracks(const RunVerb& verb, const std::vector<Prediction>& predictions, const TrackExcerpt& part) {
  if (!verb.run.traces.any()) return true;
  if (predictions.size() != 1 || !predictions.front().tracks) {
    spdlog::error("{}: give one scenario with one job",
                  verb.run.traces.perfetto.empty() ? "--chrome" : "--perfetto");
    return false;
  }
  return write_trace_files(*predictions.front().tracks, verb.run.traces, part);
}

// A picture along time keeps all that happens, so that nothing of it can be jumped over.
void tell_of_slow_picture(std::chrono::steady_clock::duration took) {
  constexpr std::chrono::seconds kPatience{2};
  if (took < kPatience) return;
  spdlog::warn(
      "the step was simulated event by event, which took {} s: a page, a picture or a trace shows all of it; "
      "without "
      "them its repetitions are jumped over",
      fixed(std::chrono::duration<double>(took).count(), 1));
}

// The report as a page. False where there is none to write; the reason is then logged.
bool write_report_page(const RunVerb& verb, const std::vector<Prediction>& predictions) {
  if (verb.run.html.empty()) return true;
  if (predictions.size() != 1) {
    spdlog::error("--html: give one scenario, or put several side by side with podsim compare --html");
    return false;
  }
  const Prediction& of = predictions.front();
  write_page(of.jobs ? jobs_page(*of.jobs) : run_page(of.report, of.detail ? &*of.detail : nullptr),
             PageSources{verb.files, verb.load}, verb.run.html);
  return true;
}

// One picture instead of the report.
int draw_picture(const RunVerb& verb, const std::vector<Prediction>& predictions) {
  if (predictions.size() != 1 || predictions.front().jobs) {
    spdlog::error("--svg: give one scenario with one job");
    return kInputError;
  }
  const Prediction& of = predictions.front();
  const auto picture = run_picture(verb.run.svg, of.report, of.detail ? &*of.detail : nullptr);
  if (!picture) {
    spdlog::error("--svg {}: {} has nothing to draw there{}", verb.run.svg, of.report.scenario,
                  verb.run.svg == "heat" ? ": it has no adversities whose replay could be told" : "");
    return kInputError;
  }
  emit(svg_file(*picture), verb.output.out);
  return kDone;
}

// The best of several settings, in a sentence.
std::string fastest(std::span<const Report> reports, const Settings& settings) {
  const Report* best = nullptr;
  for (const Report& report : reports)
    if (report.memory.fits && (!best || report.tokens_per_s > best->tokens_per_s)) best = &report;
  if (!best) return "None of these settings fits in memory.\n";
  return "The most tokens per second that fit in memory: " +
         settings_text(settings.paths, settings.values[best - reports.data()]) + ", " +
         significant(best->tokens_per_s, 4) + " tokens/s, " + fixed(best->step_time.in_seconds(), 4) +
         " s a step.\n";
}

std::string settings_table(std::span<const Report> reports, const Settings& settings, bool one_file) {
  std::vector<std::vector<std::string>> rows = figure_rows(reports);
  settings.add_to_table(rows);
  for (std::size_t row = 0; !one_file && row < rows.size(); ++row)
    rows[row].insert(rows[row].begin(),
                     row == 0 ? "scenario" : settings.unset(reports[row - 1].scenario, row - 1));
  const std::string title = one_file ? settings.unset(reports[0].scenario, 0) + "\n\n" : "";
  return title + align(rows) + "\n" + fastest(reports, settings);
}

// A row, or a report, for each of several settings.
int write_settings(std::span<const Prediction> predictions, const Settings& settings, const RunVerb& verb) {
  const OutputOptions& output = verb.output;
  std::vector<Report> reports;
  for (const Prediction& prediction : predictions) reports.push_back(prediction.report);
  if (is_folder(output.out)) {
    write_reports(predictions, output);
  } else if (output.format == "table") {
    emit(settings_table(reports, settings, verb.files.size() == 1), output.out);
  } else if (output.format == "csv") {
    emit(settings.added_to_csv(render(reports, "csv")), output.out);
  } else if (output.format == "json") {
    std::vector<std::string> objects;
    for (std::size_t i = 0; i < reports.size(); ++i)
      objects.push_back(settings.added_to_json(render({&reports[i], 1}, "json"), i));
    emit(json_array(objects), output.out);
  } else {
    emit(render(reports, output.format), output.out);
  }
  const bool some_fit =
      std::any_of(reports.begin(), reports.end(), [](const Report& report) { return report.memory.fits; });
  return some_fit ? kDone : kInputError;
}

int run(const RunVerb& verb) {
  if (verb.run.quiet) spdlog::set_level(spdlog::level::err);
  const auto part = trace_excerpt(verb.run.traces);
  if (!part) return kInputError;
  auto swept = load_swept(verb.files, verb.load);
  if (!swept) return kInputError;
  const auto anchor =
      make_anchor(verb.anchor, verb.files.front(), verb.load.catalog_directories, verb.run.threads);
  if (!anchor || !can_use(*anchor, swept->things, "run")) return kInputError;
  const bool several = swept->settings.any() && verb.run.dump.empty();
  if (several && !have_one_job(swept->things, "run --set with several values")) return kInputError;
  const auto begun = std::chrono::steady_clock::now();
  LeftOutSteps left_out;
  std::vector<Prediction> predictions = predict_anchored(swept->things, *anchor, verb.run, left_out);
  if (!some_are_left(swept->things, left_out)) return kInputError;
  take_left_out(left_out, predictions);
  take_left_out(left_out, swept->settings.values);
  const bool all_are_left = predictions.size() == left_out.size();
  if (verb.run.traces.any() || verb.run.detail)
    tell_of_slow_picture(std::chrono::steady_clock::now() - begun);
  if (!write_steps(verb, predictions) || !write_tracks(verb, predictions, *part) ||
      !write_report_page(verb, predictions))
    return kInputError;
  if (!verb.run.svg.empty()) {
    if (const int drawn = draw_picture(verb, predictions); drawn != kDone) return drawn;
    return judge_memory(predictions, verb.output);
  }
  if (several) return write_settings(predictions, swept->settings, verb);
  if (verb.run.dump.empty()) {
    write_reports(predictions, verb.output);
    write_plot(predictions, verb);
  } else {
    write_dumps(predictions, verb.output);
  }
  judge_measured_rates(predictions);
  const int fits = judge_memory(predictions, verb.output);
  return all_are_left ? fits : kInputError;
}

constexpr const char* kRunFooter =
    "Examples:\n"
    "  podsim run scenarios/llama3_70b_512_h100.textproto\n"
    "  podsim run scenarios/*.textproto --format csv --out reports.csv\n"
    "  podsim run scenarios/zero_bubble_70b_256_h100.textproto --dump schedule\n"
    "  podsim run scenarios/one_slow_chip_512.textproto --trace steps.csv.gz\n"
    "  podsim run scenarios/llama3_70b_512_h100.textproto --perfetto step.pftrace\n"
    "  podsim run scenarios/llama3_70b_512_h100.textproto --perfetto begin.pftrace --trace-window 0..1s "
    "--trace-stages 0,7\n"
    "  podsim run scenarios/qwen3_14b_8_h100.textproto --svg breakdown --out breakdown.svg\n"
    "  podsim run scenarios/qwen3_14b_8_h100.textproto --html report.html\n"
    "  podsim run scenarios/qwen3_14b_8_h100.textproto --loop reference\n"
    "  podsim run job.textproto --set job.microbatch_sequences=2 --set job.mesh.tensor.size=4 --format "
    "json\n"
    "  podsim run scenarios/llama3_70b_512_h100.textproto --set job.global_batch_sequences=256,512,1024\n"
    "  podsim run job.textproto --anchor rank0.pt.trace.json.gz\n"
    "  podsim run scenarios/llama3_70b_512_h100.textproto --anchor-step-time 9.1 --set "
    "job.recompute=full\n"
    "Several values after --set make a table, a row for each; two such options a row for each "
    "combination.\n"
    "Exit codes: 0 done, 1 podsim failed, 2 the input must be changed (also when the job does not fit in "
    "memory; of a table, when no row fits).";

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  CLI::App& verb =
      *app.add_subcommand("run", "Predict a training step: time, where it goes, memory, cost, energy");
  const auto options = std::make_shared<RunVerb>();
  verb.add_option("FILE", options->files, "Scenario files; - is standard input")->required();
  add_load_options(verb, options->load);
  add_run_options(verb, options->run);
  add_anchor_options(verb, options->anchor);
  add_anchor_step_option(verb, options->anchor);
  add_output_options(verb, options->output, report_formats());
  add_color_option(verb, options->color);
  verb.add_option("--dump", options->run.dump, "Print a stage of the prediction instead of the report")
      ->check(CLI::IsMember(dump_stages()))
      ->type_name("STAGE")
      ->excludes("--format");
  verb.add_option(
          "--loop", options->run.loop,
          "Which loop simulates, to the same figures: reference is the definition of a step, ordered takes "
          "all events in order of time, fast takes parts of a system on by themselves")
      ->check(CLI::IsMember(loop_names()))
      ->capture_default_str()
      ->type_name("LOOP");
  verb.add_option("--trace", options->run.trace,
                  "Also write steps of the run as a trace for podsim replay, with its TRACE.meta.yaml")
      ->type_name("TRACE.csv.gz");
  add_trace_options(
      verb,
      "the step as a trace to look at in Perfetto: what each class of chips does, waits for and "
      "sends",
      options->run.traces);
  add_html_option(verb, options->run.html);
  verb.add_flag("--detail", options->detail,
                "Also what pages tell of the step: its collectives, operations and links, one by one, in "
                "JSON, textproto "
                "and CSV");
  verb.add_option("--svg", options->run.svg, "Draw this picture of the step as SVG instead of the report")
      ->check(CLI::IsMember(run_picture_names()))
      ->type_name("PICTURE")
      ->excludes("--format")
      ->excludes("--dump");
  verb.footer(kRunFooter);
  verb.callback([options, &exit_code] {
    options->run.detail = !options->run.svg.empty() || !options->run.html.empty() || options->detail;
    exit_code = run(*options);
  });
}

}  // namespace podsim
