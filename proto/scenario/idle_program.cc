// Fields of a program's operations that their kind does not use: a table of the kinds that do.
#include "proto/scenario/idle_program.h"

#include <algorithm>
#include <vector>

#include "proto/program.pb.h"
#include "proto/text/set_fields.h"

namespace podsim {
namespace {

using OperationChoice = schema::ProgramStep;

struct FieldUse {
  const char* field;
  std::vector<OperationChoice::Kind> kinds;  // that read it
};

const std::vector<FieldUse>& uses() {
  static const std::vector<FieldUse> table = {
      {"along",
       {OperationChoice::norm, OperationChoice::softmax, OperationChoice::reduce,
        OperationChoice::concatenate, OperationChoice::route, OperationChoice::loss}},
      {"window",
       {OperationChoice::slice, OperationChoice::pad, OperationChoice::shift, OperationChoice::pool,
        OperationChoice::convolution}},
      {"groups", {OperationChoice::convolution}},
      {"passes",
       {OperationChoice::elementwise, OperationChoice::add, OperationChoice::broadcast, OperationChoice::norm,
        OperationChoice::softmax, OperationChoice::reduce, OperationChoice::slice, OperationChoice::pad,
        OperationChoice::shift, OperationChoice::pool, OperationChoice::route, OperationChoice::dispatch,
        OperationChoice::combine}},
      {"statistics", {OperationChoice::norm}},
      {"linear", {OperationChoice::elementwise, OperationChoice::norm, OperationChoice::softmax}},
      {"causal", {OperationChoice::attention}},
      {"attention_window", {OperationChoice::attention}},
  };
  return table;
}

void warn_of_step(const OperationChoice& step, const std::string& path, Document& document) {
  for (const FieldUse& use : uses()) {
    if (!is_set(step, use.field) || std::count(use.kinds.begin(), use.kinds.end(), step.kind()) > 0) continue;
    std::string kinds;
    for (const OperationChoice::Kind kind : use.kinds)
      kinds += (kinds.empty() ? "" : ", ") + OperationChoice::Kind_Name(kind);
    document.warn_idle(join_path(path, use.field),
                       OperationChoice::Kind_Name(step.kind()) + " does not use it", "it is of " + kinds);
  }
  for (int i = 0; i < step.window_size(); ++i) {
    const schema::SlidingWindow& window = step.window(i);
    const std::string at = path + ".window[" + std::to_string(i) + "]";
    if (window.has_pad() && window.has_pad_low() && window.has_pad_high())
      document.warn_idle(at + ".pad", "pad_low and pad_high say it of both ends");
    if (window.has_along() && step.kind() == OperationChoice::convolution)
      document.warn_idle(at + ".along", "windows of a convolution go by their place");
  }
}

}  // namespace

void warn_of_idle_operations(const schema::Program& program, const std::string& path, Document& document) {
  for (int i = 0; i < program.part_size(); ++i) {
    const std::string part = path + ".part[" + std::to_string(i) + "].operation[";
    for (int k = 0; k < program.part(i).operation_size(); ++k)
      warn_of_step(program.part(i).operation(k), part + std::to_string(k) + "]", document);
  }
}

}  // namespace podsim
