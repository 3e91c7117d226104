// Figures of profiles for programs, and as text.
#pragma once

#include <string>
#include <vector>

#include "ingest/kineto/profile.h"
#include "ingest/kineto/ranks.h"
#include "ingest/kineto/summary.h"
#include "report/figures/figure.h"

namespace podsim::kineto {

// Of one rank.
std::vector<Figure> profile_figures(const Profile& profile, const Summary& summary);
std::string profile_text(const std::string& title, const Profile& profile, const Summary& summary);

// Of several.
std::vector<Figure> ranks_figures(const std::vector<RankProfile>& ranks, const JoinedRanks& joined);
std::string ranks_text(const std::string& title, const std::vector<RankProfile>& ranks,
                       const JoinedRanks& joined);

}  // namespace podsim::kineto
