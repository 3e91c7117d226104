// Puts the rows of a trace into one table and takes waiting out of the durations of transfers.
#include "scheduler/replay/operation_times.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace podsim {
namespace {

// A transfer that ends this long before its last peer starts is none; shorter times are the clocks' error. Of
// the public replay tool of these traces.
constexpr double kEarliestTransfer_s = -0.010;

std::vector<std::int32_t> steps_of(const RecordedTrace& trace, std::span<const std::int32_t> only) {
  std::vector<std::int32_t> steps;
  for (const RecordedOp& op : trace.ops)
    if (steps.empty() || steps.back() != op.step) steps.push_back(op.step);
  std::ranges::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  for (const std::int32_t step : only)
    if (!std::ranges::binary_search(steps, step))
      throw ReplayError("the trace has no step " + std::to_string(step));
  if (!only.empty())
    std::erase_if(steps, [&](std::int32_t step) { return std::ranges::find(only, step) == only.end(); });
  return steps;
}

// Ops of the graph by stage, type and sequence.
class OpIndex {
 public:
  explicit OpIndex(const ReplayGraph& graph) : by_kind_(static_cast<std::size_t>(graph.stages) * kOpTypes) {
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      const ReplayOp& op = graph.ops[i];
      auto& ops = by_kind_[kind(op.stage, op.type)];
      if (ops.size() <= static_cast<std::size_t>(op.sequence))
        ops.resize(static_cast<std::size_t>(op.sequence) + 1, -1);
      if (ops[op.sequence] >= 0)
        throw ReplayError(describe(op) + " is twice on data rank 0 in the first step");
      ops[op.sequence] = static_cast<std::int32_t>(i);
    }
  }

  // -1 where the graph has none.
  std::int32_t find(const RecordedOp& op) const {
    const auto& ops = by_kind_[kind(op.stage, op.type)];
    return static_cast<std::size_t>(op.sequence) < ops.size() ? ops[op.sequence] : -1;
  }

 private:
  static std::size_t kind(int stage, OpType type) {
    return static_cast<std::size_t>(stage) * kOpTypes + static_cast<std::size_t>(type);
  }
  std::vector<std::vector<std::int32_t>> by_kind_;
};

class Tables {
 public:
  Tables(const RecordedTrace& trace, const ReplayGraph& graph, std::span<const std::int32_t> only)
      : trace_(trace), graph_(graph) {
    times_.steps = steps_of(trace, only);
    times_.data_ranks = graph.data_ranks;
    times_.ranks_alike = trace.ranks_alike;
    if (times_.ranks_alike.empty()) times_.ranks_alike.assign(static_cast<std::size_t>(graph.data_ranks), 1);
    ranks_ = static_cast<std::size_t>(graph.data_ranks);
    columns_ = times_.columns();
  }

  OperationTimes build() {
    place_rows();
    find_recorded_steps();
    for (const ReplayGroup& group : graph_.groups)
      if (group.transfers) take_waiting_out(group);
    find_ideals();
    return std::move(times_);
  }

 private:
  std::string place(std::size_t column) const {
    return "data rank " + std::to_string(column % ranks_) + " in step " +
           std::to_string(times_.steps[column / ranks_]);
  }

  void place_rows() {
    start_.assign(graph_.ops.size() * columns_, std::numeric_limits<double>::quiet_NaN());
    times_.traced.assign(graph_.ops.size() * columns_, 0);
    const OpIndex index(graph_);
    for (const RecordedOp& row : trace_.ops) {
      const auto step = std::ranges::lower_bound(times_.steps, row.step);
      if (step == times_.steps.end() || *step != row.step || !graph_.types.uses(row.type)) continue;
      const std::size_t column =
          static_cast<std::size_t>(step - times_.steps.begin()) * ranks_ + row.data_rank;
      const std::int32_t op = index.find(row);
      if (op < 0)
        throw ReplayError(describe(ReplayOp{row.type, row.sequence, -1, row.stage}) + " is on " +
                          place(column) + " and not on data rank 0 in the first step");
      const std::size_t cell = op * columns_ + column;
      if (!std::isnan(start_[cell]))
        throw ReplayError(describe(graph_.ops[op]) + " is twice on " + place(column));
      start_[cell] = row.start_s;
      times_.traced[cell] = row.duration_s;
    }
    const auto missing = std::ranges::find_if(start_, [](double start) { return std::isnan(start); });
    if (missing == start_.end()) return;
    const std::size_t cell = static_cast<std::size_t>(missing - start_.begin());
    throw ReplayError(describe(graph_.ops[cell / columns_]) + " is missing on " + place(cell % columns_));
  }

  double end(std::size_t cell) const { return trace_.rounded(start_[cell] + times_.traced[cell]); }

  void find_recorded_steps() {
    for (std::size_t s = 0; s < times_.steps.size(); ++s) {
      double first = std::numeric_limits<double>::infinity(), last = -first;
      for (std::size_t op = 0; op < graph_.ops.size(); ++op) {
        for (std::size_t cell = op * columns_ + s * ranks_; cell < op * columns_ + (s + 1) * ranks_; ++cell) {
          first = std::min(first, start_[cell]);
          last = std::max(last, end(cell));
        }
      }
      times_.recorded_step_s.push_back(trace_.rounded(last - first));
    }
    const double sum = pairwise_sum(times_.recorded_step_s);
    times_.recorded_mean_s = trace_.rounded(sum / static_cast<double>(times_.steps.size()));
  }

  // Single-precision step times are summed in single precision, in the order of array libraries, so that the
  // mean is that of the published analysis: eight interleaved sums, over halves where there are many.
  double pairwise_sum(std::span<const double> values) const {
    constexpr std::size_t kLanes = 8, kMostAtOnce = 128;
    if (values.size() > kMostAtOnce) {
      const std::size_t half = values.size() / 2 / kLanes * kLanes;
      return trace_.rounded(pairwise_sum(values.first(half)) + pairwise_sum(values.subspan(half)));
    }
    const auto add = [&](double a, double b) { return trace_.rounded(a + b); };
    std::array<double, kLanes> sum{};
    std::size_t i = 0;
    for (; i + kLanes <= values.size(); i += kLanes)
      for (std::size_t lane = 0; lane < kLanes; ++lane) sum[lane] = add(sum[lane], values[i + lane]);
    double total =
        add(add(add(sum[0], sum[1]), add(sum[2], sum[3])), add(add(sum[4], sum[5]), add(sum[6], sum[7])));
    for (; i < values.size(); ++i) total = add(total, values[i]);
    return total;
  }

  void take_waiting_out(const ReplayGroup& group) {
    for (std::size_t first = 0; first < columns_; first += ranks_) {
      latest_.assign(ranks_, -std::numeric_limits<double>::infinity());
      for (const std::int32_t op : graph_.members_of(group))
        for (std::size_t r = 0; r < ranks_; ++r)
          latest_[r] = std::max(latest_[r], start_[op * columns_ + first + r]);
      if (group.across_ranks) latest_.assign(ranks_, std::ranges::max(latest_));
      for (const std::int32_t op : graph_.members_of(group)) {
        for (std::size_t r = 0; r < ranks_; ++r) {
          const std::size_t cell = op * columns_ + first + r;
          const double transfer = trace_.rounded(end(cell) - latest_[r]);
          times_.traced[cell] = transfer <= kEarliestTransfer_s ? 0 : transfer;
        }
      }
    }
  }

  struct Sample {
    double seconds;
    std::int64_t count;
  };

  void find_ideals() {
    std::array<std::vector<Sample>, kOpTypes> samples;
    for (std::size_t op = 0; op < graph_.ops.size(); ++op) {
      auto& of_type = samples[static_cast<std::size_t>(graph_.ops[op].type)];
      for (std::size_t c = 0; c < columns_; ++c)
        of_type.push_back({times_.traced[op * columns_ + c], times_.ranks_alike[c % ranks_]});
    }
    std::array<double, kOpTypes> ideal{};
    for (int t = 0; t < kOpTypes; ++t)
      if (!samples[t].empty())
        ideal[t] = is_computation(static_cast<OpType>(t)) ? mean(samples[t]) : median(samples[t]);
    for (const ReplayOp& op : graph_.ops) times_.ideal.push_back(ideal[static_cast<std::size_t>(op.type)]);
  }

  static double mean(const std::vector<Sample>& samples) {
    double sum = 0, count = 0;
    for (const Sample& sample : samples) {
      sum += sample.seconds * static_cast<double>(sample.count);
      count += static_cast<double>(sample.count);
    }
    return sum / count;
  }

  double median(std::vector<Sample>& samples) const {
    std::ranges::sort(samples, {}, &Sample::seconds);
    std::int64_t count = 0;
    for (const Sample& sample : samples) count += sample.count;
    const auto at = [&](std::int64_t position) {
      std::int64_t before = 0;
      for (const Sample& sample : samples)
        if ((before += sample.count) > position) return sample.seconds;
      return samples.back().seconds;
    };
    return trace_.rounded((at((count - 1) / 2) + at(count / 2)) / 2);
  }

  const RecordedTrace& trace_;
  const ReplayGraph& graph_;
  OperationTimes times_;
  std::size_t ranks_ = 0, columns_ = 0;
  std::vector<double> start_;   // [op * columns + column]
  std::vector<double> latest_;  // [data rank] start in a group
};

}  // namespace

OperationTimes operation_times(const RecordedTrace& trace, const ReplayGraph& graph,
                               std::span<const std::int32_t> only) {
  return Tables(trace, graph, only).build();
}

}  // namespace podsim
