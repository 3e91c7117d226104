// What the partitioner decided for each operation, and why: the record behind `podsim explain`.
#pragma once

#include <string>
#include <vector>

#include "collectives/collective.h"
#include "engine/units.h"

namespace podsim {

struct TensorRecord {
  std::string name;
  std::vector<std::string> dims = {};  // logical names, or letters
  std::vector<double> global = {}, local = {};
  std::string sharding;  // "[{data},{}]"
  std::string origin;    // "rule batch", "annotation", "from x by ffn up", "as computed"
};

struct CollectiveRecord {
  std::string tensor;
  CollectiveKind kind;
  std::string axes;  // "data+fsdp"
  int group_size = 1, count = 1;
  Bytes bytes, sent;
  double seconds = 0;
  std::string purpose;  // "activation", "parameter", "gradient"
  bool shared = false;  // in the message of another tensor: `seconds` are of its bytes alone
};

struct AlternativeRecord {
  std::string cut;  // "b: data+fsdp, d: tensor"
  double seconds = 0;
  Bytes sent;
  std::string why;  // "1.8 x slower: gathers x over tensor"
};

struct OperationRecord {
  std::string part, name, kind;  // kind: "einsum", "attention", ...
  bool backward = false;
  std::string cut;  // axes per letter, as above
  std::vector<TensorRecord> operands = {}, results = {};
  std::vector<CollectiveRecord> collectives = {};
  double flops = 0;    // of one device
  double seconds = 0;  // exposed collectives + max(computation, hidden collectives)
  std::vector<AlternativeRecord> alternatives = {};
};

struct PartitionTrace {
  std::vector<OperationRecord> operations;  // in issue order, part after part
  std::vector<std::string> conflicts;       // between annotations, and how they were resolved
};

}  // namespace podsim
