// Scenarios in which every two things that a scenario can say meet: a fabric and a schedule, a schedule and
// an adversity, an adversity and lengths of documents.
#pragma once

#include <string>
#include <vector>

#include "tests/swarm/covering_rows.h"

namespace podsim::testing {

struct ChoiceFactor {
  std::string name;
  std::vector<std::string> values;
};

const std::vector<ChoiceFactor>& choice_factors();

// Why two choices cannot meet in a scenario that loads, or empty.
std::string why_impossible(const ChoicePair& pair);

// The covering rows of the factors.
std::vector<ChoiceRow> combination_rows();

// A row as a scenario in text format, of 8 to 32 chips and as few layers as its schedule takes.
std::string combination_scenario(const ChoiceRow& row);

// "schedule gpipe, fabric torus, ..."
std::string words_of(const ChoiceRow& row);

}  // namespace podsim::testing
