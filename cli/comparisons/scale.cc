// podsim scale: one scenario at several chip counts, and how well it scales.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/answers/page_output.h"
#include "cli/answers/render.h"
#include "cli/comparisons/scale_page.h"
#include "cli/comparisons/scaling.h"
#include "cli/comparisons/verbs.h"
#include "cli/options/numbers.h"
#include "cli/scenarios/anchored.h"
#include "cli/scenarios/batch.h"
#include "cli/scenarios/sweep.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "economics/critical_batch.h"
#include "prediction/rescale.h"
#include "proto/catalog/owning_tables.h"
#include "proto/text/quantities.h"
#include "proto/writing/result_json.h"
#include "report/pictures/svg.h"
#include "report/text/text.h"
#include "scheduler/question/plan_limits.h"
#include "scheduler/question/spec.h"
#include "workload/pipeline/pipeline.h"
#include "workload/sharding/sharding.h"

namespace podsim {
namespace {

struct ScaleVerb {
  std::vector<std::string> files;
  std::string chips, slices;          // one of them
  bool weak = false, strong = false;  // neither: weak
  std::optional<double> tokens;       // to be trained, at batches of the scenario
  std::string critical_batch;         // tokens, or a law: kaplan, deepseek
  LoadOptions load;
  RunOptions run;
  AnchorOptions anchor;
  OutputOptions output;
  bool svg = false;
  std::string color = "auto";
};

BatchCut batch_cut(const Spec& spec) {
  return {microbatches(spec.job), pipeline_shape(spec.job).stages,
          static_cast<double>(spec.job.global_batch) / spec.cluster.fabric.chips};
}

std::string written(const Scaling& scaling, const ScaleVerb& verb) {
  const std::string& format = verb.output.format;
  if (format == "table") return scaling_table(scaling);
  if (format == "json") return scaling_json(scaling);
  return format == "csv" ? scaling_csv(scaling) : scaling_textproto(scaling);
}

using Rescale = std::string (*)(Spec&, int, bool, std::string& changed);

std::string rescale_whole_slices(Spec& spec, int slices, bool strong, std::string& changed) {
  return rescale_slices(spec, slices, strong, &changed);
}

// The spec at each count of chips, or of slices, that the job can have; the others are told and left out.
std::vector<Spec> specs_at(const Spec& spec, const std::vector<std::int64_t>& counts, const char* unit,
                           Rescale rescale_to, bool strong) {
  std::vector<Spec> specs;
  for (const std::int64_t count : counts) {
    Spec scaled = spec;
    std::string changed;
    const std::string obstacle = count > INT32_MAX
                                     ? "too many " + std::string(unit)
                                     : rescale_to(scaled, static_cast<int>(count), strong, changed);
    if (obstacle.empty()) {
      if (!changed.empty()) spdlog::warn("{} at {} {}: {}", spec.name, count, unit, changed);
      if (scaled.cluster.fabric.chips != spec.cluster.fabric.chips)
        scaled.sha256 = question_sha256(std::to_string(count) + " " + unit + (strong ? ", strong" : ", weak"),
                                        {spec.sha256});
      specs.push_back(std::move(scaled));
    } else {
      spdlog::warn("{} at {} {} is left out: {}", spec.name, count, unit, obstacle);
    }
  }
  return specs;
}

// Of several counts at least one other than that of the scenario itself must be left.
bool tells_scaling(std::span<const Spec> specs, const Spec& scenario, std::size_t asked) {
  return std::ranges::any_of(specs, [&](const Spec& spec) {
    return asked == 1 || spec.cluster.fabric.chips != scenario.cluster.fabric.chips;
  });
}

// Nothing of what is no number of tokens.
std::optional<double> token_count(const std::string& text) {
  return number_between(text, kPlanTokens.least, kPlanTokens.most);
}

// Tokens: as stated, or by a published law for the model and tokens of the run. Nothing where it is neither.
std::optional<double> critical_batch(const ScaleVerb& verb, const Report& report) {
  const BatchLaws laws = usual_batch_laws();
  if (verb.critical_batch == "kaplan")
    return kaplan_critical_batch(laws, kaplan_loss(laws, report.parameters, *verb.tokens));
  if (verb.critical_batch == "deepseek")
    return deepseek_batch(laws, report.model_flops_per_token_causal * *verb.tokens);
  return token_count(verb.critical_batch);
}

double tokens_to_train(const ScaleVerb& verb, const Report& report, double own_batch_tokens) {
  if (verb.critical_batch.empty()) return *verb.tokens;
  return tokens_to_same_loss(*verb.tokens, own_batch_tokens, report.tokens_per_step,
                             *critical_batch(verb, report));
}

// Rows that do not fit say so themselves; where none does, nothing has been answered.
bool some_fits(std::span<const Report> reports) {
  if (std::ranges::any_of(reports, [](const Report& report) { return report.memory.fits; })) return true;
  spdlog::error("none of these sizes fits in the memory of its chips");
  return false;
}

// Chip counts, or those of slices, that are asked for.
struct AskedCounts {
  bool slices = false;
  std::vector<std::int64_t> counts;
  const char* unit() const { return slices ? "slices" : "chips"; }
};

// Nothing where an option is wrong, which is said.
std::optional<AskedCounts> asked_counts(const ScaleVerb& verb) {
  const bool by_slices = !verb.slices.empty();
  if (by_slices == !verb.chips.empty()) {
    spdlog::error("scale needs --chips or --slices, one of them");
    return std::nullopt;
  }
  const std::string& range = by_slices ? verb.slices : verb.chips;
  const auto counts = parse_count_range(range);
  if (counts) return AskedCounts{by_slices, *counts};
  spdlog::error("--{} \"{}\": expected a range such as 64..4096x2 or 64..512+64, or a list such as 64,96,128",
                by_slices ? "slices" : "chips", range);
  return std::nullopt;
}

// ScaledSpecs of scenarios, and for each how many sequences a batch of its scenario has.
struct ScaledSpecs {
  std::vector<Spec> specs;
  std::vector<int> own_batches;
};

// All sizes of all settings, which the scaling then knows.
ScaledSpecs scaled_specs(const Swept<Spec>& swept, const AskedCounts& asked, bool strong_alone,
                         Scaling& scaling) {
  ScaledSpecs all;
  for (std::size_t i = 0; i < swept.things.size(); ++i) {
    for (const bool strong : scaling.both_ways ? std::vector{false, true} : std::vector{strong_alone}) {
      const std::vector<Spec> sizes = specs_at(swept.things[i], asked.counts, asked.unit(),
                                               asked.slices ? rescale_whole_slices : rescale_nearly, strong);
      scaling.first.insert(scaling.first.end(), sizes.size(), all.specs.size());
      scaling.strong.insert(scaling.strong.end(), sizes.size(), strong);
      scaling.settings.values.insert(scaling.settings.values.end(), sizes.size(), swept.settings.values[i]);
      all.specs.insert(all.specs.end(), sizes.begin(), sizes.end());
      all.own_batches.insert(all.own_batches.end(), sizes.size(), swept.things[i].job.global_batch);
    }
  }
  return all;
}

// Sizes that cannot be simulated; the first of those that are left stands for their setting.
void take_sizes(const LeftOutSteps& left_out, ScaledSpecs& sizes, Scaling& scaling) {
  const std::vector<std::size_t> group = scaling.first;
  std::vector<std::size_t> first;
  for (std::size_t i = 0, last = group.size(); i < group.size(); ++i) {
    if (!left_out[i].empty()) continue;
    first.push_back(last < group.size() && group[i] == group[last] ? first.back() : first.size());
    last = i;
  }
  take_left_out(left_out, sizes.specs);
  take_left_out(left_out, sizes.own_batches);
  take_left_out(left_out, scaling.settings.values);
  take_left_out(left_out, scaling.strong);
  scaling.first = std::move(first);
}

void add_reports(const ScaleVerb& verb, const ScaledSpecs& sizes, std::vector<Prediction> predictions,
                 Scaling& scaling) {
  for (Prediction& prediction : predictions) scaling.reports.push_back(std::move(prediction.report));
  for (Report& report : scaling.reports) {
    if (!verb.tokens || report.scenario_sha256.empty()) continue;
    report.scenario_sha256 =
        question_sha256("to " + shortest(*verb.tokens) + " tokens" +
                            (verb.critical_batch.empty() ? "" : " --critical-batch ") + verb.critical_batch,
                        {report.scenario_sha256});
  }
  for (const Spec& spec : sizes.specs) {
    scaling.cuts.push_back(batch_cut(spec));
    scaling.clusters.push_back(spec.cluster);
  }
  for (std::size_t i = 0; verb.tokens && i < sizes.specs.size(); ++i) {
    const Report& report = scaling.reports[i];
    scaling.tokens.push_back(tokens_to_train(
        verb, report, report.tokens_per_step * sizes.own_batches[i] / sizes.specs[i].job.global_batch));
  }
}

void write_scaling(const ScaleVerb& verb, const Scaling& scaling) {
  if (!verb.run.html.empty())
    write_page(scaling_page(scaling), PageSources{verb.files, verb.load}, verb.run.html);
  const auto curve = [&] { return scaling_page(scaling).panels.front().pictures.front(); };
  emit(verb.svg ? svg_file(curve()) : written(scaling, verb), verb.output.out);
  const bool table = !verb.svg && verb.output.format == "table" && verb.output.out.empty();
  if (table && scaling.reports.size() > 1 && draws_plots(verb.color)) emit_plot(curve(), verb.color);
}

int scale(const ScaleVerb& verb) {
  if (verb.run.quiet) spdlog::set_level(spdlog::level::err);
  const auto asked = asked_counts(verb);
  if (!asked) return kInputError;
  // The price of a whole run has what its contract binds to.
  const auto swept =
      load_swept(verb.files, verb.load,
                 verb.tokens ? std::vector<std::string>{"cluster.contract"} : std::vector<std::string>{});
  if (!swept || !have_one_job(swept->things, "scale")) return kInputError;
  const auto anchor =
      make_anchor(verb.anchor, verb.files.front(), verb.load.catalog_directories, verb.run.threads);
  if (!anchor || !can_use(*anchor, swept->things, "scale")) return kInputError;
  if (!verb.critical_batch.empty() && !verb.tokens) {
    spdlog::error("--critical-batch needs --tokens: how many it takes at the batch of {}",
                  verb.files.front());
    return kInputError;
  }
  Scaling scaling{.settings = {swept->settings.paths, {}},
                  .several_files = verb.files.size() > 1,
                  .both_ways = verb.weak && verb.strong};
  ScaledSpecs sizes = scaled_specs(*swept, *asked, verb.strong, scaling);
  if (!tells_scaling(sizes.specs, swept->things.front(), asked->counts.size())) {
    spdlog::error("{} can run at none of these numbers of {}{}", swept->things.front().name, asked->unit(),
                  sizes.specs.empty() ? "" : " but its own");
    return kInputError;
  }
  LeftOutSteps left_out;
  std::vector<Prediction> predictions = predict_anchored(sizes.specs, *anchor, verb.run, left_out);
  if (!some_are_left(sizes.specs, left_out)) return kInputError;
  take_left_out(left_out, predictions);
  take_sizes(left_out, sizes, scaling);
  add_reports(verb, sizes, std::move(predictions), scaling);
  if (!verb.run.quiet) tell_of_longest_shapes(scaling.reports);
  write_scaling(verb, scaling);
  return some_fits(scaling.reports) ? kDone : kInputError;
}

}  // namespace

void add_scale(CLI::App& app, int& exit_code) {
  CLI::App& verb =
      *app.add_subcommand("scale", "Run a scenario at several chip counts and report its scaling efficiency");
  const auto options = std::make_shared<ScaleVerb>();
  verb.add_option("FILE", options->files, "Scenario files; efficiency is to the first size of each")
      ->required();
  verb.add_option("--chips", options->chips, "Chip counts: 64..4096x2, 64..512+64 or 64,96,128")
      ->type_name("RANGE");
  verb.add_option("--slices", options->slices, "Numbers of slices of the same shape over the DCN: 1..32x2")
      ->type_name("RANGE");
  verb.add_flag("--weak", options->weak, "Keep the batch per chip, as without either; with --strong both");
  verb.add_flag("--strong", options->strong, "Keep the global batch");
  real_number(
      verb.add_option("--tokens", options->tokens,
                      "Tokens to be trained: the result then has days, MWh and USD, without failures"),
      kPlanTokens.least, kPlanTokens.most);
  verb.add_option(
          "--critical-batch", options->critical_batch,
          "Critical batch size in tokens, or a published law: kaplan (by the loss that model and tokens "
          "reach), deepseek (by the FLOPs of the run). --tokens are of the batch in FILE, and another "
          "batch takes as many as reach the same loss")
      ->type_name("TOKENS|kaplan|deepseek")
      ->check([](const std::string& text) -> std::string {
        const bool known = text == "kaplan" || text == "deepseek" || token_count(text);
        return known ? "" : "expected tokens from 1 to 1e18, kaplan or deepseek";
      });
  add_load_options(verb, options->load);
  add_run_options(verb, options->run);
  add_anchor_options(verb, options->anchor);
  add_anchor_step_option(verb, options->anchor);
  add_output_options(verb, options->output, report_formats());
  add_html_option(verb, options->run.html);
  add_color_option(verb, options->color);
  verb.add_flag("--svg", options->svg, "Draw the curve as SVG instead")->excludes("--format");
  verb.footer(
      "A size that the batch does not divide into takes the nearest batch that does, else another axis of "
      "the mesh\n"
      "halved or doubled, and says so.\n"
      "Examples:\n"
      "  podsim scale scenarios/llama3_70b_512_h100.textproto --chips 64..4096x2\n"
      "  podsim scale scenarios/llama3_70b_512_h100.textproto --chips 256,512,1024 --strong --format json\n"
      "  podsim scale scenarios/llama3_70b_512_h100.textproto --chips 256..1024x2 --weak --strong --html "
      "scale.html\n"
      "  podsim scale scenarios/llama3_70b_512_h100.textproto --chips 256,512 --set "
      "job.microbatch_sequences=1,2\n"
      "  podsim scale scenarios/llama3_70b_512_h100.textproto --chips 256,512,1024 --svg --out curve.svg\n"
      "  podsim scale scenarios/llama3_70b_512_h100.textproto --chips 448,512,576 --tokens 1e12\n"
      "  podsim scale scenarios/llama3_70b_512_h100.textproto --chips 512,1024 --tokens 1e12 "
      "--critical-batch kaplan\n"
      "  podsim scale scenarios/llama3_70b_512_h100.textproto scenarios/llama3_70b_512_v5p.textproto --chips "
      "512,1024 --tokens 1e12\n"
      "  podsim scale job.textproto --chips 256,1024 --anchor my_steps.csv\n"
      "  podsim scale scenarios/validation/maxtext-v5e-16b-2x256.textproto --slices 2..32x2");
  verb.callback([options, &exit_code] { exit_code = scale(*options); });
}

}  // namespace podsim
