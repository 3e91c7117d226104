// Counts layouts by their verdicts.
#include "planner/search/ledger.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "planner/bounds/stem_bounds.h"

namespace podsim {

void SearchLedger::forget_all() {
  counts_ = {};
  records_.clear();
  refused_.clear();
}

void SearchLedger::found(const std::vector<JobLayout>& layouts) {
  counts_.layouts += static_cast<std::int64_t>(layouts.size());
}

void SearchLedger::no_room(const std::vector<JobLayout>& layouts, Bytes needed) {
  counts_.no_room += static_cast<std::int64_t>(layouts.size());
  if (layouts.empty()) return;
  const bool for_state = least_state(space_.spec().job, layouts.front(), parameters_) > room_;
  for (const JobLayout& layout : layouts)
    record({layout, for_state ? LayoutVerdict::kNoRoomForState : LayoutVerdict::kNoRoom, {}, needed});
}

void SearchLedger::missed(const NearestMiss& miss) {
  ++counts_.no_room;
  record({miss.layout, LayoutVerdict::kNoRoom, {}, miss.needed});
  if (!miss_ || std::tie(miss.needed, miss.layout) < std::tie(miss_->needed, miss_->layout)) miss_ = miss;
}

void SearchLedger::close(const OpenLayouts& candidate, bool is_open) {
  if (candidate.level == Level::kLighter) {
    for (const BoundedStem& each : *candidate.stems) close(each, is_open);
  } else if (candidate.level == Level::kPasses) {
    close(space_.leaves(candidate.layout), candidate.bound, LayoutVerdict::kByPasses, counts_.by_passes,
          is_open);
  } else if (candidate.level == Level::kStages) {
    close({candidate.layout}, candidate.bound, LayoutVerdict::kByStages, counts_.by_stages, is_open);
  } else {
    close({candidate.layout}, candidate.bound, LayoutVerdict::kByRelaxed, counts_.by_relaxed, is_open);
  }
}

void SearchLedger::close(const BoundedStem& stem, bool is_open) {
  close(space_.leaves(stem.stem), stem.bound, LayoutVerdict::kByLighter, counts_.by_lighter, is_open);
}

void SearchLedger::close(const std::vector<JobLayout>& layouts, Time bound, LayoutVerdict verdict,
                         std::int64_t& count, bool is_open) {
  (is_open ? counts_.open : count) += static_cast<std::int64_t>(layouts.size());
  for (const JobLayout& layout : layouts)
    record({layout, is_open ? LayoutVerdict::kOpen : verdict, bound, {}});
}

void SearchLedger::simulated(const OpenLayouts& candidate, Time step, bool known) {
  ++counts_.simulated;
  counts_.known += known ? 1 : 0;
  record({candidate.layout, LayoutVerdict::kSimulated, step, {}});
  const auto share = [&](Time bound) { return static_cast<double>(bound.ps) / static_cast<double>(step.ps); };
  of_lighter_.shares.push_back(share(candidate.lighter_bound));
  of_passes_.shares.push_back(share(candidate.pass_bound));
  of_stages_.shares.push_back(share(candidate.stage_bound));
  of_relaxed_.shares.push_back(share(candidate.bound));
}

void SearchLedger::too_long(const OpenLayouts& candidate, const std::string& why) {
  ++counts_.too_long;
  record({candidate.layout, LayoutVerdict::kTooLong, candidate.bound, {}});
  refused_.push_back({candidate.layout, why});
}

void SearchLedger::write_to(SearchAnswer& answer) {
  answer.counts = counts_;
  answer.of_lighter = std::move(of_lighter_);
  answer.of_passes = std::move(of_passes_);
  answer.of_stages = std::move(of_stages_);
  answer.of_relaxed = std::move(of_relaxed_);
  for (Tightness* tightness : {&answer.of_lighter, &answer.of_passes, &answer.of_stages, &answer.of_relaxed})
    std::ranges::sort(tightness->shares);
  if (answer.best.empty()) answer.miss = miss_;
  std::ranges::sort(refused_, {}, &RefusedLayout::layout);
  answer.refused = std::move(refused_);
  std::ranges::sort(records_, {}, &LayoutRecord::layout);
  answer.records = std::move(records_);
}

}  // namespace podsim
