// The catalogue files that are part of the binary. The build writes the .cc from scenarios/*/*.textproto.
#pragma once

#include <string>
#include <vector>

namespace podsim {

struct CatalogFile {
  std::string name;  // "chips/h100.textproto"
  std::string text;
};

std::vector<CatalogFile> builtin_catalog();  // sorted by name

}  // namespace podsim
