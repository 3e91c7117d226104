// Lists what measured steps of the user's own made of a prediction.
#pragma once

#include "report/answer/report.h"
#include "report/figures/figure.h"

namespace podsim {

Figure anchor_figures(const AnchorReport& anchor);

}  // namespace podsim
