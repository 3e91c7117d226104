// What is asked of a first scenario, and what comes of it.
#pragma once

#include <optional>
#include <string>

namespace podsim {

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

}  // namespace podsim
