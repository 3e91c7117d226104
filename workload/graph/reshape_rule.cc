// Factors of a reshape: the common divisors of its dimensions, major to minor.
#include <numeric>

#include "engine/check.h"
#include "workload/graph/op_rule.h"

namespace podsim {
namespace {

using Sizes = std::vector<std::int64_t>;

// Walks over the dimensions of one side, major to minor, and hands out divisors of the current one.
class DimGroup {
 public:
  explicit DimGroup(const Sizes& dims) : dims_(dims), map_(dims.size()) { skip_done(); }

  bool done() const { return dim_ == dims_.size(); }
  std::int64_t rest() const { return dims_[dim_] / taken_; }  // of the current dimension
  std::int64_t passed() const { return passed_; }             // product of all factors handed out

  void take(int factor, std::int64_t size) {
    map_[dim_].push_back(factor);
    taken_ *= size;
    passed_ *= size;
    skip_done();
  }
  // The rest of the current dimension becomes a factor that the other side does not have.
  void take_alone(OpRule& rule) {
    const std::int64_t size = rest();
    take(rule.add({size, FactorKind::kNeedReplication}), size);
  }

  FactorMap map() && { return std::move(map_); }

 private:
  void skip_done() {
    while (!done() && rest() == 1) {
      ++dim_;
      taken_ = 1;
    }
  }

  const Sizes& dims_;
  FactorMap map_;
  std::size_t dim_ = 0;
  std::int64_t taken_ = 1;  // of the current dimension
  std::int64_t passed_ = 1;
};

}  // namespace

std::int64_t element_count(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>{});
}

OpRule reshape_rule(const Sizes& in, const Sizes& out) {
  PODSIM_CHECK(element_count(in) == element_count(out), "a reshape keeps the number of elements");
  OpRule rule;
  rule.rule_class = RuleClass::kElementwise;
  DimGroup from(in), to(out);
  while (!from.done()) {
    // Indices correspond only where as many are left on both sides; in between, nothing is common.
    const std::int64_t common = from.passed() == to.passed() ? std::gcd(from.rest(), to.rest()) : 1;
    if (common > 1) {
      const int factor = rule.add({common});
      from.take(factor, common);
      to.take(factor, common);
      continue;
    }
    do {
      DimGroup& behind = from.passed() <= to.passed() ? from : to;
      behind.take_alone(rule);
    } while (from.passed() != to.passed());
  }
  rule.operands = {std::move(from).map()};
  rule.results = {std::move(to).map()};
  return rule;
}

}  // namespace podsim
