// Devices of XProf as ranks of a profile: work, launches and steps.
#pragma once

#include <string>
#include <vector>

#include "ingest/imported/account.h"
#include "ingest/kineto/ranks.h"
#include "ingest/xplane/space.h"

namespace podsim::xplane {

// Those that did something, in the order of the file, and what became of each event. Work of a GPU is on the
// lines of its streams, that of a TPU on the lines of operations and of what goes on beside them; lines that
// only join these to larger pieces are passed over. Steps are those that the host marks, else a line has
// them.
std::vector<kineto::RankProfile> device_profiles(const std::string& file, const Space& space,
                                                 Account& account);

}  // namespace podsim::xplane
