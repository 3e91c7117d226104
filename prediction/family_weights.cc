// The design effect of cluster samples.
#include "prediction/family_weights.h"

#include <map>

namespace podsim {

std::vector<double> family_weights(const std::vector<int>& families, const std::vector<bool>& fitted,
                                   double correlation) {
  std::map<int, int> rows_of;
  for (std::size_t row = 0; row < families.size(); ++row)
    if (fitted[row]) ++rows_of[families[row]];
  std::vector<double> weights;
  for (std::size_t row = 0; row < families.size(); ++row)
    weights.push_back(fitted[row] ? 1 / (1 + (rows_of[families[row]] - 1) * correlation) : 0);
  return weights;
}

}  // namespace podsim
