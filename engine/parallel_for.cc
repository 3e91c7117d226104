// A pool of Boost.Asio, each of whose threads takes the next iteration until none is left.
#include "engine/parallel_for.h"

#include <utility>
// Boost.Asio 1.74 uses std::exchange without including it: <utility> stands above.
#include <algorithm>
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <exception>
#include <thread>
#include <vector>

#include "engine/check_scope.h"

namespace podsim {

int threads_or_cores(int asked) {
  return asked > 0 ? asked : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& f) {
  std::vector<std::exception_ptr> failures(count);
  std::atomic<std::size_t> next = 0;
  const Work of_caller = current_work();
  const auto work = [&] {
    const CheckScope scope(of_caller);
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        f(i);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
  };
  const std::size_t at_once = std::min(static_cast<std::size_t>(threads_or_cores(threads)), count);
  if (at_once <= 1) {
    work();
  } else {
    boost::asio::thread_pool pool(at_once);
    for (std::size_t t = 0; t < at_once; ++t) boost::asio::post(pool, work);
    pool.join();
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace podsim
