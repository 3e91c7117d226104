// Draws blocks, stacks and what goes wrong.
#include "tests/scheduler/simulation/random_step.h"

#include "scheduler/folding/laid_job.h"

namespace podsim::testing {

Block random_block(Draw& draw, AxisSet axes) {
  static constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                              CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll};
  Block block;
  for (int i = 0, n = 1 + draw.below(4); i < n; ++i) {
    if (draw.below(2)) {
      AxisSet chosen = axes & static_cast<AxisSet>(1 + draw.below(7));
      if (chosen)
        block.push_back(collective(kKinds[draw.below(4)], chosen, 1e6 * (1 + draw.below(100)),
                                   static_cast<Purpose>(draw.below(3))));
    }
    ComputeOp work = milliseconds(0.1 * (1 + draw.below(30)));
    if (draw.below(2)) work.op_class = OpClass::kMatmul;
    block.push_back(work);
    if (draw.below(4) == 0)
      block.push_back(HostCopy{"tensor", {1e5 * (1 + draw.below(50))}, draw.below(2) == 0});
  }
  return block;
}

RandomJob random_job(Draw& draw, int stages, int data, int tensor) {
  RandomJob job{plain_spec(), {}};
  const Mesh mesh{{{"pipeline", stages}, {"data", data}, {"tensor", tensor}}};
  const int chunks = stages > 1 && draw.below(2) ? 2 : 1;
  const int microbatches = stages * (1 + draw.below(3));
  job.program = pipeline_program(mesh, chunks > 1 ? PipelineSchedule::kInterleaved : PipelineSchedule::k1F1B,
                                 stages, chunks, microbatches, 1, 2);
  Part& layer = layer_of(job.program);
  const AxisSet axes = (data > 1 ? 2u : 0u) | (tensor > 1 ? 4u : 0u);
  layer.forward = random_block(draw, axes);
  layer.backward = random_block(draw, axes);
  if (data > 1) {
    layer.gradient_reduce = {collective(CollectiveKind::kAllReduce, 2, 30e6, Purpose::kGradient)};
    layer.parameter_gather = {collective(CollectiveKind::kAllGather, 2, 20e6, Purpose::kParameter)};
  }
  layer.optimizer = {milliseconds(0.3)};
  layer.output = {1e6 * (1 + draw.below(50))};
  if (tensor > 1 && draw.below(2)) layer.output_copies = 4;
  job.spec.cluster.chip.host_link = {1e9};
  job.program.tokens = 1e6;
  job.spec.job.input_rate = {1e6 * (10 + draw.below(1000))};
  job.spec.job.batches_ahead = 1 + draw.below(3);
  Stack& stack = job.spec.job.stack;
  if (draw.below(2)) stack.host_copies = draw.below(3);
  stack.prefetch_forward = draw.below(4);
  stack.prefetch_backward = draw.below(4);
  stack.gradients_overlapped = draw.below(2);
  stack.scatter_gather_sends = draw.below(2);
  stack.send_exposed = 0.5 * draw.below(3);
  stack.tensor_chunks = 1 + draw.below(3);
  stack.gradient_bucket = {1e6 * draw.below(100)};
  stack.tensor_hidden = 0.5 * draw.below(3);
  stack.interference = 0.2 * draw.below(3);
  stack.skew_per_doubling = 0.01 * draw.below(3);
  stack.network_share = 1 - 0.25 * draw.below(3);
  return job;
}

Adversities random_adversities(Draw& draw, const FabricSpec& fabric) {
  Adversities adversities;
  for (int i = draw.below(3); i > 0; --i) {
    const ChipId chip = draw.below(fabric.chips);
    adversities.add(Degradation::of_chip(chip, 0.5 + 0.5 * draw.real()));
  }
  for (int i = draw.below(3); i > 0; --i) {
    const ChipId chip = draw.below(fabric.chips);
    const LinkKind kind = fabric.torus ? LinkKind::kIci : draw.below(2) ? LinkKind::kNic : LinkKind::kNvlink;
    adversities.add(Degradation::of_link(chip, kind, 0.3 + 0.7 * draw.real()));
  }
  return adversities;
}

namespace {

Time up_to_ms(Draw& draw, double ms) { return Time::seconds(1e-3 * ms * draw.real()); }

Season random_season(Draw& draw) {
  Season season;
  switch (draw.below(4)) {
    case 0:
      season.windows = {{up_to_ms(draw, 20), {}}};
      season.windows[0].second = season.windows[0].first + up_to_ms(draw, 20) + Time{1};
      break;
    case 1:
      season.windows = {{{}, up_to_ms(draw, 3) + Time{1}}};
      season.repeat = season.windows[0].second + up_to_ms(draw, 30) + Time{1};
      break;
    case 2:
      season.swing_amplitude = 0.9 * draw.real();
      season.swing_period = up_to_ms(draw, 50) + Time{1000};
      season.swing_levels = 1 + draw.below(6);
      break;
    default:
      break;
  }
  if (draw.below(3) == 0) {
    season.chance_slot = up_to_ms(draw, 10) + Time{1000000};
    season.chance_share = draw.real();
  }
  return season;
}

}  // namespace

std::vector<Degradation> random_slowness(Draw& draw, const Fabric& fabric) {
  const Parts parts(fabric, 4);
  std::vector<Degradation> entries;
  for (int tries = draw.below(4); tries > 0; --tries) {
    Degradation entry;
    entry.which.kind = static_cast<PartKind>(draw.below(2) ? draw.below(2) : draw.below(kPartKinds));
    const int count = parts.count(entry.which.kind);
    if (count == 0) continue;
    const int first = draw.below(count);
    if (draw.below(2)) entry.which.numbers = {{first, first + draw.below(count - first)}};
    if (draw.below(3) == 0) entry.which.stages = {draw.below(2)};
    if (is_switch(entry.which.kind)) entry.which.stages.clear();
    if (draw.below(2)) entry.which.random_fraction = draw.real();
    if (draw.below(3) == 0) entry.which.together = Domain::kHost;
    entry.season = random_season(draw);
    entry.factor.mean = 0.05 + 0.95 * draw.real();
    if (draw.below(3) == 0) entry.factor = {SpeedFactor::Shape::kUniform, 1, 0, 0.2, 0.9};
    if (!computes(entry.which.kind) && entry.season.repeat.ps > 0) entry.factor.mean = 0;
    entry.draw = draw.below(2);
    entries.push_back(entry);
  }
  return entries;
}

std::vector<std::int64_t> chip_time(const Timeline& timeline) {
  std::vector<std::int64_t> sum(kBuckets, 0);
  for (const ChipTotals& chip : timeline.chips)
    for (int b = 0; b < kBuckets; ++b) sum[b] += chip.chips * chip.bucket[b].ps;
  return sum;
}

std::map<LinkKind, double> bytes_by_kind(const Timeline& timeline) {
  std::map<LinkKind, double> sum;
  for (const LinkTotals& link : timeline.links)
    sum[link.kind] += static_cast<double>(link.links) * link.bytes.value;
  return sum;
}

}  // namespace podsim::testing
