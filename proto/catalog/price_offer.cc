// Reads what a price is of.
#include "proto/catalog/price_offer.h"

#include "proto/catalog.pb.h"
#include "scheduler/question/price.h"

namespace podsim {

std::string offer_of(const schema::ChipPrice& row) {
  return row.chip() + "\n" + row.term() + "\n" + row.provider() + "\n" + row.region();
}

bool is_of_owned_chips(const schema::ChipPrice& row) { return row.term() == kOwnedTerm; }

}  // namespace podsim
