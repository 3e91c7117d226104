// The best layouts of a job on its cluster, and the proof that there are no better ones.
#pragma once

#include "planner/search/answer.h"
#include "planner/search/search_options.h"
#include "planner/space/space.h"

namespace podsim {

// Best first: the layout of least bound is looked at closer, level by level, and simulated last. One is
// dropped when its bound is above the `top`-th best step, or the best x (1 + within) where that is more; ties
// go to the lesser layout. So the answer does not depend on the number of threads, nor on the order; with a
// gap, or where not all are admitted, layouts are looked at one after another, whatever the threads. Every
// simulated step is held against its bounds. A layout that takes long to simulate waits for all others, by
// which time another may have beaten its bound; otherwise it is simulated to its end. One whose step may be
// longer than simulated time (prediction/step_length.h) is refused, if nothing has beaten its bound by then.
SearchAnswer search(const Space& space, const SearchOptions& options);

// The part of 1 ... shards that has the layouts of a stem, whoever asks.
int shard_of(const JobLayout& stem, int shards);

}  // namespace podsim
