// What is known of getting chips of a kind beside their price.
#pragma once

#include <algorithm>
#include <optional>

namespace podsim {

struct ChipTerms {
  double from_day = 0;                       // the first on which they can be had: lead time, or release
  std::optional<int> most_chips;             // quota, or the largest block
  double one_off_usd = 0, one_off_days = 0;  // of moving the job to them, before it trains

  // The job is moved while one waits for the chips.
  double start_day() const { return std::max(from_day, one_off_days); }
};

}  // namespace podsim
