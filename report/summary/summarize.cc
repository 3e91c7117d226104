// Timelines -> Report.
#include "report/summary/summarize.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "engine/binary_units.h"
#include "engine/check.h"
#include "engine/unit_factors.h"
#include "report/answer/mean_step.h"
#include "report/summary/activity.h"
#include "report/text/text.h"
#include "scheduler/question/spec.h"
#include "workload/job/chip.h"
#include "workload/job/dtype.h"
#include "workload/job/job.h"
#include "workload/job/model.h"
#include "workload/job/stack.h"
#include "workload/partition/model_flops.h"

namespace podsim {
namespace {

constexpr std::size_t kSlowPartiesShown = 10;

void add_step_times(Report& report, const Ensemble& ensemble) {
  std::vector<Time> steps = ensemble.step_times;
  std::sort(steps.begin(), steps.end());
  report.steps = static_cast<int>(steps.size());
  report.step_time = mean_step_time(ensemble);
  report.step_time_p50 = percentile(steps, 0.50);
  report.step_time_p99 = percentile(steps, 0.99);
  if (ensemble.draws.size() > 1) report.ensemble = describe(ensemble);
}

void add_buckets(Report& report, const Ensemble& clean) {
  const MeanStep step = mean_step(clean.chip_time);
  report.compute = step.compute;
  report.optimizer = step.optimizer;
  report.pipeline_bubble = step.bubble;
  report.input_stall = step.input;
  report.offload_wait = step.offload;
  report.skew_wait = step.skew;
  const Time whole = mean_step_time(clean);
  report.evaluation = whole - step.step_time;
  report.straggler_delay = report.step_time - whole;
  std::map<std::pair<std::string, std::string>, Time> exposed;
  for (std::size_t c = 0; c < step.exposed.size(); ++c) {
    const CommunicationClass& of = clean.first.communication[c];
    exposed[{of.axes, of.kind}] += step.exposed[c];
    report.exposed_communication += step.exposed[c];
  }
  for (const auto& [name, time] : exposed) report.exposed.push_back({name.first, name.second, time});
  std::stable_sort(report.exposed.begin(), report.exposed.end(),
                   [](const auto& a, const auto& b) { return a.time > b.time; });
}

FlopRate peak(const Chip& chip, Dtype dtype) {
  const MatmulRate* rate = chip.matmul_rate(dtype);
  return rate ? rate->peak : FlopRate{};
}

// FLOPs of the whole job per step over what all chips could do in a step at this rate.
double utilisation(const Report& report, Flops per_token, FlopRate rate) {
  if (rate.value <= 0) return 0;
  return per_token.value * report.tokens_per_step /
         (report.step_time.in_seconds() * report.chips * rate.value);
}

void add_throughput(Report& report, const Spec& spec, const StepProgram& program, const Ensemble& ensemble) {
  const Chip& chip = spec.cluster.chip;
  report.parameters = program.parameters;
  report.tokens_per_step = program.tokens;
  report.tokens_per_s = program.tokens / report.step_time.in_seconds();
  report.tokens_per_s_per_chip = report.tokens_per_s / report.chips;
  FlopsPerToken flops = program.flops_per_token;
  if (spec.job.lengths.any()) flops = of_documents(flops, mean_attention(ensemble));
  report.model_flops_per_token_causal = flops.causal.value;
  report.model_flops_per_token_full = flops.full.value;
  const FlopRate own = peak(chip, spec.job.precision.dtype);
  report.mfu_causal = utilisation(report, flops.causal, own);
  report.mfu_full = utilisation(report, flops.full, own);
  report.hfu_full = utilisation(report, flops.hardware, own);
  report.mfu_bf16_full = utilisation(report, flops.full, peak(chip, Dtype::kBf16));
}

MemoryParts parts_of(const MemoryUse& use) {
  return {.weights = use.weights.value / kBytesPerGib,
          .gradients = use.gradients.value / kBytesPerGib,
          .optimizer = use.optimizer.value / kBytesPerGib,
          .activations = use.activations.value / kBytesPerGib,
          .logits = use.logits.value / kBytesPerGib,
          .buffers = use.buffers.value / kBytesPerGib,
          .fragmentation = use.fragmentation.value / kBytesPerGib,
          .total = use.total().value / kBytesPerGib};
}

void add_memory(Report& report, const Spec& spec, const StepProgram& program) {
  const auto worst =
      std::max_element(program.memory.begin(), program.memory.end(),
                       [](const MemoryUse& a, const MemoryUse& b) { return a.total() < b.total(); });
  PODSIM_CHECK(worst != program.memory.end(), "a program has a pipeline stage");
  const Bytes capacity = spec.cluster.chip.hbm_capacity;
  MemoryReport& memory = report.memory;
  for (const MemoryUse& stage : program.memory) memory.stages.push_back(parts_of(stage));
  static_cast<MemoryParts&>(memory) = parts_of(*worst);
  memory.capacity = capacity.value / kBytesPerGib;
  memory.worst_stage = static_cast<int>(worst - program.memory.begin());
  memory.fits = worst->total() <= capacity;
  memory.retry_free_share = spec.job.stack.retry_free_share;
}

// What watts come to, and what they would at either end of their range.
void add_power(Report& report, const Spec& spec, const Activity& activity) {
  const Cluster& cluster = spec.cluster;
  const double pue = cluster.price.pue, range = cluster.chip.power_range;
  PowerReport& power = report.power = power_of(activity, cluster.chip, cluster.fabric.chips_per_host);
  report.power_kw = report.chips * power.system_w * pue / 1e3;
  report.energy_j_per_token = report.power_kw * 1e3 / report.tokens_per_s;
  power.low_kw = report.power_kw * (1 - range);
  power.high_kw = report.power_kw * (1 + range);
  power.energy_low_j_per_token = report.energy_j_per_token * (1 - range);
  power.energy_high_j_per_token = report.energy_j_per_token * (1 + range);
  power.usd_per_hour = report.power_kw * cluster.price.usd_per_kwh;
  power.low_usd_per_hour = power.low_kw * cluster.price.usd_per_kwh;
  power.high_usd_per_hour = power.high_kw * cluster.price.usd_per_kwh;
}

void add_cost_and_energy(Report& report, const Spec& spec, const Activity& activity) {
  const Price& price = spec.cluster.price;
  add_power(report, spec, activity);
  report.cost_usd_per_hour = report.chips * price.usd_per_chip_hour + report.power.usd_per_hour;
  report.cost_usd_per_million_tokens = report.cost_usd_per_hour / kSecondsPerHour / report.tokens_per_s * 1e6;
  report.price = price.name == price.term ? price.term : price.name + " " + price.term;
  if (const std::optional<Carbon>& carbon = spec.cluster.carbon) {
    const double power_kg = carbon->kg(report.power_kw, 0), making_kg = carbon->kg(0, report.chips);
    report.carbon = {power_kg, making_kg, carbon->kg(report.power.low_kw, 0),
                     carbon->kg(report.power.high_kw, 0),
                     (power_kg + making_kg) / kSecondsPerHour / report.tokens_per_s * 1e6};
  }
}

void add_link_use(Report& report, const Ensemble& ensemble) {
  struct Use {
    double carried = 0, possible = 0, busiest = 0;
  };
  std::map<LinkKind, Use> uses;
  const double seconds = static_cast<double>(ensemble.trained_ps()) / 1e12;
  for (std::size_t l = 0; l < ensemble.link_bytes.size(); ++l) {
    const LinkTotals& totals = ensemble.first.links[l];
    const double bytes = ensemble.link_bytes[l].value;
    Use& use = uses[totals.kind];
    const double possible = totals.bandwidth.value * seconds;
    use.carried += static_cast<double>(totals.links) * bytes;
    use.possible += static_cast<double>(totals.links) * possible;
    use.busiest = std::max(use.busiest, bytes / possible);
  }
  // Nine decimals: the last bits of a sum depend on how links are grouped into classes.
  const auto rounded = [](double share) { return std::round(share * 1e9) / 1e9; };
  for (const auto& [kind, use] : uses) {
    if (use.possible == 0) continue;
    report.link_use.push_back(
        {std::string(to_string(kind)), rounded(use.carried / use.possible), rounded(use.busiest)});
  }
}

std::string party_name(std::int64_t chips, ChipId first, double speed, int stage, int stages) {
  std::string name = chips == 1 ? "chip " + std::to_string(first)
                                : std::to_string(chips) + " chips like chip " + std::to_string(first);
  if (speed < 1) name += " at speed " + significant(speed, 3);
  if (stages > 1) name += " of stage " + std::to_string(stage);
  return name;
}

// Chips of one speed and pipeline stage that share what is drawn for chips count as one party, whatever
// classes they were simulated in.
void add_slow_parties(Report& report, const StepProgram& program, const Ensemble& ensemble) {
  struct Party {
    ChipId first = 0;
    std::int64_t chips = 0;
    Int128 caused_ps = 0, waited_ps = 0;
  };
  std::map<std::tuple<double, int, std::int32_t>, Party> parties;  // by speed, stage and draws
  for (std::size_t c = 0; c < ensemble.chips.size(); ++c) {
    const ChipTotals& totals = ensemble.first.chips[c];
    Party& party = parties[{totals.speed, totals.stage, totals.chance}];
    party.first = party.chips == 0 ? totals.representative : std::min(party.first, totals.representative);
    party.chips += totals.chips;
    party.caused_ps += ensemble.chips[c].caused_ps;
    party.waited_ps += totals.chips * ensemble.chips[c].waited_ps;
  }
  const auto per_step = [&](Int128 ps) { return static_cast<double>(ps) / 1e12 / report.steps; };
  for (const auto& [key, party] : parties) {
    if (party.caused_ps == 0 && party.waited_ps == 0) continue;
    const auto& [speed, stage, chance] = key;
    report.slow_parties.push_back({party_name(party.chips, party.first, speed, stage, program.stages),
                                   per_step(party.caused_ps), per_step(party.waited_ps)});
  }
  std::sort(report.slow_parties.begin(), report.slow_parties.end(),
            [](const SlowParty& a, const SlowParty& b) {
              return std::tie(b.caused_chip_s, a.waited_chip_s, a.who) <
                     std::tie(a.caused_chip_s, b.waited_chip_s, b.who);
            });
  if (report.slow_parties.size() > kSlowPartiesShown) report.slow_parties.resize(kSlowPartiesShown);
}

void add_provenance(Report& report, const Ensemble& ensemble) {
  const Timeline& timeline = ensemble.first;
  for (const CommunicationClass& c : timeline.communication) {
    std::string line = c.axes + " " + c.kind + " " + binary_bytes(c.bytes) + ": " + c.algorithm;
    // A pipeline sends as much back as ahead, in as many words.
    if (std::ranges::find(report.algorithms, line) == report.algorithms.end())
      report.algorithms.push_back(std::move(line));
  }
  report.chip_classes = static_cast<int>(timeline.chips.size());
  report.group_classes = timeline.group_classes;
  report.link_classes = static_cast<int>(timeline.links.size());
  report.events = ensemble.events;
  report.periods_skipped = timeline.periods_skipped;
}

}  // namespace

Time mean_step_time(const Timeline& timeline) {
  const auto steps = static_cast<std::int64_t>(timeline.step_end.size());
  return {(timeline.step_end.back().ps + steps / 2) / steps};
}

Report summarize(const Spec& spec, const StepProgram& program, const Ensemble& ensemble,
                 const Ensemble& clean) {
  Report report;
  report.scenario_sha256 = spec.sha256;
  report.scenario = spec.name;
  report.question = spec.question;
  report.chip = spec.cluster.chip.name;
  report.fabric = spec.cluster.fabric.name;
  report.model = spec.job.model.name;
  report.stack = spec.job.stack.name;
  report.chips = spec.cluster.fabric.chips;
  report.seed = spec.seed;
  add_step_times(report, ensemble);
  add_buckets(report, clean);
  add_throughput(report, spec, program, ensemble);
  add_memory(report, spec, program);
  add_cost_and_energy(report, spec, activity_of(spec, program, ensemble));
  add_link_use(report, ensemble);
  if (!spec.adversities.none()) add_slow_parties(report, program, ensemble);
  add_provenance(report, ensemble);
  return report;
}

}  // namespace podsim
