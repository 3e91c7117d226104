// Rows of a price list that no scenario could choose: of chips that are bought, and what was said before.
#pragma once

#include <string>

namespace podsim {

namespace schema {
class ChipPrice;
}

// What a price is of, as scenarios choose it: chip, term, provider and region, one line each. No two rows of
// a list have the same.
std::string offer_of(const schema::ChipPrice& row);
inline constexpr const char* kSaidBefore = "there is a price of this chip, term, provider and region before";
inline constexpr const char* kSaidBeforeHint =
    "leave one of them out, or say which provider or region each is of";

// Whether the row is called as scenarios call chips that are bought.
bool is_of_owned_chips(const schema::ChipPrice& row);
inline constexpr const char* kOwnedIsNoRent = "an hour of owned chips is reckoned, and this price never used";
inline constexpr const char* kOwnedHint =
    "write cluster { owned { chip_usd: 30000 } } in the scenario, or another term";

}  // namespace podsim
