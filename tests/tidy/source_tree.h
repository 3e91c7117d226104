// The files of the repository, as the tests of its shape read them.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace podsim::testing {

// Every source file of ours lies in one of these rooms, and may include files of its own and of those before
// it.
extern const std::vector<std::string> kRoomOrder;

const std::set<std::string>& source_folders();  // those that have rooms, or are one

struct SourceFile {
  std::string path;  // relative to the root of the repository
  std::vector<std::string> lines;

  bool is_code() const { return path.ends_with(".h") || path.ends_with(".cc") || path.ends_with(".proto"); }
};

// REQUIRES: `path` is relative to the root of the repository. A file that is not there has no lines.
SourceFile read_source(const std::string& path);

// Every text file that belongs to the repository, sorted by path. Read once.
const std::vector<SourceFile>& all_files();

// What stands between `open` and the next `close` in an include line, or empty.
std::string included(const std::string& line, char open, char close);

}  // namespace podsim::testing
