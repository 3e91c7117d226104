// Joins cluster, model, layout and policies of a run.
#include "validation/run_scenario.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "engine/words.h"
#include "proto/catalog/chip_prices.h"
#include "proto/catalog/convert.h"
#include "proto/scenario/chosen_fabric.h"
#include "report/text/text.h"
#include "validation/mesh_text.h"
#include "validation/recompute_lists.h"
#include "validation/run_layout.h"
#include "validation/run_model.h"

namespace podsim {
namespace {

// Columns that rules fill from what a source says of software that a generic stack stands for.
constexpr const char* kSaidOfSoftware[] = {"attention_kernel", "tensor_overlap", "pipeline_overlap",
                                           "expert_exchange"};

class Writer {
 public:
  Writer(RunRow row, const std::vector<RunRule>& rules, const Catalog& catalog)
      : row_(std::move(row)), catalog_(catalog) {
    result_.measured_s = measured();
    result_.ready = is_ready();
    name_chip(rules);
    leave_to_own_stack_fields();
    assume(apply(rules, row_));
    name_as_catalogued("stack", Catalog::Section::kStacks);
    name_as_catalogued("fabric", Catalog::Section::kFabrics);
    if (row_.text("recompute_fields") == "lists")
      row_.set("recompute_fields", retention_fields(row_.text("recompute")));
  }

  RunScenario write() {
    describe();
    result_.skipped = missing_words();
    if (!result_.skipped.empty()) return std::move(result_);
    const auto fabric = fabric_of();
    if (!fabric) return std::move(result_);
    const RunLayout layout = run_layout(row_, fabric->torus.has_value());
    if (!layout.missing.empty()) return skip(layout.missing);
    const RunModel model = run_model(row_, catalog_, layout.tensor);
    if (!model.missing.empty()) return skip(model.missing);
    assume(layout.assumptions);
    assume(model.assumptions);
    contradict(*fabric);
    result_.model = model.name;
    result_.parallelism = layout.parallelism;
    result_.slices = layout.slices;
    const std::string network = fabric->gpu ? gpu_override(*fabric->gpu) : "";
    const std::string cluster = cluster_block(network, layout);
    result_.fields = network + stack_fields();
    for (const char* column : {"chip_fields", "model_fields", "adapters", "evaluation"})
      if (row_.has(column)) result_.fields += " " + row_.text(column);
    result_.text = header() + cluster + job_block(layout, model);
    return std::move(result_);
  }

 private:
  // Before the other rules, which look at the chip as the catalogue names it.
  void name_chip(const std::vector<RunRule>& rules) {
    std::vector<RunRule> of_chips;
    std::ranges::copy_if(rules, std::back_inserter(of_chips), [](const RunRule& rule) {
      return rule.sets == "chip" || rule.sets == "catalog_chip";
    });
    assume(podsim::apply(of_chips, row_));
    if (!row_.has("catalog_chip")) row_.set("catalog_chip", row_.text("chip"));
    name_as_catalogued("catalog_chip", Catalog::Section::kChips);
  }

  // A table that changes fields of its stack has said what its software does.
  void leave_to_own_stack_fields() {
    if (!row_.has("stack_fields")) return;
    for (const char* column : kSaidOfSoftware)
      if (!row_.has(column)) row_.set(column, "");
  }

  void name_as_catalogued(const char* column, Catalog::Section section) {
    if (!row_.has(column)) return;
    if (const auto name = catalog_.canonical(section, row_.text(column))) row_.set(column, *name);
  }

  void assume(const std::vector<std::string>& more) {
    result_.assumptions.insert(result_.assumptions.end(), more.begin(), more.end());
  }

  RunScenario skip(const std::string& why) {
    result_.skipped = why;
    return std::move(result_);
  }

  std::string model_or_shape() const {
    for (const char* column : {"model", "catalog_model"})
      if (row_.has(column)) return row_.text(column);
    return row_.text("layers") + "x" + row_.text("hidden") + "x" + row_.text("heads");
  }

  void describe() {
    result_.id = row_.text("id");
    result_.family = row_.text("family");
    result_.chip = row_.text("catalog_chip");
    if (const auto chip = catalog_chip(catalog_, result_.chip)) result_.chip_kind = chip->kind;
    result_.stack = row_.text("stack");
    result_.fabric = row_.text("fabric");
    result_.model = row_.text("model");
    result_.group = row_.has("group") ? row_.text("group") : result_.chip + " " + model_or_shape();
    result_.architecture = has_experts() ? "moe" : row_.text("arch") == "hybrid" ? "hybrid" : "dense";
    result_.precision = row_.text("matmul_precision");
    result_.chips = row_.whole("chips", 0);
    result_.sequence_tokens = row_.whole("seq_len", 0);
    result_.tokens_per_step =
        row_.number("global_batch_seqs").value_or(0) * row_.number("seq_len").value_or(0);
  }

  bool has_experts() const {
    if (row_.has("n_experts") || !row_.has("catalog_model")) return row_.whole("n_experts", 0) > 0;
    const auto entry = catalog_.model(row_.text("catalog_model"));
    return entry && entry->experts.has_value() && row_.text("arch").empty();
  }

  std::optional<double> measured() const {
    if (const auto seconds = row_.number("step_time_s")) return seconds;
    if (const auto milliseconds = row_.number("step_time_ms")) return *milliseconds * 1e-3;
    const auto rate = row_.number("tok_s_gpu"), batch = row_.number("global_batch_seqs"),
               sequence = row_.number("seq_len"), chips = row_.number("chips");
    if (!rate || !batch || !sequence || !chips || *rate <= 0 || *chips <= 0) return std::nullopt;
    return *batch * *sequence / (*rate * *chips);
  }

  // A table may say it of each row; otherwise a row that states a step time and how it was run is ready.
  bool is_ready() const {
    if (row_.has("sim_ready")) return row_.whole("sim_ready", 0) == 1;
    const std::string kind = row_.text("quantity_kind");
    const bool laid_out = row_.has("tp") || row_.has("dp") || row_.has("dp_sharding") ||
                          !axis_sizes(row_.text("sharding_ici")).empty();
    return result_.measured_s && (row_.has("layers") || row_.has("catalog_model")) && laid_out &&
           (kind.empty() || kind == "step" || kind == "block");
  }

  std::string missing_words() const {
    if (row_.has("not_simulated")) return row_.text("not_simulated");
    if (result_.chips < 1) return "no number of chips";
    if (row_.whole("global_batch_seqs", 0) < 1) return "no batch";
    if (row_.whole("seq_len", 0) < 1) return "no sequence length";
    for (const char* column : {"catalog_chip", "stack", "fabric"})
      if (!row_.has(column))
        return std::string("no rule gives a ") + column + " for chip \"" + row_.text("chip") +
               "\": add a column of that name";
    if (!row_.has("matmul_precision")) return "precision \"" + row_.text("precision") + "\" is not known";
    if (!row_.has("recompute_fields")) return "recompute \"" + row_.text("recompute") + "\" is not known";
    return "";
  }

  std::optional<FabricSpec> fabric_of() {
    auto [spec, problems] = chosen_fabric(catalog_, {row_.text("fabric"), 1, {}, 1, false});
    if (!spec)
      result_.skipped =
          problems.at(0).message + (problems.at(0).hint.empty() ? "" : "; " + problems.at(0).hint);
    return spec;
  }

  // Columns that say otherwise than what they are simulated as; where the row says nothing there is nothing
  // to tell. Weights are compared when they are counted (PredictedRun).
  void contradict(const FabricSpec& fabric) {
    const int stated = row_.whole("gpus_per_node", 0);
    if (fabric.gpu && stated > 0 &&
        std::min(stated, result_.chips) != std::min(fabric.chips_per_host, result_.chips))
      result_.contradictions.push_back(row_.problem_at(
          "gpus_per_node",
          row_.text("id") + ": gpus_per_node is " + std::to_string(stated) + ", and a server of " +
              row_.text("fabric") + " has " + std::to_string(fabric.chips_per_host) + " GPUs",
          "the row is simulated on the latter; a column fabric names another one"));
    if (const auto billions = row_.number("params_total_b"); billions && *billions > 0)
      result_.weights = StatedWeights{*billions * 1e9, row_.problem_at("params_total_b", "", "")};
    contradict_model();
  }

  // Of a model that is named in catalog_model, which has its shape.
  void contradict_model() {
    const auto entry = row_.has("catalog_model") && !row_.has("model_fields")
                           ? catalog_.model(row_.text("catalog_model"))
                           : std::nullopt;
    if (!entry || entry->layers == 0) return;
    for (const auto& [column, has] : {std::pair("layers", entry->layers),
                                      {"hidden", entry->d_model},
                                      {"heads", entry->heads},
                                      {"n_experts", entry->experts ? entry->experts->experts : 0}}) {
      const int stated = row_.whole(column, has);
      if (stated != has)
        result_.contradictions.push_back(row_.problem_at(
            column,
            row_.text("id") + ": " + column + " is " + std::to_string(stated) + ", and " + entry->name +
                " has " + std::to_string(has),
            "the row is simulated as the latter; without catalog_model its columns are read"));
    }
  }

  // NVLink domains are as large as stated, or as the largest part of that which divides the GPUs into whole
  // servers: 64 of the 72 of a rack.
  int domain(const GpuClusterSpec& gpu) {
    const int stated = row_.whole("nvlink_domain_gpus", gpu.gpus_per_domain);
    if (result_.chips <= stated || result_.chips % stated == 0) return stated;
    const int node = row_.whole("gpus_per_node", 1);
    for (int size = stated - 1; size > 1; --size) {
      if (result_.chips % size != 0 || size % node != 0) continue;
      assume({std::to_string(size) + " of the " + std::to_string(stated) +
              " GPUs of an NVLink domain are used"});
      return size;
    }
    return stated;
  }

  std::string gpu_override(const GpuClusterSpec& gpu) {
    std::string changes;
    const int size = domain(gpu);
    if (size != gpu.gpus_per_domain) changes += " gpus_per_domain: " + std::to_string(size);
    const auto gigabits = row_.number("nic_gbps_per_gpu");
    if (gigabits && std::abs(*gigabits / 8 - gpu.nic.bandwidth.value * 1e-9) > 1e-6)
      changes += " nic { bandwidth_gb_per_s: " + shortest(*gigabits / 8) + " }";
    if (!gigabits) assume({"the NIC is not stated, that of " + row_.text("fabric") + " assumed"});
    return changes.empty() ? "" : "  fabric_override { gpu_cluster {" + changes + " } }\n";
  }

  std::string cluster_block(const std::string& network, const RunLayout& layout) {
    std::string text = "cluster {\n  chip: \"" + row_.text("catalog_chip") + "\"\n";
    if (row_.has("chip_fields")) text += "  chip_override { " + row_.text("chip_fields") + " }\n";
    // A step time needs no price.
    if (!has_price(catalog_, "list_2026", row_.text("catalog_chip"))) text += "  usd_per_chip_hour: 0\n";
    if (layout.slice.empty()) text += "  chips: " + std::to_string(result_.chips) + "\n";
    text += "  fabric: \"" + row_.text("fabric") + "\"\n";
    text += network;
    if (!layout.slice.empty()) text += "  slice_shape: [" + separated_numbers(layout.slice, ", ") + "]\n";
    if (layout.slices > 1) text += "  slices: " + std::to_string(layout.slices) + "\n";
    return text + "}\n";
  }

  std::string job_block(const RunLayout& layout, const RunModel& model) const {
    std::string text = "job {\n" + model.lines + "  stack: \"" + row_.text("stack") + "\"\n";
    if (const std::string fields = stack_fields(); !fields.empty())
      text += "  stack_override {" + fields + " }\n";
    text += layout.lines + "  precision: " + row_.text("matmul_precision") + "\n";
    if (row_.has("adapters")) text += "  adapters { " + row_.text("adapters") + " }\n";
    if (row_.has("evaluation")) text += "  evaluation { " + row_.text("evaluation") + " }\n";
    return text + "  " + row_.text("recompute_fields") + "\n}\n";
  }

  std::string stack_fields() const {
    std::string fields;
    const std::string kernel = row_.text("attention_kernel");
    if (!kernel.empty()) fields += " attention_kernel: \"" + kernel + "\"";
    for (const char* column : {"stack_fields", "tensor_overlap", "pipeline_overlap", "expert_exchange"})
      if (!row_.text(column).empty()) fields += " " + row_.text(column);
    return fields;
  }

  std::string header() const {
    const std::string what = result_.model + " on " + std::to_string(result_.chips) + " " + result_.chip;
    std::string text = "# " + what + ".\n# row: " + result_.id + "\n";
    if (result_.measured_s) text += "# measured_step_time_s: " + shortest(*result_.measured_s) + "\n";
    if (row_.has("source"))
      text += "# source: " + row_.text("source") +
              (row_.has("source_ref") ? "; " + row_.text("source_ref") : "") + "\n";
    const std::string assumptions = separated(result_.assumptions, "; ");
    text += "# assumptions: " + (assumptions.empty() ? "none" : assumptions) + "\n";
    return text + "question: \"How near is the simulated step of " + what + " to the measured one?\"\n";
  }

  RunRow row_;
  const Catalog& catalog_;
  RunScenario result_;
};

}  // namespace

RunScenario run_scenario(RunRow row, const std::vector<RunRule>& rules, const Catalog& catalog) {
  return Writer(std::move(row), rules, catalog).write();
}

}  // namespace podsim
