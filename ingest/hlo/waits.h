// Which collectives of a computation its kernels wait for, and how long.
#pragma once

#include <cstddef>
#include <vector>

#include "ingest/hlo/module.h"

namespace podsim::hlo {

// An instruction by itself.
struct InstructionTime {
  double linked = 0, computed = 0;  // seconds on links, of kernels
  bool product = false;             // or calls what has some
};

using Users = std::vector<std::vector<int>>;  // [instruction] those of the same computation that take it
Users users_of(const Computation& computation);

// Seconds for which products wait for a collective: those of the same run, and those of the next trip.
struct Wait {
  double within = 0, for_next = 0;
};

// [instruction] Nothing where no product leads to a collective, or none needs it: it may run at any time.
// Where both are in one run of the computation, all of it. With `repeats`, the body of a loop, what a trip
// hands to the next counts too: beside a collective between two trips runs what is computed from the last
// product that leads to it up to the first that needs it, in the order of the text, and neither leads to it
// nor needs it.
std::vector<Wait> waits(const Computation& computation, const Users& users,
                        const std::vector<InstructionTime>& times, bool repeats);

// Whether one of the same computation needs what this instruction gives.
bool product_needs(const Computation& computation, const Users& users,
                   const std::vector<InstructionTime>& times, std::size_t instruction);

}  // namespace podsim::hlo
