// Predictions and searches that wait, run and have run, for a server: a bounded queue, a few threads, and
// what is told of them.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "planner/search/course.h"
#include "planner/search/search.h"
#include "prediction/predict.h"
#include "proto/scenario/load_space.h"
#include "scheduler/question/spec.h"

namespace podsim {

enum class RunState : unsigned char { kWaiting, kRunning, kFinished, kFailed, kCancelled };
std::string_view to_string(RunState state);

// The layouts that a search found.
struct SearchedLayouts {
  explicit SearchedLayouts(SearchQuestion asked)
      : question(std::move(asked)), space(question.spec, question.space) {}
  SearchedLayouts(const SearchedLayouts&) = delete;  // the space is of this question
  SearchedLayouts& operator=(const SearchedLayouts&) = delete;

  const SearchQuestion question;
  const Space space;
  SearchAnswer answer;
  SearchCourse course;
};

// A step or a search that was asked for, and what is known of it so far.
struct ServedRun {
  std::int64_t id = 0;
  std::string scenario, text;
  RunState state = RunState::kWaiting;
  double share = 0;  // of the prediction that is done
  std::string message;
  bool searches = false;
  SearchProgress progress = {};                    // of a search
  std::shared_ptr<const Prediction> prediction;    // of a step that is done
  std::shared_ptr<const SearchedLayouts> layouts;  // of a search that is done
  bool tracing = false;                            // its trace is asked for and not there yet
  std::shared_ptr<const std::string> trace;        // for Perfetto, of a step that is done
  std::optional<std::string> trace_failure;        // why there is none, where making it failed
};

// Something that happened to a run, as JSON, under a number that rises.
struct RunEvent {
  std::uint64_t number = 0;
  std::string json;
};

// Runs that wait, that threads are at, and that have ended. For several threads at once.
class RunQueue {
 public:
  static constexpr std::size_t kMostWaiting = 32;
  static constexpr std::size_t kMostKept = 64;      // that have ended; the oldest are forgotten
  static constexpr std::size_t kMostEvents = 2000;  // likewise
  static constexpr std::size_t kMostTraces = 4;     // likewise: they are large

  // Told of each step that is done, from the thread that ran it; may throw.
  using Keep = std::function<void(const Spec&, const std::string& text, const Prediction&)>;

  explicit RunQueue(int threads, Keep keep = {});
  ~RunQueue();  // as end()
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;

  // Its number, or nothing where as many wait as may.
  std::optional<std::int64_t> add(std::variant<Spec, SearchQuestion> asked, std::string text);

  // Has the step of a run that is done simulated once more, for its trace, unless that is there, on its way
  // or has failed. False where as many wait as may. REQUIRES: `spec` is that of the run.
  bool add_trace(std::int64_t id, Spec spec);

  // What waits is dropped at once; what runs ends at its next word of progress, a search with its best so
  // far. False where there is no such run that could be.
  bool cancel(std::int64_t id);

  std::optional<ServedRun> find(std::int64_t id) const;
  std::vector<ServedRun> all() const;  // by number, without predictions

  // Those after this number, and the number of the last.
  std::vector<RunEvent> events_after(std::uint64_t number) const;
  std::uint64_t last_event() const;
  std::uint64_t last_end() const;  // the last event that tells of a run that has ended

  // Called at once when a run has ended, from any thread, and briefly: the lock is held.
  void on_end(std::function<void()> ended);

  // Cancels all, and waits for what runs. False where that does not end in time.
  bool end(std::chrono::milliseconds within);

 private:
  struct Entry {
    ServedRun run;
    std::optional<std::variant<Spec, SearchQuestion>> asked;
    std::shared_ptr<std::atomic<bool>> stop;
    std::chrono::steady_clock::time_point told;
    std::vector<MainFigures> fresh;  // layouts that nobody was told of yet
  };

  void work();
  void predict(const Spec& spec, Entry& entry);
  void search_layouts(SearchQuestion question, Entry& entry);
  void trace(const Spec& spec, Entry& entry);
  void tell(Entry& entry);               // REQUIRES: the lock is held
  void tell_now_and_then(Entry& entry);  // likewise
  void forget_old();                     // likewise
  void forget_old_traces();              // likewise

  const Keep keep_;

  mutable std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::map<std::int64_t, Entry> runs_;
  std::deque<std::int64_t> waiting_;
  std::deque<std::int64_t> traced_;  // runs with traces, in their order
  std::deque<RunEvent> events_;
  std::int64_t last_run_ = 0;
  std::uint64_t last_event_ = 0, last_end_ = 0;
  std::function<void()> ended_;
  int running_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace podsim
