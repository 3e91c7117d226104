// A measured run as the text of a scenario, which the ordinary loader reads and a user can run, change and
// keep.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/catalog/catalog.h"
#include "proto/text/problem.h"
#include "validation/run_rules.h"
#include "validation/run_table.h"
#include "workload/job/chip.h"

namespace podsim {

// How many weights the table says that the model has.
struct StatedWeights {
  double count = 0;
  Problem place;  // of the cell, without words
};

struct RunScenario {
  std::string id, family, chip, stack, fabric, model, precision, parallelism;
  ChipKind chip_kind = ChipKind::kGpu;
  std::string fields;        // what the row changes of chip, network, stack and model, as it is written
  std::string group;         // runs of nearly one configuration share it
  std::string architecture;  // "dense", "moe", or "hybrid": layers that are not those of a transformer
  int chips = 0;
  int slices = 1;
  int sequence_tokens = 0;
  double tokens_per_step = 0;
  std::optional<double> measured_s;  // per step; nothing where the table does not say it
  bool ready = false;                // nothing that a simulation needs is assumed
  std::string text;
  std::vector<std::string> assumptions;
  std::string skipped;                  // why there is no scenario; empty when there is
  std::vector<Problem> contradictions;  // of columns and what the row is simulated as
  std::optional<StatedWeights> weights;
};

// Fills what the row leaves out by the rules, and writes the scenario.
RunScenario run_scenario(RunRow row, const std::vector<RunRule>& rules, const Catalog& catalog);

}  // namespace podsim
