// How long a row of a price list binds, by what it says or as its term is called.
#pragma once

#include "scheduler/question/price.h"

namespace podsim {

namespace schema {
class ChipPrice;
}

// As the row says, else as its term is called.
ContractKind kind_of_row(const schema::ChipPrice& row);

// That are paid in any case: as the row says, else the years of a term such as committed_2y; 0 where neither
// says any.
double days_of_row(const schema::ChipPrice& row);

// Whether the row is a commitment that does not say for how long.
bool lacks_length(const schema::ChipPrice& row);
inline constexpr const char* kLacksLength = "a commitment says how many days it binds";
inline constexpr const char* kLengthHint =
    "write minimum_days: 365, or in the term the years, from committed_1y to committed_100y";

}  // namespace podsim
