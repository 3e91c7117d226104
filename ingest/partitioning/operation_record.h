// What an operation of an annotated module needs and sends, and where its operands and results lie.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ingest/partitioning/written_collective.h"

namespace podsim::partitioning {

// An operation as propagation and the partitioner leave it.
struct OperationRecord {
  std::string name, opcode, loop;  // the loop whose body it is in; empty outside of loops
  std::int64_t runs = 1;
  std::string treatment;               // "partitioned", "whole on every device", "manual", "border", "loop"
  std::vector<std::string> operands;   // where each lies when it runs
  std::vector<std::string> results;    // where propagation has each, with where that came from
  double flops = 0, global_flops = 0;  // of products, of one device and of all it is part of; one run
  std::vector<MadeCollective> collectives;
};

}  // namespace podsim::partitioning
