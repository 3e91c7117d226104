// The shape of the source tree as rules: clean headers, file length, first lines, banned words.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace podsim::testing::tidy_test {
namespace {

constexpr std::size_t kLongestFile = 400;     // lines
constexpr std::size_t kLongestFunction = 60;  // lines, with its head and its closing brace

TEST(Tidy, the_tree_is_found) {
  const std::vector<SourceFile>& files = all_files();
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

// Lines of the function whose closing brace is line `end`, from the begin of its head: all between them are
// indented further than both. 0 where the line is no brace by itself, or indented further than those of a
// member's members. Blocks within functions are measured too; the function is longer than they are.
std::size_t function_lines(const std::vector<std::string>& lines, std::size_t end) {
  const std::size_t indent = lines[end].find_first_not_of(' ');
  if (indent > 4 || lines[end].substr(indent) != "}") return 0;
  std::size_t head = end;
  const auto within = [&](const std::string& line) {
    return line.empty() || line[0] == '#' || line.find_first_not_of(' ') > indent;
  };
  do --head;
  while (head > 0 && within(lines[head]));
  return end - head + 1;
}

TEST(Tidy, no_function_takes_more_than_60_lines) {
  std::size_t functions = 0;
  for (const SourceFile& file : all_files()) {
    if (!file.path.ends_with(".h") && !file.path.ends_with(".cc")) continue;
    for (std::size_t end = 1; end < file.lines.size(); ++end) {
      const std::size_t length = function_lines(file.lines, end);
      functions += length > 0;
      EXPECT_LE(length, kLongestFunction) << file.path << ": " << file.lines[end + 1 - length];
    }
  }
  EXPECT_GT(functions, 10'000u);
  EXPECT_EQ(function_lines({"int f(int a,", "      int b) {", "", "#if X", "  g();", "}"}, 5), 6u);
  EXPECT_EQ(function_lines({"struct A {", "  void f() {", "    g();", "  }", "};"}, 3), 3u);
  EXPECT_EQ(function_lines({"struct A {", "  int a;", "};"}, 2), 0u);
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

// Files of the product say these numbers by the constants of that header.
void expect_only_in(const std::string& header, const std::vector<std::string>& numbers) {
  for (const SourceFile& file : all_files()) {
    if (!file.path.ends_with(".h") && !file.path.ends_with(".cc")) continue;
    if (source_folders().count(file.path.substr(0, file.path.find('/'))) == 0) continue;
    if (file.path == header) continue;
    for (const std::string& line : file.lines)
      for (const std::string& number : numbers)
        EXPECT_EQ(line.find(number), std::string::npos) << file.path << ": " << line;
  }
}

TEST(Tidy, bytes_of_a_gib_have_one_definition) {
  expect_only_in("engine/binary_units.h", {"1073741824", "1048576", "1024.0 * 1024"});
}

TEST(Tidy, seconds_of_a_day_and_joules_of_a_kwh_have_one_definition) {
  expect_only_in("engine/unit_factors.h", {"86400", "86'400", "8760", "3.6e6", "3.6e9"});
}

// Whoever draws makes numbers of draws, and those of the standard library differ from machine to machine.
TEST(Tidy, files_that_draw_use_no_exponentials_logarithms_or_powers_of_the_standard_library) {
  const std::regex draws(R"(\b(RandomStream|random_(uniform|normal|exponential)|Lognormal)\b)");
  const std::regex differs(R"(\bstd::(exp|exp2|expm1|log|log2|log10|log1p|pow)\()");
  int drawing = 0;
  for (const SourceFile& file : all_files()) {
    if (!file.path.ends_with(".h") && !file.path.ends_with(".cc")) continue;
    if (source_folders().count(file.path.substr(0, file.path.find('/'))) == 0) continue;
    const auto has = [](const std::regex& what) {
      return [&](const std::string& line) { return std::regex_search(line, what); };
    };
    if (std::ranges::none_of(file.lines, has(draws))) continue;
    ++drawing;
    const auto found = std::ranges::find_if(file.lines, has(differs));
    EXPECT_EQ(found, file.lines.end())
        << file.path << ": " << *found << ": write portable_exp and portable_log of engine/random.h";
  }
  EXPECT_GT(drawing, 10);
}

// Two files that draw for one purpose draw the same numbers where seed and entity are the same.
TEST(Tidy, each_purpose_of_draws_is_that_of_one_file) {
  const std::set<std::string> told_apart = {
      "kJitter",   // the reference draws what the loop draws
      "kFailure",  // entities of sources count up, those of recovery steps down
  };
  const std::regex named(R"(\bRandomPurpose::(k\w+))");
  std::map<std::string, std::set<std::string>> files;  // [purpose]
  for (const SourceFile& file : all_files()) {
    if (source_folders().count(file.path.substr(0, file.path.find('/'))) == 0) continue;
    for (const std::string& line : file.lines)
      for (std::sregex_iterator at(line.begin(), line.end(), named), end; at != end; ++at)
        files[(*at)[1]].insert(file.path);
  }
  EXPECT_GT(files.size(), 15u);
  for (const auto& [purpose, of] : files) {
    if (told_apart.contains(purpose)) continue;
    EXPECT_EQ(of.size(), 1u) << purpose << " in " << *of.begin();
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
        if (line.find(word) == std::string::npos) continue;
        ADD_FAILURE() << file.path << ": \"" << word << "\": " << reason;
      }
    }
  }
}

}  // namespace
}  // namespace podsim::testing::tidy_test
