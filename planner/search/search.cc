// Bounds every layout, then refines and simulates the one of least bound until none is left that could win.
#include "planner/search/search.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "engine/check.h"
#include "engine/parallel_for.h"
#include "planner/bounds/stem_bounds.h"
#include "planner/search/incumbents.h"
#include "planner/search/layout_fate.h"
#include "prediction/evaluator.h"

namespace podsim {
namespace {

// But for what would make it fit.
PredictOptions step_alone() {
  PredictOptions options;
  options.memory_advice = false;
  return options;
}

// How closely a layout has been looked at.
enum class Level : unsigned char { kStages, kRelaxed };

struct Candidate {
  Time bound;
  Level level;
  JobLayout layout;
  Time stage_bound;
  Bytes memory;
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return std::tie(a.bound, a.level, a.layout) < std::tie(b.bound, b.level, b.layout);
  }
};

// Contexts of meshes, a few at a time: neighbours in order of bound have few meshes.
class Contexts {
 public:
  Contexts(const Fabric& fabric) : fabric_(fabric) {}

  const MeshContext& of(const Spec& spec) {
    constexpr std::size_t kMost = 48;
    std::string key = spec.job.pipeline_axis;
    for (const MeshAxis& axis : spec.job.mesh.axes) key += " " + axis.name + std::to_string(axis.size);
    const auto known = contexts_.find(key);
    if (known != contexts_.end()) return *known->second;
    if (contexts_.size() >= kMost) contexts_.clear();
    return *(contexts_[key] = std::make_unique<MeshContext>(fabric_, spec));
  }

 private:
  const Fabric& fabric_;
  std::map<std::string, std::unique_ptr<MeshContext>> contexts_;
};

class LayoutSearch {
 public:
  LayoutSearch(const Space& space, const SearchOptions& options)
      : space_(space),
        options_(options),
        fabric_(build_fabric(space.spec().cluster.fabric)),
        room_((1 - space.values().memory_headroom_share) * space.spec().cluster.chip.hbm_capacity),
        parameters_(parameter_count(model_program(space.spec().job))),
        incumbents_(options.top, options.within, options.pareto) {
    for (const JobLayout& stem : space.stems())
      if (shard_of(stem, options.shards) == options.shard) stems_.push_back(stem);
  }

  SearchAnswer run() {
    bound_stems();
    if (open_.empty() && !stopped()) {
      // To name the nearest miss, all have to be looked at.
      skip_full_ = false;
      stems_done_ = 0;
      counts_ = {};
      records_.clear();
      bound_stems();
    }
    seed();
    in_threads([&] { refine(); });
    return finish();
  }

 private:
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  template <class Work>
  void in_threads(Work&& work) {
    const auto threads = static_cast<std::size_t>(std::max(options_.threads, 1));
    parallel_for(threads, static_cast<int>(threads), [&](std::size_t) {
      try {
        work();
      } catch (...) {
        const std::lock_guard lock(mutex_);
        failed_ = true;
        idle_.notify_all();
        throw;
      }
      idle_.notify_all();
    });
  }

  // ---- All layouts, by the bound of stages

  void bound_stems() {
    std::atomic<std::size_t> next = 0;
    const std::vector<JobLayout>& stems = stems_;
    in_threads([&] {
      Contexts contexts(fabric_);
      constexpr std::size_t kAtOnce = 16;  // neighbours have the same mesh
      for (std::size_t first; (first = next.fetch_add(kAtOnce)) < stems.size() && !stopped();)
        for (std::size_t i = first; i < std::min(stems.size(), first + kAtOnce) && !stopped(); ++i)
          bound_stem(stems[i], contexts);
    });
    stems_left_ = stems.size() - stems_done_;
  }

  void bound_stem(const JobLayout& stem, Contexts& contexts) {
    const std::vector<JobLayout> leaves = space_.leaves(stem);
    std::vector<Candidate> found;
    std::vector<LayoutRecord> full;
    std::optional<NearestMiss> miss;
    const Bytes state = least_state(space_.spec().job, stem, parameters_);
    const bool room_for_state = !skip_full_ || state <= room_;
    for (const JobLayout& leaf : leaves)
      if (!room_for_state) full.push_back({leaf, LayoutVerdict::kNoRoomForState, {}, state});
    if (!leaves.empty() && room_for_state) {
      const Spec spec = with_layout(space_.spec(), stem);
      const StemBounds bounds(spec, contexts.of(spec));
      for (const JobLayout& leaf : leaves) {
        const Bytes memory = bounds.memory(leaf, true);
        if (memory > room_) {
          if (!miss || memory < miss->needed) miss = {leaf, memory, room_};
          full.push_back({leaf, LayoutVerdict::kNoRoom, {}, memory});
          continue;
        }
        const Time bound = rounded_down(bounds.stage_bound_s(leaf));
        found.push_back({bound, Level::kStages, leaf, bound, memory});
      }
    }
    const std::lock_guard lock(mutex_);
    ++stems_done_;
    counts_.layouts += static_cast<std::int64_t>(leaves.size());
    counts_.no_room += static_cast<std::int64_t>(leaves.size() - found.size());
    if (miss) note_miss(*miss);
    for (const LayoutRecord& each : full) record(each);
    for (Candidate& each : found) open_.insert(std::move(each));
    tell();
  }

  // REQUIRES: mutex_ is held.
  void record(const LayoutRecord& each) {
    if (options_.record) records_.push_back(each);
  }

  void note_miss(const NearestMiss& miss) {
    if (!miss_ || std::tie(miss.needed, miss.layout) < std::tie(miss_->needed, miss_->layout)) miss_ = miss;
  }

  // ---- Best first

  // The scenario's own layout comes first, so that the search has something to beat.
  void seed() {
    if (!own_ || stopped()) return;
    const auto found =
        std::find_if(open_.begin(), open_.end(), [&](const Candidate& each) { return each.layout == *own_; });
    if (found == open_.end()) return;
    Candidate candidate = *found;
    open_.erase(found);
    Contexts contexts(fabric_);
    Evaluator evaluator;
    std::unique_lock lock(mutex_);
    look_closer(candidate, contexts, lock);
    if (candidate.level == Level::kRelaxed && candidate.memory <= room_) {
      open_.erase(candidate);
      simulate(candidate, evaluator, lock);
    }
  }

  // Nothing that is open can matter any more. REQUIRES: mutex_ is held.
  bool done(const Candidate& least) const {
    if (options_.pareto) return false;
    if (least.bound > incumbents_.limit()) return true;
    return options_.gap > 0 && incumbents_.any() &&
           least.bound.in_seconds() >= incumbents_.best().in_seconds() * (1 - options_.gap);
  }

  void refine() {
    Contexts contexts(fabric_);
    Evaluator evaluator;
    std::unique_lock lock(mutex_);
    while (!stopped() && !failed_) {
      if (open_.empty()) {
        if (under_way_ == 0) break;
        idle_.wait(lock);
        continue;
      }
      if (done(*open_.begin())) break;
      Candidate candidate = *open_.begin();
      open_.erase(open_.begin());
      if (options_.pareto && incumbents_.beat_in_both(candidate.bound, candidate.memory)) {
        drop(candidate);
        continue;
      }
      if (candidate.level == Level::kStages)
        look_closer(candidate, contexts, lock);
      else
        simulate(candidate, evaluator, lock);
      tell();
      idle_.notify_all();
    }
  }

  // By its own instructions, and by all stages' memory.
  void look_closer(Candidate& candidate, Contexts& contexts, std::unique_lock<std::mutex>& lock) {
    begin(candidate);
    lock.unlock();
    const Spec spec = with_layout(space_.spec(), candidate.layout);
    const MeshContext& context = contexts.of(spec);
    const Bytes memory = StemBounds(spec, context).memory(candidate.layout, false);
    Time relaxed;
    if (memory <= room_) relaxed = rounded_down(relaxed_bound_s(spec, context));
    lock.lock();
    end(candidate);
    candidate.memory = memory;
    if (memory > room_) {
      ++counts_.no_room;
      record({candidate.layout, LayoutVerdict::kNoRoom, {}, memory});
      note_miss({candidate.layout, memory, room_});
      return;
    }
    candidate.bound = std::max(candidate.bound, relaxed);
    candidate.level = Level::kRelaxed;
    open_.insert(candidate);
  }

  void simulate(const Candidate& candidate, Evaluator& evaluator, std::unique_lock<std::mutex>& lock) {
    begin(candidate);
    lock.unlock();
    const auto simulated = [&] {
      return evaluator.predict(with_layout(space_.spec(), candidate.layout), step_alone()).report;
    };
    const EvaluatedStep step = options_.evaluate ? options_.evaluate(candidate.layout, simulated)
                                                 : EvaluatedStep{main_figures(simulated()), false};
    const Time step_time = step.figures.step_time;
    PODSIM_CHECK(candidate.bound <= step_time,
                 "the bound of " + to_string(candidate.layout) + " is above its step");
    lock.lock();
    end(candidate);
    ++counts_.simulated;
    counts_.known += step.known ? 1 : 0;
    record({candidate.layout, LayoutVerdict::kSimulated, step_time, {}});
    const auto step_ps = static_cast<double>(step_time.ps);
    of_stages_.shares.push_back(static_cast<double>(candidate.stage_bound.ps) / step_ps);
    of_relaxed_.shares.push_back(static_cast<double>(candidate.bound.ps) / step_ps);
    FoundLayout found{candidate.layout, step.figures, candidate.memory};
    if (own_ && found.layout == *own_) found_own_ = found;
    incumbents_.add(std::move(found));
  }

  void begin(const Candidate& candidate) {
    ++under_way_;
    busy_.insert(candidate.bound);
  }
  void end(const Candidate& candidate) {
    --under_way_;
    busy_.erase(busy_.find(candidate.bound));
  }

  void drop(const Candidate& candidate) {
    const bool by_stages = candidate.level == Level::kStages;
    ++(by_stages ? counts_.by_stages : counts_.by_relaxed);
    record({candidate.layout,
            by_stages ? LayoutVerdict::kByStages : LayoutVerdict::kByRelaxed,
            candidate.bound,
            {}});
  }

  // REQUIRES: mutex_ is held.
  void tell() {
    if (!options_.progress) return;
    SearchProgress progress;
    progress.layouts = counts_.layouts;
    progress.bounded = counts_.layouts - counts_.no_room;
    progress.simulated = counts_.simulated;
    if (incumbents_.any()) progress.incumbent = incumbents_.best();
    if (!open_.empty() && stems_done_ == stems_.size()) progress.bound = open_.begin()->bound;
    options_.progress(progress);
  }

  SearchAnswer finish() {
    SearchAnswer answer;
    answer.proven = stems_left_ == 0;
    Time least = Time::max();
    const Time limit = incumbents_.limit();
    for (const Candidate& candidate : open_) {
      least = std::min(least, candidate.bound);
      if (candidate.bound > limit) {
        drop(candidate);
        continue;
      }
      ++counts_.open;
      record({candidate.layout, LayoutVerdict::kOpen, candidate.bound, {}});
    }
    if (incumbents_.any() && !open_.empty())
      answer.gap = std::max(0.0, 1 - least.in_seconds() / incumbents_.best().in_seconds());
    answer.proven = answer.proven && (counts_.open == 0 || (options_.gap > 0 && answer.gap <= options_.gap));
    if (stems_left_ > 0) answer.gap = 1;
    answer.own = found_own_;
    answer.best = incumbents_.taken();
    answer.counts = counts_;
    answer.of_stages = std::move(of_stages_);
    answer.of_relaxed = std::move(of_relaxed_);
    for (Tightness* tightness : {&answer.of_stages, &answer.of_relaxed}) std::ranges::sort(tightness->shares);
    if (answer.best.empty()) answer.miss = miss_;
    std::ranges::sort(records_, {}, &LayoutRecord::layout);
    answer.records = std::move(records_);
    return answer;
  }

  const Space& space_;
  const SearchOptions& options_;
  const Fabric fabric_;
  const Bytes room_;
  const double parameters_;
  const std::optional<JobLayout> own_ = layout_of(space_.spec());
  std::vector<JobLayout> stems_;
  bool skip_full_ = true;  // stems whose state alone does not fit

  std::mutex mutex_;  // of all below
  std::condition_variable idle_;
  bool failed_ = false;
  std::size_t stems_done_ = 0, stems_left_ = 0;
  std::set<Candidate> open_;
  int under_way_ = 0;
  std::multiset<Time> busy_;  // bounds of those under way
  Incumbents incumbents_;
  std::optional<FoundLayout> found_own_;
  std::optional<NearestMiss> miss_;
  SearchCounts counts_;
  std::vector<LayoutRecord> records_;
  Tightness of_stages_, of_relaxed_;
};

}  // namespace

int shard_of(const JobLayout& stem, int shards) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char c : to_string(stem)) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return 1 + static_cast<int>((hash >> 32) % static_cast<std::uint64_t>(shards));
}

SearchAnswer search(const Space& space, const SearchOptions& options) {
  return LayoutSearch(space, options).run();
}

}  // namespace podsim
