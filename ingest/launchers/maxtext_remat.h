// What backward computes again, in the words of MaxText.
#pragma once

#include <string>
#include <vector>

#include "ingest/launchers/settings.h"

namespace podsim {

// Names of activations are those that podsim has for lists of what is kept.
struct MaxTextRemat {
  std::string policy;  // "full", "minimal", ...; "custom": by the lists
  std::vector<std::string> kept,
      offloaded;                // beside the input of a layer, which is kept unless it is in them
  std::vector<Needed> not_run;  // instead of what podsim has not
};

// A policy that MaxText has not is a problem of the settings.
MaxTextRemat read_maxtext_remat(Configuration& settings);

}  // namespace podsim
