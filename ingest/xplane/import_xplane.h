// Profiles of XProf (*.xplane.pb, *.trace.json), of all devices of a host, for podsim import.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ingest/imported/imported.h"
#include "proto/text/problem.h"
#include "proto/text/read_file.h"

namespace podsim {

bool is_xplane(std::string_view bytes);

// Each device is told as a rank of a profile of PyTorch is, with the same keys.
std::optional<Imported> import_xplane(const std::vector<InputText>& files, const Stated& stated,
                                      std::vector<Problem>& problems);

}  // namespace podsim
