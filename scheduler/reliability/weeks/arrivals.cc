// Draws of failure sources.
#include "scheduler/reliability/weeks/arrivals.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr std::uint64_t kDrawsOfFailure = 4;        // of a source
constexpr std::uint64_t kLemonEntity = 1ULL << 32;  // above those of the sources

RandomStream stream(std::uint64_t seed, std::uint64_t entity) {
  return RandomStream(seed, RandomPurpose::kFailure, entity);
}

// 0 ... count - 1 from a uniform number.
int one_of(int count, double uniform) {
  PODSIM_CHECK(count > 0, "one of none");
  return std::min(count - 1, static_cast<int>(uniform * count));
}

}  // namespace

Arrivals::Arrivals(const TrainingRun& run, std::uint64_t seed) : run_(run) {
  for (std::size_t s = 0; s < run.failures.size(); ++s) add(s, false, run.failures[s].per_s, seed);
  if (run.lemons.nodes == 0) return;
  choose_lemons(seed);
  const double more = (run.lemons.factor - 1) * run.lemons.nodes / run.nodes();
  for (std::size_t s = 0; s < run.failures.size(); ++s) {
    const FailureSource& failure = run.failures[s];
    if (failure.domain_nodes == 1 && !failure.regular) add(s, true, failure.per_s * more, seed);
  }
}

void Arrivals::add(std::size_t failure, bool of_lemons, double per_s, std::uint64_t seed) {
  const std::uint64_t first = kDrawsOfFailure * failure + (of_lemons ? kLemonEntity : 0);
  const bool changes = run_.failures[failure].domain_nodes > 0 && !run_.failures[failure].regular;
  const double most = changes ? run_.hazard.most(run_.length.in_seconds()) : 1;
  sources_.push_back({failure, of_lemons, per_s * most, stream(seed, first), stream(seed, first + 1),
                      stream(seed, first + 2), stream(seed, first + 3)});
}

// The first places of a random order of the nodes (Fisher and Yates, as far as needed).
void Arrivals::choose_lemons(std::uint64_t seed) {
  PODSIM_CHECK(run_.lemons.nodes <= run_.nodes(), "lemons are nodes of the pool");
  const RandomStream places = stream(seed, kLemonEntity - 1);
  std::vector<int> nodes(static_cast<std::size_t>(run_.nodes()));
  std::iota(nodes.begin(), nodes.end(), 0);
  for (int i = 0; i < run_.lemons.nodes; ++i) {
    const int other = i + one_of(run_.nodes() - i, places.uniform(static_cast<std::uint64_t>(i)));
    std::swap(nodes[static_cast<std::size_t>(i)], nodes[static_cast<std::size_t>(other)]);
    lemons_.push_back(nodes[static_cast<std::size_t>(i)]);
  }
  lemon_strikes_.resize(lemons_.size());
}

Milliseconds Arrivals::gap(int source, std::int64_t number) const {
  const Source& from = sources_[static_cast<std::size_t>(source)];
  if (from.most_per_s <= 0) return Milliseconds::max();
  const bool regular = run_.failures[from.failure].regular;
  const double gaps = regular ? 1 : from.gap.exponential(static_cast<std::uint64_t>(number));
  const double gap_s = gaps / from.most_per_s;
  return gap_s > run_.length.in_seconds() ? Milliseconds::max() : Milliseconds::seconds(gap_s);
}

bool Arrivals::happens(int source, std::int64_t number, Milliseconds now) const {
  const Source& from = sources_[static_cast<std::size_t>(source)];
  const FailureSource& failure = run_.failures[from.failure];
  if (run_.hazard.constant() || failure.domain_nodes == 0 || failure.regular) return true;
  const double share = run_.hazard.factor(now.in_seconds()) / run_.hazard.most(run_.length.in_seconds());
  return from.thinning.uniform(static_cast<std::uint64_t>(number)) < share;
}

int Arrivals::strike(int source, std::int64_t number) {
  const Source& from = sources_[static_cast<std::size_t>(source)];
  const double place = from.place.uniform(static_cast<std::uint64_t>(number));
  if (!from.of_lemons) {
    const int together = run_.failures[from.failure].domain_nodes;
    if (together == 0) return 0;
    const int domains = (run_.nodes() + together - 1) / together;
    return one_of(domains, place) * together;
  }
  const auto lemon = static_cast<std::size_t>(one_of(run_.lemons.nodes, place));
  const int removed_after = run_.lemons.removed_after;
  if (removed_after > 0 && lemon_strikes_[lemon] >= removed_after) return -1;
  ++lemon_strikes_[lemon];
  return lemons_[lemon];
}

Milliseconds Arrivals::repair_time(int source, std::int64_t number) const {
  const Source& from = sources_[static_cast<std::size_t>(source)];
  return run_.failures[from.failure].repair.draw(from.repair, static_cast<std::uint64_t>(number));
}

}  // namespace podsim
