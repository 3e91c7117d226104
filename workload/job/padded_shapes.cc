// Shares of shapes and of padding.
#include "workload/job/padded_shapes.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/check.h"

namespace podsim {

double PaddedShapes::padded_tokens() const {
  double tokens = 0;
  for (const PaddedShape& shape : shapes) tokens += shape.share * shape.tokens;
  return tokens;
}

double PaddedShapes::padding_share() const { return 1 - document_tokens / padded_tokens(); }

PaddedShapes pad_to_buckets(const std::vector<LengthBin>& bins, std::vector<int> buckets, int longest) {
  PODSIM_CHECK(!bins.empty(), "documents have lengths");
  buckets.push_back(longest);
  std::sort(buckets.begin(), buckets.end());
  double all = 0;
  for (const LengthBin& bin : bins) all += bin.share;
  PaddedShapes padded;
  std::map<int, double> shares;
  for (const LengthBin& bin : bins) {
    const double tokens = std::min(bin.tokens, static_cast<double>(longest)), share = bin.share / all;
    padded.document_tokens += share * tokens;
    shares[*std::lower_bound(buckets.begin(), buckets.end(), tokens)] += share;
  }
  for (const auto& [tokens, share] : shares) padded.shapes.push_back({tokens, share});
  return padded;
}

PaddedShapes keep_lengths(const std::vector<LengthBin>& bins, int longest) {
  std::vector<LengthBin> whole = bins;
  std::vector<int> buckets;
  for (LengthBin& bin : whole) {
    bin.tokens = std::min(std::ceil(bin.tokens), static_cast<double>(longest));
    buckets.push_back(static_cast<int>(bin.tokens));
  }
  return pad_to_buckets(whole, std::move(buckets), longest);
}

}  // namespace podsim
