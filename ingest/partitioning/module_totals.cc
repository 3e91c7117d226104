// Sums over operations, each as often as it runs.
#include "ingest/partitioning/module_totals.h"

#include <algorithm>
#include <cmath>

#include "ingest/hlo/fields.h"

namespace podsim::partitioning {

std::vector<CollectiveSum> collective_sums(const PartitionedModule& partitioned) {
  std::vector<CollectiveSum> sums;
  for (const OperationRecord& operation : partitioned.operations)
    for (const MadeCollective& each : operation.collectives) {
      auto sum = std::ranges::find_if(sums, [&](const CollectiveSum& other) {
        return other.kind == each.kind && other.axes == each.axes && other.group == each.group;
      });
      if (sum == sums.end()) sum = sums.insert(sums.end(), {each.kind, each.axes, each.group});
      ++sum->operations;
      const auto add = [&](std::int64_t& to, std::int64_t bytes) {
        to = hlo::saturating_add(to, hlo::saturating_multiply(operation.runs, bytes));
      };
      add(sum->executed, 1);
      add(sum->operand_bytes, each.operand_bytes);
      add(sum->result_bytes, each.result_bytes);
      add(sum->sent_bytes, std::llround(each.sent_bytes));
    }
  return sums;
}

double product_flops(const PartitionedModule& partitioned) {
  double flops = 0;
  for (const OperationRecord& operation : partitioned.operations)
    flops += operation.flops * static_cast<double>(operation.runs);
  return flops;
}

}  // namespace podsim::partitioning
