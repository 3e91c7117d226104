// Pages lead to pages that exist: links between them, and the pages that sources and scenarios name.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace podsim::testing::links_test {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) { return fs::exists(fs::path(PODSIM_SOURCE_DIR) / path); }

// The first groups of all matches of a line.
std::vector<std::string> found(const std::string& line, const std::regex& pattern) {
  std::vector<std::string> all;
  for (std::sregex_iterator at(line.begin(), line.end(), pattern); at != std::sregex_iterator(); ++at)
    all.push_back((*at)[1]);
  return all;
}

// How a heading is named in a link: "5. NCCL, measured" is 5-nccl-measured.
std::string anchor(const std::string& heading) {
  std::string name;
  for (const char c : heading) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_')
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (c == ' ')
      name += '-';
  }
  return name;
}

bool has_heading(const SourceFile& page, const std::string& name) {
  return std::any_of(page.lines.begin(), page.lines.end(), [&](const std::string& line) {
    const std::size_t text = line.find_first_not_of('#');
    return text != 0 && text != std::string::npos && line[text] == ' ' &&
           anchor(line.substr(text + 1)) == name;
  });
}

// Empty where the link of a page leads somewhere, or what is wrong.
std::string broken(const std::string& page, const std::string& link) {
  if (link.find("://") != std::string::npos || link.starts_with("mailto:")) return "";
  const std::string to = link.substr(0, link.find('#'));
  const std::string path =
      to.empty() ? page : (fs::path(page).parent_path() / to).lexically_normal().generic_string();
  if (!exists(path)) return "there is no " + path;
  if (to.size() < link.size() && !has_heading(read_source(path), link.substr(to.size() + 1)))
    return path + " has no such heading";
  return "";
}

// Lines that name pages of another project name its commit; this table names the projects once for many
// lines.
bool names_own_pages(const SourceFile& file, const std::string& line) {
  static const std::regex commit("[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+@[0-9a-f]{7}");
  return line.find("docs/") != std::string::npos && file.path != "scenarios/measurements/tpu_runs.csv" &&
         !std::regex_search(line, commit);
}

TEST(Links, of_pages_lead_to_files_and_headings_that_exist) {
  const std::regex link("\\]\\(([^)\\s]+)\\)");
  std::size_t links = 0;
  for (const SourceFile& file : all_files()) {
    if (!file.path.ends_with(".md") || file.path == "tests/validation/head.md") continue;  // part of a page
    for (const std::string& line : file.lines) {
      for (const std::string& to : found(line, link)) {
        EXPECT_EQ(broken(file.path, to), "") << file.path << ": " << line;
        ++links;
      }
    }
  }
  EXPECT_GT(links, 100u);
}

TEST(Links, of_the_index_lead_to_every_page) {
  std::string index;
  for (const std::string& line : read_source("docs/README.md").lines) index += line + "\n";
  for (const SourceFile& file : all_files()) {
    if (!file.path.starts_with("docs/") || !file.path.ends_with(".md") || file.path == "docs/README.md")
      continue;
    EXPECT_NE(index.find("(" + file.path.substr(5) + ")"), std::string::npos)
        << "docs/README.md does not lead to " << file.path;
  }
}

TEST(Links, pages_that_any_file_names_exist) {
  const std::regex name("(?:^|\"/|[^A-Za-z0-9_/-])(docs/[A-Za-z0-9_./-]*\\.(?:md|csv|svg))");
  std::size_t names = 0;
  for (const SourceFile& file : all_files()) {
    for (const std::string& line : file.lines) {
      if (file.path == "tests/tidy/links_test.cc" || !names_own_pages(file, line)) continue;
      for (const std::string& path : found(line, name)) {
        EXPECT_TRUE(exists(path)) << file.path << ": " << line;
        ++names;
      }
    }
  }
  EXPECT_GT(names, 100u);
}

// Of the files that pages name in their text: "its rules in `workload/sharding/presets.cc`".
TEST(Links, files_that_pages_name_exist) {
  std::string folders = "tests|bench|docs|scenarios|packaging";
  for (const std::string& folder : source_folders()) folders += "|" + folder;
  const std::regex name("(?:^|[^A-Za-z0-9_/.-])((?:" + folders + ")/[A-Za-z0-9_./-]*\\.[a-z]+)");
  std::size_t names = 0;
  for (const SourceFile& file : all_files()) {
    if (!file.path.ends_with(".md") || file.path.starts_with("docs/evidence/")) continue;  // cite others
    for (const std::string& line : file.lines) {
      for (const std::string& path : found(line, name)) {
        EXPECT_TRUE(exists(path)) << file.path << ": " << line;
        ++names;
      }
    }
  }
  EXPECT_GT(names, 50u);
}

// "(`plan_operation`, workload/op_planning/plan.cc)": the names that a page has right before the path of a
// source which does not have them, each with that path. `text` is the page as one line.
std::vector<std::string> names_not_there(const std::string& text, std::size_t& names) {
  std::string folders = "tests|bench";
  for (const std::string& folder : source_folders()) folders += "|" + folder;
  const std::regex beside(
      "((?:`[A-Za-z_][A-Za-z0-9_:]*`,? +(?:and +)?)*`[A-Za-z_][A-Za-z0-9_:]*`)(?:, +| +\\()`?((?:" + folders +
      ")/[A-Za-z0-9_./-]*\\.(?:h|cc|proto))");
  const std::regex last_part("([A-Za-z0-9_]+)`");
  std::vector<std::string> missing;
  for (std::sregex_iterator at(text.begin(), text.end(), beside); at != std::sregex_iterator(); ++at) {
    std::string source;
    for (const std::string& line : read_source((*at)[2]).lines) source += line + "\n";
    for (const std::string& name : found((*at)[1], last_part)) {
      if (!std::regex_search(source, std::regex("\\b" + name + "\\b")))
        missing.push_back(name + ", " + (*at)[2].str());
      ++names;
    }
  }
  return missing;
}

TEST(Links, names_beside_a_source_are_in_it) {
  std::size_t names = 0;
  for (const SourceFile& file : all_files()) {
    if (!file.path.ends_with(".md") || file.path.starts_with("docs/evidence/")) continue;  // cite others
    std::string text;
    for (const std::string& line : file.lines) text += line + " ";
    EXPECT_EQ(names_not_there(text, names), std::vector<std::string>{}) << file.path;
  }
  EXPECT_GT(names, 100u);
  EXPECT_EQ(
      names_not_there(
          "**Kinds** (`SourceFile`, `Nobody::moved_away`, tests/tidy/source_tree.h; `anchor`, there)", names),
      std::vector<std::string>{"moved_away, tests/tidy/source_tree.h"});
}

// What a newcomer reads first stays short; what it leaves out is in docs/guide and docs/evidence/trust.md.
TEST(Readme, has_at_most_eight_thousand_characters) {
  EXPECT_LE(fs::file_size(fs::path(PODSIM_SOURCE_DIR) / "README.md"), 8000u);
}

TEST(Contributing, tells_what_each_preset_is_for) {
  std::string page;
  for (const std::string& line : read_source("CONTRIBUTING.md").lines) page += line + "\n";
  const std::regex name("\\{\"name\": \"([a-z-]+)\"");
  int presets = 0;
  for (const std::string& line : read_source("CMakePresets.json").lines) {
    for (const std::string& preset : found(line, name)) {
      if (line.find("\"hidden\"") != std::string::npos) continue;
      EXPECT_NE(page.find("`" + preset + "`"), std::string::npos) << "no row for the preset " << preset;
      ++presets;
    }
  }
  EXPECT_GE(presets, 7);
}

TEST(Links, that_lead_nowhere_are_found) {
  EXPECT_EQ(broken("docs/README.md", "guide/scenarios.md"), "");
  EXPECT_EQ(broken("docs/guide/scenarios.md", "../README.md"), "");
  EXPECT_EQ(broken("docs/README.md", "scenarios.md"), "there is no docs/scenarios.md");
  EXPECT_EQ(broken("docs/theory/stragglers.md", "#the-verdict"), "");
  EXPECT_EQ(broken("docs/README.md", "theory/stragglers.md#the-jury"),
            "docs/theory/stragglers.md has no such heading");
}

}  // namespace
}  // namespace podsim::testing::links_test
