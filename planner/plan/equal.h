// Clusters of several scenarios made equal by one measure, so that what is left differs for a reason.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "planner/plan/plan.h"

namespace podsim {

enum class EqualMeasure : unsigned char {
  kChips,       // as many as the first scenario has
  kThroughput,  // the fewest chips that train as many tokens per second as those of the first
  kCost,        // the most chips that cost no more per hour than those of the first
  kDeadline,    // the fewest chips that are done in time
};

// Clusters that were tried, so that several measures of the same question search each of them once.
struct EqualTrials {
  std::map<std::pair<std::size_t, int>, PlanAnswer> of;  // of this scenario with this count
};

// Of each scenario one row, of the counts that the question lists for it; the first has the count of its file
// where the measure is not the deadline. A scenario that no count makes equal is refused, with the reason.
// REQUIRES: each scenario has one chip; one price term, one precision; with kDeadline a deadline.
PlanAnswer equal_clusters(const PlanQuestion& question, EqualMeasure measure, int first_chips,
                          const Catalog& catalog, const PlanOptions& options, EqualTrials& trials);

// "the same tokens per second, 507,061", as the measure of that row.
std::string measure_of(EqualMeasure measure, const PlanRow& row);

}  // namespace podsim
