// A line on standard error that says how far a long run is.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

namespace podsim {

// Silent for the first second. Then a terminal sees one line that is kept up to date and wiped at the end;
// elsewhere a line appears every ten seconds. Quiet: nothing.
class Progress {
 public:
  Progress(std::size_t total, std::string unit, bool quiet);  // unit: "scenarios"
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void one_done();  // from any thread
  // Of all that is to be done, [0, 1], for what is one long piece; from any thread. What is told never falls.
  void share_done(double share);

 private:
  void watch();
  std::string how_far() const;  // REQUIRES: mutex_ is held

  const std::size_t total_;
  const std::string unit_;
  const bool terminal_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t done_ = 0;
  double share_ = 0;
  bool finished_ = false;
  std::thread watcher_;
};

}  // namespace podsim
