// Figures of Chakra traces for programs, and as text.
#pragma once

#include <string>
#include <vector>

#include "ingest/chakra/ranks.h"
#include "ingest/chakra/summary.h"
#include "ingest/chakra/trace.h"
#include "report/figures/figure.h"

namespace podsim::chakra {

// Of one rank.
std::vector<Figure> trace_figures(const Trace& trace, const Summary& summary);
std::string trace_text(const std::string& file, const Trace& trace, const Summary& summary);

// Of several.
std::vector<Figure> ranks_figures(const std::vector<RankTrace>& ranks, const Groups& groups);
std::string ranks_text(const std::vector<RankTrace>& ranks);

}  // namespace podsim::chakra
