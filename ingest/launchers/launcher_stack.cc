// Asks the catalogue what chips and stacks have.
#include "ingest/launchers/launcher_stack.h"

#include <algorithm>
#include <utility>

#include "ingest/imported/attention_kernel.h"
#include "proto/catalog/assumed_stacks.h"
#include "proto/catalog/catalog.h"
#include "proto/catalog/convert.h"
#include "proto/scenario/chosen_fabric.h"
#include "workload/job/stack.h"

namespace podsim {
namespace {

const Catalog& known_software() {
  static const Catalog catalog;
  return catalog;
}

// No change where the chip has what the stack uses, or where either is not known, which loading tells.
StackChange attention_change(const std::string& chip_name, const std::string& stack_name,
                             const WantedAttention& wanted) {
  const auto chip = catalog_chip(known_software(), chip_name);
  const auto stack = catalog_stack(known_software(), stack_name);
  if (!chip || !stack) return {};
  const std::string& own = stack->attention_kernel;
  const bool as_wanted = !wanted.kernel.empty() && has_attention_kernel(*chip, wanted.kernel);
  const std::string kernel = as_wanted ? wanted.kernel : attention_kernel_on(*chip, own);
  if (kernel == own) return {};
  return {"attention_kernel: " + in_quotes(kernel),
          as_wanted ? wanted.from : "assumed: " + chip->name + " has no attention kernel " + own};
}

}  // namespace

void add_stack(ScenarioText& text, const Stated& stated, const OwnStack& own,
               std::vector<StackChange> changes, const WantedAttention& wanted) {
  const bool named = !stated.stack.empty();
  const std::string& stack = named ? stated.stack : own.name;
  text.line("stack: " + in_quotes(stack), named ? "--stack" : own.from);
  if (StackChange attention = attention_change(stated.chip, stack, wanted); !attention.field.empty())
    changes.push_back(std::move(attention));
  if (changes.empty()) return;
  if (changes.size() == 1)
    return text.line("stack_override { " + changes.front().field + " }", changes.front().from);
  text.open("stack_override");
  for (const StackChange& change : changes) text.line(change.field, change.from);
  text.close();
}

bool chip_has_attention(const std::string& chip_name, const std::string& kernel) {
  const auto chip = catalog_chip(known_software(), chip_name);
  return chip && has_attention_kernel(*chip, kernel);
}

OwnStack generic_stack(const Stated& stated) {
  if (!stated.plan) return {};
  const int chips = static_cast<int>(stated.chips.value_or(1));
  const int slices = std::max(1, fewest_slices(known_software(), stated.fabric, chips));
  const auto fabric = chosen_fabric(known_software(), {stated.fabric, chips, {}, slices}).first;
  return {assumed_stack(fabric && !fabric->gpu ? KnownOfSoftware::kTorus : KnownOfSoftware::kGpu),
          "assumed: software that nobody named (--stack)"};
}

std::string recipe_of_stack(const std::string& stack, const std::string& recipe) {
  const auto known = catalog_stack(known_software(), stack);
  const auto has = [&](const char* bits) { return recipe.find(bits) != std::string::npos; };
  const std::string plain = has("fp8") ? "fp8" : has("fp4") ? "fp4" : recipe;
  if (!known) return recipe;
  return std::any_of(known->recipes.begin(), known->recipes.end(),
                     [&](const PrecisionRecipe& each) { return each.name == recipe; })
             ? recipe
             : plain;
}

}  // namespace podsim
