// A machine for HLO modules, and steps of modules on it.
#pragma once

#include <map>
#include <string>

#include "ingest/hlo/module_step.h"
#include "proto/catalog/catalog.h"
#include "proto/catalog/convert.h"
#include "proto/scenario/chosen_fabric.h"
#include "tests/ingest/hlo_texts.h"

namespace podsim::testing {

// H100 in servers of eight.
inline const hlo::Machine& h100_machine(int chips) {
  static std::map<int, hlo::Machine> known;
  const auto [found, added] = known.try_emplace(chips);
  if (added) {
    const Catalog catalog;
    const auto chosen = chosen_fabric(catalog, {"dgx_h100", chips, {}, 1, false, "", std::nullopt, ""});
    found->second = {catalog_chip(catalog, "h100").value(), catalog_stack(catalog, "generic_xla").value(),
                     build_fabric(chosen.first.value())};
    found->second.stack.attention_kernel = "cudnn";
  }
  return found->second;
}

// Of a module with this entry, behind a computation `add` and these others.
inline hlo::ModuleStep step_on(int chips, const std::string& instructions, const std::string& before = "",
                               const std::string& header = "") {
  const hlo::Module module =
      module_of("HloModule m" + header + "\n" + kAdd + before + "ENTRY e {\n" + instructions + "}\n");
  return hlo::predict_module(module, hlo::loop_counts(module), h100_machine(chips));
}

}  // namespace podsim::testing
