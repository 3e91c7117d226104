// Lists of axes as factors of an operation see them: what of a dimension's axes lies on each of its factors.
#pragma once

#include <optional>
#include <vector>

#include "workload/graph/op_rule.h"
#include "workload/mesh/axes.h"

namespace podsim {

// The longest list with which both begin. An axis may be cut: x and x:(1)2 y have x:(1)2 in common.
AxisList common_start(const AxisList& a, const AxisList& b);

bool begins_with(const AxisList& whole, const AxisList& start);

// What `whole` has after `start`; nothing where it does not begin with it.
std::optional<AxisList> rest_after(const AxisList& start, const AxisList& whole);

// The longest beginning of `axes` that shares no device coordinate with `taken`.
AxisList free_start(const AxisList& axes, const AxisList& taken);

// The longest beginning of `axes` whose shards divide `size`.
AxisList dividing_start(const AxisList& axes, std::int64_t size);

// `first`, then `last`, with neighbours that continue each other merged.
AxisList joined(AxisList first, const AxisList& last);

// What one factor of a dimension has of the dimension's axes.
struct FactorAxes {
  AxisList axes;
  bool extensible = true;  // further axes would lie directly behind these
  std::int64_t room = 0;   // shards that the factor can still be cut into evenly; 0 = padding is allowed

  // The longest beginning of `more` that may follow `axes`.
  AxisList fitting(const AxisList& more) const;
};

// `factors` = factors of the dimension, major to minor, `factor` one of them. A dimension that is one factor
// has all its axes on it. In a product an axis goes to the major factor as far as it divides it, then on to
// the next; a factor that is not cut to the end keeps the others behind it whole, and axes that divide
// nothing belong to no factor.
FactorAxes factor_axes(const OpRule& rule, const std::vector<int>& factors, int factor,
                       const AxisList& dimension);

}  // namespace podsim
