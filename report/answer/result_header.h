// What every result for other programs begins with: who made it, and from what.
#pragma once

#include <string>

namespace podsim {

struct ResultHeader {
  std::string podsim;           // its version
  int schema = 0;               // of results: rises when a key goes or comes to mean something else
  std::string scenario_sha256;  // of what was asked; empty where nothing was
};

ResultHeader result_header(const std::string& scenario_sha256);

}  // namespace podsim
