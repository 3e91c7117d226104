// The figures of an HLO module for other programs, and as text.
#pragma once

#include <string>
#include <vector>

#include "ingest/hlo/account.h"
#include "ingest/hlo/summary.h"
#include "report/figures/figure.h"

namespace podsim::hlo {

// FLOPs and bytes are of one device; `once` as XLA prints them, every loop once, `executed` with all of its
// rounds.
std::vector<Figure> module_figures(const Summary& summary, const Account& account);

// The same for people, of the file of this name.
std::string module_text(const std::string& file, const Summary& summary, const Account& account);

}  // namespace podsim::hlo
