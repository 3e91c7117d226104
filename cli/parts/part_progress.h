// How far the parts of a command are that others do: small files beside the stores of parts.
#pragma once

#include <chrono>
#include <string>

#include "planner/search/search.h"

namespace podsim {

// Writes how far a search is into a file, every other second; into none where the path is empty.
class PartProgress {
 public:
  explicit PartProgress(std::string path) : path_(std::move(path)) {}
  void tell(const SearchProgress& progress);

 private:
  const std::string path_;
  std::chrono::steady_clock::time_point told_ = {};
};

// Where such a file is in the folder of parts.
std::string progress_file(const std::string& folder, const std::string& part);

// Written into the folder before any part begins.
void write_part_count(const std::string& folder, int parts);

// All commands whose parts come together in this store, each in a paragraph: parts that are done, those under
// way, and of searches how much better than the best of all anything can still be. Empty where there are
// none.
std::string parts_text(const std::string& store);

}  // namespace podsim
