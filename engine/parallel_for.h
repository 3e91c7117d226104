// Loops whose iterations run side by side on the cores of this machine.
#pragma once

#include <cstddef>
#include <functional>

namespace podsim {

// As many threads as somebody asks for; the machine's cores where that is 0.
int threads_or_cores(int asked);

// Calls f(0) ... f(count - 1) on up to so many threads (0 = one per core) and returns when all are done.
// Iterations begin in their order; each writes only what is its own, so that no result depends on the
// threads. All run even where some fail; the first failure, in their order, is thrown again. One thread is
// that of the caller.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& f);

}  // namespace podsim
