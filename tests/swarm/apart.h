// A scenario judged in a process of its own, which may crash or hang.
#pragma once

#include <string>

#include "tests/swarm/laws.h"

namespace podsim::testing {

// As judge. A process that dies is a finding of the law "crash", one that computes for
// longer of the law "time".
Judgement judge_apart(const std::string& text, const Catalog& catalog, int most_seconds);

// Reads every entry of the catalogue, so that processes need not do it again and again.
void read_all(const Catalog& catalog);

}  // namespace podsim::testing
