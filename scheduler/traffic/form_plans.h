// Plans of groups of one scope, one for each form in which they lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/ring_trunks.h"
#include "engine/zero_array.h"
#include "scheduler/traffic/pattern_traffic.h"
#include "topology/fabric.h"

namespace podsim {

// What a phase puts on a link of the fabric, relative to the link that limits it: `usage` as of Use.
struct UsageOnLink {
  LinkId link;
  std::int64_t usage;
};

// The same on each of some links between switches.
struct UsageOnTrunks {
  AlikeTrunks trunks;
  std::int64_t usage;
};

// Takes over the phases of a group that lies evenly.
class EvenPhaseSink {
 public:
  // The next phase of a pattern: `own` are of links out of one chip, as which those of all are loaded, in
  // both directions.
  virtual void add_even(std::size_t pattern, const PhaseTraffic& phase, std::span<const UsageOnLink> own,
                        std::span<const UsageOnTrunks> trunks) = 0;

 protected:
  ~EvenPhaseSink() = default;
};

// Takes over the phases of plans, one after the other.
class PhaseSink {
 public:
  virtual ~PhaseSink() = default;
  // The next phase of a pattern. Uses are by link, ascending, and none where there is no work; the phase says
  // nothing of them yet.
  virtual void add(std::size_t pattern, const PhaseTraffic& phase, std::span<const UsageOnLink> uses) = 0;
  // What takes phases of even groups instead; nothing where each use is wanted.
  virtual EvenPhaseSink* even() { return nullptr; }
  // All phases of the pattern's next form were added.
  virtual void end_form(std::size_t pattern) = 0;
};

// Plans all patterns of one communicator, form after form.
class FormPlans {
 public:
  // `fanout_of` has an entry for each pattern. All must outlive this.
  FormPlans(const Fabric& fabric, std::size_t communicator, std::span<const PlannedCollective> patterns,
            std::span<const Fanout> fanout_of, double network_share, PhaseSink& sink);

  // Plans the next form, of which this group is.
  void add(std::span<const ChipId> group);
  // The same, by closed forms where the sink takes them.
  void add(const StridedGroup& group);

 private:
  void add_listed(std::size_t pattern, const Collective& unit, GroupPlanner& planner,
                  std::span<const ChipId> group);
  bool add_evenly(std::size_t pattern, const Collective& unit, const StridedGroup& group);
  Collective unit_of(std::size_t pattern) const;
  PhaseTraffic find_uses(Phase phase);

  const Fabric& fabric_;
  std::span<const PlannedCollective> patterns_;
  std::span<const Fanout> fanout_of_;
  double network_share_;
  PhaseSink& sink_;
  std::vector<std::size_t> own_patterns_;
  std::vector<UsageOnLink> uses_;  // of one phase
  bool checked_ = false;           // the first form carries enough
};

// Keeps every use, by its place among the links that the group loads, in the order in which plans name them.
class PlacedUses : public PhaseSink {
 public:
  // `loads` have an entry for each pattern and must outlive this.
  PlacedUses(std::size_t links, std::span<PatternTraffic> loads);

  void add(std::size_t pattern, const PhaseTraffic& phase, std::span<const UsageOnLink> uses) override;
  void end_form(std::size_t pattern) override;

  // The links of the group that was planned last. Leaves none.
  std::vector<LinkId> take_links();

 private:
  std::int32_t place_of(LinkId link);

  std::span<PatternTraffic> loads_;
  // [link] one more than its place, 0 = not among them; most of a large fabric is never touched.
  ZeroArray<std::int32_t> next_place_;
  std::vector<LinkId> links_;
};

}  // namespace podsim
