// A part is cut so that its operations take little time together.
#include "workload/partition/part_cuts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/workload/models.h"
#include "workload/job/job.h"
#include "workload/model/apply_precision.h"
#include "workload/model/autodiff.h"
#include "workload/model/model_program.h"
#include "workload/op_planning/known_plans.h"
#include "workload/partition/block_builder.h"
#include "workload/partition/partition_part.h"
#include "workload/sharding/complete_shardings.h"

namespace podsim::testing::part_cuts_test {
namespace {

// Every collective costs as much as a megabyte.
class FarNetwork : public CostModel {
 public:
  double collective(CollectiveKind kind, const AxisList& axes, Bytes bytes) const override {
    const int devices = shard_count(axes);
    return devices == 1 ? 0 : (1e6 + sent_bytes(kind, devices, bytes).value) / 50e9;
  }
  double compute(Flops flops) const override { return flops.value / 400e12; }
  bool timed() const override { return true; }
};

// The same, which remembers plans for all parts of a mesh.
class RememberedNetwork : public FarNetwork {
 public:
  KnownPlans* known_plans() const override { return &known_; }

 private:
  mutable KnownPlans known_;
};

struct PlannedLayer {
  Graph graph;
  Backward backward;
};

PlannedLayer layer_of(const Job& job, const ModelPart& piece) {
  PlannedLayer layer{piece.graph, {}};
  apply_precision(job, layer.graph);
  complete_shardings(job, layer.graph, nullptr);
  layer.backward = differentiate(layer.graph, job.stack.gradient_bytes);
  return layer;
}

double seconds_of_the_cheapest_of_each(const Job& job, const CostModel& cost, const ModelPart& piece) {
  const PlannedLayer layer = layer_of(job, piece);
  BlockBuilder blocks(job, cost, layer.graph, "", nullptr);
  for (const Operation& op : layer.graph.operations) blocks.run(op, "", nullptr);
  blocks.take();
  for (const Operation& op : layer.backward.operations) blocks.run(op, "", nullptr);
  return blocks.seconds();
}

double seconds_by_partition(const Job& job, const CostModel& cost, const ModelPart& piece) {
  PartitionTrace trace;
  partition_part(job, cost, piece, &trace);
  double sum = 0;
  for (const OperationRecord& record : trace.operations) sum += record.seconds;
  return sum;
}

// Results are read where they are left, so that each operation by itself moves more than all together need.
TEST(PartCuts, a_part_never_takes_longer_than_what_is_cheapest_for_each_operation) {
  const FarNetwork network;
  int shorter = 0;
  for (const Model& model : {llama3_8b(), gpt3_175b(), bert_large()})
    for (const char* preset : {"fsdp", "megatron", "megatron_sp"})
      for (const int sequence : {128, 2048}) {
        Job job = job_of(model, {{"fsdp", 4}, {"tensor", 8}}, {preset}, sequence);
        job.partitioner = Partitioner::kSearch;
        for (const ModelPart& piece : model_program(job).parts) {
          const double alone = seconds_of_the_cheapest_of_each(job, network, piece);
          const double together = seconds_by_partition(job, network, piece);
          EXPECT_LE(together, alone * (1 + 1e-9)) << model.name << ' ' << preset << ' ' << piece.name;
          shorter += together < 0.9 * alone ? 1 : 0;
        }
      }
  EXPECT_GT(shorter, 0);
}

TEST(PartCuts, are_the_same_where_plans_are_remembered_for_all_parts) {
  for (const Model& model : {llama3_8b(), bert_large()})
    for (const char* preset : {"fsdp", "megatron_sp"}) {
      const RememberedNetwork remembered;
      for (const int sequence : {128, 2048}) {
        Job job = job_of(model, {{"fsdp", 4}, {"tensor", 8}}, {preset}, sequence);
        job.partitioner = Partitioner::kSearch;
        for (const ModelPart& piece : model_program(job).parts) {
          const double anew = seconds_by_partition(job, FarNetwork(), piece);
          for (int again = 0; again < 2; ++again)
            EXPECT_EQ(seconds_by_partition(job, remembered, piece), anew)
                << model.name << ' ' << preset << ' ' << piece.name;
        }
      }
    }
}

TEST(PartCuts, nothing_is_better_than_a_part_that_takes_no_time) {
  Job job = job_of(llama3_8b(), {{"fsdp", 4}, {"tensor", 8}}, {"megatron"});
  const PlannedLayer layer = layer_of(job, model_program(job).parts.front());
  PartOperations operations;
  for (const Operation& op : layer.graph.operations) operations.all.push_back(&op);
  operations.forward = operations.all.size();
  EXPECT_TRUE(better_cuts(job, FarNetwork(), layer.graph, operations, 0).empty());
}

}  // namespace
}  // namespace podsim::testing::part_cuts_test
