// Bounds every layout, then refines and simulates the one of least bound until none is left that could win.
#include "planner/search/search.h"

#include <algorithm>
#include <chrono>
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
#include "planner/bounds/lighter_stems.h"
#include "planner/bounds/stem_bounds.h"
#include "planner/search/incumbents.h"
#include "planner/search/ledger.h"
#include "planner/search/open_layouts.h"
#include "planner/search/opened.h"
#include "planner/search/search_worker.h"
#include "prediction/step_length.h"

namespace podsim {
namespace {

constexpr Bytes kAnyRoom{std::numeric_limits<double>::infinity()};

class LayoutSearch {
 public:
  LayoutSearch(const Space& space, const SearchOptions& options)
      : space_(space),
        options_(options),
        fabric_(build_fabric(space.spec().cluster.fabric)),
        room_((1 - space.values().memory_headroom_share) * space.spec().cluster.chip.hbm_capacity),
        parameters_(parameter_count(model_program(space.spec().job))),
        lighter_(space),
        incumbents_(options.top, options.within, options.pareto),
        ledger_(space, room_, parameters_, options.record) {
    for (const JobLayout& stem : space.stems())
      if (shard_of(stem, options.shards) == options.shard) stems_.push_back(stem);
    for (int i = 0; i < std::max(options.threads, 1); ++i)
      workers_.push_back(std::make_unique<SearchWorker>(space, fabric_, lighter_));
  }

  SearchAnswer run() {
    go_through();
    const bool none_fits = !incumbents_.any() && refused_ == 0 && ledger_.counts().too_long == 0;
    if (none_fits && open_.empty() && ledger_.counts().layouts > 0 && !stopped()) {
      // To name the nearest miss, all have to be looked at.
      skip_full_ = false;
      gone_through_ += static_cast<std::int64_t>(stems_done_);
      stems_done_ = 0;
      ledger_.forget_all();
      go_through();
    }
    end_progress();
    return finish();
  }

 private:
  bool stopped() const {
    return refused_ >= options_.most_refused || (options_.stop != nullptr && options_.stop->load());
  }

  void in_threads(const std::function<void(SearchWorker&)>& work) {
    parallel_for(workers_.size(), static_cast<int>(workers_.size()), [&](std::size_t i) {
      try {
        work(*workers_[i]);
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
    // It may stop short; where depends on the order.
    if (options_.gap > 0 || options_.admits) return refine(*workers_.front());
    in_threads([&](SearchWorker& worker) { refine(worker); });
  }

  // ---- All stems, by lighter layouts

  void bound_stems() {
    const auto meshes = lighter_.by_mesh(stems_);
    std::atomic<std::size_t> next = 0;
    std::map<JobLayout, std::vector<BoundedStem>> of_layout;  // [timed layout]
    in_threads([&](SearchWorker& worker) {
      for (std::size_t m; (m = next.fetch_add(1)) < meshes.size();)
        for (const JobLayout& stem : meshes[m])
          if (!stopped()) bound_stem(stem, worker.lighter_tables, of_layout);
    });
    stems_left_ = stems_.size() - stems_done_;
    waiting_ = 0;
    counted_at_ = {};
    for (auto& [timed, stems] : of_layout) {
      std::ranges::sort(stems, {}, &BoundedStem::stem);
      const Time bound = std::ranges::min(stems, {}, &BoundedStem::bound).bound;
      const Bytes memory = std::ranges::min(stems, {}, &BoundedStem::memory).memory;
      open_.insert({bound, Level::kLighter, timed, bound, bound, bound, memory,
                    std::make_shared<const std::vector<BoundedStem>>(std::move(stems))});
    }
  }

  void bound_stem(const JobLayout& stem, LighterTables& tables,
                  std::map<JobLayout, std::vector<BoundedStem>>& of_layout) {
    const std::vector<JobLayout> leaves = space_.leaves(stem);
    const Bytes state = least_state(space_.spec().job, stem, parameters_);
    const bool open = !leaves.empty() && !(skip_full_ && state > room_);
    const Time bound = open ? tables.bound(stem, leaves) : Time{};
    const JobLayout timed = timed_layout(space_, stem);
    const std::lock_guard lock(mutex_);
    ++stems_done_;
    ledger_.found(leaves);
    if (open) {
      std::vector<BoundedStem>& alike = of_layout[timed];
      waiting_ += alike.empty() ? 1 : 0;
      alike.push_back({stem, bound, state});
    } else {
      ledger_.no_room(leaves, state);
    }
    tell();
  }

  // ---- Best first

  // The scenario's own layout comes first, so that the search has something to beat.
  void seed() {
    if (!own_ || stopped()) return;
    SearchWorker& worker = *workers_.front();
    std::unique_lock lock(mutex_);
    const auto take = [&](const JobLayout& layout, Level level) -> std::optional<OpenLayouts> {
      for (auto at = open_.begin(); at != open_.end(); ++at)
        if (at->layout == layout && at->level == level) return open_.extract(at).value();
      return std::nullopt;
    };
    JobLayout stem = *own_;
    stem.schedule = PipelineSchedule::k1F1B;
    stem.chunks = 1;
    const std::tuple<JobLayout, Level> steps[] = {{timed_layout(space_, stem), Level::kLighter},
                                                  {stem, Level::kPasses},
                                                  {*own_, Level::kStages},
                                                  {*own_, Level::kRelaxed}};
    for (const auto& [layout, level] : steps) {
      const auto candidate = take(layout, level);
      if (!candidate) return;
      go_on(*candidate, worker, lock);
    }
  }

  // Nothing that is open can matter any more. REQUIRES: mutex_ is held.
  bool done(const OpenLayouts& least) const {
    if (options_.pareto) return false;
    if (least.bound > incumbents_.limit()) return true;
    return options_.gap > 0 && incumbents_.any() &&
           least.bound.in_seconds() >= incumbents_.best().in_seconds() * (1 - options_.gap);
  }

  void refine(SearchWorker& worker) {
    std::unique_lock lock(mutex_);
    while (!stopped() && !failed_) {
      if (open_.empty() && under_way_ > 0) {
        idle_.wait(lock);
        continue;
      }
      if (open_.empty() || done(*open_.begin())) {
        if (put_off_.empty()) break;
        open_.merge(put_off_);
        continue;
      }
      const OpenLayouts candidate = *open_.begin();
      open_.erase(open_.begin());
      if (!incumbents_.could_take(candidate.bound, candidate.memory)) {
        ledger_.dropped(candidate);
        continue;
      }
      go_on(candidate, worker, lock);
      tell();
      idle_.notify_all();
    }
  }

  void go_on(const OpenLayouts& candidate, SearchWorker& worker, std::unique_lock<std::mutex>& lock) {
    ++gone_through_;
    switch (candidate.level) {
      case Level::kLighter:
        return open_stems(candidate, worker.tables, lock);
      case Level::kPasses:
        return open_stem(candidate, worker.contexts, lock);
      case Level::kStages:
        return look_closer(candidate, worker.contexts, lock);
      case Level::kRelaxed:
        return simulate(candidate, worker, lock);
    }
  }

  // Those of a timed layout that could win, by its passes.
  void open_stems(const OpenLayouts& timed, PassTables& tables, std::unique_lock<std::mutex>& lock) {
    begin(timed);
    std::vector<BoundedStem> stems;
    for (const BoundedStem& each : *timed.stems)
      incumbents_.could_take(each.bound, each.memory) ? stems.push_back(each) : ledger_.dropped(each);
    lock.unlock();
    OpenedStems opened = opened_stems(space_, stems, tables, skip_full_ ? room_ : kAnyRoom);
    lock.lock();
    end(timed);
    for (const auto& [leaves, needed] : opened.full) ledger_.no_room(leaves, needed);
    for (OpenLayouts& each : opened.found) open_.insert(std::move(each));
  }

  // All layouts of a stem, by the times of their own pieces and by the memory of their ends.
  void open_stem(const OpenLayouts& stem, MeshContexts& contexts, std::unique_lock<std::mutex>& lock) {
    begin(stem);
    lock.unlock();
    OpenedStem opened = opened_stem(space_, stem, contexts, room_);
    lock.lock();
    end(stem);
    for (const NearestMiss& miss : opened.misses) ledger_.missed(miss);
    for (OpenLayouts& each : opened.found) open_.insert(std::move(each));
  }

  // By its own instructions, and by all stages' memory.
  void look_closer(OpenLayouts candidate, MeshContexts& contexts, std::unique_lock<std::mutex>& lock) {
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
    if (memory > room_) return ledger_.missed({candidate.layout, memory, room_});
    candidate.bound = std::max(candidate.bound, relaxed);
    candidate.level = Level::kRelaxed;
    open_.insert(candidate);
  }

  void simulate(const OpenLayouts& candidate, SearchWorker& worker, std::unique_lock<std::mutex>& lock) {
    begin(candidate);
    lock.unlock();
    EvaluatedStep step;
    try {
      step = worker.step_of(candidate.layout, options_, candidate.put_off ? INT64_MAX : options_.most_events);
    } catch (const EventBudgetSpent&) {
      lock.lock();
      end(candidate);
      ledger_.put_off();
      OpenLayouts later = candidate;
      later.put_off = true;
      put_off_.insert(std::move(later));
      return;
    } catch (const StepTooLong& refusal) {
      lock.lock();
      end(candidate);
      return ledger_.too_long(candidate, refusal.what());
    }
    const Time step_time = step.figures.step_time;
    PODSIM_CHECK(candidate.bound <= step_time,
                 "the bound of " + to_string(candidate.layout) + " is above its step");
    lock.lock();
    end(candidate);
    ledger_.simulated(candidate, step_time, step.known);
    FoundLayout found{candidate.layout, step.figures, candidate.memory};
    if (own_ && found.layout == *own_) found_own_ = found;
    if (options_.admits && !options_.admits(found))
      ++refused_;
    else
      incumbents_.add(std::move(found));
  }

  void begin(const OpenLayouts& candidate) {
    ++under_way_;
    busy_.insert(candidate.bound);
  }
  void end(const OpenLayouts& candidate) {
    --under_way_;
    busy_.erase(busy_.find(candidate.bound));
  }

  void end_progress() {
    const std::lock_guard lock(mutex_);
    if (stopped()) return;
    counted_at_ = {};
    answers_ = 1;
    tell();
  }

  // Candidates that can matter. REQUIRES: mutex_ is held.
  std::int64_t in_question() const {
    std::int64_t count = waiting_ + under_way_;
    for (const std::set<OpenLayouts>* candidates : {&open_, &put_off_})
      for (const OpenLayouts& candidate : *candidates) {
        if (done(candidate)) break;
        ++count;
      }
    return count;
  }

  // REQUIRES: mutex_ is held.
  void tell() {
    if (!options_.progress) return;
    constexpr std::chrono::milliseconds kBetweenCounts{50};
    const auto now = std::chrono::steady_clock::now();
    if (now - counted_at_ >= kBetweenCounts || waiting_ > 0) {
      in_question_ = in_question();
      counted_at_ = now;
    }
    SearchProgress progress;
    const SearchCounts& counts = ledger_.counts();
    progress.layouts = counts.layouts;
    progress.done = gone_through_ + static_cast<std::int64_t>(stems_done_) + answers_;
    progress.to_do = gone_through_ + static_cast<std::int64_t>(stems_.size()) + in_question_ + 1;
    progress.simulated = counts.simulated;
    if (incumbents_.any()) progress.incumbent = incumbents_.best();
    if (!open_.empty() && stems_done_ == stems_.size()) progress.bound = open_.begin()->bound;
    if (!put_off_.empty() && !open_.empty())
      progress.bound = std::min(progress.bound, put_off_.begin()->bound);
    options_.progress(progress);
  }

  SearchAnswer finish() {
    open_.merge(put_off_);
    SearchAnswer answer;
    answer.proven = stems_left_ == 0;
    Time least = Time::max();
    for (const OpenLayouts& candidate : open_) {
      least = std::min(least, candidate.bound);
      incumbents_.could_take(candidate.bound, candidate.memory) ? ledger_.left_open(candidate)
                                                                : ledger_.dropped(candidate);
    }
    if (incumbents_.any() && !open_.empty())
      answer.gap = std::max(0.0, 1 - least.in_seconds() / incumbents_.best().in_seconds());
    answer.proven =
        answer.proven && (ledger_.counts().open == 0 || (options_.gap > 0 && answer.gap <= options_.gap));
    answer.may_lack = options_.top > 1 && ledger_.counts().open > 0;
    if (stems_left_ > 0) answer.gap = 1;
    answer.own = found_own_;
    answer.best = incumbents_.taken();
    ledger_.write_to(answer);
    return answer;
  }

  const Space& space_;
  const SearchOptions& options_;
  const Fabric fabric_;
  const Bytes room_;
  const double parameters_;
  const std::optional<JobLayout> own_ = layout_of(space_.spec());
  const LighterStems lighter_;
  std::vector<std::unique_ptr<SearchWorker>> workers_;  // [thread]
  std::vector<JobLayout> stems_;
  bool skip_full_ = true;  // stems whose state alone does not fit

  std::mutex mutex_;  // of all below
  std::condition_variable idle_;
  bool failed_ = false;
  std::atomic<int> refused_ = 0;  // layouts that must not be the answer
  std::size_t stems_done_ = 0, stems_left_ = 0;
  std::int64_t gone_through_ = 0;  // candidates, and stems of a first round
  std::int64_t waiting_ = 0;       // candidates of stems that have a bound, until all have
  std::int64_t answers_ = 0;       // 1 once nothing else is to do
  // Told with each progress, and counted now and then: there are many.
  std::int64_t in_question_ = 0;
  std::chrono::steady_clock::time_point counted_at_;
  std::set<OpenLayouts> open_;
  std::set<OpenLayouts> put_off_;  // by their events, until nothing else in open_ could be the answer
  int under_way_ = 0;
  std::multiset<Time> busy_;  // bounds of those under way
  Incumbents incumbents_;
  std::optional<FoundLayout> found_own_;
  SearchLedger ledger_;
};

}  // namespace

int shard_of(const JobLayout& stem, int shards) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char c : to_string(stem)) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return 1 + static_cast<int>((hash >> 32) % static_cast<std::uint64_t>(shards));
}

SearchAnswer search(const Space& space, const SearchOptions& options) {
  SearchAnswer answer = LayoutSearch(space, options).run();
  answer.asked = options.words();
  return answer;
}

}  // namespace podsim
