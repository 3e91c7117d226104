// Draws factors, pauses, stalls and delays of one step.
#include "scheduler/simulation/state/step_draws.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "engine/time_limits.h"

namespace podsim {
namespace {

constexpr const char* kLateLaunch = "a late launch";
constexpr std::array<Entity, kEntities> kAllEntities = {Entity::kChip, Entity::kHost, Entity::kJob};

// Entities of all kinds in one numbering.
std::uint64_t numbered(Entity entity, std::uint64_t number) {
  return number * kEntities + static_cast<std::uint64_t>(entity);
}

}  // namespace

bool StepVariation::factors() const {
  return of_run > 0 || !hiccups.empty() ||
         std::any_of(of_step.begin(), of_step.end(), [](double variation) { return variation > 0; });
}

void StepVariation::leave_out_factors() {
  of_step = {};
  of_run = 0;
  hiccups.clear();
}

bool StepVariation::any() const {
  return factors() || collection.every_steps > 0 || input.probability > 0 || !late.empty() || uneven_lengths;
}

bool StepVariation::of_each(Entity entity) const {
  return of_step[static_cast<std::size_t>(entity)] > 0 ||
         (collection.every_steps > 0 && collection.of == entity) ||
         std::any_of(hiccups.begin(), hiccups.end(), [&](const Hiccup& each) { return each.of == entity; });
}

StepDraws::StepDraws(const System& system, const SimulateOptions& options)
    : system_(system),
      variation_(options.variation),
      seed_(options.seed),
      any_(variation_.any() || std::any_of(system.packing.begin(), system.packing.end(),
                                           [](const JobPacking& job) { return job.lengths.any(); })),
      of_step_{Lognormal(variation_.of_step[0]), Lognormal(variation_.of_step[1]),
               Lognormal(variation_.of_step[2])},
      of_run_(variation_.of_run),
      of_pause_(variation_.collection.coefficient_of_variation),
      first_chip_(system.meshes.size(), std::numeric_limits<ChipId>::max()),
      hosts_(system.meshes.size(), 0) {
  for (const ChipClass& chip : system.chips) {
    const int job = system.step.stages[chip.program].job;
    first_chip_[job] = std::min(first_chip_[job], chip.representative);
    hosts_[job] += chip.chips;
  }
  for (std::int64_t& hosts : hosts_) hosts = (hosts + system.chips_per_host - 1) / system.chips_per_host;
  if (any_) list_longest();
}

void StepDraws::list_longest() {
  std::vector<Time> of_program;
  for (const StageProgram& program : system_.step.stages) {
    Time longest;
    for (const std::vector<Instruction>& segment : program.segments)
      for (const Instruction& each : segment)
        if (each.kind == Instruction::Kind::kCompute) longest = std::max(longest, each.duration);
    of_program.push_back(longest);
  }
  for (const ChipClass& chip : system_.chips) {
    const StageProgram& program = system_.step.stages[chip.program];
    longest_ps_.push_back(static_cast<double>(of_program[chip.program].ps) / chip.speed * (1 + program.skew) *
                          (1 + program.interference));
  }
}

std::vector<MicrobatchLoad> StepDraws::loads(int job, int step) const {
  if (static_cast<std::size_t>(job) >= system_.packing.size() || !system_.packing[job].lengths.any())
    return {};
  const JobPacking& packing = system_.packing[job];
  const std::uint64_t documents = mix(numbered(Entity::kJob, static_cast<std::uint64_t>(first_chip_[job])),
                                      static_cast<std::uint64_t>(step));
  std::vector<MicrobatchLoad> loads =
      pack_step(packing.lengths, packing.shape, [&, index = std::uint64_t{0}]() mutable {
        return random_uniform(seed_, RandomPurpose::kDocument, documents, index++);
      });
  if (!variation_.uneven_lengths) loads.assign(loads.size(), mean_load(loads));
  return loads;
}

std::vector<double> StepDraws::mean_attention(int job, int steps) const {
  std::vector<double> mean;
  for (int step = 0; step < steps; ++step) {
    const std::vector<MicrobatchLoad> of_step = loads(job, step);
    if (of_step.empty()) return {};
    const MicrobatchLoad load = mean_load(of_step);
    mean.resize(load.attention.size(), 0);
    for (std::size_t w = 0; w < mean.size(); ++w) mean[w] += load.attention[w] / steps;
  }
  return mean;
}

// Two microbatches that take turns share the computation of their position.
double StepDraws::load_factor(const std::vector<MicrobatchLoad>& loads, std::int32_t c,
                              std::int32_t position) const {
  if (loads.empty()) return 1;
  const ChipClass& chip = system_.chips[c];
  const StageProgram& program = system_.step.stages[chip.program];
  const std::span<const PipelineTask> tasks = program.tasks_at(position);
  if (tasks.empty()) return 1;
  const std::vector<double>& attention = program.attention[program.order[position]];
  const double linear = 1 - std::accumulate(attention.begin(), attention.end(), 0.0);
  const int first = chip.data_rank * system_.packing[program.job].shape.microbatches;
  double sum = 0;
  for (const PipelineTask& task : tasks) {
    const MicrobatchLoad& load = loads[first + documents_of(program.pipeline, program.stage, task)];
    sum += linear * load.tokens +
           std::inner_product(attention.begin(), attention.end(), load.attention.begin(), 0.0);
  }
  return sum / static_cast<double>(tasks.size());
}

std::vector<Time> StepDraws::input_stalls(int job, int step) const {
  std::vector<Time> stalls;
  const InputStalls& input = variation_.input;
  if (input.probability == 0) return stalls;
  const std::int64_t first = first_chip_[job] / system_.chips_per_host;
  const auto batch = 2 * static_cast<std::uint64_t>(step);
  for (std::int64_t h = first; h < first + hosts_[job]; ++h) {
    const auto host = static_cast<std::uint64_t>(h);
    const bool stands = random_uniform(seed_, RandomPurpose::kInputStall, host, batch) < input.probability;
    const double length = stands ? random_exponential(seed_, RandomPurpose::kInputStall, host, batch + 1) : 0;
    stalls.push_back(drawn_delay(input.mean.in_seconds() * length, "a stall of input"));
  }
  return stalls;
}

Time StepDraws::lateness(const LateLaunch& rule, int step) const {
  const double chance =
      random_exponential(seed_, RandomPurpose::kLateLaunch, static_cast<std::uint64_t>(rule.chip),
                         static_cast<std::uint64_t>(step));
  const Time random = drawn_delay(chance * rule.random.in_seconds(), kLateLaunch);
  check_delay((rule.always + random).in_seconds() + step * rule.per_step.in_seconds(), kLateLaunch);
  return rule.always + step * rule.per_step + random;
}

std::uint64_t StepDraws::number_of(Entity entity, std::int32_t c) const {
  const ChipClass& chip = system_.chips[c];
  switch (entity) {
    case Entity::kChip:
      return numbered(entity, static_cast<std::uint64_t>(chip.representative));
    case Entity::kHost:
      return numbered(entity, static_cast<std::uint64_t>(chip.representative / system_.chips_per_host));
    case Entity::kJob:
      break;
  }
  return numbered(Entity::kJob,
                  static_cast<std::uint64_t>(first_chip_[system_.step.stages[chip.program].job]));
}

double StepDraws::step_factor(std::int32_t chip, int number) const {
  const auto step = static_cast<std::uint64_t>(number);
  double factor = 1;
  if (variation_.of_run > 0)
    factor *= of_run_(random_normal(seed_, RandomPurpose::kRunJitter, number_of(Entity::kJob, chip), 0));
  for (const Entity entity : kAllEntities) {
    const auto e = static_cast<std::size_t>(entity);
    if (variation_.of_step[e] == 0) continue;
    factor *= of_step_[e](random_normal(seed_, RandomPurpose::kStepJitter, number_of(entity, chip), step));
  }
  for (std::size_t h = 0; h < variation_.hiccups.size(); ++h) {
    const Hiccup& hiccup = variation_.hiccups[h];
    const std::uint64_t entity = mix(h, number_of(hiccup.of, chip));
    if (random_uniform(seed_, RandomPurpose::kHiccup, entity, 2 * step) < hiccup.probability)
      factor *= 1 + hiccup.mean * random_exponential(seed_, RandomPurpose::kHiccup, entity, 2 * step + 1);
    factor /= 1 + hiccup.probability * hiccup.mean;
  }
  factor = std::max(factor, system_.step.stages[system_.chips[chip].program].least_factor);
  if (any_) check_computation(factor * longest_ps_[chip]);
  return factor;
}

// A worker collects every n steps from a phase of its own on, so that it does in any one step with
// probability 1 / n.
std::optional<StepDraws::Pause> StepDraws::pause(std::int32_t chip, int number) const {
  if (!pauses()) return std::nullopt;
  const auto step = static_cast<std::uint64_t>(number);
  const GarbageCollection& collection = variation_.collection;
  const std::uint64_t worker = number_of(collection.of, chip);
  const auto draw = [&](std::uint64_t index) {
    return random_uniform(seed_, RandomPurpose::kCollection, worker, index);
  };
  const double phase = draw(0), done = static_cast<double>(step) / collection.every_steps + phase;
  const double collections = std::floor(done) - std::floor(done - 1 / collection.every_steps);
  if (collections == 0) return std::nullopt;
  const auto positions = static_cast<double>(system_.step.stages[system_.chips[chip].program].order.size());
  const std::int32_t before =
      collection.of == Entity::kJob ? 0 : static_cast<std::int32_t>(draw(2 * step + 1) * positions);
  const double drawn =
      of_pause_(random_normal(seed_, RandomPurpose::kCollection, worker, 2 * step + 2)) * collections;
  return Pause{before, drawn_delay(collection.pause.in_seconds() * drawn, "a pause of garbage collection")};
}

}  // namespace podsim
