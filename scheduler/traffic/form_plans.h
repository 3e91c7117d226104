// Plans of groups of one scope, one for each form in which they lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "scheduler/traffic/pattern_traffic.h"
#include "topology/fabric.h"

namespace podsim {

// The links that a group loads, numbered as its plans first name them.
class OwnLinks {
 public:
  explicit OwnLinks(std::size_t links);

  std::int32_t place_of(LinkId link) {
    std::int32_t& next = next_place_[link];
    if (next == 0) {
      links_.push_back(link);
      next = static_cast<std::int32_t>(links_.size());
    }
    return next - 1;
  }

  // Leaves none.
  std::vector<LinkId> take();

 private:
  struct Free {
    void operator()(std::int32_t* array) const { std::free(array); }
  };
  // [link] one more than its place, 0 = not among them. Of a large fabric most is never touched, and takes no
  // memory then.
  std::unique_ptr<std::int32_t[], Free> next_place_;
  std::vector<LinkId> links_;
};

// Plans all patterns of one communicator, form after form.
class FormPlans {
 public:
  // `fanout_of` and `loads` have an entry for each pattern; `loads` grow by the forms. All must outlive this.
  FormPlans(const Fabric& fabric, std::size_t communicator, std::span<const PlannedCollective> patterns,
            std::span<const Fanout> fanout_of, double network_share, std::span<PatternTraffic> loads);

  // Plans the next form, of which this group is. Uses name places among the links that it loads.
  void add(std::span<const ChipId> group);

  // The links of the group that was added last.
  std::vector<LinkId> take_links() { return own_.take(); }

 private:
  void add_phase(PatternTraffic& traffic, Phase phase);

  const Fabric& fabric_;
  std::span<const PlannedCollective> patterns_;
  std::span<const Fanout> fanout_of_;
  double network_share_;
  std::span<PatternTraffic> loads_;
  std::vector<std::size_t> own_patterns_;
  OwnLinks own_;
};

}  // namespace podsim
