// What became of every layout of a search: counted, and written down where that is wanted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/search/answer.h"
#include "planner/search/open_layouts.h"
#include "planner/space/space.h"

namespace podsim {

// Not for several threads at once.
class SearchLedger {
 public:
  // `record`: every layout is written down. REQUIRES: the space outlives this object.
  SearchLedger(const Space& space, Bytes room, double parameters, bool record)
      : space_(space), room_(room), parameters_(parameters), record_(record) {}

  const SearchCounts& counts() const { return counts_; }
  void forget_all();

  void found(const std::vector<JobLayout>& layouts);
  // Layouts of one stem do not fit, which need so much at least.
  void no_room(const std::vector<JobLayout>& layouts, Bytes needed);
  // A layout does not fit, by its own memory.
  void missed(const NearestMiss& miss);
  // By its bound; or the search ended before it had been looked at.
  void dropped(const OpenLayouts& candidate) { close(candidate, false); }
  void dropped(const BoundedStem& stem) { close(stem, false); }
  void left_open(const OpenLayouts& candidate) { close(candidate, true); }
  void simulated(const OpenLayouts& candidate, Time step, bool known);
  void too_long(const OpenLayouts& candidate, const std::string& why);
  void put_off() { ++counts_.put_off; }

  // Writes counts, tightness, records, refused layouts and, where nothing was found, the nearest miss;
  // empties this.
  void write_to(SearchAnswer& answer);

 private:
  void record(const LayoutRecord& each) {
    if (record_) records_.push_back(each);
  }
  void close(const OpenLayouts& candidate, bool is_open);
  void close(const BoundedStem& stem, bool is_open);
  void close(const std::vector<JobLayout>& layouts, Time bound, LayoutVerdict verdict, std::int64_t& count,
             bool is_open);

  const Space& space_;
  const Bytes room_;
  const double parameters_;
  const bool record_;
  SearchCounts counts_;
  std::vector<LayoutRecord> records_;
  std::vector<RefusedLayout> refused_;
  std::optional<NearestMiss> miss_;
  Tightness of_lighter_, of_passes_, of_stages_, of_relaxed_;
};

}  // namespace podsim
