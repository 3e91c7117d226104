// Profiles of XProf (*.xplane.pb), of all devices of a host, for podsim import.
#pragma once

#include <optional>
#include <vector>

#include "ingest/imported/imported.h"
#include "proto/text/problem.h"
#include "proto/text/read_file.h"

namespace podsim {

// Each device is told as a rank of a profile of PyTorch is, with the same keys.
std::optional<Imported> import_xplane(const std::vector<InputText>& files, const Stated& stated,
                                      std::vector<Problem>& problems);

}  // namespace podsim
