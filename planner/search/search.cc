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
        parameters_(parameter_count(model_program(space.spec().job))) {}

  SearchAnswer run() {
    bound_stems();
    if (open_.empty() && !stopped()) {
      // To name the nearest miss, all have to be looked at.
      skip_full_ = false;
      stems_done_ = 0;
      counts_ = {};
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
    const std::vector<JobLayout>& stems = space_.stems();
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
    std::optional<NearestMiss> miss;
    const bool room_for_state = !skip_full_ || least_state(space_.spec().job, stem, parameters_) <= room_;
    if (!leaves.empty() && room_for_state) {
      const Spec spec = with_layout(space_.spec(), stem);
      const StemBounds bounds(spec, contexts.of(spec));
      for (const JobLayout& leaf : leaves) {
        const Bytes memory = bounds.memory(leaf, true);
        if (memory > room_) {
          if (!miss || memory < miss->needed) miss = {leaf, memory, room_};
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
    for (Candidate& each : found) open_.insert(std::move(each));
    tell();
  }

  void note_miss(const NearestMiss& miss) {
    if (!miss_ || std::tie(miss.needed, miss.layout) < std::tie(miss_->needed, miss_->layout)) miss_ = miss;
  }

  // ---- Best first

  // The scenario's own layout comes first, so that the search has something to beat.
  void seed() {
    const auto own = layout_of(space_.spec());
    if (!own || stopped()) return;
    const auto found =
        std::find_if(open_.begin(), open_.end(), [&](const Candidate& each) { return each.layout == *own; });
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

  // Longer steps are of no interest. REQUIRES: mutex_ is held.
  Time limit() const {
    const std::size_t top = static_cast<std::size_t>(std::max(options_.top, 1));
    if (by_step_.empty()) return Time::max();
    const Time best = by_step_.begin()->first;
    Time limit = by_step_.size() < top
                     ? Time::max()
                     : std::next(by_step_.begin(), static_cast<std::ptrdiff_t>(top - 1))->first;
    if (options_.within > 0)
      limit = std::max(by_step_.size() < top ? best : limit, stretched(best, options_.within));
    return limit;
  }

  static Time stretched(Time time, double share) { return time + Time::seconds(share * time.in_seconds()); }

  // Nothing that is open can matter any more. REQUIRES: mutex_ is held.
  bool done(const Candidate& least) const {
    if (options_.pareto) return false;
    if (least.bound > limit()) return true;
    return options_.gap > 0 && !by_step_.empty() &&
           least.bound.in_seconds() >= by_step_.begin()->first.in_seconds() * (1 - options_.gap);
  }

  // Some simulated layout is no worse in step and memory. REQUIRES: mutex_ is held.
  bool beaten_in_all(const Candidate& candidate) const {
    return std::ranges::any_of(found_, [&](const auto& each) {
      const FoundLayout& known = each.second;
      const bool better = known.report.step_time < candidate.bound || known.memory < candidate.memory;
      return known.report.step_time <= candidate.bound && known.memory <= candidate.memory && better;
    });
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
      if (options_.pareto && beaten_in_all(candidate)) {
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
    Report report = evaluator.predict(with_layout(space_.spec(), candidate.layout), step_alone()).report;
    PODSIM_CHECK(candidate.bound <= report.step_time,
                 "the bound of " + to_string(candidate.layout) + " is above its step");
    lock.lock();
    end(candidate);
    ++counts_.simulated;
    const double step = static_cast<double>(report.step_time.ps);
    of_stages_.shares.push_back(static_cast<double>(candidate.stage_bound.ps) / step);
    of_relaxed_.shares.push_back(static_cast<double>(candidate.bound.ps) / step);
    const std::pair key(report.step_time, candidate.layout);
    by_step_.insert(key);
    found_.emplace(key, FoundLayout{candidate.layout, std::move(report), candidate.memory});
    if (!options_.pareto) forget_slow();
  }

  // Reports of layouts that cannot be in the answer.
  void forget_slow() {
    const Time limit = this->limit();
    while (!found_.empty() && std::prev(found_.end())->first.first > limit)
      found_.erase(std::prev(found_.end()));
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
    ++(candidate.level == Level::kStages ? counts_.by_stages : counts_.by_relaxed);
  }

  // REQUIRES: mutex_ is held.
  void tell() {
    if (!options_.progress) return;
    SearchProgress progress;
    progress.layouts = counts_.layouts;
    progress.bounded = counts_.layouts - counts_.no_room;
    progress.simulated = counts_.simulated;
    if (!by_step_.empty()) progress.incumbent = by_step_.begin()->first;
    if (!open_.empty() && stems_done_ == space_.stems().size()) progress.bound = open_.begin()->bound;
    options_.progress(progress);
  }

  SearchAnswer finish() {
    SearchAnswer answer;
    answer.proven = stems_left_ == 0;
    Time least = Time::max();
    const Time limit = this->limit();
    for (const Candidate& candidate : open_) {
      least = std::min(least, candidate.bound);
      if (candidate.bound > limit)
        drop(candidate);
      else
        ++counts_.open;
    }
    if (!found_.empty() && !open_.empty()) {
      const double best = found_.begin()->second.report.step_time.in_seconds();
      answer.gap = std::max(0.0, 1 - least.in_seconds() / best);
    }
    answer.proven = answer.proven && (counts_.open == 0 || (options_.gap > 0 && answer.gap <= options_.gap));
    if (stems_left_ > 0) answer.gap = 1;
    const auto own = layout_of(space_.spec());
    for (auto& [key, found] : found_) {
      if (own && found.layout == *own) answer.own = found;
      answer.best.push_back(std::move(found));
    }
    if (options_.pareto) keep_front(answer.best);
    trim(answer.best);
    answer.counts = counts_;
    answer.of_stages = std::move(of_stages_);
    answer.of_relaxed = std::move(of_relaxed_);
    for (Tightness* tightness : {&answer.of_stages, &answer.of_relaxed}) std::ranges::sort(tightness->shares);
    if (answer.best.empty()) answer.miss = miss_;
    return answer;
  }

  // The `top` fastest, and all within the share that was asked for.
  void trim(std::vector<FoundLayout>& best) const {
    if (options_.pareto || best.empty()) return;
    const Time within = stretched(best.front().report.step_time, options_.within);
    std::size_t kept = std::min(best.size(), static_cast<std::size_t>(std::max(options_.top, 1)));
    while (kept < best.size() && options_.within > 0 && best[kept].report.step_time <= within) ++kept;
    best.resize(kept);
  }

  static void keep_front(std::vector<FoundLayout>& all) {
    std::vector<FoundLayout> front;
    for (FoundLayout& each : all)
      if (front.empty() || each.memory < front.back().memory) front.push_back(std::move(each));
    all = std::move(front);
  }

  const Space& space_;
  const SearchOptions& options_;
  const Fabric fabric_;
  const Bytes room_;
  const double parameters_;
  bool skip_full_ = true;  // stems whose state alone does not fit

  std::mutex mutex_;  // of all below
  std::condition_variable idle_;
  bool failed_ = false;
  std::size_t stems_done_ = 0, stems_left_ = 0;
  std::set<Candidate> open_;
  int under_way_ = 0;
  std::multiset<Time> busy_;  // bounds of those under way
  std::set<std::pair<Time, JobLayout>> by_step_;
  std::map<std::pair<Time, JobLayout>, FoundLayout> found_;
  std::optional<NearestMiss> miss_;
  SearchCounts counts_;
  Tightness of_stages_, of_relaxed_;
};

}  // namespace

SearchAnswer search(const Space& space, const SearchOptions& options) {
  return LayoutSearch(space, options).run();
}

}  // namespace podsim
