// The files of the repository, as the tests of its shape read them.
#pragma once

#include <string>
#include <vector>

namespace podsim::testing {

// A folder may include itself and those before it.
extern const std::vector<std::string> kFolderOrder;

struct SourceFile {
  std::string path;  // relative to the root of the repository
  std::vector<std::string> lines;

  bool is_code() const { return path.ends_with(".h") || path.ends_with(".cc") || path.ends_with(".proto"); }
};

// REQUIRES: `path` is relative to the root of the repository. A file that is not there has no lines.
SourceFile read_source(const std::string& path);

// Every text file that belongs to the repository, sorted by path.
std::vector<SourceFile> all_files();

}  // namespace podsim::testing
