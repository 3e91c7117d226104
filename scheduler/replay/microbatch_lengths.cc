// Correlates forward with backward times within each data rank, stage and chunk.
#include "scheduler/replay/microbatch_lengths.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace podsim {
namespace {

using Passes = std::vector<std::pair<std::int32_t, std::int32_t>>;  // forward and backward op

// By stage and chunk.
std::map<std::pair<int, int>, Passes> passes_of(const ReplayGraph& graph) {
  std::map<std::tuple<int, int, int>, std::int32_t> forward;  // by stage, chunk and microbatch
  for (std::size_t op = 0; op < graph.ops.size(); ++op) {
    const ReplayOp& one = graph.ops[op];
    if (one.type == OpType::kForwardCompute && one.microbatch >= 0)
      forward[{one.stage, one.chunk, one.microbatch}] = static_cast<std::int32_t>(op);
  }
  std::map<std::pair<int, int>, Passes> passes;
  for (std::size_t op = 0; op < graph.ops.size(); ++op) {
    const ReplayOp& one = graph.ops[op];
    if (one.type != OpType::kBackwardCompute) continue;
    const auto found = forward.find({one.stage, one.chunk, one.microbatch});
    if (found != forward.end())
      passes[{one.stage, one.chunk}].emplace_back(found->second, static_cast<std::int32_t>(op));
  }
  return passes;
}

struct Moments {
  double xx = 0, xy = 0, yy = 0;
};

// Adds the deviations of one data rank from its means.
void add_deviations(const Passes& passes, const OperationTimes& times, std::size_t rank, Moments& moments) {
  const std::size_t columns = times.columns(), ranks = static_cast<std::size_t>(times.data_ranks);
  const auto each = [&](const auto& visit) {
    for (const auto& [forward, backward] : passes)
      for (std::size_t c = rank; c < columns; c += ranks)
        visit(times.traced[forward * columns + c], times.traced[backward * columns + c]);
  };
  double x_sum = 0, y_sum = 0, count = 0;
  each([&](double x, double y) {
    x_sum += x;
    y_sum += y;
    count += 1;
  });
  const double x_mean = x_sum / count, y_mean = y_sum / count;
  const double weight = static_cast<double>(times.ranks_alike[rank]);
  each([&](double x, double y) {
    moments.xx += weight * (x - x_mean) * (x - x_mean);
    moments.xy += weight * (x - x_mean) * (y - y_mean);
    moments.yy += weight * (y - y_mean) * (y - y_mean);
  });
}

}  // namespace

std::optional<double> length_correlation(const ReplayGraph& graph, const OperationTimes& times) {
  Moments moments;
  for (const auto& [place, passes] : passes_of(graph))
    for (int rank = 0; rank < times.data_ranks; ++rank)
      add_deviations(passes, times, static_cast<std::size_t>(rank), moments);
  const double scale = std::sqrt(moments.xx) * std::sqrt(moments.yy);
  if (!(scale > 0)) return std::nullopt;
  return moments.xy / scale;
}

}  // namespace podsim
