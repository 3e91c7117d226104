// The user's own model: from its blocks to a tensor program, and its problems to their places.
#include "proto/scenario/resolve_program.h"

#include "engine/spelling.h"
#include "proto/program.pb.h"
#include "proto/text/assign.h"

namespace podsim {
namespace {

template <class Names>
std::vector<std::string> strings(const Names& names) {
  return {names.begin(), names.end()};
}

ProgramKind to_kind(int schema_kind) { return static_cast<ProgramKind>(schema_kind - 1); }
static_assert(schema::ProgramStep::Kind_MAX == kProgramKinds &&
              static_cast<int>(ProgramKind::kLoss) + 1 == schema::ProgramStep::loss);

ProgramTensor to_tensor(const schema::NamedTensor& tensor) { return {tensor.name(), tensor.dims()}; }

ProgramWindow to_window(const schema::SlidingWindow& from) {
  ProgramWindow window{.along = from.along(), .size = from.size()};
  if (from.has_stride()) window.stride = from.stride();
  if (from.has_dilation()) window.dilation = from.dilation();
  window.pad_low = from.has_pad_low() ? from.pad_low() : from.pad();
  window.pad_high = from.has_pad_high() ? from.pad_high() : from.pad();
  return window;
}

ProgramOperation to_operation(const schema::ProgramStep& from) {
  ProgramOperation op;
  op.name = from.has_name() ? from.name() : from.output_size() > 0 ? from.output(0) : "";
  op.kind = to_kind(from.kind());
  op.inputs = strings(from.input());
  op.outputs = strings(from.output());
  op.dims = strings(from.dims());
  op.equation = from.equation();
  op.along = from.along();
  for (const auto& window : from.window()) op.windows.push_back(to_window(window));
  if (from.has_groups()) op.groups = from.groups();
  if (from.has_passes()) op.passes = from.passes();
  if (from.has_statistics()) op.statistics = from.statistics();
  op.linear = from.linear();
  if (from.has_causal()) op.causal = from.causal();
  op.attention_window = from.attention_window();
  return op;
}

ProgramPart to_program_part(const schema::ProgramPart& from) {
  ProgramPart part;
  part.name = from.name();
  if (from.has_repeat()) part.repeat = from.repeat();
  part.layer = from.has_layer() ? from.layer() : part.repeat > 1;
  if (from.has_input()) part.inputs.push_back(to_tensor(from.input()));
  for (const auto& data : from.data()) part.data.push_back(to_tensor(data));
  for (const auto& parameter : from.parameter())
    part.parameters.push_back({parameter.name(), parameter.dims(), parameter.shared()});
  for (const auto& operation : from.operation()) part.operations.push_back(to_operation(operation));
  part.output = from.output();
  return part;
}

}  // namespace

TensorAnnotation to_annotation(const schema::TensorSharding& sharding) {
  return {sharding.part(), sharding.tensor(), sharding.sharding()};
}

TensorProgram to_program(const schema::Program& from, const std::string& name) {
  TensorProgram program;
  program.name = name;
  for (const auto& dimension : from.dimension())
    program.dimensions.push_back({dimension.name(), dimension.size()});
  for (const auto& part : from.part()) program.parts.push_back(to_program_part(part));
  for (const auto& order : from.order())
    program.order.push_back({strings(order.part()), order.has_repeat() ? order.repeat() : 1});
  for (const auto& sharding : from.shard()) program.annotations.push_back(to_annotation(sharding));
  return program;
}

void report_program_problems(const std::vector<ProgramProblem>& problems, const std::string& path,
                             Document& document) {
  for (const ProgramProblem& problem : problems) {
    std::string hint = problem.hint;
    if (!problem.name.empty() && !problem.candidates.empty()) {
      const std::string near = suggest(problem.name, problem.candidates, "there are");
      hint = near + (hint.empty() ? "" : "; " + hint);
    }
    document.report(join_path(path, problem.path), problem.message, hint);
  }
}

}  // namespace podsim
