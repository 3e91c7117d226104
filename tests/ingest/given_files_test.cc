// Configurations and descriptions of clusters that are not part of the repository, against the figures that
// lie beside them: PODSIM_DATA names a folder that has them in ingest/.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "ingest/file_kind.h"
#include "proto/text/read_file.h"
#include "proto/writing/figure_json.h"

namespace podsim::given_files_test {
namespace {

using nlohmann::json;
constexpr std::string_view kSuffix = ".expected.json";

std::vector<std::string> files_beside_figures() {
  const char* folder = std::getenv("PODSIM_DATA");
  const std::string data = folder != nullptr ? folder : PODSIM_SOURCE_DIR "/../shared/data";
  std::vector<std::string> found;
  for (const char* below : {"/ingest/config", "/ingest/cluster", "/ingest/own/cluster"}) {
    if (!std::filesystem::exists(data + below)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(data + below))
      if (std::string path = entry.path(); path.ends_with(kSuffix))
        found.push_back(path.substr(0, path.size() - kSuffix.size()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Whatever is expected is there, and alike; `given` may have more.
void expect_same(const std::string& path, const json& expected, const json& given) {
  if (expected.is_null()) return;
  if (!expected.is_object()) {
    EXPECT_EQ(expected, given) << path;
    return;
  }
  for (const auto& [key, value] : expected.items()) {
    if (value.is_null() || key == "note") continue;
    ASSERT_TRUE(given.contains(key)) << path << "." << key;
    expect_same(path + "." + key, value, given.at(key));
  }
}

struct Case {
  Stated stated;
  json expected;
};

// "chips=512 slices=1" names what is stated beside the file.
std::vector<Case> cases_of(const json& figures) {
  if (!figures.begin().key().starts_with("chips")) return {{{}, figures}};
  std::vector<Case> cases;
  for (const auto& [name, expected] : figures.items()) {
    Case one = {{}, expected};
    std::smatch found;
    if (std::regex_search(name, found, std::regex("chips=([0-9]+)"))) one.stated.chips = std::stoll(found[1]);
    if (std::regex_search(name, found, std::regex("slices=([0-9]+)")))
      one.stated.slices = std::stoll(found[1]);
    cases.push_back(one);
  }
  return cases;
}

TEST(GivenFiles, give_the_figures_that_lie_beside_them) {
  const std::vector<std::string> files = files_beside_figures();
  if (files.empty()) GTEST_SKIP() << "PODSIM_DATA names no folder with configurations and clusters";
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    std::ifstream figures(file + std::string(kSuffix));
    std::vector<Problem> problems;
    const auto text = read_file(file, problems, std::size_t{1} << 28);
    ASSERT_TRUE(text);
    const FileKind* kind = file_kind(*text);
    ASSERT_TRUE(kind != nullptr && kind->read != nullptr);
    for (const Case& one : cases_of(json::parse(figures))) {
      std::vector<Problem> found;
      const auto imported = kind->read({{file, *text}}, one.stated, found);
      const bool refused = one.expected.contains("error") && !one.expected.at("error").is_null();
      EXPECT_EQ(imported.has_value(), !refused);
      EXPECT_EQ(found.empty(), !refused) << (found.empty() ? "" : format_problem(found.front()));
      if (!imported) continue;
      expect_same("", one.expected,
                  json::parse(json_text(Figure::group("", imported->figures), JsonNumbers::kShortest)));
    }
  }
}

// With an answer or problems, each with words: never both, never neither.
void expect_answer_or_problems(const std::string& name, const std::string& text) {
  const FileKind* kind = file_kind(text);
  if (kind == nullptr || kind->read == nullptr) return;
  std::vector<Problem> problems;
  const auto imported = kind->read({{name, text}}, {}, problems);
  ASSERT_EQ(imported.has_value(), problems.empty());
  for (const Problem& problem : problems) ASSERT_FALSE(problem.message.empty());
}

TEST(GivenFiles, cut_or_changed_anywhere_give_an_answer_or_a_problem) {
  const std::vector<std::string> files = files_beside_figures();
  if (files.empty()) GTEST_SKIP() << "PODSIM_DATA names no folder with configurations and clusters";
  constexpr int kCuts = 200;
  std::mt19937_64 random(1);
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    std::vector<Problem> problems;
    const std::string text = *read_file(file, problems, std::size_t{1} << 28);
    const int cuts = text.size() > 100'000 ? 10 : kCuts;  // a long file takes a while
    for (int i = 0; i < cuts; ++i) expect_answer_or_problems(file, text.substr(0, random() % text.size()));
    for (int i = 0; i < cuts; ++i) {
      std::string changed = text;
      for (int byte = 0; byte <= i; ++byte)
        changed[random() % changed.size()] = static_cast<char>(random() % 256);
      expect_answer_or_problems(file, changed);
    }
  }
}

}  // namespace
}  // namespace podsim::given_files_test
