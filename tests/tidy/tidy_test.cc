// The shape of the source tree as rules: clean headers, file length, first lines, banned words.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace podsim::testing::tidy_test {
namespace {

constexpr std::size_t kLongestFile = 400;  // lines

TEST(Tidy, the_tree_is_found) {
  const std::vector<SourceFile> files = all_files();
  EXPECT_GT(files.size(), 20u);
  EXPECT_TRUE(std::any_of(files.begin(), files.end(),
                          [](const SourceFile& file) { return file.path == "engine/units.h"; }));
}

TEST(Tidy, headers_keep_third_party_libraries_out) {
  const std::vector<std::string> libraries = {"boost/", "google/", "spdlog/", "CLI/", "nlohmann/", "sqlite3"};
  // Fabrics as graphs of Boost: templates that only sources include.
  const std::string graph = "topology/fabric_graph.h";
  for (const SourceFile& file : all_files()) {
    if (!file.path.ends_with(".h") || file.path == graph) continue;
    for (const std::string& line : file.lines) {
      EXPECT_NE(included(line, '"', '"'), graph) << file.path;
      for (const std::string& library : libraries) {
        EXPECT_NE(included(line, '<', '>').rfind(library, 0), 0u) << file.path << ": " << line;
      }
      EXPECT_EQ(included(line, '"', '"').find(".pb.h"), std::string::npos) << file.path << ": " << line;
      EXPECT_EQ(line.find("using namespace"), std::string::npos) << file.path << ": " << line;
    }
  }
}

TEST(Tidy, no_code_file_is_longer_than_one_idea) {
  for (const SourceFile& file : all_files()) {
    if (!file.is_code()) continue;
    EXPECT_LE(file.lines.size(), kLongestFile) << file.path;
  }
}

TEST(Tidy, the_first_line_says_what_the_file_is) {
  for (const SourceFile& file : all_files()) {
    if (!file.is_code()) continue;
    ASSERT_FALSE(file.lines.empty()) << file.path;
    EXPECT_EQ(file.lines[0].rfind("// ", 0), 0u) << file.path << " begins: " << file.lines[0];
    EXPECT_GT(file.lines[0].size(), 15u) << file.path;
  }
}

TEST(Tidy, headers_are_included_once) {
  for (const SourceFile& file : all_files()) {
    if (!file.path.ends_with(".h")) continue;
    EXPECT_NE(std::find(file.lines.begin(), file.lines.end(), "#pragma once"), file.lines.end()) << file.path;
  }
}

TEST(Tidy, banned_words_are_absent) {
  const std::string list_path = "tests/tidy/banned_words.txt";
  std::vector<std::pair<std::string, std::string>> banned;
  const SourceFile list = read_source(list_path);
  for (const std::string& line : list.lines) {
    const std::size_t tab = line.find('\t');
    if (tab != std::string::npos) banned.emplace_back(line.substr(0, tab), line.substr(tab + 1));
  }
  ASSERT_GE(banned.size(), 5u);
  for (const SourceFile& file : all_files()) {
    if (file.path == list_path) continue;
    for (const std::string& line : file.lines) {
      for (const auto& [word, reason] : banned) {
        EXPECT_EQ(line.find(word), std::string::npos) << file.path << ": \"" << word << "\": " << reason;
      }
    }
  }
}

}  // namespace
}  // namespace podsim::testing::tidy_test
