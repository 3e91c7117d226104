// podsim scale: one scenario at several chip counts, and how well it scales.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/app.h"
#include "cli/batch.h"
#include "cli/output.h"
#include "cli/quantities.h"
#include "cli/render.h"
#include "cli/verbs.h"
#include "proto/result_json.h"
#include "proto/write.h"
#include "report/ensemble_text.h"
#include "report/text.h"
#include "report/write.h"

namespace podsim {
namespace {

struct ScaleVerb {
  std::string file;
  std::string chips, slices;  // one of them
  bool strong = false;
  LoadOptions load;
  RunOptions run;
  OutputOptions output;
};

// Throughput per chip over that of the first chip count: 1 = perfect.
double efficiency(const Report& report, const Report& first) {
  return report.tokens_per_s_per_chip / first.tokens_per_s_per_chip;
}

double share(Time part, const Report& report) { return part.in_seconds() / report.step_time.in_seconds(); }

std::string scale_table(std::span<const Report> reports, bool strong) {
  std::vector<std::vector<std::string>> rows = {{"chips", "step s", "tokens/s", "tokens/s/chip", "efficiency",
                                                 "MFU causal", "exposed comm", "bubble", "stragglers",
                                                 "USD/Mtoken", "fits"}};
  const bool ensembles = reports[0].ensemble.has_value();
  if (ensembles) rows[0].insert(rows[0].end(), {"step s, 95 % confidence", "p99 s"});
  for (const Report& report : reports) {
    rows.push_back(
        {std::to_string(report.chips), fixed(report.step_time.in_seconds(), 4),
         significant(report.tokens_per_s, 4), significant(report.tokens_per_s_per_chip, 4),
         percent(efficiency(report, reports[0])), report.knows_flops() ? percent(report.mfu_causal) : "-",
         percent(share(report.exposed_communication, report)), percent(share(report.pipeline_bubble, report)),
         percent(share(report.straggler_delay, report)), fixed(report.cost_usd_per_million_tokens, 4),
         fits_text(report)});
    if (ensembles)
      rows.back().insert(rows.back().end(),
                         {interval_text(report.ensemble->mean), fixed(report.step_time_p99.in_seconds(), 4)});
  }
  const Report& last = reports.back();
  return reports[0].scenario +
         (strong ? ": strong scaling, the same global batch" : ": weak scaling, the same batch per chip") +
         "\n\n" + align(rows) + "\nFrom " + std::to_string(reports[0].chips) + " to " +
         std::to_string(last.chips) + " chips the throughput per chip becomes " +
         percent(efficiency(last, reports[0])) + " of what it was.\n";
}

std::string scale_json(std::span<const Report> reports) {
  std::vector<std::string> values;
  for (const Report& report : reports) {
    auto json = nlohmann::ordered_json::parse(report_json(report));
    json["scaling_efficiency"] = efficiency(report, reports[0]);
    values.push_back(json.dump(2));
  }
  return json_array(values);
}

using Rescale = std::string (*)(Spec&, int, bool);

// The spec at each count of chips, or of slices, that the job can have; the others are told and left out.
std::vector<Spec> specs_at(const Spec& spec, const std::vector<std::int64_t>& counts, const char* unit,
                           Rescale rescale_to, bool strong) {
  std::vector<Spec> specs;
  for (const std::int64_t count : counts) {
    Spec scaled = spec;
    const std::string obstacle = count > INT32_MAX ? "too many " + std::string(unit)
                                                   : rescale_to(scaled, static_cast<int>(count), strong);
    if (obstacle.empty()) {
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
  const auto loaded = load_scenarios({verb.file}, verb.load);
  if (!loaded || !have_one_job(*loaded, "scale")) return kInputError;
  const std::vector<Spec> specs =
      specs_at(loaded->front(), *counts, unit, by_slices ? rescale_slices : rescale, verb.strong);
  if (!tells_scaling(specs, loaded->front(), counts->size())) {
    spdlog::error("{} can run at none of these numbers of {}{}", loaded->front().name, unit,
                  specs.empty() ? "" : " but its own");
    return kInputError;
  }
  std::vector<Report> reports;
  for (Prediction& prediction : predict_all(specs, verb.run)) reports.push_back(std::move(prediction.report));
  const std::string& format = verb.output.format;
  emit(format == "table"  ? scale_table(reports, verb.strong)
       : format == "json" ? scale_json(reports)
                          : render(reports, format),
       verb.output.out);
  return kDone;
}

}  // namespace

void add_scale(CLI::App& app, int& exit_code) {
  CLI::App& verb =
      *app.add_subcommand("scale", "Run a scenario at several chip counts and report its scaling efficiency");
  const auto options = std::make_shared<ScaleVerb>();
  verb.add_option("FILE", options->file, "Scenario file")->required();
  verb.add_option("--chips", options->chips, "Chip counts: 64..4096x2, 64..512+64 or 64,96,128")
      ->type_name("RANGE");
  verb.add_option("--slices", options->slices, "Numbers of slices of the same shape over the DCN: 1..32x2")
      ->type_name("RANGE");
  verb.add_flag("--strong", options->strong, "Keep the global batch; otherwise the batch per chip stays");
  add_load_options(verb, options->load);
  add_run_options(verb, options->run);
  add_output_options(verb, options->output, report_formats());
  verb.footer(
      "Examples:\n"
      "  podsim scale scenarios/llama3_70b_512_h100.textproto --chips 64..4096x2\n"
      "  podsim scale scenarios/llama3_70b_512_h100.textproto --chips 256,512,1024 --strong --format json\n"
      "  podsim scale scenarios/validation/maxtext-v5e-16b-2x256.textproto --slices 2..32x2");
  verb.callback([options, &exit_code] { exit_code = scale(*options); });
}

}  // namespace podsim
