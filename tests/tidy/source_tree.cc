// Lists and reads the files of the repository.
#include "tests/tidy/source_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace podsim::testing {

namespace fs = std::filesystem;

const std::vector<std::string> kFolderOrder = {"engine", "topology", "collectives", "workload", "scheduler",
                                               "report", "proto",    "planner",     "cli"};

SourceFile read_source(const std::string& path) {
  SourceFile file{path, {}};
  std::ifstream in(fs::path(PODSIM_SOURCE_DIR) / path);
  for (std::string line; std::getline(in, line);) file.lines.push_back(line);
  return file;
}

std::vector<SourceFile> all_files() {
  const fs::path root = PODSIM_SOURCE_DIR;
  std::vector<std::string> folders = kFolderOrder;
  for (const char* other : {".ci", "tests", "bench", "docs", "scenarios", "packaging"})
    folders.push_back(other);
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && (name == "dev" || entry.path().has_extension()))
      paths.push_back(entry.path());
  }
  for (const std::string& folder : folders) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.is_regular_file()) paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<SourceFile> files;
  for (const fs::path& path : paths) files.push_back(read_source(fs::relative(path, root).generic_string()));
  return files;
}

}  // namespace podsim::testing
