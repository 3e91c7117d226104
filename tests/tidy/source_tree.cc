// Lists and reads the files of the repository.
#include "tests/tidy/source_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace podsim::testing {

namespace fs = std::filesystem;

const std::vector<std::string> kRoomOrder = {
    "engine",
    "topology",
    "collectives",
    "workload/mesh",
    "workload/job",
    "workload/graph",
    "workload/sharding",
    "workload/model",
    "workload/resharding",
    "workload/op_planning",
    "workload/pipeline",
    "workload/partition",
    "workload/cases",
    "scheduler/question",
    "scheduler/network",
    "scheduler/placement",
    "scheduler/lowering",
    "scheduler/traffic",
    "scheduler/folding",
    "scheduler/simulation/state",
    "scheduler/simulation/fast_forward",
    "scheduler/simulation/loop",
    "scheduler/simulation/longest_path",
    "scheduler/simulation/logical_processes",
    "scheduler/simulation",
    "scheduler/replay",
    "scheduler/reliability/weeks",
    "scheduler/reliability/availability",
    "economics",
    "report/text",
    "report/answer",
    "report/summary",
    "report/figures",
    "report/tracks",
    "report/tables",
    "report/pictures",
    "proto/text",
    "proto/traces",
    "proto/catalog",
    "proto/scenario",
    "proto/cases",
    "proto/writing",
    "proto/pages",
    "ingest/imported",
    "ingest/hlo",
    "ingest/chakra",
    "ingest/stablehlo",
    "ingest/partitioning",
    "ingest/launchers",
    "ingest/kineto",
    "ingest/nsight",
    "ingest/xplane",
    "ingest/clusters",
    "ingest",
    "prediction",
    "validation",
    "calibration",
    "planner/space",
    "planner/bounds",
    "planner/store",
    "planner/search",
    "planner/plan",
    "planner",
    "serve",
    "cli/terminal",
    "cli/options",
    "cli/scenarios",
    "cli/answers",
    "cli/parts",
    "cli/inputs",
    "cli/networks",
    "cli/steps",
    "cli/weeks",
    "cli/costs",
    "cli/search",
    "cli/plan",
    "cli/comparisons",
    "cli/imports",
    "cli/validation",
    "cli",
    "api/podsim",
    "api",
};

namespace {

std::set<std::string> folders_of_rooms() {
  std::set<std::string> folders;
  for (const std::string& room : kRoomOrder) folders.insert(room.substr(0, room.find('/')));
  return folders;
}

std::vector<SourceFile> read_all() {
  const fs::path root = PODSIM_SOURCE_DIR;
  std::set<std::string> folders = source_folders();
  folders.insert({".ci", "tests", "bench", "docs", "scenarios", "packaging", "web"});
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
  for (const fs::path& path : paths)
    files.push_back(read_source(path.lexically_relative(root).generic_string()));
  return files;
}

}  // namespace

const std::set<std::string>& source_folders() {
  static const std::set<std::string> folders = folders_of_rooms();
  return folders;
}

SourceFile read_source(const std::string& path) {
  SourceFile file{path, {}};
  std::ifstream in(fs::path(PODSIM_SOURCE_DIR) / path);
  for (std::string line; std::getline(in, line);) file.lines.push_back(line);
  return file;
}

const std::vector<SourceFile>& all_files() {
  static const std::vector<SourceFile> files = read_all();
  return files;
}

std::string included(const std::string& line, char open, char close) {
  if (line.rfind("#include", 0) != 0) return "";
  const std::size_t begin = line.find(open);
  if (begin == std::string::npos) return "";
  return line.substr(begin + 1, line.find(close, begin + 1) - begin - 1);
}

}  // namespace podsim::testing
