// podsim compare: reports side by side.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/answers/page_output.h"
#include "cli/answers/render.h"
#include "cli/comparisons/compare_equal.h"
#include "cli/comparisons/compare_page.h"
#include "cli/comparisons/verbs.h"
#include "cli/scenarios/anchored.h"
#include "cli/scenarios/batch.h"
#include "cli/scenarios/sweep.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "cli/weeks/reliability_page.h"
#include "cli/weeks/weeks_batch.h"
#include "proto/scenario/load.h"
#include "report/tables/reliability_text.h"
#include "report/tables/write.h"
#include "scheduler/question/spec.h"

namespace podsim {
namespace {

constexpr double kWorthTelling = 0.005;  // of the step: what is less is not worth a warning

struct CompareVerb {
  std::vector<std::string> files;
  LoadOptions load;
  RunOptions run;
  AnchorOptions anchor;
  EqualOptions equal;
  OutputOptions output;
  bool weeks = false;
};

std::optional<std::vector<Spec>> each_setting(const CompareVerb& verb) {
  auto swept = load_swept(verb.files, verb.load);
  if (!swept) return std::nullopt;
  return std::move(swept->things);
}

// The file as it is, and with what --set changes; without --set what --prices changes.
std::optional<std::vector<Spec>> before_and_after(const CompareVerb& verb) {
  if (verb.files.front() == "-") {
    spdlog::error("compare reads one scenario twice, as it is and changed: give a file, not standard input");
    return std::nullopt;
  }
  LoadOptions as_it_is = verb.load;
  as_it_is.sets.clear();
  if (verb.load.sets.empty()) as_it_is.price_sheet.clear();
  auto specs = load_scenarios(verb.files, as_it_is);
  const auto changed = specs ? load_swept(verb.files, verb.load) : std::nullopt;
  if (!changed) return std::nullopt;
  for (Spec spec : changed->things) {
    if (!changed->settings.any()) {
      for (const std::string& set : verb.load.sets) spec.name += " " + set;
      if (verb.load.sets.empty()) spec.name += " cluster.prices=" + verb.load.price_list();
    }
    specs->push_back(std::move(spec));
  }
  return specs;
}

// One file, of which --set changes nothing but the cluster.
bool changes_the_cluster_only(const CompareVerb& verb) {
  return verb.files.size() == 1 && std::ranges::all_of(verb.load.sets, [](const std::string& set) {
           return set.starts_with("cluster.");
         });
}

// What is chosen on the changed cluster is chosen by predicted times and not in the step. Where the step is
// longer there than on the first cluster, what was chosen on that one may do better.
void tell_worse_choices(const CompareVerb& verb, std::span<const Spec> specs,
                        std::span<const Report> reports) {
  PredictOptions options = verb.run.predict();
  options.chosen_on = specs[0].cluster;
  for (std::size_t k = 1; k < specs.size(); ++k) {
    const bool as_many = specs[k].cluster.fabric.chips == specs[0].cluster.fabric.chips;
    if (!as_many || reports[k].step_time <= reports[0].step_time) continue;
    const double step_s = reports[k].step_time.in_seconds();
    const double other_s = predict_step(specs[k], options).report.step_time.in_seconds();
    if (other_s > step_s * (1 - kWorthTelling)) continue;
    spdlog::warn(
        "{} takes {:.4g} s a step with what is chosen there, and {:.4g} s with the shardings and algorithms "
        "that "
        "are chosen on the cluster of {}: they are chosen by their own predicted times, not by the step",
        specs[k].name, step_s, other_s, specs[0].name);
  }
}

// Hosts of GPU clusters wait for the slowest of them by a number of the stack, chips of a slice do not.
void tell_of_skew(std::span<const Report> reports) {
  const auto share = [](const Report& r) { return r.skew_wait.in_seconds() / r.step_time.in_seconds(); };
  const auto waits =
      std::ranges::max_element(reports, {}, [&](const Report& report) { return share(report); });
  const auto none = std::ranges::find_if(reports, [&](const Report& report) { return share(report) == 0; });
  if (none == reports.end() || share(*waits) < kWorthTelling) return;
  spdlog::warn(
      "{} waits {:.1f} % of its step for its slowest host, {} nothing: that is the skew_per_doubling of the "
      "stack, fitted to measured steps of GPU clusters, while the chips of a TPU slice are taken to run in "
      "lock "
      "step. --set job.stack_override.skew_per_doubling=0 leaves it out of both",
      waits->scenario, 100 * share(*waits), none->scenario);
}

// Runs of weeks beside each other instead of steps; of one file one for each value of --set.
int compare_weeks(const CompareVerb& verb) {
  if (verb.equal.any() || verb.anchor.any() || verb.output.format == "textproto") {
    spdlog::error("--weeks goes without --equal, --anchor and textproto");
    return kInputError;
  }
  auto swept = load_swept_questions(verb.files, verb.load);
  if (!swept) return kInputError;
  if (swept->things.size() < 2) {
    spdlog::error("compare --weeks needs at least two scenarios, or one and several values of --set");
    return kInputError;
  }
  const auto predicted = predict_all_weeks(*swept, verb.run);
  if (!predicted) return kInputError;
  const std::vector<ReliabilityReport>& reports = *predicted;
  const std::string json = all_weeks_json(reports, swept->settings);
  const std::string table = reliability_beside(reports);
  if (!verb.run.html.empty())
    write_page(reliability_page(reports, json, table), PageSources{verb.files, verb.load}, verb.run.html);
  emit(verb.output.format == "json"  ? json
       : verb.output.format == "csv" ? swept->settings.added_to_csv(reliability_csv(reports))
                                     : table,
       verb.output.out);
  return judge_weeks(reports);
}

void tell_of_weeks(std::span<const Spec> specs) {
  const auto asks = std::ranges::find_if(specs, [](const Spec& spec) { return spec.asks_weeks; });
  if (asks != specs.end())
    spdlog::warn(
        "{} has a block reliability, which a comparison of steps does not read: --weeks compares days, "
        "dollars and energy over weeks of failures",
        asks->name);
}

// Options of a comparison of steps, which one of equal clusters does not read.
bool reads_steps(const CompareVerb& verb) {
  return verb.anchor.any() || !verb.run.html.empty() || !verb.output.out.empty();
}

int compare(const CompareVerb& verb) {
  if (verb.run.quiet) spdlog::set_level(spdlog::level::err);
  if (verb.weeks) return compare_weeks(verb);
  if (verb.equal.any()) {
    if (!reads_steps(verb))
      return compare_equal(verb.files, verb.load, verb.equal, verb.output.format, verb.run.threads);
    spdlog::error("--equal goes without --anchor, --html and --out");
    return kInputError;
  }
  if (verb.equal.any_but_measure()) {
    spdlog::error("--search, --days, --chips and --store go with --equal");
    return kInputError;
  }
  if (verb.files.size() < 2 && verb.load.sets.empty() && verb.load.price_sheet.empty()) {
    spdlog::error("compare needs at least two scenarios, or one and what --set changes of it");
    return kInputError;
  }
  auto specs = verb.files.size() == 1 ? before_and_after(verb) : each_setting(verb);
  if (!specs || !have_one_job(*specs, "compare")) return kInputError;
  const auto anchor =
      make_anchor(verb.anchor, verb.files.front(), verb.load.catalog_directories, verb.run.threads);
  if (!anchor || !can_use(*anchor, *specs, "compare")) return kInputError;
  std::vector<Report> reports;
  LeftOutSteps left_out;
  for (Prediction& prediction : predict_anchored(*specs, *anchor, verb.run, left_out))
    reports.push_back(std::move(prediction.report));
  if (!some_are_left(*specs, left_out)) return kInputError;
  take_left_out(left_out, *specs);
  take_left_out(left_out, reports);
  if (!verb.run.html.empty())
    write_page(compare_page(reports), PageSources{verb.files, verb.load}, verb.run.html);
  emit(verb.output.format == "table" ? compare_table(reports) : render(reports, verb.output.format),
       verb.output.out);
  const int exit_code = judge_fits(fits_of(reports));
  if (!verb.run.quiet) tell_of_longest_shapes(reports);
  if (!verb.run.quiet) tell_of_skew(reports);
  if (!verb.run.quiet) tell_of_weeks(*specs);
  if (!verb.run.quiet && changes_the_cluster_only(verb))
    tell_worse_choices(verb, moved_specs(*specs, *anchor), reports);
  return exit_code;
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
  CLI::App& verb =
      *app.add_subcommand("compare", "Put scenarios side by side and say which part makes the difference");
  const auto options = std::make_shared<CompareVerb>();
  verb.add_option("FILE", options->files,
                  "Two or more scenario files, or one and --set: as it is against changed; ratios are to the "
                  "first")
      ->required();
  add_load_options(verb, options->load);
  add_run_options(verb, options->run);
  add_anchor_options(verb, options->anchor);
  add_anchor_step_option(verb, options->anchor);
  add_output_options(verb, options->output, report_formats());
  add_html_option(verb, options->run.html);
  add_equal_options(verb, options->equal);
  verb.add_flag(
      "--weeks", options->weeks,
      "Runs of weeks beside each other, of scenarios with a block reliability: ETTR, days, USD, MWh, "
      "with what eight runs in ten lie between");
  verb.footer(
      "Where --set changes the cluster only and the step grows, a warning says whether it is for what is "
      "chosen "
      "there: with the shardings and algorithms of the first cluster it is shorter.\n"
      "With --equal each scenario is put on a cluster of its own chip and fabric, and days, dollars and what "
      "they hang on are those of podsim plan; exit code 3: not all can be made equal.\n"
      "Examples:\n"
      "  podsim compare scenarios/llama3_70b_512_h100.textproto scenarios/llama3_70b_512_v5p.textproto\n"
      "  podsim compare scenarios/llama3_70b_512_h100.textproto --set job.mesh.data.size=8 --set "
      "job.mesh.tensor.size=8\n"
      "  podsim compare scenarios/llama3_70b_512_h100.textproto --set job.global_batch_sequences=256,1024\n"
      "  podsim compare a.textproto b.textproto --html compared.html\n"
      "  podsim compare scenarios/plan/llama3_70b_512_h100.textproto scenarios/plan/llama3_70b_v5p.textproto "
      "--equal chips\n"
      "  podsim compare scenarios/plan/llama3_70b_512_h100.textproto scenarios/plan/llama3_70b_v5p.textproto "
      "--equal all --days 120 --search\n"
      "  podsim compare scenarios/reliability/spot_slices_v5e.textproto "
      "scenarios/reliability/tpu_v4_pod.textproto --weeks --seeds 100\n"
      "  podsim compare a.textproto b.textproto c.textproto --format csv\n"
      "  podsim compare job.textproto --anchor-step-time 0.9 --set job.microbatch_sequences=2");
  verb.callback([options, &exit_code] { exit_code = compare(*options); });
}

}  // namespace podsim
