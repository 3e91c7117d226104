// Packs documents into microbatches and deals them to data ranks.
#include "workload/job/sequence_lengths.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

namespace podsim {
namespace {

// Picks bins by their shares.
class Histogram {
 public:
  explicit Histogram(const std::vector<LengthBin>& bins) : bins_(bins) {
    double sum = 0;
    for (const LengthBin& bin : bins) up_to_.push_back(sum += bin.share);
  }
  double pick(double uniform) const {
    const auto at = std::upper_bound(up_to_.begin(), up_to_.end(), uniform * up_to_.back());
    return bins_[std::min<std::size_t>(at - up_to_.begin(), bins_.size() - 1)].tokens;
  }

 private:
  const std::vector<LengthBin>& bins_;
  std::vector<double> up_to_;
};

// [sequence][document] lengths.
std::vector<std::vector<double>> fill(const SequenceLengths& lengths, const PackingShape& shape,
                                      const std::function<double()>& uniform) {
  const Histogram histogram(lengths.bins);
  std::vector<std::vector<double>> sequences(std::size_t{1} * shape.ranks * shape.microbatches *
                                             shape.sequences);
  double document = 0;  // what is left of it
  for (std::vector<double>& sequence : sequences)
    for (double room = shape.tokens; room > 0;) {
      if (document == 0) document = std::min(histogram.pick(uniform()), shape.tokens);
      sequence.push_back(std::min(document, room));
      room -= sequence.back();
      document -= sequence.back();
    }
  return sequences;
}

double square(double x) { return x * x; }

// Sums over documents.
struct Sum {
  double tokens = 0, squares = 0;
  void add(double document) {
    tokens += document;
    squares += square(document);
  }
};

std::vector<Sum> in_order(const std::vector<std::vector<double>>& sequences, const PackingShape& shape) {
  std::vector<Sum> sums(sequences.size() / shape.sequences);
  for (std::size_t s = 0; s < sequences.size(); ++s)
    for (const double document : sequences[s]) sums[s / shape.sequences].add(document);
  return sums;
}

// The dearest microbatches come first on all ranks; which rank has the dearer one of a turn alternates.
std::vector<Sum> sorted(std::vector<Sum> sums, const PackingShape& shape) {
  std::stable_sort(sums.begin(), sums.end(),
                   [](const Sum& a, const Sum& b) { return a.squares > b.squares; });
  std::vector<Sum> dealt(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::size_t turn = i / shape.ranks, place = i % shape.ranks;
    const std::size_t rank = turn % 2 == 0 ? place : shape.ranks - 1 - place;
    dealt[rank * shape.microbatches + turn] = sums[i];
  }
  return dealt;
}

// Deals documents, longest first, each to the bin with the least sum of squares that has room for it, or
// where none has to the one with most room. Returns [bin] documents in that order.
// Method: longest processing time first (Graham 1969). O(documents x log bins).
std::vector<std::vector<double>> deal(std::vector<double> documents, std::size_t bins, double capacity) {
  std::stable_sort(documents.begin(), documents.end(), std::greater<>());
  std::vector<std::vector<double>> dealt(bins);
  std::vector<Sum> sums(bins);
  using Open = std::tuple<double, std::size_t>;          // squares, bin
  using Full = std::tuple<double, double, std::size_t>;  // tokens, squares, bin
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  std::priority_queue<Full, std::vector<Full>, std::greater<>> full;  // for the documents so far
  for (std::size_t bin = 0; bin < bins; ++bin) open.emplace(0, bin);
  for (const double document : documents) {
    const auto has_room = [&](double tokens) { return tokens + document <= capacity; };
    // Documents get shorter, so that a bin with room keeps it until something is put in.
    for (; !full.empty() && has_room(std::get<0>(full.top())); full.pop())
      open.emplace(std::get<1>(full.top()), std::get<2>(full.top()));
    for (; !open.empty() && !has_room(sums[std::get<1>(open.top())].tokens); open.pop()) {
      const auto& [squares, bin] = open.top();
      full.emplace(sums[bin].tokens, squares, bin);
    }
    const std::size_t bin = open.empty() ? std::get<2>(full.top()) : std::get<1>(open.top());
    if (open.empty())
      full.pop();
    else
      open.pop();
    sums[bin].add(document);
    dealt[bin].push_back(document);
    open.emplace(sums[bin].squares, bin);
  }
  return dealt;
}

std::vector<Sum> even_squares(const std::vector<std::vector<double>>& sequences, const PackingShape& shape) {
  std::vector<double> documents;
  for (const std::vector<double>& sequence : sequences)
    documents.insert(documents.end(), sequence.begin(), sequence.end());
  const double capacity = shape.sequences * shape.tokens;  // of a microbatch
  std::vector<Sum> sums;
  for (std::vector<double>& of_rank :
       deal(std::move(documents), static_cast<std::size_t>(shape.ranks), shape.microbatches * capacity))
    for (const std::vector<double>& microbatch :
         deal(std::move(of_rank), static_cast<std::size_t>(shape.microbatches), capacity)) {
      Sum& sum = sums.emplace_back();
      for (const double document : microbatch) sum.add(document);
    }
  return sums;
}

std::vector<Sum> balanced(const std::vector<std::vector<double>>& sequences, const PackingShape& shape,
                          LengthBalance balance) {
  switch (balance) {
    case LengthBalance::kSorted:
      return sorted(in_order(sequences, shape), shape);
    case LengthBalance::kSquares:
      return even_squares(sequences, shape);
    case LengthBalance::kNone:
      break;
  }
  return in_order(sequences, shape);
}

}  // namespace

std::vector<MicrobatchLoad> pack_step(const SequenceLengths& lengths, const PackingShape& shape,
                                      const std::function<double()>& uniform) {
  std::vector<MicrobatchLoad> loads;
  for (const Sum& sum : balanced(fill(lengths, shape, uniform), shape, lengths.balance))
    loads.push_back({sum.tokens / (shape.sequences * shape.tokens),
                     sum.squares / (shape.sequences * square(shape.tokens))});
  return loads;
}

MicrobatchLoad mean_load(const std::vector<MicrobatchLoad>& loads) {
  MicrobatchLoad sum{0, 0};
  for (const MicrobatchLoad& load : loads) {
    sum.tokens += load.tokens;
    sum.attention += load.attention;
  }
  return {sum.tokens / static_cast<double>(loads.size()), sum.attention / static_cast<double>(loads.size())};
}

}  // namespace podsim
