// What became of each instruction of an HLO module when it was read.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ingest/hlo/collectives.h"
#include "ingest/hlo/module.h"

namespace podsim::hlo {

// INVARIANT: read = used + the sum of passed_over + the sum of unknown.
struct Account {
  std::int64_t read = 0, used = 0;
  std::map<std::string, std::int64_t> passed_over;  // [reason]
  std::map<std::string, std::int64_t> unknown;      // [operation or target of a custom call]
};

// An instruction is used where it runs, or is applied by one that runs, and its work is known.
Account account_of(const Module& module);

}  // namespace podsim::hlo
