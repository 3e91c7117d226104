// Reads the table of assumed software that is part of the binary.
#include "proto/catalog/assumed_stacks.h"

#include <array>

#include "engine/check.h"
#include "proto/catalog/builtin_assumed.h"
#include "proto/catalog/builtin_table.h"

namespace podsim {

std::vector<std::string> assumed_stacks(KnownOfSoftware known) {
  constexpr std::array kKnown = {"gpu", "torus", "megatron", "maxtext", "xla", "xla_on_gpus"};
  const CsvTable table = table_of(builtin_assumed_files());
  std::vector<std::string> stacks;
  for (const CsvRow& row : table.rows())
    if (table.cell(row, "known").text == kKnown[static_cast<std::size_t>(known)])
      stacks.push_back(table.cell(row, "stack").text);
  PODSIM_CHECK(!stacks.empty(), "the table of assumed software has each row");
  return stacks;
}

std::string assumed_stack(KnownOfSoftware known) { return assumed_stacks(known).front(); }

}  // namespace podsim
