// Replays a whole operation: operands, the computation, statistics, results and what all of it costs.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "tests/sharding/replay.h"

namespace podsim::testing {
namespace {

// Axes of a dimension dealt out to its factors, major to minor: a minor factor is cut only where all major
// ones are cut to single elements. Nothing where they do not fit.
std::optional<std::vector<AxisList>> deal(const AxisList& axes, const std::vector<std::int64_t>& sizes) {
  std::vector<AxisList> lists(sizes.size());
  std::size_t factor = 0;
  std::int64_t left = sizes.empty() ? 1 : sizes[0];
  for (AxisRef ref : axes) {
    while (ref.size > 1) {
      while (left == 1 && factor + 1 < sizes.size()) left = sizes[++factor];
      if (sizes.empty()) return std::nullopt;
      const bool last = factor + 1 == sizes.size();
      const auto taken = last ? ref.size : static_cast<int>(std::gcd<std::int64_t>(left, ref.size));
      if (taken == 1) return std::nullopt;
      lists[factor].push_back({ref.axis, ref.pre, taken});
      ref = {ref.axis, ref.pre * taken, ref.size / taken};
      left = last ? left : left / taken;
    }
  }
  for (AxisList& list : lists) list = merged(list);
  return lists;
}

bool has(const FactorMap& map, int factor) {
  return std::any_of(map.begin(), map.end(), [&](const std::vector<int>& dim) {
    return std::find(dim.begin(), dim.end(), factor) != dim.end();
  });
}

bool in_operands(const OpRule& rule, int factor) {
  return std::any_of(rule.operands.begin(), rule.operands.end(),
                     [&](const FactorMap& map) { return has(map, factor); });
}

bool is_statistic(const OpRule& rule, int factor) {
  return std::any_of(rule.statistics.begin(), rule.statistics.end(),
                     [&](const Statistic& s) { return s.factor == factor; });
}

// Reads the axes per factor off the layouts of tensors, and notes where two tensors differ.
class Reader {
 public:
  Reader(const Mesh& mesh, const OpRule& rule)
      : mesh_(mesh), rule_(rule), found_(rule.factors.size()), lists_(rule.factors.size()) {}

  void read(const FactorMap& map, const Layout& layout, const std::string& tensor) {
    if (map.size() != layout.dims.size()) return fault(tensor + " has another number of dimensions");
    for (std::size_t d = 0; d < map.size(); ++d) {
      if (windowed(map, d)) continue;
      std::vector<std::int64_t> sizes;
      for (const int f : map[d]) sizes.push_back(rule_.factors[static_cast<std::size_t>(f)].size);
      const auto lists = deal(merged(layout.dims[d]), sizes);
      if (!lists) {
        fault(tensor + " is cut across factors: " + to_string(mesh_, layout));
        continue;
      }
      for (std::size_t k = 0; k < lists->size(); ++k) note(map[d][k], (*lists)[k], tensor);
    }
  }

  // Under a window the factors of a dimension do not make it up: what other tensors put on them lies here.
  void read_windows(const FactorMap& map, const Layout& layout, const std::string& tensor) {
    for (std::size_t d = 0; d < map.size() && d < layout.dims.size(); ++d) {
      if (!windowed(map, d)) continue;
      AxisList axes;
      for (const int f : map[d]) {
        const AxisList& list = lists_[static_cast<std::size_t>(f)];
        axes.insert(axes.end(), list.begin(), list.end());
      }
      if (merged(axes) != merged(layout.dims[d])) fault(tensor + " is not cut as its window moves");
    }
  }

  void judge_factors() {
    for (std::size_t f = 0; f < lists_.size(); ++f) {
      if (rule_.factors[f].kind == FactorKind::kNeedReplication && !lists_[f].empty())
        fault("factor " + std::to_string(f) + " must be whole");
      for (std::size_t g = 0; g < f; ++g)
        if (overlap(lists_[f], lists_[g]))
          fault("an axis is on factors " + std::to_string(g) + " and " + std::to_string(f));
    }
  }

  void fault(const std::string& text) { faults_.push_back("computation: " + text); }
  const std::vector<AxisList>& lists() const { return lists_; }
  const Faults& faults() const { return faults_; }

 private:
  bool windowed(const FactorMap& map, std::size_t dim) const {
    return map[dim].size() > 1 &&
           std::any_of(rule_.windows.begin(), rule_.windows.end(), [&](const Window& w) {
             return &rule_.operands[static_cast<std::size_t>(w.operand)] == &map &&
                    static_cast<std::size_t>(w.dim) == dim;
           });
  }

  void note(int factor, const AxisList& axes, const std::string& tensor) {
    const auto f = static_cast<std::size_t>(factor);
    if (found_[f] && lists_[f] != axes)
      fault(tensor + " has " + to_string(mesh_, axes) + " on factor " + std::to_string(f) + ", not " +
            to_string(mesh_, lists_[f]));
    if (!found_[f]) lists_[f] = axes;
    found_[f] = true;
  }

  const Mesh& mesh_;
  const OpRule& rule_;
  std::vector<bool> found_;
  std::vector<AxisList> lists_;
  Faults faults_;
};

// Axes over which a result is a partial sum: of factors it lacks, and what operands carry.
AxisList summed(const OpRule& rule, const FactorMap& result, const std::vector<AxisList>& factors,
                const AxisList& carried) {
  AxisList axes = carried;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const int factor = static_cast<int>(f);
    const FactorKind kind = rule.factors[f].kind;
    if (kind != FactorKind::kPassThrough && kind != FactorKind::kReduction) continue;
    if (has(result, factor) || is_statistic(rule, factor) || !in_operands(rule, factor)) continue;
    axes.insert(axes.end(), factors[f].begin(), factors[f].end());
  }
  return canonical(axes);
}

double local_flops(const OpRule& rule, const std::vector<AxisList>& factors, double per_point) {
  double flops = per_point;
  for (std::size_t f = 0; f < factors.size(); ++f)
    flops *= std::ceil(static_cast<double>(rule.factors[f].size) / shard_count(factors[f]));
  return flops;
}

bool nearly_equal(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)});
}

// What the plan of an operation costs, and everything wrong with it.
class OperationReplay {
 public:
  OperationReplay(const Mesh& mesh, const OpProblem& problem, const OpPlan& plan, const CostModel& cost)
      : mesh_(mesh), problem_(problem), plan_(plan), cost_(cost) {}

  Faults judge() {
    for (std::size_t i = 0; i < problem_.operands.size(); ++i) operand(i);
    computation();
    statistics();
    for (std::size_t i = 0; i < problem_.results.size(); ++i) result(i);
    claims();
    return faults_;
  }

 private:
  void add(const std::string& where, const Faults& faults) {
    for (const std::string& text : faults) faults_.push_back(where + ": " + text);
  }

  void pay(const PlanStep& step, double repeats, bool hidden, const AxisList& shared_along) {
    const auto kind = collective_of(step.kind);
    if (!kind) return;
    const double times = repeats * step.count;
    const SharedMessages prices(cost_, shared_along);
    (hidden ? hidden_ : exposed_) += times * prices.collective(*kind, step.axes, collective_bytes(step));
    bytes_ += times * step.sent.value;
  }

  void operand(std::size_t i) {
    const OpOperand& operand = problem_.operands[i];
    Faults best;
    bool reached = false;
    for (const Layout& start : operand.available) {
      Replay replay(mesh_, operand.shape, start);
      for (const PlanStep& step : plan_.operand_steps[i]) replay.apply(step);
      replay.expect(plan_.required[i]);
      if (replay.faults().empty()) reached = true;
      if (best.empty()) best = replay.faults();
    }
    if (!reached) add("operand " + std::to_string(i), best);
    for (const PlanStep& step : plan_.operand_steps[i])
      pay(step, operand.repeats, operand.hidden, operand.shared_along);
  }

  void computation() {
    const Computation done = check_compute(mesh_, problem_.rule, plan_.required, plan_.natural,
                                           problem_.carried, problem_.flops_per_point);
    add("operation", done.faults);
    for (std::size_t f = 0; f < done.factors.size(); ++f)
      if (merged(plan_.factors[f]) != done.factors[f])
        faults_.push_back("factor " + std::to_string(f) + " is said to be on " +
                          to_string(mesh_, plan_.factors[f]) + ", not " + to_string(mesh_, done.factors[f]));
    if (!nearly_equal(done.flops, plan_.flops)) faults_.push_back("FLOPs differ from the local factors");
  }

  void statistics() {
    for (const PlanStep& step : plan_.statistics) pay(step, 1, false, {});
    std::size_t wanted = 0;
    for (const Statistic& s : problem_.rule.statistics)
      wanted += !plan_.factors[static_cast<std::size_t>(s.factor)].empty();
    if (wanted != plan_.statistics.size()) faults_.push_back("statistics of cut factors are not all reduced");
  }

  void result(std::size_t i) {
    const OpResult& result = problem_.results[i];
    Replay replay(mesh_, result.shape, plan_.natural[i]);
    for (const PlanStep& step : plan_.result_steps[i]) {
      replay.apply(step);
      pay(step, 1, false, result.shared_along);
    }
    replay.expect(plan_.kept[i]);
    add("result " + std::to_string(i), replay.faults());
    if (!result.wanted) return;
    Layout kept = plan_.kept[i];
    if (result.partial_allowed) {
      if (overlap(kept.unreduced, result.wanted->sharded()))
        faults_.push_back("a result waits over axes that it is wanted on");
      kept.unreduced = result.wanted->unreduced;
    }
    if (!same_layout(kept, *result.wanted))
      faults_.push_back("result " + std::to_string(i) + " is kept as " + to_string(mesh_, plan_.kept[i]) +
                        ", not as " + to_string(mesh_, *result.wanted));
  }

  void claims() {
    const double value = exposed_ + std::max(hidden_, cost_.compute(Flops{plan_.flops}));
    const double wanted = cost_.timed() ? value : exposed_ + hidden_;
    if (!nearly_equal(wanted, plan_.cost.value))
      faults_.push_back("costs " + std::to_string(wanted) + ", not " + std::to_string(plan_.cost.value));
    if (!nearly_equal(bytes_, plan_.cost.bytes)) faults_.push_back("bytes sent are not the sum over steps");
  }

  const Mesh& mesh_;
  const OpProblem& problem_;
  const OpPlan& plan_;
  const CostModel& cost_;
  double exposed_ = 0, hidden_ = 0, bytes_ = 0;
  Faults faults_;
};

}  // namespace

Computation check_compute(const Mesh& mesh, const OpRule& rule, const std::vector<Layout>& operands,
                          const std::vector<Layout>& results, const AxisList& carried,
                          double flops_per_point) {
  Reader reader(mesh, rule);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    reader.read(rule.operands[i], operands[i], "operand " + std::to_string(i));
    if (canonical(operands[i].unreduced) != canonical(carried))
      reader.fault("operand " + std::to_string(i) + " is a partial sum: " + to_string(mesh, operands[i]));
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    reader.read(rule.results[i], results[i], "result " + std::to_string(i));
  for (std::size_t i = 0; i < operands.size(); ++i)
    reader.read_windows(rule.operands[i], operands[i], "operand " + std::to_string(i));
  reader.judge_factors();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const AxisList sums = summed(rule, rule.results[i], reader.lists(), carried);
    if (canonical(results[i].unreduced) != sums)
      reader.fault("result " + std::to_string(i) + " is a partial sum over " + to_string(mesh, sums) +
                   ", not over " + to_string(mesh, results[i].unreduced));
  }
  return {reader.faults(), reader.lists(), local_flops(rule, reader.lists(), flops_per_point)};
}

Faults check(const Mesh& mesh, const OpProblem& problem, const OpPlan& plan, const CostModel& cost) {
  return OperationReplay(mesh, problem, plan, cost).judge();
}

}  // namespace podsim::testing
