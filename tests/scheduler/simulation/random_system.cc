// Draws fabrics, what is missing from them, and the jobs on them.
#include "tests/scheduler/simulation/random_system.h"

#include <algorithm>
#include <array>
#include <variant>

#include "topology/failures.h"

namespace podsim::testing {
namespace {

struct Sizes {
  int stages, data, tensor;
  int chips() const { return stages * data * tensor; }
};

Sizes random_sizes(Draw& draw) { return {1 << draw.below(3), 1 + draw.below(4), 1 << draw.below(3)}; }

// The axes share the prime factors of the chips at random.
Sizes split(Draw& draw, int chips) {
  std::array<int, 3> sizes = {1, 1, 1};
  for (int prime = 2; chips > 1; ++prime)
    for (; chips % prime == 0; chips /= prime) sizes[draw.below(3)] *= prime;
  return {sizes[0], sizes[1], sizes[2]};
}

void make_uneven(Draw& draw, StepProgram& program) {
  for (auto& stage : program.chunks)
    for (ChunkShape& chunk : stage) chunk.runs[0].count += draw.below(4) == 0;
  for (Block* block : {&layer_of(program).forward, &layer_of(program).backward})
    for (auto& op : *block)
      if (auto* exchange = std::get_if<CollectiveOp>(&op);
          exchange && exchange->kind == CollectiveKind::kAllToAll && draw.below(2))
        exchange->fanout = {1.0 + draw.below(4), draw.below(3)};
}

FabricSpec torus_spec(Draw& draw, std::array<int, 3> shape) {
  FabricSpec spec = ring_fabric(shape[0] * shape[1] * shape[2]);
  spec.torus->dimensions = 3;
  spec.torus->shape = shape;
  if (draw.below(2)) spec.routing = Routing::kDimensionOrder;
  return spec;
}

FabricSpec straight_torus(Draw& draw, Sizes sizes) {
  FabricSpec spec = torus_spec(draw, {sizes.tensor, sizes.data, sizes.stages});
  if (draw.below(3) == 0) spec.torus->wrap_lengths = {4};
  if (draw.below(3) == 0) spec.torus->cube = 2;
  if (!explain_invalid(spec).empty()) spec.torus->cube = 0;
  return spec;
}

FabricSpec twisted_torus(Draw& draw) {
  static constexpr std::array<int, 3> kShapes[] = {{2, 2, 4}, {2, 4, 4}, {3, 3, 6}};
  const std::array<int, 3>& shape = kShapes[draw.below(3)];
  FabricSpec spec = torus_spec(draw, shape);
  spec.torus->cube = shape[0];
  spec.torus->twisted = true;
  return spec;
}

FabricSpec slices(Draw& draw, Sizes in_slice, int count) {
  FabricSpec spec = torus_spec(draw, {in_slice.tensor, in_slice.data, in_slice.stages});
  spec.chips *= count;
  spec.slices = count;
  spec.chips_per_host = in_slice.chips() % 4 == 0 ? 4 : 1;
  spec.dcn = {{10e9}, 1, Time::seconds(5e-6)};
  spec.dcn_oversubscription = 1 + draw.below(3);
  return spec;
}

FabricSpec servers(Draw& draw, int chips, int per_domain) {
  const bool rails = draw.below(2);  // otherwise a leaf serves whole domains
  FabricSpec spec = gpu_fabric(chips, per_domain, (rails ? 1 : per_domain) * (1 + draw.below(4)));
  spec.gpu->rail_optimised = rails;
  spec.gpu->nvls = draw.below(2);
  if (draw.below(2)) spec.gpu->tiers = {spec.gpu->tiers[0], {2 + draw.below(3), 1}, {1024, 1}};
  if (draw.below(2)) spec.gpu->tiers[0].oversubscription = 1 + draw.below(3);
  static constexpr Routing kRoutings[] = {Routing::kAdaptive, Routing::kEcmp, Routing::kStatic};
  spec.routing = kRoutings[draw.below(2) * draw.below(3)];
  if (draw.below(3) == 0) spec.transport = {"lossy", 0.1, 0.5, 0};
  if (!explain_invalid(spec).empty()) spec.routing = Routing::kAdaptive;
  return spec;
}

Failure random_failure(Draw& draw, const Fabric& fabric) {
  const Link& link = fabric.links[draw.below(static_cast<int>(fabric.links.size()))];
  switch (draw.below(4)) {
    case 0:
      return FailedPort{draw.below(fabric.chips), link.kind};
    case 1:
      return FailedSwitch{draw.below(2) ? NodeKind::kLeaf : NodeKind::kSpine, draw.below(3)};
    case 2:
      return FailedOcs{draw.below(3), {draw.below(2), draw.below(2)}};
    default:
      return FailedCable{link.from, link.to};
  }
}

Fabric with_random_failures(Draw& draw, Fabric fabric) {
  std::vector<Failure> failures;
  for (int tries = fabric.links.empty() ? 0 : draw.below(4); tries > 0; --tries) {
    failures.push_back(random_failure(draw, fabric));
    if (!explain_impossible(fabric, failures).empty()) failures.pop_back();
  }
  return with_failures(std::move(fabric), failures);
}

}  // namespace

RandomSystem random_system(int round) {
  Draw draw(round);
  std::vector<Sizes> sizes = {random_sizes(draw)};
  FabricSpec spec;
  const int kind = draw.below(5);
  if (kind == 0) {
    spec = straight_torus(draw, sizes[0]);
  } else if (kind == 1) {
    spec = twisted_torus(draw);
    sizes[0] = split(draw, spec.chips);
  } else if (kind == 2) {
    const int count = 2 + draw.below(2);
    const Sizes in_slice = {1, 1 + draw.below(4), 1 << draw.below(3)};
    spec = slices(draw, in_slice, count);
    sizes = draw.below(2) ? std::vector<Sizes>(count, in_slice) : std::vector<Sizes>{split(draw, spec.chips)};
  } else {
    if (draw.below(2)) sizes.push_back({1, 1 + draw.below(3), 1 << draw.below(2)});
    int chips = 0;
    for (const Sizes& job : sizes) chips += job.chips();
    spec = servers(draw, std::min(64, chips + draw.below(3)), 1 + draw.below(8));
    if (chips > 64) sizes.pop_back();
  }
  RandomSystem system{
      with_random_failures(draw, build_fabric(spec)), {}, random_adversities(draw, spec), 1 + draw.below(3)};
  ChipId first = 0;
  for (const Sizes& job : sizes) {
    RandomJob random = random_job(draw, job.stages, job.data, job.tensor);
    make_uneven(draw, random.program);
    system.jobs.push_back(lay(random.spec, random.program, system.fabric, first));
    first += job.chips();
  }
  for (const Degradation& slow : random_slowness(draw, system.fabric)) system.adversities.add(slow);
  system.adversities.seed = round;
  return system;
}

}  // namespace podsim::testing
