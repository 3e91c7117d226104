// Documents that are padded to one of a few lengths instead of packed: how often each shape of a step comes,
// and how much of it is padding.
#pragma once

#include <vector>

#include "workload/job/sequence_lengths.h"

namespace podsim {

// A step whose sequences all have this length.
struct PaddedShape {
  int tokens = 0;
  double share = 0;  // of the steps; those of all shapes add up to 1
  friend bool operator==(const PaddedShape&, const PaddedShape&) = default;
};

struct PaddedShapes {
  std::vector<PaddedShape> shapes;  // of ascending length; those that no document has are left out
  double document_tokens = 0;       // mean, cut to the longest shape
  double compile_s = 0;             // of each shape, once
  double run_steps = 1;             // over which compilation is spread
  friend bool operator==(const PaddedShapes&, const PaddedShapes&) = default;

  double padded_tokens() const;  // mean of a sequence
  double padding_share() const;  // of its tokens
  double compile_s_per_step() const { return compile_s * static_cast<double>(shapes.size()) / run_steps; }
};

// A document has the shape of the shortest bucket that holds it, or of `longest` tokens, to which it is cut;
// all sequences of a step have one shape, and as many steps have it as documents. REQUIRES: a bin; buckets in
// [1, longest].
PaddedShapes pad_to_buckets(const std::vector<LengthBin>& bins, std::vector<int> buckets, int longest);

// No padding: every length of a document is a shape, in whole tokens.
PaddedShapes keep_lengths(const std::vector<LengthBin>& bins, int longest);

}  // namespace podsim
