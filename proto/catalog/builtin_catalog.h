// The catalogue files that are part of the binary. The build writes the .cc from scenarios/*/*.textproto.
#pragma once

#include <span>
#include <string_view>

namespace podsim {

struct CatalogFile {
  std::string_view name;  // "chips/h100.textproto"
  std::string_view text;
};

std::span<const CatalogFile> builtin_catalog();  // sorted by name

}  // namespace podsim
