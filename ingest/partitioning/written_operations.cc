// Goes through what runs, computation by computation.
#include "ingest/partitioning/written_operations.h"

#include <algorithm>
#include <utility>

#include "engine/index.h"
#include "ingest/hlo/collectives.h"
#include "ingest/hlo/cost.h"
#include "ingest/hlo/fields.h"
#include "ingest/hlo/operations.h"
#include "ingest/partitioning/operation_rules.h"
#include "ingest/partitioning/written_collective.h"

namespace podsim::partitioning {
namespace {

MadeCollective collective_in(const hlo::Module& module, const hlo::Computation& computation,
                             const hlo::Instruction& each) {
  constexpr std::size_t kNamed = 3;
  std::vector<hlo::Shape> operands;
  std::string names;
  for (std::size_t i = 0; i < each.operands.size(); ++i) {
    operands.push_back(computation.operand(each, i).shape);
    if (i < kNamed) names += (i == 0 ? "" : ", ") + computation.operand(each, i).name;
  }
  MadeCollective made = written_collective(module, each, operands);
  made.tensor = names + (each.operands.size() > kNamed ? ", ..." : "");
  return made;
}

// Of those that run: of collectives by `sent`, of products by `multiplied`.
class WrittenOperations {
 public:
  WrittenOperations(const hlo::Module& module, hlo::Executions sent, hlo::Executions multiplied)
      : module_(module),
        sent_(std::move(sent)),
        multiplied_(std::move(multiplied)),
        costs_(module, nullptr) {}

  std::vector<OperationRecord> records(const std::string& treatment) {
    for (std::size_t c = 0; c < module_.computations.size(); ++c)
      for (const hlo::Instruction& each : module_.computations[c].instructions) add(c, each);
    for (OperationRecord& record : records_) record.treatment = treatment;
    return std::move(records_);
  }

 private:
  void add(std::size_t number, const hlo::Instruction& each) {
    const hlo::Computation& computation = module_.computations[number];
    const bool sends = !hlo::collective_kind(each.opcode).empty();
    const bool multiplies = each.opcode == "dot" || each.opcode == "convolution";
    const std::int64_t runs = sends        ? sent_.of_computation[number]
                              : multiplies ? multiplied_.of_computation[number]
                                           : 0;
    if (runs == 0) return;
    OperationRecord& record = records_.emplace_back();
    record.name = each.name;
    record.opcode = each.opcode;
    record.loop = static_cast<int>(number) == module_.entry ? "" : computation.name;
    record.runs = runs;
    if (sends)
      record.collectives.push_back(collective_in(module_, computation, each));
    else
      record.flops = record.global_flops = static_cast<double>(costs_.of(computation, each).flops);
  }

  const hlo::Module& module_;
  const hlo::Executions sent_, multiplied_;
  hlo::CostAnalysis costs_;
  std::vector<OperationRecord> records_;
};

}  // namespace

std::vector<OperationRecord> written_operations(const hlo::Module& module, const hlo::LoopCounts& loops,
                                                const std::vector<int>& computations,
                                                const std::string& treatment) {
  return WrittenOperations(module, hlo::executions(module, loops, computations, hlo::Branches::kAll),
                           hlo::executions(module, loops, computations, hlo::Branches::kDearest))
      .records(treatment);
}

std::vector<OperationRecord> branch_operations(const hlo::Module& module, const hlo::LoopCounts& loops,
                                               const hlo::Instruction& conditional,
                                               const OperationRecord& record) {
  const int dearest = hlo::CostAnalysis(module, &loops).dearer_branch(conditional);
  std::vector<OperationRecord> found =
      WrittenOperations(
          module, hlo::executions(module, loops, hlo::called_by(module, conditional), hlo::Branches::kAll),
          hlo::executions(module, loops, dearest < 0 ? std::vector<int>{} : std::vector<int>{dearest},
                          hlo::Branches::kDearest))
          .records(record.treatment);
  for (OperationRecord& each : found) each.runs = hlo::saturating_multiply(each.runs, record.runs);
  return found;
}

double manual_flops(const Program& program, const Node& product) {
  const auto is_none = [](const std::vector<int>& arrays) { return arrays.empty(); };
  if (is_none(product.results) || std::ranges::any_of(product.operands, is_none)) return 0;
  std::vector<hlo::Shape> operands;
  for (const std::vector<int>& operand : product.operands)
    operands.push_back(program.arrays[at(operand.front())].shape);
  const hlo::Shape& result = program.arrays[at(product.results.front())].shape;
  const auto rule = rule_of(hlo::Module(), *product.from, operands, {result});
  return rule ? product_flops_of(*rule) : 0;
}

MadeCollective manual_collective(const Program& program, const Node& collective, std::int64_t devices) {
  hlo::Module named;  // groups of everybody are those of the mesh
  named.partitions = devices;
  std::vector<hlo::Shape> operands;
  std::string names;
  for (const std::vector<int>& operand : collective.operands)
    for (const int id : operand) {
      names += (names.empty() ? "" : ", ") + program.arrays[at(id)].name;
      operands.push_back(program.arrays[at(id)].shape);
    }
  MadeCollective made = written_collective(named, *collective.from, operands);
  made.tensor = names;
  return made;
}

}  // namespace podsim::partitioning
