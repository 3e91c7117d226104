// Finds the machine, and refuses one that is too small.
#include "cli/imports/import_module.h"

#include <spdlog/spdlog.h>

#include "cli/scenarios/batch.h"
#include "engine/check.h"
#include "engine/spelling.h"
#include "ingest/hlo/module_step.h"
#include "ingest/imported/attention_kernel.h"
#include "proto/catalog/assumed_stacks.h"
#include "proto/catalog/convert.h"

namespace podsim {
namespace {

// An entry of the catalogue; says what is wrong with the name.
template <class Entry>
std::optional<Entry> entry_of(std::optional<Entry> found, const Catalog& catalog, Catalog::Section section,
                              const char* option, const std::string& name) {
  if (found) return found;
  const std::string near = closest_name(name, catalog.names(section));
  spdlog::error("{} \"{}\" is not in the catalogue{}", option, name,
                near.empty() ? "" : "; did you mean \"" + near + "\"?");
  return std::nullopt;
}

}  // namespace

std::optional<Imported> run_imported_module(const std::string& file, const Imported& imported,
                                            const std::string& chip_name, const std::string& stack_name,
                                            const NetworkOptions& network) {
  PODSIM_CHECK(imported.on_machine, "the module can be put on a machine");
  const auto catalog = open_catalog({});
  if (!catalog) return std::nullopt;
  const std::string stack_wanted = stack_name.empty() ? assumed_stack(KnownOfSoftware::kXla) : stack_name;
  const auto chip =
      entry_of(catalog_chip(*catalog, chip_name), *catalog, Catalog::Section::kChips, "--chip", chip_name);
  auto stack = entry_of(catalog_stack(*catalog, stack_wanted), *catalog, Catalog::Section::kStacks, "--stack",
                        stack_wanted);
  const auto spec = chip && stack ? choose_network(*catalog, network) : std::nullopt;
  if (!spec) return std::nullopt;
  stack->attention_kernel = attention_kernel_on(*chip, stack->attention_kernel);
  const hlo::Machine machine = {*chip, *stack, build_fabric(*spec)};
  if (!has_attention_kernel(*chip, stack->attention_kernel) ||
      chip->matmul.count(Dtype::kBf16) + chip->matmul.count(Dtype::kFp16) == 0) {
    spdlog::error("{}: chip {} has no rates of matmuls and attention", file, chip->name);
    return std::nullopt;
  }
  if (machine.fabric.chips < imported.ranks) {
    spdlog::error("{}: the module is of {} devices, and the fabric has {} chips (--chips, --shape)", file,
                  imported.ranks, machine.fabric.chips);
    return std::nullopt;
  }
  return imported.on_machine(machine);
}

}  // namespace podsim
