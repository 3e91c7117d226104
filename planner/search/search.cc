// Bounds every layout, then refines and simulates the one of least bound until none is left that could win.
#include "planner/search/search.h"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "engine/check.h"
#include "engine/parallel_for.h"
#include "planner/bounds/mesh_contexts.h"
#include "planner/bounds/pass_tables.h"
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

constexpr Bytes kAnyRoom{std::numeric_limits<double>::infinity()};

// How closely a layout has been looked at.
enum class Level : unsigned char { kPasses, kStages, kRelaxed };

struct Candidate {
  Time bound;
  Level level;
  JobLayout layout;  // of passes a stem, that stands for all of its layouts
  Time pass_bound, stage_bound;
  Bytes memory;
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return std::tie(a.bound, a.level, a.layout) < std::tie(b.bound, b.level, b.layout);
  }
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
    go_through();
    if (!incumbents_.any() && open_.empty() && counts_.layouts > 0 && !stopped()) {
      // To name the nearest miss, all have to be looked at.
      skip_full_ = false;
      stems_done_ = 0;
      counts_ = {};
      records_.clear();
      go_through();
    }
    return finish();
  }

 private:
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  void in_threads(const std::function<void()>& work) {
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

  void go_through() {
    bound_stems();
    seed();
    if (options_.gap > 0) return refine();  // it may stop short, and where depends on the order
    in_threads([&] { refine(); });
  }

  // ---- All stems, by their passes

  void bound_stems() {
    const auto meshes = stems_by_mesh(space_, stems_);
    std::atomic<std::size_t> next = 0;
    in_threads([&] {
      PassTables tables(space_, fabric_);
      for (std::size_t m; (m = next.fetch_add(1)) < meshes.size();)
        for (const JobLayout& stem : meshes[m])
          if (!stopped()) bound_stem(stem, tables);
    });
    stems_left_ = stems_.size() - stems_done_;
  }

  void bound_stem(const JobLayout& stem, PassTables& tables) {
    const std::vector<JobLayout> leaves = space_.leaves(stem);
    const Bytes state = least_state(space_.spec().job, stem, parameters_);
    StemPasses passes{leaves, {}, state};
    if (skip_full_ && state > room_)
      passes.might_fit.clear();
    else if (!leaves.empty())
      passes = passes_of(tables, stem, leaves, skip_full_ ? room_ : kAnyRoom);
    const auto count = static_cast<std::int64_t>(leaves.size());
    const auto full = state > room_ ? LayoutVerdict::kNoRoomForState : LayoutVerdict::kNoRoom;
    const std::lock_guard lock(mutex_);
    ++stems_done_;
    counts_.layouts += count;
    if (!passes.might_fit.empty()) {
      open_.insert({passes.bound, Level::kPasses, stem, passes.bound, passes.bound, state});
    } else {
      counts_.no_room += count;
      for (const JobLayout& leaf : leaves) record({leaf, full, {}, passes.memory});
    }
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
    MeshContexts contexts(fabric_);
    Evaluator evaluator;
    std::unique_lock lock(mutex_);
    const auto take = [&](const JobLayout& layout, Level level) -> std::optional<Candidate> {
      for (auto at = open_.begin(); at != open_.end(); ++at)
        if (at->layout == layout && at->level == level) return open_.extract(at).value();
      return std::nullopt;
    };
    JobLayout stem = *own_;
    stem.schedule = PipelineSchedule::k1F1B;
    stem.chunks = 1;
    const auto all = take(stem, Level::kPasses);
    if (!all) return;
    open_stem(*all, contexts, lock);
    auto own = take(*own_, Level::kStages);
    if (!own) return;
    look_closer(*own, contexts, lock);
    own = take(*own_, Level::kRelaxed);
    if (own) simulate(*own, evaluator, lock);
  }

  // Nothing that is open can matter any more. REQUIRES: mutex_ is held.
  bool done(const Candidate& least) const {
    if (options_.pareto) return false;
    if (least.bound > incumbents_.limit()) return true;
    return options_.gap > 0 && incumbents_.any() &&
           least.bound.in_seconds() >= incumbents_.best().in_seconds() * (1 - options_.gap);
  }

  void refine() {
    MeshContexts contexts(fabric_);
    Evaluator evaluator;
    std::unique_lock lock(mutex_);
    while (!stopped() && !failed_) {
      if (open_.empty() && under_way_ > 0) {
        idle_.wait(lock);
        continue;
      }
      if (open_.empty() || done(*open_.begin())) break;
      Candidate candidate = *open_.begin();
      open_.erase(open_.begin());
      if (options_.pareto && incumbents_.beat_in_both(candidate.bound, candidate.memory)) {
        close(candidate, false);
        continue;
      }
      if (candidate.level == Level::kPasses)
        open_stem(candidate, contexts, lock);
      else if (candidate.level == Level::kStages)
        look_closer(candidate, contexts, lock);
      else
        simulate(candidate, evaluator, lock);
      tell();
      idle_.notify_all();
    }
  }

  // All layouts of a stem, by the times of their own pieces and by the memory of their ends.
  void open_stem(const Candidate& stem, MeshContexts& contexts, std::unique_lock<std::mutex>& lock) {
    begin(stem);
    lock.unlock();
    const Spec spec = with_layout(space_.spec(), stem.layout);
    const StemBounds bounds(spec, contexts.of(spec));
    std::vector<Candidate> found;
    std::vector<NearestMiss> misses;
    for (const JobLayout& leaf : space_.leaves(stem.layout)) {
      const Bytes memory = bounds.memory(leaf, true);
      if (memory > room_) {
        misses.push_back({leaf, memory, room_});
        continue;
      }
      const Time bound = rounded_down(bounds.stage_bound_s(leaf));
      PODSIM_CHECK(stem.bound <= bound,
                   "the passes of " + to_string(leaf) + " take less than those of its key");
      found.push_back({bound, Level::kStages, leaf, stem.bound, bound, memory});
    }
    lock.lock();
    end(stem);
    counts_.no_room += static_cast<std::int64_t>(misses.size());
    for (const NearestMiss& miss : misses) {
      note_miss(miss);
      record({miss.layout, LayoutVerdict::kNoRoom, {}, miss.needed});
    }
    for (Candidate& each : found) open_.insert(std::move(each));
  }

  // By its own instructions, and by all stages' memory.
  void look_closer(Candidate& candidate, MeshContexts& contexts, std::unique_lock<std::mutex>& lock) {
    begin(candidate);
    lock.unlock();
    const Spec spec = with_layout(space_.spec(), candidate.layout);
    const StemBounds bounds(spec, contexts.of(spec));
    const Bytes memory = bounds.memory(candidate.layout, false);
    Time relaxed;
    if (memory <= room_) relaxed = rounded_down(bounds.relaxed_bound_s(candidate.layout));
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
    of_passes_.shares.push_back(static_cast<double>(candidate.pass_bound.ps) / step_ps);
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

  // What is dropped by its bound, or left open. REQUIRES: mutex_ is held.
  void close(const Candidate& candidate, bool is_open) {
    const bool stem = candidate.level == Level::kPasses, stages = candidate.level == Level::kStages;
    const std::vector<JobLayout> layouts =
        stem ? space_.leaves(candidate.layout) : std::vector<JobLayout>{candidate.layout};
    std::int64_t& count = is_open  ? counts_.open
                          : stem   ? counts_.by_passes
                          : stages ? counts_.by_stages
                                   : counts_.by_relaxed;
    count += static_cast<std::int64_t>(layouts.size());
    const LayoutVerdict verdict = is_open  ? LayoutVerdict::kOpen
                                  : stem   ? LayoutVerdict::kByPasses
                                  : stages ? LayoutVerdict::kByStages
                                           : LayoutVerdict::kByRelaxed;
    for (const JobLayout& layout : layouts) record({layout, verdict, candidate.bound, {}});
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
      close(candidate, candidate.bound <= limit);
    }
    if (incumbents_.any() && !open_.empty())
      answer.gap = std::max(0.0, 1 - least.in_seconds() / incumbents_.best().in_seconds());
    answer.proven = answer.proven && (counts_.open == 0 || (options_.gap > 0 && answer.gap <= options_.gap));
    if (stems_left_ > 0) answer.gap = 1;
    answer.own = found_own_;
    answer.best = incumbents_.taken();
    answer.counts = counts_;
    answer.of_passes = std::move(of_passes_);
    answer.of_stages = std::move(of_stages_);
    answer.of_relaxed = std::move(of_relaxed_);
    for (Tightness* tightness : {&answer.of_passes, &answer.of_stages, &answer.of_relaxed})
      std::ranges::sort(tightness->shares);
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
  Tightness of_passes_, of_stages_, of_relaxed_;
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
