// Tries counts in the order that the measure wants them, and stops at the first that does.
#include "planner/plan/equal.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "report/text/text.h"

namespace podsim {
namespace {

// The rows and refusals of one scenario with one count.
PlanAnswer with_count(const PlanQuestion& question, std::size_t scenario, int count, const Catalog& catalog,
                      const PlanOptions& options) {
  PlanQuestion one = question;
  for (PlanScenario& each : one.scenarios) each.counts.clear();
  one.scenarios[scenario].counts = {count};
  return clusters_of(one, catalog, options);
}

class Equaliser {
 public:
  Equaliser(const PlanQuestion& question, EqualMeasure measure, const Catalog& catalog,
            const PlanOptions& options, EqualTrials& trials, PlanAnswer& answer)
      : question_(question),
        measure_(measure),
        catalog_(catalog),
        options_(options),
        trials_(trials),
        answer_(answer) {}

  // The first of these counts whose row is right; nothing where none is. The last that has a row is kept for
  // what is told then.
  std::optional<PlanRow> first_right(std::size_t scenario, const std::vector<int>& counts,
                                     const std::function<bool(const PlanRow&)>& right) {
    std::vector<PlanRefusal> refused;
    std::optional<PlanRow> last;
    for (const int count : counts) {
      if (options_.stop != nullptr && options_.stop->load()) break;
      const PlanAnswer& tried = trial(scenario, count);
      answer_.counts += tried.counts;
      refused.insert(refused.end(), tried.refused.begin(), tried.refused.end());
      if (tried.rows.empty()) continue;
      last = tried.rows.front();
      if (right(*last)) return last;
    }
    answer_.refused.insert(answer_.refused.end(), refused.begin(), refused.end());
    if (last)
      answer_.refused.push_back({last->facts.name, "the nearest of the counts that were tried; " +
                                                       measure_of(measure_, *last) + ", " +
                                                       fixed(last->days, 1) + " days"});
    return std::nullopt;
  }

 private:
  const PlanAnswer& trial(std::size_t scenario, int count) {
    const auto known = trials_.of.find({scenario, count});
    if (known != trials_.of.end()) return known->second;
    const auto made = trials_.of.emplace(std::pair{scenario, count},
                                         with_count(question_, scenario, count, catalog_, options_));
    return made.first->second;
  }

  const PlanQuestion& question_;
  const EqualMeasure measure_;
  const Catalog& catalog_;
  const PlanOptions& options_;
  EqualTrials& trials_;
  PlanAnswer& answer_;
};

}  // namespace

std::string measure_of(EqualMeasure measure, const PlanRow& row) {
  switch (measure) {
    case EqualMeasure::kChips:
      return std::to_string(row.chips) + " chips";
    case EqualMeasure::kThroughput:
      return significant(row.found.figures.tokens_per_s, 6) + " tokens/s";
    case EqualMeasure::kCost:
      return fixed(row.usd_per_hour(), 2) + " USD per hour";
    case EqualMeasure::kDeadline:
      return fixed(row.days, 1) + " days";
  }
  return "";
}

PlanAnswer equal_clusters(const PlanQuestion& question, EqualMeasure measure, int first_chips,
                          const Catalog& catalog, const PlanOptions& options, EqualTrials& trials) {
  PlanAnswer answer;
  Equaliser equaliser(question, measure, catalog, options, trials, answer);
  const bool by_deadline = measure == EqualMeasure::kDeadline;
  std::optional<PlanRow> reference;
  for (std::size_t i = 0; i < question.scenarios.size(); ++i) {
    std::vector<int> counts = question.scenarios[i].counts;
    std::ranges::sort(counts);
    if (measure == EqualMeasure::kCost) std::ranges::reverse(counts);
    if (measure == EqualMeasure::kChips || (i == 0 && !by_deadline)) counts = {first_chips};
    const auto row = equaliser.first_right(i, counts, [&](const PlanRow& tried) {
      if (by_deadline) return tried.days <= question.most_days.value_or(0);
      if (!reference || measure == EqualMeasure::kChips) return true;
      if (measure == EqualMeasure::kCost) return tried.usd_per_hour() <= reference->usd_per_hour();
      return tried.found.figures.tokens_per_s >= reference->found.figures.tokens_per_s;
    });
    if (i == 0) reference = row;
    if (row) answer.rows.push_back(*row);
    if (!reference && !by_deadline) break;
  }
  answer.stopped = options.stop != nullptr && options.stop->load();
  if (!answer.rows.empty()) decide(question, catalog, options, answer);
  return answer;
}

}  // namespace podsim
