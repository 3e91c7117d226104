// What a user knows of getting chips, as options: lead time, quota, what moving to them takes.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "scheduler/question/training_plan.h"

namespace CLI {
class App;
}

namespace podsim {

class Catalog;

// Each "CHIP=NUMBER,...", or empty.
struct ChipTermOptions {
  std::string from_day, most_chips, one_off_usd, one_off_days;
};

void add_chip_term_options(CLI::App& verb, ChipTermOptions& options);

// By the name of the chip; nothing where an option is not as its help says, which is then logged.
std::optional<std::map<std::string, ChipTerms>> chip_terms_of(const ChipTermOptions& options,
                                                              const Catalog& catalog);

}  // namespace podsim
