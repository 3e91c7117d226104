// podsim scale: one scenario at several chip counts, and how well it scales.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/anchored.h"
#include "cli/app.h"
#include "cli/batch.h"
#include "cli/figure_columns.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/page_output.h"
#include "cli/render.h"
#include "cli/sweep.h"
#include "cli/terminal.h"
#include "cli/verb_pages.h"
#include "cli/verbs.h"
#include "cli/whole_run.h"
#include "economics/critical_batch.h"
#include "prediction/rescale.h"
#include "proto/catalog/owning_tables.h"
#include "proto/text/quantities.h"
#include "proto/writing/result_json.h"
#include "proto/writing/write.h"
#include "report/pictures/svg.h"
#include "report/text.h"
#include "report/write.h"
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

// Throughput per chip over that of the first chip count: 1 = perfect.
double efficiency(const Report& report, const Report& first) {
  return report.tokens_per_s_per_chip / first.tokens_per_s_per_chip;
}

// Reports of one setting stand together; their efficiency is to the first of them.
struct Scaling {
  std::vector<Report> reports = {};
  Settings settings;                    // [report]
  std::vector<std::size_t> first = {};  // [report] the first of its setting
  std::vector<BatchCut> cuts = {};      // [report]
  std::vector<double> tokens = {};      // [report] to be trained; empty where nobody says
  std::vector<Price> prices = {};       // [report]
  std::vector<bool> strong = {};        // [report]
  bool several_files = false, both_ways = false;

  const char* way_of(std::size_t i) const { return strong[i] ? "strong" : "weak"; }

  // "strong, job.recompute=full", or the scenario's name where there are several files.
  std::string of(std::size_t i) const {
    std::string text = several_files    ? reports[i].scenario
                       : settings.any() ? settings_text(settings.paths, settings.values[i])
                                        : "";
    if (both_ways) text = way_of(i) + std::string(text.empty() ? "" : ", ") + text;
    return text;
  }

  // What tells the reports apart: the settings, and how they scale where they do both ways.
  Settings columns() const {
    Settings all = settings;
    if (!both_ways) return all;
    all.paths.insert(all.paths.begin(), "scaling");
    for (std::size_t i = 0; i < reports.size(); ++i) all.values[i].insert(all.values[i].begin(), way_of(i));
    return all;
  }
  std::optional<WholeRun> run_of(std::size_t i) const {
    if (tokens.empty()) return std::nullopt;
    return whole_run(reports[i], prices[i], tokens[i]);
  }
  double efficiency_of(std::size_t i) const { return efficiency(reports[i], reports[first[i]]); }
};

BatchCut batch_cut(const Spec& spec) {
  return {microbatches(spec.job), pipeline_shape(spec.job).stages,
          static_cast<double>(spec.job.global_batch) / spec.cluster.fabric.chips};
}

// "From 64 to 512 chips the throughput per chip becomes 93.1% of what it was.", for each setting.
std::string verdict(const Scaling& scaling) {
  std::string text;
  for (std::size_t i = 0; i < scaling.reports.size(); ++i) {
    if (i + 1 < scaling.reports.size() && scaling.first[i + 1] == scaling.first[i]) continue;
    const std::string of = scaling.of(i);
    if (!of.empty()) text += of + ": ";
    text += "From " + std::to_string(scaling.reports[scaling.first[i]].chips) + " to " +
            std::to_string(scaling.reports[i].chips) + " chips the throughput per chip becomes " +
            percent(scaling.efficiency_of(i)) + " of what it was.\n";
  }
  return text;
}

// What a size draws and costs: the error band of the step, power and energy; with a number of tokens days,
// energy and dollars of the whole run, without failures.
std::vector<std::string> cost_headings(bool whole_run, bool with_carbon) {
  std::vector<std::string> headings = {"step s, 8 of 10", "kW", "J/token", "tokens/J"};
  if (whole_run) headings.insert(headings.end(), {"Gtokens", "days", "MWh", "USD"});
  if (whole_run && with_carbon) headings.emplace_back("t CO2e");
  return headings;
}

std::vector<std::string> cost_cells(const Report& report, const std::optional<WholeRun>& run) {
  std::vector<std::string> cells = {
      report.band ? fixed(report.band->low.in_seconds(), 3) + "-" + fixed(report.band->high.in_seconds(), 3)
                  : "-",
      significant(report.power_kw, 4), significant(report.energy_j_per_token, 4),
      significant(1 / report.energy_j_per_token, 3)};
  if (!run) return cells;
  for (const double value : {run->tokens / 1e9, run->days, run->mwh, run->usd})
    cells.push_back(significant(value, 4));
  if (run->carbon_t) cells.push_back(significant(*run->carbon_t, 4));
  return cells;
}

// What stays the same while chips are added.
std::string what_is_kept(const Scaling& scaling) {
  constexpr const char* kWeak = "weak scaling, the same batch per chip";
  constexpr const char* kStrong = "strong scaling, the same global batch";
  if (scaling.both_ways) return kWeak + std::string("; ") + kStrong;
  return scaling.strong.front() ? kStrong : kWeak;
}

std::string scale_table(const Scaling& scaling) {
  const bool to_tokens = !scaling.tokens.empty();
  std::vector<std::vector<std::string>> rows = figure_rows(scaling.reports);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    constexpr int kAfterThroughput = 3;
    rows[row].insert(rows[row].begin() + kAfterThroughput,
                     row == 0 ? "efficiency" : percent(scaling.efficiency_of(row - 1)));
    const std::vector<std::string> more =
        row == 0 ? cost_headings(to_tokens, scaling.reports[0].carbon.has_value())
                 : cost_cells(scaling.reports[row - 1], scaling.run_of(row - 1));
    rows[row].insert(rows[row].end(), more.begin(), more.end());
    rows[row].insert(rows[row].begin(), row == 0 ? "chips" : std::to_string(scaling.reports[row - 1].chips));
  }
  scaling.columns().add_to_table(rows);
  for (std::size_t row = 0; scaling.several_files && row < rows.size(); ++row)
    rows[row].insert(
        rows[row].begin(),
        row == 0 ? "scenario" : scaling.settings.unset(scaling.reports[row - 1].scenario, row - 1));
  const std::string title =
      scaling.several_files ? "several scenarios" : scaling.settings.unset(scaling.reports[0].scenario, 0);
  return title + ": " + what_is_kept(scaling) + "\n\n" + align(rows) + "\n" + verdict(scaling);
}

std::string scale_json(const Scaling& scaling) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < scaling.reports.size(); ++i) {
    auto json = nlohmann::ordered_json::parse(report_json(scaling.reports[i]));
    json["scaling"] = scaling.way_of(i);
    json["scaling_efficiency"] = scaling.efficiency_of(i);
    json["microbatches"] = scaling.cuts[i].microbatches;
    json["pipeline_stages"] = scaling.cuts[i].stages;
    json["sequences_per_chip"] = scaling.cuts[i].sequences_per_chip;
    if (const auto run = scaling.run_of(i)) {
      json["whole_run"] = {
          {"tokens", run->tokens}, {"days", run->days}, {"energy_mwh", run->mwh}, {"cost_usd", run->usd}};
      if (run->carbon_t) json["whole_run"]["carbon_t"] = *run->carbon_t;
    }
    values.push_back(scaling.settings.added_to_json(json.dump(2), i));
  }
  return json_array(values);
}

Page page_of(const Scaling& scaling) {
  std::vector<ScalePoint> points;
  for (std::size_t i = 0; i < scaling.reports.size(); ++i)
    points.push_back({&scaling.reports[i], scaling.efficiency_of(i), scaling.cuts[i], scaling.of(i)});
  return scale_page(points, scale_json(scaling), verdict(scaling));
}

std::string written(const Scaling& scaling, const ScaleVerb& verb) {
  const std::string& format = verb.output.format;
  if (format == "table") return scale_table(scaling);
  if (format == "json") return scale_json(scaling);
  const std::string text = render(scaling.reports, format);
  return format == "csv" ? scaling.columns().added_to_csv(text) : text;
}

using Rescale = std::string (*)(Spec&, int, bool, std::string& changed);

std::string rescale_whole_slices(Spec& spec, int slices, bool strong, std::string&) {
  return rescale_slices(spec, slices, strong);
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
std::optional<double> token_count(const std::string& text) { return number_between(text, 1, 1e18); }

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

int scale(const ScaleVerb& verb) {
  if (verb.run.quiet) spdlog::set_level(spdlog::level::err);
  const bool by_slices = !verb.slices.empty();
  if (by_slices == !verb.chips.empty()) {
    spdlog::error("scale needs --chips or --slices, one of them");
    return kInputError;
  }
  const std::string& range = by_slices ? verb.slices : verb.chips;
  const char* unit = by_slices ? "slices" : "chips";
  const auto counts = parse_count_range(range);
  if (!counts) {
    spdlog::error(
        "--{} \"{}\": expected a range such as 64..4096x2 or 64..512+64, or a list such as 64,96,128", unit,
        range);
    return kInputError;
  }
  const auto swept = load_swept(verb.files, verb.load);
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
  std::vector<Spec> specs;
  std::vector<int> own_batches;  // [spec] sequences, of the scenario that it is a size of
  for (std::size_t i = 0; i < swept->things.size(); ++i) {
    for (const bool strong : scaling.both_ways ? std::vector{false, true} : std::vector{verb.strong}) {
      const std::vector<Spec> sizes = specs_at(swept->things[i], *counts, unit,
                                               by_slices ? rescale_whole_slices : rescale_nearly, strong);
      scaling.first.insert(scaling.first.end(), sizes.size(), specs.size());
      scaling.strong.insert(scaling.strong.end(), sizes.size(), strong);
      scaling.settings.values.insert(scaling.settings.values.end(), sizes.size(), swept->settings.values[i]);
      specs.insert(specs.end(), sizes.begin(), sizes.end());
      own_batches.insert(own_batches.end(), sizes.size(), swept->things[i].job.global_batch);
    }
  }
  if (!tells_scaling(specs, swept->things.front(), counts->size())) {
    spdlog::error("{} can run at none of these numbers of {}{}", swept->things.front().name, unit,
                  specs.empty() ? "" : " but its own");
    return kInputError;
  }
  for (Prediction& prediction : predict_anchored(specs, *anchor, verb.run))
    scaling.reports.push_back(std::move(prediction.report));
  if (!verb.run.quiet) tell_of_longest_shapes(scaling.reports);
  for (const Spec& spec : specs) {
    scaling.cuts.push_back(batch_cut(spec));
    scaling.prices.push_back(spec.cluster.price);
  }
  for (std::size_t i = 0; verb.tokens && i < specs.size(); ++i) {
    const Report& report = scaling.reports[i];
    scaling.tokens.push_back(
        tokens_to_train(verb, report, report.tokens_per_step * own_batches[i] / specs[i].job.global_batch));
  }
  if (!verb.run.html.empty()) write_page(page_of(scaling), PageSources{verb.files, verb.load}, verb.run.html);
  const auto curve = [&] { return page_of(scaling).panels.front().pictures.front(); };
  emit(verb.svg ? svg_file(curve()) : written(scaling, verb), verb.output.out);
  const bool table = !verb.svg && verb.output.format == "table" && verb.output.out.empty();
  if (table && scaling.reports.size() > 1 && draws_plots(verb.color)) emit_plot(curve(), verb.color);
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
      1, 1e18);
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
  verb.add_flag("--svg", options->svg, "Draw the curve as SVG instead");
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
