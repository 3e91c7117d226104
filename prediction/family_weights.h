// What rows of measurements count whose errors are alike.
#pragma once

#include <vector>

namespace podsim {

// How alike the errors of one family are: the correlation of two of its rows.
inline constexpr double kFamilyCorrelation = 0.1;

// [row] what each fitted row counts: 1 / (1 + (n - 1) x correlation) for n fitted rows of its family. That is
// what rows are worth whose errors are correlated so (design effect of cluster samples, Kish 1965): a family
// of one row counts 1, a large one never more than 1 / correlation. 0 for rows that are not fitted.
std::vector<double> family_weights(const std::vector<int>& families, const std::vector<bool>& fitted,
                                   double correlation);

}  // namespace podsim
