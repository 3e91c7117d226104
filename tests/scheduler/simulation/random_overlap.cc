// Draws everything from one generator, in a fixed order.
#include "tests/scheduler/simulation/random_overlap.h"

#include <algorithm>

#include "scheduler/folding/laid_job.h"

namespace podsim::testing {

namespace {

std::string text(Time time) { return std::to_string(time.ps) + " ps"; }
std::string text(double value) { return std::to_string(value); }
std::string text(int value) { return std::to_string(value); }
std::string text(Int128 value) { return std::to_string(static_cast<double>(value)); }
const std::string& text(const std::string& value) { return value; }
std::string text(const std::vector<Time>& times) {
  std::string all;
  for (const Time time : times) all += text(time) + ", ";
  return all;
}
template <class... Parts>
std::string text(const std::tuple<Parts...>& parts) {
  return std::apply([](const auto&... each) { return ((text(each) + "; ") + ...); }, parts);
}

template <class Element>
std::string difference(const char* what, const std::vector<Element>& a, const std::vector<Element>& b) {
  if (a.size() != b.size()) return std::to_string(a.size()) + " and " + std::to_string(b.size()) + " " + what;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i])
      return std::string(what) + " " + std::to_string(i) + ": " + text(a[i]) + " and " + text(b[i]);
  return "";
}

}  // namespace

std::string difference(const Figures& a, const Figures& b) {
  for (const std::string& found :
       {difference("intervals", a.intervals, b.intervals), difference("step ends", a.step_end, b.step_end),
        difference("chips", a.chips, b.chips), difference("bytes on links", a.link_bytes, b.link_bytes),
        difference("standstills", a.standstills, b.standstills), difference("passes", a.passes, b.passes),
        difference("transfers", a.sent, b.sent)})
    if (!found.empty()) return found;
  return "";
}

RandomOverlap random_overlap(int round) {
  Draw draw(1000 + round);
  const bool torus = draw.below(2);
  const int jobs = torus ? 1 : 1 + draw.below(2), stages = 1 << draw.below(3), data = 1 + draw.below(3);
  const int tensor = 1 << draw.below(3), chips = stages * data * tensor;
  FabricSpec spec;
  if (torus) {
    spec = ring_fabric(chips);
    spec.torus->dimensions = 3;
    spec.torus->shape = {tensor, data, stages};
  } else {
    spec = gpu_fabric(jobs * chips, tensor, tensor * (1 + draw.below(2)));
    spec.gpu->rail_optimised = false;
    spec.gpu->tiers[0].oversubscription = 1 + draw.below(3);
  }
  if (draw.below(2)) spec.collective_launch = Time::seconds(1e-6 * draw.below(20));
  Adversities adversities = random_adversities(draw, spec);
  if (draw.below(2)) adversities.jitter.coefficient_of_variation = 0.1;
  const Fabric fabric = with_slow_links(build_fabric(spec), slow_links(adversities.degradations));
  std::vector<LaidJob> laid;
  for (int j = 0; j < jobs; ++j) {
    const RandomJob job = random_job(draw, stages, data, tensor);
    laid.push_back(lay(job.spec, job.program, fabric, j * chips));
  }
  RandomOverlap result{assemble(fabric, laid, adversities, draw.below(4) > 0), {}};
  result.options.seed = static_cast<std::uint64_t>(round);
  result.options.steps = 1 + draw.below(3);
  result.options.jitter = adversities.jitter.coefficient_of_variation;
  return result;
}

Figures figures(const Timeline& timeline) {
  Figures result;
  result.step_end = timeline.step_end;
  for (const ChipTotals& chip : timeline.chips)
    result.chips.emplace_back(chip.representative, chip.bucket, chip.exposed, chip.caused_ps, chip.waited);
  for (const LinkTotals& link : timeline.links) result.link_bytes.push_back(link.bytes.value);
  for (const Standstill& each : timeline.standstills)
    result.standstills.emplace_back(each.entry, each.begin, each.end);
  for (const StepPasses& step : timeline.passes) {
    result.passes.emplace_back(step.begin, step.end, step.next_batch);
    for (const ChipPasses& chip : step.chips) {
      result.passes.emplace_back(step.begin, step.end, chip.optimizer);
      for (const PassTime& pass : chip.passes) result.passes.emplace_back(pass.begin, pass.end, pass.own);
      for (const SentTransfer& each : chip.activations)
        result.sent.emplace_back(each.begin, each.end, Time{});
      for (const SentTransfer& each : chip.gradients) result.sent.emplace_back(each.begin, each.end, Time{1});
    }
  }
  for (const Interval& each : timeline.intervals)
    result.intervals.emplace_back(each.chip, each.stream, each.begin, each.end, each.what, each.position);
  std::sort(result.intervals.begin(), result.intervals.end());
  return result;
}

}  // namespace podsim::testing
