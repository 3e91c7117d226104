// Follows calls.
#include "ingest/stablehlo/module.h"

#include <algorithm>

#include "engine/check.h"
#include "ingest/hlo/fields.h"

namespace podsim::stablehlo {
namespace {

using KnownWork = std::map<std::string, Work>;

Work work_from(const Module& module, const std::string& name, KnownWork& known);

Work work_in(const Module& module, const Function& function, KnownWork& known) {
  Work work{function.dots, function.dot_flops};
  const auto add = [&](const Work& of, std::int64_t times) {
    work.dots = hlo::saturating_add(work.dots, hlo::saturating_multiply(times, of.dots));
    work.dot_flops = hlo::saturating_add(work.dot_flops, hlo::saturating_multiply(times, of.dot_flops));
  };
  for (const auto& [callee, times] : function.calls) add(work_from(module, callee, known), times);
  for (const std::vector<Function>& branches : function.conditionals) {
    Work dearest;
    for (const Function& branch : branches) {
      const Work of = work_in(module, branch, known);
      if (dearest.dot_flops < of.dot_flops) dearest = of;
    }
    add(dearest, 1);
  }
  return work;
}

Work work_from(const Module& module, const std::string& name, KnownWork& known) {
  if (const auto found = known.find(name); found != known.end()) return found->second;
  const auto function = std::ranges::find(module.functions, name, &Function::name);
  PODSIM_CHECK(function != module.functions.end(), "a function of the module");
  return known[name] = work_in(module, *function, known);
}

}  // namespace

std::set<std::string> called_by(const Function& function) {
  std::set<std::string> called;
  for (const auto& [callee, times] : function.calls) called.insert(callee);
  for (const std::vector<Function>& branches : function.conditionals)
    for (const Function& branch : branches) called.merge(called_by(branch));
  return called;
}

Work work_of(const Module& module, const std::string& function) {
  std::map<std::string, Work> known;
  return work_from(module, function, known);
}

}  // namespace podsim::stablehlo
