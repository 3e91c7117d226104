// Lists of axes as factors of an operation see them: what of a dimension's axes lies on each of its factors.
#include "workload/sharding/factor_projection.h"

#include <algorithm>
#include <numeric>

namespace podsim {
namespace {

// The part of `ref` behind its first `size` shards.
AxisRef behind(const AxisRef& ref, int size) { return {ref.axis, ref.pre * size, ref.size / size}; }

// Reads two lists side by side, in pieces that both have.
class SideBySide {
 public:
  SideBySide(const AxisList& a, const AxisList& b) : a_(a), b_(b) {}

  // Passes what both begin with.
  void pass_common() {
    while (a_.more() && b_.more()) {
      const AxisRef x = a_.head(), y = b_.head();
      if (x.axis != y.axis || x.pre != y.pre) return;
      const int size = std::gcd(x.size, y.size);
      if (size == 1) return;
      passed_.push_back({x.axis, x.pre, size});
      a_.pass(size);
      b_.pass(size);
    }
  }

  bool a_done() const { return !a_.more(); }
  AxisList passed() const { return merged(passed_); }
  AxisList rest_of_b() const { return b_.rest(); }

 private:
  class Reader {
   public:
    explicit Reader(const AxisList& axes) : axes_(axes) {}
    bool more() const { return next_ < axes_.size(); }
    AxisRef head() const { return passed_ == 1 ? axes_[next_] : behind(axes_[next_], passed_); }
    void pass(int size) {
      passed_ *= size;
      if (passed_ == axes_[next_].size) {
        ++next_;
        passed_ = 1;
      }
    }
    AxisList rest() const {
      if (!more()) return {};
      AxisList result(axes_.begin() + static_cast<std::ptrdiff_t>(next_), axes_.end());
      result.front() = head();
      return result;
    }

   private:
    const AxisList& axes_;
    std::size_t next_ = 0;
    int passed_ = 1;  // shards of the next axis that are behind us
  };

  Reader a_, b_;
  AxisList passed_;
};

}  // namespace

AxisList common_start(const AxisList& a, const AxisList& b) {
  if (a.empty() || b.empty()) return {};
  SideBySide both(a, b);
  both.pass_common();
  return both.passed();
}

bool begins_with(const AxisList& whole, const AxisList& start) {
  if (start.size() <= whole.size() && std::equal(start.begin(), start.end(), whole.begin())) return true;
  SideBySide both(start, whole);
  both.pass_common();
  return both.a_done();
}

std::optional<AxisList> rest_after(const AxisList& start, const AxisList& whole) {
  if (start.empty()) return whole;
  SideBySide both(start, whole);
  both.pass_common();
  if (!both.a_done()) return std::nullopt;
  return both.rest_of_b();
}

AxisList free_start(const AxisList& axes, const AxisList& taken) {
  AxisList result;
  for (const AxisRef& ref : axes) {
    int free = ref.size;
    for (const AxisRef& other : taken) {
      if (!overlap(ref, other)) continue;
      free = other.pre > ref.pre && other.pre % ref.pre == 0 ? std::gcd(free, other.pre / ref.pre) : 1;
    }
    if (free > 1) result.push_back({ref.axis, ref.pre, free});
    if (free < ref.size) break;
  }
  return result;
}

AxisList dividing_start(const AxisList& axes, std::int64_t size) {
  AxisList result;
  for (const AxisRef& ref : axes) {
    const auto fits = static_cast<int>(std::gcd(std::int64_t{ref.size}, size));
    if (fits > 1) result.push_back({ref.axis, ref.pre, fits});
    if (fits < ref.size) break;
    size /= fits;
  }
  return result;
}

AxisList joined(AxisList first, const AxisList& last) {
  first.insert(first.end(), last.begin(), last.end());
  return merged(std::move(first));
}

AxisList FactorAxes::fitting(const AxisList& more) const {
  if (!extensible) return {};
  return room == 0 ? more : dividing_start(more, room);
}

FactorAxes factor_axes(const OpRule& rule, const std::vector<int>& factors, int factor,
                       const AxisList& dimension) {
  if (factors.size() == 1) return {.axes = dimension, .extensible = true, .room = 0};
  AxisList rest = dimension;
  for (int candidate : factors) {
    const std::int64_t size = rule.factors[static_cast<std::size_t>(candidate)].size;
    AxisList own = dividing_start(rest, size);
    rest = rest_after(own, rest).value_or(AxisList{});
    const std::int64_t room = size / shard_count(own);
    if (candidate == factor)
      return {.axes = std::move(own), .extensible = rest.empty() && room > 1, .room = room};
    if (room > 1) break;
  }
  return {.axes = {}, .extensible = false, .room = 1};
}

}  // namespace podsim
