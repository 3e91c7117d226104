// Documents of many lengths packed into sequences: what attention costs each microbatch, and how the load is
// balanced.
#pragma once

#include <functional>
#include <vector>

namespace podsim {

// Documents of this length and how many of all they are.
struct LengthBin {
  double tokens = 0;
  double share = 0;  // of the documents; bins are weighed by it, whatever they add up to
  friend bool operator==(const LengthBin&, const LengthBin&) = default;
};

enum class LengthBalance : unsigned char {
  kNone,     // sequences go to the data ranks as they come
  kSorted,   // whole microbatches, dearest first, so that all ranks have dear ones at the same time
  kSquares,  // single documents, so that the sums of squared lengths are even over ranks and microbatches
};

// Empty bins: every sequence is one document of full length.
struct SequenceLengths {
  std::vector<LengthBin> bins;
  LengthBalance balance = LengthBalance::kNone;

  bool any() const { return !bins.empty(); }
  friend bool operator==(const SequenceLengths&, const SequenceLengths&) = default;
};

// Which keys of its document a query sees.
struct KeyWindow {
  double keys = 0;     // so many at most; 0: all
  bool causal = true;  // only those before it
  friend bool operator==(const KeyWindow&, const KeyWindow&) = default;
};

// How a step's documents are dealt, and of which attention the load is asked for.
struct PackingShape {
  int ranks = 1, microbatches = 1;  // data ranks, and microbatches of each
  int sequences = 1;                // of a microbatch
  double tokens = 1;                // of a sequence
  std::vector<KeyWindow> windows = {{}};
};

// Of a microbatch, over what it would be if every sequence were one document.
struct MicrobatchLoad {
  double tokens = 1;                    // what is linear in length goes with these
  std::vector<double> attention = {1};  // [window] pairs of a query and a key that it sees; squared lengths
                                        // where it sees all
};

// The microbatches of a step, [rank * microbatches + microbatch]. Documents are drawn one by one (`uniform`
// in (0, 1), called once for each), cut to a sequence at most, and put one after the other; what does not fit
// the end of a sequence goes on in the next as a document of its own. So no policy changes what all
// microbatches add up to, and without balancing every microbatch has the tokens of full sequences.
std::vector<MicrobatchLoad> pack_step(const SequenceLengths& lengths, const PackingShape& shape,
                                      const std::function<double()>& uniform);

// The mean of all, which balancing cannot better. REQUIRES: there are some.
MicrobatchLoad mean_load(const std::vector<MicrobatchLoad>& loads);

}  // namespace podsim
