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

// [microbatch] documents, here and below.
using Microbatches = std::vector<std::vector<double>>;

Microbatches in_order(const std::vector<std::vector<double>>& sequences, const PackingShape& shape) {
  Microbatches microbatches(sequences.size() / shape.sequences);
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    std::vector<double>& of = microbatches[s / shape.sequences];
    of.insert(of.end(), sequences[s].begin(), sequences[s].end());
  }
  return microbatches;
}

double squares(const std::vector<double>& documents) {
  Sum sum;
  for (const double document : documents) sum.add(document);
  return sum.squares;
}

// The dearest microbatches come first on all ranks; which rank has the dearer one of a turn alternates.
Microbatches sorted(Microbatches microbatches, const PackingShape& shape) {
  std::vector<std::pair<double, std::size_t>> order;  // squares, microbatch
  for (std::size_t i = 0; i < microbatches.size(); ++i) order.emplace_back(squares(microbatches[i]), i);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  Microbatches dealt(microbatches.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t turn = i / shape.ranks, place = i % shape.ranks;
    const std::size_t rank = turn % 2 == 0 ? place : shape.ranks - 1 - place;
    dealt[rank * shape.microbatches + turn] = std::move(microbatches[order[i].second]);
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

Microbatches even_squares(const std::vector<std::vector<double>>& sequences, const PackingShape& shape) {
  std::vector<double> documents;
  for (const std::vector<double>& sequence : sequences)
    documents.insert(documents.end(), sequence.begin(), sequence.end());
  const double capacity = shape.sequences * shape.tokens;  // of a microbatch
  Microbatches microbatches;
  for (std::vector<double>& of_rank :
       deal(std::move(documents), static_cast<std::size_t>(shape.ranks), shape.microbatches * capacity))
    for (std::vector<double>& microbatch :
         deal(std::move(of_rank), static_cast<std::size_t>(shape.microbatches), capacity))
      microbatches.push_back(std::move(microbatch));
  return microbatches;
}

Microbatches balanced(const std::vector<std::vector<double>>& sequences, const PackingShape& shape,
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

// Pairs of a query and a key that it sees in so many tokens: all of them for a window without an end, for
// which the half that a causal mask leaves is the same share of any document.
double pairs(double tokens, const KeyWindow& window) {
  if (window.keys == 0) return square(tokens);
  const double keys = std::min(window.keys, tokens);
  return window.causal ? keys * (tokens - keys / 2) : keys * tokens;
}

}  // namespace

std::vector<MicrobatchLoad> pack_step(const SequenceLengths& lengths, const PackingShape& shape,
                                      const std::function<double()>& uniform) {
  std::vector<MicrobatchLoad> loads;
  for (const std::vector<double>& documents :
       balanced(fill(lengths, shape, uniform), shape, lengths.balance)) {
    const double tokens = std::accumulate(documents.begin(), documents.end(), 0.0);
    MicrobatchLoad& load = loads.emplace_back(MicrobatchLoad{tokens / (shape.sequences * shape.tokens), {}});
    for (const KeyWindow& window : shape.windows) {
      double sum = 0;
      for (const double document : documents) sum += pairs(document, window);
      load.attention.push_back(sum / (shape.sequences * pairs(shape.tokens, window)));
    }
  }
  return loads;
}

MicrobatchLoad mean_load(const std::vector<MicrobatchLoad>& loads) {
  const auto count = static_cast<double>(loads.size());
  MicrobatchLoad sum{0, std::vector<double>(loads.front().attention.size(), 0)};
  for (const MicrobatchLoad& load : loads) {
    sum.tokens += load.tokens;
    for (std::size_t w = 0; w < load.attention.size(); ++w) sum.attention[w] += load.attention[w];
  }
  sum.tokens /= count;
  for (double& attention : sum.attention) attention /= count;
  return sum;
}

}  // namespace podsim
