// What became of each instruction of an HLO module when it was read.
#pragma once

#include "ingest/hlo/module.h"
#include "ingest/imported/account.h"

namespace podsim::hlo {

// An instruction is used where it runs, or is applied by one that runs, and its work is known.
Account account_of(const Module& module);

}  // namespace podsim::hlo
