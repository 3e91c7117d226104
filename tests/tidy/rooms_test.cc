// The rooms of the source tree: every file lies in one, none includes a later one, and circles of files have
// a reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace podsim::testing::rooms_test {
namespace {

// Files of one room that include each other in a circle, header and source counted as one, and why they may.
struct Knot {
  std::vector<std::string> files;  // sorted
  const char* reason;
};
const std::vector<Knot> kKnots = {
    {{"engine/lognormal", "engine/random"}, "one random number, drawn singly and many side by side"},
    {{"proto/catalog/catalog", "proto/catalog/catalog_entries", "proto/catalog/convert"},
     "the catalogue and its entries as messages, which no header of the first may name"},
    {{"scheduler/replay/likely_cause", "scheduler/replay/waits", "scheduler/replay/what_if"},
     "the figures of what-if analysis, and what they are made of"},
    {{"scheduler/replay/replay_graph", "scheduler/replay/stage_ops"},
     "the graph, and the operations it is built of"},
    {{"topology/route", "topology/route_parts"}, "the router, and the parts of a route that it has joined"},
    {{"workload/model/annotate", "workload/model/model_program", "workload/model/program_graph",
      "workload/model/program_operation", "workload/model/program_scope"},
     "a model, and the reader of one that is written as operations"},
    {{"workload/op_planning/factor_search", "workload/op_planning/op_plan", "workload/op_planning/op_space"},
     "the plan of an operation, and the space that it is searched in"},
    {{"workload/resharding/reshard_moves", "workload/resharding/reshard_plan",
      "workload/resharding/reshard_search", "workload/resharding/reshard_space",
      "workload/resharding/state_tree"},
     "the plan of a resharding, and the space that it is searched in"},
    {{"workload/sharding/propagate", "workload/sharding/propagation_conflicts",
      "workload/sharding/propagation_state", "workload/sharding/propagation_step"},
     "propagation, and its state"},
};

// Position of the file's room in the order, or -1 for a path outside of it.
int room_rank(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const auto found = std::find(kRoomOrder.begin(), kRoomOrder.end(),
                               slash == std::string::npos ? std::string() : path.substr(0, slash));
  return found == kRoomOrder.end() ? -1 : static_cast<int>(found - kRoomOrder.begin());
}

bool is_source(const SourceFile& file) { return file.path.ends_with(".h") || file.path.ends_with(".cc"); }

TEST(Rooms, every_source_file_lies_in_a_room) {
  for (const SourceFile& file : all_files()) {
    if (!is_source(file) || source_folders().count(file.path.substr(0, file.path.find('/'))) == 0) continue;
    EXPECT_GE(room_rank(file.path), 0) << file.path;
  }
}

TEST(Rooms, a_room_includes_only_itself_and_those_before_it) {
  for (const SourceFile& file : all_files()) {
    const int own = room_rank(file.path);
    if (own < 0) continue;
    for (const std::string& line : file.lines) {
      EXPECT_LE(room_rank(included(line, '"', '"')), own) << file.path << ": " << line;
    }
  }
}

// The first word in backquotes of a line, or empty.
std::string first_quoted(const std::string& line) {
  const std::size_t begin = line.find('`') + 1;
  return begin == 0 ? "" : line.substr(begin, line.find('`', begin) - begin);
}

bool holds_sources(const std::string& folder) {
  const std::vector<SourceFile>& files = all_files();
  return std::ranges::any_of(files, [&](const SourceFile& file) {
    return is_source(file) && file.path.substr(0, file.path.rfind('/')) == folder;
  });
}

// The rooms that docs/architecture.md maps, in its order: folders of the table, each with the rooms below it.
std::vector<std::string> mapped_rooms() {
  std::vector<std::string> folders;
  std::map<std::string, std::vector<std::string>> below;  // [folder]
  std::string chapter, folder;
  for (const std::string& line : read_source("docs/architecture.md").lines) {
    if (line.starts_with("## ")) chapter = line;
    const bool row = line.starts_with("| `");
    if (chapter == "## The folders, in order" && row) folders.push_back(first_quoted(line));
    if (chapter != "## The map below folders") continue;
    if (line.starts_with("`")) {
      folder = first_quoted(line);
      if (line.find("at its root") != std::string::npos && holds_sources(folder))
        below[folder].push_back(folder);
    }
    if (row) below[folder].push_back(folder + "/" + first_quoted(line));
    if (line.starts_with("| its root |")) below[folder].push_back(folder);
  }
  std::vector<std::string> rooms;
  for (const std::string& each : folders) {
    if (below[each].empty()) below[each] = {each};
    rooms.insert(rooms.end(), below[each].begin(), below[each].end());
  }
  return rooms;
}

TEST(Rooms, are_those_of_the_map_and_in_its_order) { EXPECT_EQ(mapped_rooms(), kRoomOrder); }

// Who reads the ordered loop need know of no other way to carry out a step.
TEST(Rooms, the_ordered_loop_names_nothing_of_logical_processes) {
  const std::vector<std::string> words = {
      "ogical process", "ogical_process", "LogicalProcess", "ockstep", "ookahead", "ailbox", "Lp", "lp_"};
  int files = 0;
  for (const SourceFile& file : all_files()) {
    if (!file.path.starts_with("scheduler/simulation/loop/")) continue;
    ++files;
    for (const std::string& line : file.lines)
      for (const std::string& word : words)
        EXPECT_EQ(line.find(word), std::string::npos) << file.path << ": " << line;
  }
  EXPECT_GE(files, 8) << "the folder has moved";
}

// [file without its suffix] those that it includes, header and source counted as one.
std::map<std::string, std::set<std::string>> include_graph() {
  const auto stem = [](const std::string& path) { return path.substr(0, path.rfind('.')); };
  std::map<std::string, std::set<std::string>> graph;
  for (const SourceFile& file : all_files()) {
    if (room_rank(file.path) < 0 || !is_source(file)) continue;
    std::set<std::string>& uses = graph[stem(file.path)];
    for (const std::string& line : file.lines) {
      const std::string other = included(line, '"', '"');
      if (room_rank(other) >= 0 && stem(other) != stem(file.path)) uses.insert(stem(other));
    }
  }
  return graph;
}

// What can be reached from each file.
std::map<std::string, std::set<std::string>> reached(
    const std::map<std::string, std::set<std::string>>& graph) {
  std::map<std::string, std::set<std::string>> all;
  for (const auto& [file, uses] : graph) {
    std::set<std::string>& seen = all[file];
    std::vector<std::string> open(uses.begin(), uses.end());
    while (!open.empty()) {
      const std::string next = open.back();
      open.pop_back();
      if (!seen.insert(next).second || graph.count(next) == 0) continue;
      open.insert(open.end(), graph.at(next).begin(), graph.at(next).end());
    }
  }
  return all;
}

TEST(Rooms, files_include_each_other_in_a_circle_only_where_a_reason_is_given) {
  const auto all = reached(include_graph());
  std::set<std::vector<std::string>> found, listed;
  for (const auto& [file, seen] : all) {
    if (seen.count(file) == 0) continue;
    std::vector<std::string> knot;
    for (const std::string& other : seen)
      if (all.count(other) > 0 && all.at(other).count(file) > 0) knot.push_back(other);
    found.insert(knot);
  }
  for (const Knot& knot : kKnots) {
    listed.insert(knot.files);
    EXPECT_GT(std::string(knot.reason).size(), 20u) << knot.files.front();
  }
  for (const auto& knot : found) EXPECT_EQ(listed.count(knot), 1u) << ::testing::PrintToString(knot);
  for (const auto& knot : listed) EXPECT_EQ(found.count(knot), 1u) << ::testing::PrintToString(knot);
}

}  // namespace
}  // namespace podsim::testing::rooms_test
