// The example of the report's tests.
#include "tests/report/example.h"

#include "engine/binary_units.h"
#include "report/summary/summarize.h"

namespace podsim {
namespace {

Time seconds(double s) { return Time::seconds(s); }

}  // namespace

Spec example_spec() {
  Spec spec;
  spec.name = "example";
  spec.question = "How long is a step?";
  spec.cluster.chip.name = "chip_a";
  spec.cluster.chip.matmul[Dtype::kBf16].peak = {100e12};
  spec.cluster.chip.matmul[Dtype::kFp8].peak = {200e12};
  spec.cluster.chip.hbm_capacity = {80 * kBytesPerGib};
  spec.cluster.chip.power_idle_w = 100;
  spec.cluster.chip.power_busy_w = 500;
  spec.cluster.chip.power_waiting_share = 0.5;
  spec.cluster.chip.power_overhead_w = 50;
  spec.cluster.chip.power_range = 0.1;
  spec.cluster.fabric.name = "fabric_a";
  spec.cluster.fabric.chips = 4;
  spec.cluster.price.name = "list";
  spec.cluster.price.term = "on_demand";
  spec.cluster.price.usd_per_chip_hour = 2.0;
  spec.job.model.name = "model_a";
  spec.job.stack.name = "stack_a";
  return spec;
}

StepProgram example_program() {
  StepProgram program;
  MemoryUse light, heavy;
  light.weights = {10 * kBytesPerGib};
  heavy.weights = {20 * kBytesPerGib};
  heavy.activations = {15 * kBytesPerGib};
  heavy.fragmentation = {5 * kBytesPerGib};
  program.memory = {light, heavy};
  program.tokens = 1000;
  program.parameters = 7e9;
  program.flops_per_token.causal = {1e12};
  program.flops_per_token.full = {1.2e12};
  program.flops_per_token.hardware = {1.5e12};
  return program;
}

Timeline example_timeline() {
  Timeline timeline;
  timeline.step_end = {seconds(10)};
  timeline.communication = {{"tensor", "all-gather", "ring", {64 * kBytesPerMib}},
                            {"data", "reduce-scatter", "hierarchical", {3 * kBytesPerGib}}};
  ChipTotals chips;
  chips.chips = 4;
  chips.bucket = {seconds(6), seconds(1), seconds(2.5), seconds(0.2), seconds(0.25), seconds(0.05), {},
                  {},         {}};
  chips.exposed = {seconds(0.5), seconds(2)};
  chips.busy = seconds(7);
  timeline.chips = {chips};
  timeline.links = {{LinkKind::kNvlink, 8, {1e9}, {4e9}},
                    {LinkKind::kNic, 4, {1e9}, {1e9}},
                    {LinkKind::kNic, 4, {1e9}, {3e9}}};
  timeline.group_classes = 2;
  timeline.events = 17;
  return timeline;
}

Ensemble one_draw(const Timeline& timeline) {
  Ensemble ensemble;
  add_draw(ensemble, timeline, {});
  return ensemble;
}

Report report_of(const Spec& spec, const Timeline& timeline, const Timeline& clean) {
  return summarize(spec, example_program(), one_draw(timeline), one_draw(clean));
}

Report example_report() { return report_of(example_spec(), example_timeline(), example_timeline()); }

}  // namespace podsim
