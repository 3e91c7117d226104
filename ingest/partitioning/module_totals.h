// What all operations of a module send and compute together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ingest/partitioning/partition_module.h"

namespace podsim::partitioning {

// Collectives of one kind among the same axes, over all runs.
struct CollectiveSum {
  std::string kind, axes;
  std::int64_t group = 1, operations = 0, executed = 0;
  std::int64_t operand_bytes = 0, result_bytes = 0, sent_bytes = 0;
};
std::vector<CollectiveSum> collective_sums(const PartitionedModule& partitioned);

// FLOPs of products of one device, over all runs.
double product_flops(const PartitionedModule& partitioned);

}  // namespace podsim::partitioning
