// Names of many hosts in few words, as Slurm writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podsim {

// "gpu[001-003,007],login1" is gpu001, gpu002, gpu003, gpu007 and login1; several brackets multiply. Nothing
// where a bracket is not closed or a range is none, or where there are more than a million.
std::optional<std::vector<std::string>> hosts_of(std::string_view list);

}  // namespace podsim
