// Writes the module of one device, instruction by instruction.
#pragma once

#include <string>
#include <vector>

#include "ingest/hlo/module.h"
#include "workload/resharding/reshard_plan.h"

namespace podsim::partitioning {

TensorShape tensor_shape(const hlo::Shape& shape);
// What a device has of an array with this layout.
hlo::Shape local_shape(const hlo::Shape& shape, const Layout& layout);

// "all-gather"; empty for what sends nothing.
std::string collective_name(StepKind kind);

// One without attributes.
hlo::Instruction new_instruction(const std::string& name, const std::string& opcode, hlo::Shape shape,
                                 std::vector<int> operands);

class LocalModule {
 public:
  // Computations of the annotated module stay in it, for what applies them.
  LocalModule(const hlo::Module& module, const Mesh& mesh);

  int begin_computation(const std::string& name);
  const std::string& name(int computation) const {
    return module_.computations[static_cast<std::size_t>(computation)].name;
  }
  const hlo::Shape& shape_of(int computation, int instruction) const {
    const auto& all = module_.computations[static_cast<std::size_t>(computation)].instructions;
    return all[static_cast<std::size_t>(instruction)].shape;
  }
  // At the end of the computation, as its root; the number that it has there.
  int append(int computation, hlo::Instruction instruction);

  // Steps on an array, which instruction `from` makes; the instruction that makes what they end with.
  int reshard(int computation, const hlo::Shape& shape, int from, const std::vector<PlanStep>& steps);
  int tuple(int computation, const std::vector<int>& parts);
  std::vector<int> elements(int computation, int tuple);

  // The whole, which runs `entry`.
  hlo::Module finish(int entry);

 private:
  hlo::Computation& at_number(int computation) {
    return module_.computations[static_cast<std::size_t>(computation)];
  }
  std::string groups(const AxisList& axes) const;

  const Mesh& mesh_;
  hlo::Module module_;
};

}  // namespace podsim::partitioning
