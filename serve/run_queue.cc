// Threads take runs from the queue, one after another.
#include "serve/run_queue.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/check.h"
#include "proto/traces/step_trace.h"

namespace podsim {
namespace {

constexpr std::chrono::milliseconds kBetweenWords{100};  // of progress

struct RunCancelled {};

const Spec& spec_of(const std::variant<Spec, SearchQuestion>& asked) {
  const auto* search = std::get_if<SearchQuestion>(&asked);
  return search != nullptr ? search->spec : std::get<Spec>(asked);
}

nlohmann::ordered_json search_progress_json(const SearchProgress& progress,
                                            const std::vector<MainFigures>& fresh) {
  nlohmann::ordered_json json = {{"layouts", progress.layouts}, {"simulated", progress.simulated}};
  if (progress.incumbent.ps > 0) json["best_s"] = progress.incumbent.in_seconds();
  if (progress.bound.ps > 0) json["bound_s"] = progress.bound.in_seconds();
  json["found"] = nlohmann::ordered_json::array();
  for (const MainFigures& figures : fresh)
    json["found"].push_back({figures.step_time.in_seconds(), figures.memory_gib});
  return json;
}

}  // namespace

std::string_view to_string(RunState state) {
  constexpr std::string_view kNames[] = {"waiting", "running", "done", "failed", "cancelled"};
  return kNames[static_cast<int>(state)];
}

RunQueue::RunQueue(int threads, Keep keep) : keep_(std::move(keep)) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

RunQueue::~RunQueue() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (auto& [id, entry] : runs_) *entry.stop = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

std::optional<std::int64_t> RunQueue::add(std::variant<Spec, SearchQuestion> asked, std::string text) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= kMostWaiting || ending_) return std::nullopt;
  Entry entry;
  entry.run.id = ++last_run_;
  entry.run.scenario = spec_of(asked).name;
  entry.run.text = std::move(text);
  entry.run.searches = std::holds_alternative<SearchQuestion>(asked);
  entry.asked = std::move(asked);
  entry.stop = std::make_shared<std::atomic<bool>>(false);
  waiting_.push_back(entry.run.id);
  tell(entry);
  runs_.emplace(last_run_, std::move(entry));
  forget_old();
  wake_.notify_one();
  return last_run_;
}

bool RunQueue::add_trace(std::int64_t id, Spec spec) {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(id);
  if (waiting_.size() >= kMostWaiting || ending_ || found == runs_.end()) return false;
  Entry& entry = found->second;
  PODSIM_CHECK(spec.name == entry.run.scenario, "the spec is that of the run");
  if (entry.run.tracing || entry.run.trace || entry.run.trace_failure) return true;
  entry.run.tracing = true;
  entry.asked = std::move(spec);
  waiting_.push_back(id);
  wake_.notify_one();
  return true;
}

bool RunQueue::cancel(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(id);
  if (found == runs_.end() || found->second.run.state > RunState::kRunning) return false;
  *found->second.stop = true;
  if (found->second.run.state == RunState::kWaiting) {
    std::erase(waiting_, id);
    found->second.run.state = RunState::kCancelled;
    found->second.asked.reset();
    tell(found->second);
  }
  return true;
}

std::optional<ServedRun> RunQueue::find(std::int64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(id);
  return found == runs_.end() ? std::nullopt : std::optional(found->second.run);
}

std::vector<ServedRun> RunQueue::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<ServedRun> all;
  for (const auto& [id, entry] : runs_) {
    const ServedRun& run = entry.run;
    ServedRun& shown = all.emplace_back();
    shown.id = run.id;
    shown.scenario = run.scenario;
    shown.state = run.state;
    shown.share = run.share;
    shown.message = run.message;
    shown.searches = run.searches;
  }
  return all;
}

std::vector<RunEvent> RunQueue::events_after(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  std::vector<RunEvent> events;
  for (const RunEvent& event : events_)
    if (event.number > number) events.push_back(event);
  return events;
}

std::uint64_t RunQueue::last_event() const {
  const std::lock_guard lock(mutex_);
  return last_event_;
}

std::uint64_t RunQueue::last_end() const {
  const std::lock_guard lock(mutex_);
  return last_end_;
}

void RunQueue::on_end(std::function<void()> ended) {
  const std::lock_guard lock(mutex_);
  ended_ = std::move(ended);
}

bool RunQueue::end(std::chrono::milliseconds within) {
  std::unique_lock lock(mutex_);
  ending_ = true;
  waiting_.clear();
  for (auto& [id, entry] : runs_) *entry.stop = true;
  wake_.notify_all();
  return idle_.wait_for(lock, within, [this] { return running_ == 0; });
}

void RunQueue::tell(Entry& entry) {
  const ServedRun& run = entry.run;
  nlohmann::ordered_json json = {
      {"id", run.id}, {"scenario", run.scenario}, {"state", to_string(run.state)}, {"share", run.share}};
  if (run.searches) json["search"] = search_progress_json(run.progress, entry.fresh);
  if (run.trace) json["traced"] = true;
  if (run.trace_failure) json["trace_failure"] = *run.trace_failure;
  if (!run.message.empty()) json["message"] = run.message;
  entry.fresh.clear();
  entry.told = std::chrono::steady_clock::now();
  events_.push_back(
      {++last_event_, json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace)});
  if (events_.size() > kMostEvents) events_.pop_front();
  if (run.state <= RunState::kRunning) return;
  last_end_ = last_event_;
  if (ended_) ended_();
}

void RunQueue::tell_now_and_then(Entry& entry) {
  if (std::chrono::steady_clock::now() - entry.told >= kBetweenWords) tell(entry);
}

void RunQueue::forget_old() {
  std::size_t ended = 0;
  for (const auto& [id, entry] : runs_) ended += entry.run.state > RunState::kRunning ? 1 : 0;
  for (auto at = runs_.begin(); ended > kMostKept && at != runs_.end();) {
    if (at->second.run.state > RunState::kRunning && !at->second.run.tracing) {
      at = runs_.erase(at);
      --ended;
    } else {
      ++at;
    }
  }
}

void RunQueue::forget_old_traces() {
  for (; traced_.size() > kMostTraces; traced_.pop_front())
    if (const auto found = runs_.find(traced_.front()); found != runs_.end()) found->second.run.trace.reset();
}

void RunQueue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    const std::int64_t id = waiting_.front();
    waiting_.pop_front();
    Entry& entry = runs_.at(id);  // forgotten only when it has ended
    const bool traces = entry.run.tracing;
    if (!traces) {
      entry.run.state = RunState::kRunning;
      tell(entry);
    }
    PODSIM_CHECK(entry.asked, "a run that waits has its question");
    std::variant<Spec, SearchQuestion> asked = *std::move(entry.asked);
    entry.asked.reset();
    ++running_;
    lock.unlock();

    RunState state = RunState::kFinished;
    std::string failure;
    try {
      if (traces) {
        trace(std::get<Spec>(asked), entry);
      } else if (auto* search = std::get_if<SearchQuestion>(&asked)) {
        search_layouts(std::move(*search), entry);
      } else {
        predict(std::get<Spec>(asked), entry);
      }
    } catch (const RunCancelled&) {
      state = RunState::kCancelled;
    } catch (const std::exception& thrown) {
      state = RunState::kFailed;
      failure = thrown.what();
    }
    lock.lock();
    --running_;
    entry.run.tracing = false;
    if (traces) {
      if (state == RunState::kFailed) entry.run.trace_failure = failure;
    } else {
      entry.run.state = state;
      if (!failure.empty()) entry.run.message = failure;
      if (state == RunState::kFinished) entry.run.share = 1;
    }
    tell(entry);
    idle_.notify_all();
  }
}

void RunQueue::predict(const Spec& spec, Entry& entry) {
  PredictOptions options;
  options.detail = true;
  options.share_done = [&](double share) {
    if (*entry.stop) throw RunCancelled();
    const std::lock_guard lock(mutex_);
    entry.run.share = share;
    tell_now_and_then(entry);
  };
  std::int64_t drawn = 0;
  options.draw_done = [&] {
    options.share_done(static_cast<double>(++drawn) / static_cast<double>(draws_told(spec)));
  };
  const auto prediction = std::make_shared<const Prediction>(predict_step(spec, options));
  if (*entry.stop) throw RunCancelled();
  std::string not_kept;
  try {
    if (keep_) keep_(spec, entry.run.text, *prediction);
  } catch (const std::exception& thrown) {
    not_kept = std::string("not kept: ") + thrown.what();
  }
  const std::lock_guard lock(mutex_);
  entry.run.prediction = prediction;
  entry.run.message = not_kept;
}

void RunQueue::trace(const Spec& spec, Entry& entry) {
  PredictOptions options;
  options.tracks = true;
  options.memory_advice = false;
  options.draw_done = [&] {
    if (*entry.stop) throw RunCancelled();
  };
  options.share_done = [&](double) { options.draw_done(); };
  const Prediction prediction = predict_step(spec, options);
  auto written = std::make_shared<const std::string>(perfetto_trace(*prediction.tracks));
  const std::lock_guard lock(mutex_);
  entry.run.trace = std::move(written);
  traced_.push_back(entry.run.id);
  forget_old_traces();
}

void RunQueue::search_layouts(SearchQuestion question, Entry& entry) {
  const auto found = std::make_shared<SearchedLayouts>(std::move(question));
  if (found->space.stems().empty())
    throw std::runtime_error("no layout of the space is one that it can have");
  SearchOptions options;
  options.stop = entry.stop.get();
  options.evaluate = [&](const JobLayout&, const std::function<Report()>& simulate) {
    const MainFigures figures = main_figures(simulate());
    const std::lock_guard lock(mutex_);
    entry.fresh.push_back(figures);
    return EvaluatedStep{figures, false};
  };
  options.progress = [&](const SearchProgress& progress) {
    found->course.add(progress);
    const std::lock_guard lock(mutex_);
    entry.run.progress = progress;
    tell_now_and_then(entry);
  };
  found->answer = search(found->space, options);
  if (found->answer.best.empty()) {
    if (*entry.stop) throw RunCancelled();
    throw std::runtime_error("no layout fits in memory");
  }
  const std::lock_guard lock(mutex_);
  entry.run.progress.simulated = found->answer.counts.simulated;
  entry.run.progress.layouts = found->answer.counts.layouts;
  entry.run.progress.incumbent = found->answer.best.front().figures.step_time;
  if (!found->answer.proven) entry.run.message = "stopped: another may be faster";
  entry.run.layouts = found;
}

}  // namespace podsim
