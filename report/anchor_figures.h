// Lists what measured steps of the user's own made of a prediction.
#pragma once

#include "report/figure.h"
#include "report/report.h"

namespace podsim {

Figure anchor_figures(const AnchorReport& anchor);

}  // namespace podsim
