// Threads take runs from the queue, one after another.
#include "serve/run_queue.h"

#include <nlohmann/json.hpp>

namespace podsim {
namespace {

constexpr std::chrono::milliseconds kBetweenWords{100};  // of progress

struct RunCancelled {};

}  // namespace

std::string_view to_string(RunState state) {
  constexpr std::string_view kNames[] = {"waiting", "running", "done", "failed", "cancelled"};
  return kNames[static_cast<int>(state)];
}

RunQueue::RunQueue(int threads) {
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

std::optional<std::int64_t> RunQueue::add(Spec spec, std::string text) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= kMostWaiting || ending_) return std::nullopt;
  Entry entry;
  entry.run.id = ++last_run_;
  entry.run.scenario = spec.name;
  entry.run.text = std::move(text);
  entry.spec = std::move(spec);
  entry.stop = std::make_shared<std::atomic<bool>>(false);
  waiting_.push_back(entry.run.id);
  tell(entry.run);
  runs_.emplace(last_run_, std::move(entry));
  forget_old();
  wake_.notify_one();
  return last_run_;
}

bool RunQueue::cancel(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(id);
  if (found == runs_.end() || found->second.run.state > RunState::kRunning) return false;
  *found->second.stop = true;
  if (found->second.run.state == RunState::kWaiting) {
    std::erase(waiting_, id);
    found->second.run.state = RunState::kCancelled;
    found->second.spec.reset();
    tell(found->second.run);
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
    all.push_back({run.id, run.scenario, "", run.state, run.share, run.message, nullptr});
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

bool RunQueue::end(std::chrono::milliseconds within) {
  std::unique_lock lock(mutex_);
  ending_ = true;
  waiting_.clear();
  for (auto& [id, entry] : runs_) *entry.stop = true;
  wake_.notify_all();
  return idle_.wait_for(lock, within, [this] { return running_ == 0; });
}

void RunQueue::tell(const ServedRun& run) {
  nlohmann::ordered_json json = {
      {"id", run.id}, {"scenario", run.scenario}, {"state", to_string(run.state)}, {"share", run.share}};
  if (!run.message.empty()) json["message"] = run.message;
  events_.push_back(
      {++last_event_, json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace)});
  if (events_.size() > kMostEvents) events_.pop_front();
}

void RunQueue::forget_old() {
  std::size_t ended = 0;
  for (const auto& [id, entry] : runs_) ended += entry.run.state > RunState::kRunning ? 1 : 0;
  for (auto at = runs_.begin(); ended > kMostKept && at != runs_.end();) {
    if (at->second.run.state > RunState::kRunning) {
      at = runs_.erase(at);
      --ended;
    } else {
      ++at;
    }
  }
}

void RunQueue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    const std::int64_t id = waiting_.front();
    waiting_.pop_front();
    Entry& entry = runs_.at(id);  // forgotten only when it has ended
    entry.run.state = RunState::kRunning;
    tell(entry.run);
    const Spec spec = *std::move(entry.spec);
    entry.spec.reset();
    const std::shared_ptr<std::atomic<bool>> stop = entry.stop;
    ++running_;
    lock.unlock();

    PredictOptions options;
    options.detail = true;
    options.share_done = [&](double share) {
      if (*stop) throw RunCancelled();
      const auto now = std::chrono::steady_clock::now();
      const std::lock_guard told(mutex_);
      entry.run.share = share;
      if (now - entry.told < kBetweenWords) return;
      entry.told = now;
      tell(entry.run);
    };
    RunState state = RunState::kFinished;
    std::string message;
    std::shared_ptr<const Prediction> prediction;
    try {
      prediction = std::make_shared<const Prediction>(predict_step(spec, options));
      if (*stop) state = RunState::kCancelled;
    } catch (const RunCancelled&) {
      state = RunState::kCancelled;
    } catch (const std::exception& failure) {
      state = RunState::kFailed;
      message = failure.what();
    }
    lock.lock();
    --running_;
    entry.run.state = state;
    entry.run.message = message;
    if (state == RunState::kFinished) {
      entry.run.share = 1;
      entry.run.prediction = std::move(prediction);
    }
    tell(entry.run);
    idle_.notify_all();
  }
}

}  // namespace podsim
