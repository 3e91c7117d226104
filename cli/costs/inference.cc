// podsim inference: what a cluster serves of a model, by rooflines.
#include "cli/costs/inference.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "cli/costs/verbs.h"
#include "cli/options/numbers.h"
#include "cli/options/options.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "proto/catalog/owning_tables.h"
#include "proto/writing/figure_json.h"
#include "proto/writing/result_json.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

struct InferenceVerb {
  std::string file;
  InferenceOptions options;
  LoadOptions load;
  OutputOptions output;
};

constexpr Dtype kServed[] = {Dtype::kFp8, Dtype::kInt8, Dtype::kBf16, Dtype::kFp16};

std::optional<Dtype> weights_of(const std::string& name, const Chip& chip) {
  for (const auto& [dtype, rate] : chip.matmul)
    if (to_string(dtype) == name) return dtype;
  for (const Dtype dtype : kServed)
    if (name.empty() && chip.matmul.contains(dtype)) return dtype;
  std::string known;
  for (const auto& [dtype, rate] : chip.matmul)
    known += (known.empty() ? "" : ", ") + std::string(to_string(dtype));
  spdlog::error("--weights \"{}\": {} computes {}", name, chip.name, known);
  return std::nullopt;
}

bool makes_tokens(const Spec& spec) {
  const Model& model = spec.job.model;
  const bool transformer = !spec.job.program && !spec.job.measured && model.layers > 0 && model.causal &&
                           !model.vision && !model.masked && !model.decoder;
  if (!transformer) spdlog::error("{} has no model that makes one token after the other", spec.name);
  return transformer;
}

std::string bound_by(bool compute) { return compute ? "matrix units" : "memory bandwidth"; }

std::string inference_table(const InferenceReport& report) {
  const std::vector<std::vector<std::string>> rows = {
      {"of a replica of " + std::to_string(report.tensor) + " chips", ""},
      {"weights, GiB per chip", fixed(report.weight_gib_per_chip, 2)},
      {"cache, KiB per token", fixed(report.kv_kib_per_token, 1)},
      {"cache, GiB per chip", fixed(report.kv_gib_per_chip, 2)},
      {"sequences under way", std::to_string(report.sequences)},
      {"sequences that fit", std::to_string(report.sequences_that_fit)},
      {"prefill of a prompt, ms", fixed(report.prefill_s * 1e3, 2)},
      {"step of decode, ms", fixed(report.decode_step_s * 1e3, 2)},
      {"  of it among the chips, ms", fixed(report.decode_communication_s * 1e3, 2)},
      {"ms per token, prompts of others included", fixed(report.ms_per_token, 2)}};
  return report.scenario + ": " + report.model + " served by " + significant(report.chips, 1) + " " +
         report.chip + " in " + significant(report.replicas, 1) + " replicas\n\n" + align(rows) + "\n" +
         "Output tokens per second: " + significant(report.output_tokens_per_s, 4) + ", " +
         significant(report.output_tokens_per_s / report.chips, 4) + " per chip; " +
         significant(report.usd_per_million_tokens, 3) + " USD per million of them, " +
         significant(report.j_per_token, 3) + " J each" +
         (report.kg_per_million_tokens
              ? ", " + significant(*report.kg_per_million_tokens, 3) + " kg CO2e per million"
              : "") +
         ".\nPrefill is bound by " + bound_by(report.prefill_by_compute) + ", decode by " +
         bound_by(report.decode_by_compute) +
         ".\nAn estimate by rooflines: replicas are always full, all prompts and answers are of the lengths "
         "asked, nothing is cached between requests, drafted ahead, or split into prefill and decode "
         "chips.\n";
}

std::string inference_json(const InferenceReport& report, const std::string& sha256) {
  std::vector<Figure> parts = {{"scenario", report.scenario},
                               {"model", report.model},
                               {"chip", report.chip},
                               {"chips", report.chips},
                               {"tensor", report.tensor},
                               {"replicas", report.replicas},
                               {"sequences", report.sequences},
                               {"sequences_that_fit", report.sequences_that_fit},
                               {"weight_gib_per_chip", report.weight_gib_per_chip},
                               {"kv_gib_per_chip", report.kv_gib_per_chip},
                               {"kv_kib_per_token", report.kv_kib_per_token},
                               {"prefill_s", report.prefill_s},
                               {"decode_step_s", report.decode_step_s},
                               {"decode_communication_s", report.decode_communication_s},
                               {"ms_per_token", report.ms_per_token},
                               {"output_tokens_per_s", report.output_tokens_per_s},
                               {"usd_per_million_tokens", report.usd_per_million_tokens},
                               {"j_per_token", report.j_per_token}};
  if (report.kg_per_million_tokens)
    parts.emplace_back("carbon_kg_per_million_tokens", *report.kg_per_million_tokens);
  return json_text(result_figure(sha256, std::move(parts)), JsonNumbers::kWithPoint);
}

int inference(const InferenceVerb& verb) {
  const auto specs = load_scenarios({verb.file}, verb.load);
  if (!specs || !have_one_job(*specs, "inference")) return kInputError;
  int exit_code = kDone;
  const auto report = inference_of(specs->front(), verb.options, exit_code);
  if (!report) return exit_code;
  const std::string words = "inference " + inference_words(verb.options);
  emit(verb.output.format == "json" ? inference_json(*report, question_sha256(words, {specs->front().sha256}))
                                    : inference_table(*report),
       verb.output.out);
  return kDone;
}

}  // namespace

void add_inference_options(CLI::App& verb, InferenceOptions& options) {
  constexpr int kMostTokens = 10'000'000, kMostSequences = 1'000'000;
  whole_number(
      verb.add_option("--prompt", options.prompt_tokens, "Tokens of a prompt")->capture_default_str(), 1,
      kMostTokens);
  whole_number(
      verb.add_option("--output", options.output_tokens, "Tokens of an answer")->capture_default_str(), 1,
      kMostTokens);
  verb.add_option("--weights", options.weights,
                  "Format of weights and matmuls: fp8, bf16, ...; missing = 8 bits where the chip has them")
      ->type_name("FORMAT");
  real_number(verb.add_option("--kv-bytes", options.kv_bytes,
                              "Bytes of an element of a key or value; missing = as the weights, 1 at least"),
              0.25, 4.0);
  whole_number(
      verb.add_option("--tensor", options.tensor,
                      "Chips of a replica, which divide the model's heads and widths; missing = those that "
                      "serve most tokens per chip"),
      1, kMostSequences);
  whole_number(verb.add_option("--sequences", options.sequences,
                               "Under way in a replica; missing = the most that fit"),
               1, kMostSequences);
  real_number(verb.add_option("--most-ms", options.most_ms_per_token,
                              "Mean time of a token of an answer: fewer sequences then, if need be"),
              0.001, 1e6);
  real_number(verb.add_option("--reached", options.reached,
                              "Share of the rooflines that servers reach; missing = as of MLPerf Inference "
                              "(scenarios/economics/terms.csv)"),
              0.01, 1.0);
}

std::string inference_words(const InferenceOptions& options) {
  std::string words = "--prompt " + std::to_string(options.prompt_tokens) + " --output " +
                      std::to_string(options.output_tokens) + " --weights [" + options.weights + "]" +
                      " --most-ms " + shortest(options.most_ms_per_token);
  if (options.kv_bytes) words += " --kv-bytes " + shortest(*options.kv_bytes);
  if (options.reached) words += " --reached " + shortest(*options.reached);
  if (options.tensor) words += " --tensor " + std::to_string(*options.tensor);
  if (options.sequences) words += " --sequences " + std::to_string(*options.sequences);
  return words;
}

std::optional<InferenceReport> inference_of(const Spec& spec, const InferenceOptions& options,
                                            int& exit_code) {
  exit_code = kInputError;
  const auto weights = weights_of(options.weights, spec.cluster.chip);
  if (!weights || !makes_tokens(spec)) return std::nullopt;
  if (!spec.adversities.none())
    spdlog::warn("{}: adversity has no effect: inference takes chips and links to be as they should",
                 spec.name);
  InferenceQuestion question;
  question.name = spec.name;
  question.cluster = spec.cluster;
  question.job = spec.job;
  question.prompt_tokens = options.prompt_tokens;
  question.output_tokens = options.output_tokens;
  question.weights = *weights;
  question.kv_bytes = options.kv_bytes.value_or(std::max(1.0, bytes_per_element(*weights)));
  question.tensor = options.tensor;
  question.sequences = options.sequences;
  question.most_ms_per_token = options.most_ms_per_token;
  const ServingTerms terms = usual_serving();
  question.memory_share = terms.memory_share;
  question.activation_bytes = terms.activation_bytes;
  question.reached = options.reached.value_or(terms.share);
  if (const std::string invalid = explain_invalid(question); !invalid.empty()) {
    spdlog::error("--tensor: {}: {}", spec.name, invalid);
    return std::nullopt;
  }
  std::string why;
  const auto report = estimate_inference(question, why);
  exit_code = report ? kDone : kInfeasible;
  if (!report) spdlog::error("{}: {}", spec.name, why);
  if (const std::int64_t used = report ? report->replicas * report->tensor : 0;
      report && used < report->chips)
    spdlog::warn("{}: {} of {} chips are in no replica: none of {} chips has room in its domain", spec.name,
                 report->chips - used, report->chips, report->tensor);
  return report;
}

void add_inference(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "inference", "Estimate what a cluster serves of a model: prefill, decode, cache, tokens per second");
  const auto options = std::make_shared<InferenceVerb>();
  verb.add_option("FILE", options->file,
                  "Scenario file: its cluster and model; mesh and batch of its training are not read")
      ->required();
  add_inference_options(verb, options->options);
  add_load_options(verb, options->load);
  add_output_options(verb, options->output, {"table", "json"});
  verb.footer(
      "What is left out, and how near it is to MLPerf Inference: docs/theory/inference.md.\n"
      "Examples:\n"
      "  podsim inference scenarios/inference/llama2_70b_8_h100.textproto --prompt 294 --output 294\n"
      "  podsim inference scenarios/inference/llama2_70b_8_h100.textproto --most-ms 50 --format json");
  verb.callback([options, &exit_code] { exit_code = inference(*options); });
}

}  // namespace podsim
