// Follows calls.
#include "ingest/stablehlo/module.h"

#include <algorithm>

#include "engine/check.h"
#include "ingest/hlo/fields.h"

namespace podsim::stablehlo {
namespace {

Work work_from(const Module& module, const std::string& name, std::map<std::string, Work>& known) {
  if (const auto found = known.find(name); found != known.end()) return found->second;
  const auto function = std::ranges::find(module.functions, name, &Function::name);
  PODSIM_CHECK(function != module.functions.end(), "a function of the module");
  Work work{function->dots, function->dot_flops};
  for (const auto& [callee, times] : function->calls) {
    const Work of = work_from(module, callee, known);
    work.dots = hlo::saturating_add(work.dots, hlo::saturating_multiply(times, of.dots));
    work.dot_flops = hlo::saturating_add(work.dot_flops, hlo::saturating_multiply(times, of.dot_flops));
  }
  known[name] = work;
  return work;
}

}  // namespace

Work work_of(const Module& module, const std::string& function) {
  std::map<std::string, Work> known;
  return work_from(module, function, known);
}

}  // namespace podsim::stablehlo
