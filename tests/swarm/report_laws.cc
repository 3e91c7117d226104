// What must hold of a report by itself: its sums, and the same figures in every format.
#include <algorithm>
#include <cmath>
#include <map>

#include "proto/writing/write.h"
#include "report/tables/write.h"
#include "tests/swarm/laws.h"
#include "tests/swarm/report_figures.h"

namespace podsim::testing {
namespace {

constexpr double kRounding = 1e-9;

bool near(double a, double b) { return std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b)); }

class Sums {
 public:
  explicit Sums(const Report& report) : r_(report) {}

  std::string broken() {
    step();
    memory(r_.memory, "worst stage");
    stages();
    rates();
    links();
    waits();
    return broken_;
  }

 private:
  void expect(bool holds, const std::string& what) {
    if (!holds && broken_.empty()) broken_ = what;
  }

  void step();
  void memory(const MemoryParts& parts, const std::string& of);
  void stages();
  void rates();
  void links();
  void waits();

  const Report& r_;
  std::string broken_;
};

void Sums::step() {
  Time exposed;
  for (const ExposedCommunication& part : r_.exposed) {
    exposed += part.time;
    expect(part.time.ps >= 0, "exposed " + part.axes + " " + part.kind + " is negative");
  }
  expect(exposed == r_.exposed_communication, "exposed collectives do not add up");
  Time whole = exposed + r_.straggler_delay;
  for (const Time part : {r_.compute, r_.pipeline_bubble, r_.optimizer, r_.input_stall, r_.offload_wait,
                          r_.skew_wait, r_.evaluation}) {
    expect(part.ps >= 0, "a part of the step is negative");
    whole += part;
  }
  expect(whole == r_.step_time, "the parts of the step do not add up");
  expect(r_.step_time.ps > 0, "a step of no length");
  expect(r_.step_time_p50 <= r_.step_time_p99, "p50 is above p99");
  expect(r_.steps > 0, "no step");
}

void Sums::memory(const MemoryParts& m, const std::string& of) {
  const double sum =
      m.weights + m.gradients + m.optimizer + m.activations + m.logits + m.buffers + m.fragmentation;
  expect(near(sum, m.total), "memory of the " + of + " is not the sum of its parts");
  for (const double part :
       {m.weights, m.gradients, m.optimizer, m.activations, m.logits, m.buffers, m.fragmentation})
    expect(part >= 0, "memory of the " + of + " has a negative part");
}

void Sums::stages() {
  double most = 0;
  for (const MemoryParts& stage : r_.memory.stages) {
    memory(stage, "stage");
    most = std::max(most, stage.total);
  }
  expect(near(most, r_.memory.total), "the worst stage is not the worst");
  expect(r_.memory.fits == (r_.memory.total <= r_.memory.capacity), "it fits and does not");
  for (const MemoryChange& change : r_.memory.advice) expect(change.step_time.ps > 0, "advice of no time");
}

void Sums::rates() {
  for (const double value : {r_.mfu_causal, r_.mfu_full, r_.hfu_full, r_.tokens_per_step, r_.tokens_per_s,
                             r_.parameters, r_.cost_usd_per_hour, r_.power_kw, r_.energy_j_per_token})
    expect(std::isfinite(value) && value >= 0, "a figure is negative or not finite");
  expect(r_.mfu_causal <= r_.mfu_full * (1 + kRounding), "causal MFU is above the full one");
  // Of measured layers users say times and FLOPs, and hear of it where no chip is so fast.
  // HFU counts scores that causal kernels skip: those of the model, and once more where forward passes are
  // repeated.
  const double skipped = (r_.mfu_full - r_.mfu_causal) * 4 / 3;
  expect(r_.hfu_full - skipped <= 1 || !r_.knows_memory(), "chips compute more than they can");
  expect(near(r_.tokens_per_s * r_.step_time.in_seconds(), r_.tokens_per_step), "tokens do not add up");
  expect(near(r_.tokens_per_s_per_chip * r_.chips, r_.tokens_per_s), "tokens per chip do not add up");
}

void Sums::links() {
  for (const LinkUse& use : r_.link_use) {
    expect(use.mean_utilisation >= 0 && use.mean_utilisation <= use.max_utilisation + kRounding,
           use.kind + " links are used more on average than at most");
    expect(use.max_utilisation <= 1 + kRounding, use.kind + " links carry more than they can");
  }
}

// Who waits, waits for somebody: unless parties are left out, what was caused was waited.
void Sums::waits() {
  double caused = 0, waited = 0;
  for (const SlowParty& party : r_.slow_parties) {
    expect(party.caused_chip_s >= 0 && party.waited_chip_s >= 0, "chip-seconds are negative");
    caused += party.caused_chip_s;
    waited += party.waited_chip_s;
  }
  if (r_.slow_parties.size() < 10)
    expect(near(caused, waited), "chip-seconds caused " + std::to_string(caused) + " and waited " +
                                     std::to_string(waited) + " differ");
}

}  // namespace

std::optional<Finding> broken_sum(const Prediction& prediction) {
  std::string broken;
  if (!prediction.jobs) broken = Sums(prediction.report).broken();
  for (const JobReport& job : prediction.jobs ? prediction.jobs->jobs : std::vector<JobReport>{})
    for (const Report* report : {&job.alone, &job.together})
      if (broken.empty()) broken = Sums(*report).broken();
  if (broken.empty()) return std::nullopt;
  return Finding{"sums", broken};
}

std::optional<Finding> broken_format(const Prediction& prediction) {
  std::vector<SpreadsheetLine> lines;
  std::string json, textproto;
  if (prediction.jobs) {
    json = report_json(*prediction.jobs);
    textproto = report_textproto(*prediction.jobs);
    for (const JobReport& job : prediction.jobs->jobs) lines.emplace_back(&job);
  } else {
    json = report_json(prediction.report);
    textproto = report_textproto(prediction.report);
    lines.emplace_back(&prediction.report);
  }
  const Figures of_json = figures_of_json(json);
  std::string broken = first_difference(of_json, figures_of_textproto(textproto));
  if (broken.empty())
    broken = first_missing(figures_of_csv(report_csv(lines), prediction.jobs.has_value()), of_json);
  if (broken.empty()) return std::nullopt;
  return Finding{"formats", broken};
}

}  // namespace podsim::testing
