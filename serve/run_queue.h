// Predictions that wait, run and have run, for a server: a bounded queue, a few threads, and what is told of
// them.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "prediction/predict.h"
#include "scheduler/question/spec.h"

namespace podsim {

enum class RunState : unsigned char { kWaiting, kRunning, kFinished, kFailed, kCancelled };
std::string_view to_string(RunState state);

struct ServedRun {
  std::int64_t id = 0;
  std::string scenario, text;
  RunState state = RunState::kWaiting;
  double share = 0;  // of the prediction that is done
  std::string message;
  std::shared_ptr<const Prediction> prediction;  // where it is done
};

// Something that happened to a run, as JSON, under a number that rises.
struct RunEvent {
  std::uint64_t number = 0;
  std::string json;
};

class RunQueue {
 public:
  static constexpr std::size_t kMostWaiting = 32;
  static constexpr std::size_t kMostKept = 64;      // that have ended; the oldest are forgotten
  static constexpr std::size_t kMostEvents = 2000;  // likewise

  explicit RunQueue(int threads);
  ~RunQueue();  // as end()
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;

  // Its number, or nothing where as many wait as may.
  std::optional<std::int64_t> add(Spec spec, std::string text);

  // What waits is dropped at once; what runs ends at its next word of progress. False where there is no such
  // run that could be.
  bool cancel(std::int64_t id);

  std::optional<ServedRun> find(std::int64_t id) const;
  std::vector<ServedRun> all() const;  // by number, without predictions

  // Those after this number, and the number of the last.
  std::vector<RunEvent> events_after(std::uint64_t number) const;
  std::uint64_t last_event() const;

  // Cancels all, and waits for what runs. False where that does not end in time.
  bool end(std::chrono::milliseconds within);

 private:
  struct Entry {
    ServedRun run;
    std::optional<Spec> spec;
    std::shared_ptr<std::atomic<bool>> stop;
    std::chrono::steady_clock::time_point told;
  };

  void work();
  void tell(const ServedRun& run);  // REQUIRES: the lock is held
  void forget_old();                // likewise

  mutable std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::map<std::int64_t, Entry> runs_;
  std::deque<std::int64_t> waiting_;
  std::deque<RunEvent> events_;
  std::int64_t last_run_ = 0;
  std::uint64_t last_event_ = 0;
  int running_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace podsim
