// What a partitioner minimises: the time of collectives and computation on the placed fabric, or bytes sent.
#pragma once

#include <utility>

#include "collectives/collective.h"
#include "workload/mesh/axes.h"

namespace podsim {

class KnownPlans;

class CostModel {
 public:
  virtual ~CostModel() = default;
  // One execution by the group along `axes`; bytes in the convention of Collective::bytes. Seconds on a
  // fabric. Never negative; more bytes never cost less, and where time decides each further one costs no more
  // than those before.
  virtual double collective(CollectiveKind kind, const AxisList& axes, Bytes bytes) const = 0;
  virtual double compute(Flops flops) const = 0;
  // True = time decides. False = there is no fabric: bytes sent decide among plans that compute no more than
  // the plan of a compiler that counts elements (docs/guide/sharding.md), then FLOPs, then steps.
  virtual bool timed() const = 0;
  // No collectives bring a device `received` bytes that it lacks for less, whatever their kinds and axes: the
  // tighter the bound, the less is searched. Zero where nothing is known.
  virtual double at_least(Bytes /*received*/) const { return 0; }
  // Chips lie in domains, between which what they exchange takes slower links. How many neighbours along the
  // piece are in one domain; 0 = there are none, or axes do not fill them.
  virtual int neighbours_in_domain(const AxisRef& /*piece*/) const { return 0; }
  // No collectives bring `received` bytes from other domains to the chips of one, all together, for less.
  virtual double from_afar_at_least(Bytes /*received*/) const { return 0; }
  // The same, to one chip by links of its own.
  virtual double to_chip_from_afar_at_least(Bytes /*received*/) const { return 0; }
  // Where plans of operations by these prices are remembered, or nothing.
  virtual KnownPlans* known_plans() const { return nullptr; }
};

// No fabric: the bytes that one device sends with a bandwidth-optimal algorithm.
class SentBytes : public CostModel {
 public:
  double collective(CollectiveKind kind, const AxisList& axes, Bytes bytes) const override;
  double compute(Flops flops) const override;
  bool timed() const override { return false; }
  double at_least(Bytes received) const override { return received.value; }
};

// Prices of a tensor whose gathers and reductions along some axes share messages of others, which are sent
// anyway: their bytes alone, not what a message costs however short it is. An all-reduce costs what its
// halves do, so that what is wanted in shards is scattered. All else has messages of its own.
class SharedMessages : public CostModel {
 public:
  // `along` = the axes, canonical. REQUIRES: `alone` outlives this, and is timed where there
  // are any.
  SharedMessages(const CostModel& alone, AxisList along) : alone_(alone), along_(std::move(along)) {}
  bool shares(CollectiveKind kind, const AxisList& axes) const;
  double collective(CollectiveKind kind, const AxisList& axes, Bytes bytes) const override;
  double compute(Flops flops) const override { return alone_.compute(flops); }
  bool timed() const override { return true; }

 private:
  const CostModel& alone_;
  AxisList along_;
};

// Bytes one device sends over a group of n: all-gather result (n-1)/n, reduce-scatter operand (n-1)/n,
// all-reduce 2 operand (n-1)/n, all-to-all operand (n-1)/n, permute operand.
Bytes sent_bytes(CollectiveKind kind, int group_size, Bytes bytes);

// Compared in this order. `value` = seconds or bytes by the cost model.
struct PlanCost {
  double value = 0;
  double bytes = 0;  // sent
  double flops = 0;
  int steps = 0;
  friend auto operator<=>(const PlanCost&, const PlanCost&) = default;
};

}  // namespace podsim
