// A first scenario for a model on a cluster: the fastest of the usual layouts that fit in memory.
#pragma once

#include <optional>
#include <string>

#include "proto/catalog/catalog.h"

namespace podsim {

inline constexpr int kMostStarterChips = 65536;  // asked for, and tried where the asked ones are too few

struct StarterRequest {
  std::string model, chip;  // names of the catalogue
  int chips = 0;
  std::string fabric, stack;           // empty = the usual one of the chip
  std::optional<int> sequence_tokens;  // nothing = usual for the model
  std::optional<int> batch_sequences;  // nothing = about 8,192 tokens a chip
  // Nothing = that of the usual list, else of the first list that has one, else 0, which the scenario says.
  std::optional<double> usd_per_chip_hour = {};
};

struct Starter {
  std::string text;  // a scenario in text format, with comments; empty where there is none
  double step_time_s = 0, needed_gib = 0, capacity_gib = 0;
  std::string why;  // there is none, with what would do
};

// Of the layouts of planner/starter_layouts.h one that leaves the headroom of a search free, or, where none
// does, one that fits; of a model none of these is faster by more than 3 %, of a program none at all. Throws
// StepTooLong (engine/time_limits.h) where layouts fit and a step of each goes on beyond simulated time.
// ENSURES: the text loads without problems, and its job fits.
Starter starter_scenario(const StarterRequest& request, const Catalog& catalog);

}  // namespace podsim
