// Modules that are not part of the repository, against the figures that lie beside them: PODSIM_DATA names a
// folder that has them in ingest/.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ingest/hlo/module_figures.h"
#include "ingest/hlo/parse.h"
#include "proto/text/read_file.h"
#include "proto/writing/figure_json.h"

namespace podsim::hlo_others_test {
namespace {

using nlohmann::json;
constexpr std::string_view kSuffix = ".expected.json";

std::vector<std::string> modules_beside_figures() {
  const char* folder = std::getenv("PODSIM_DATA");
  std::vector<std::string> found;
  if (folder == nullptr) return found;
  for (const char* below : {"/ingest/hlo", "/ingest/own/hlo", "/ingest/own/hlo/bad"}) {
    if (!std::filesystem::exists(folder + std::string(below))) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder + std::string(below)))
      if (std::string path = entry.path(); path.ends_with(kSuffix))
        found.push_back(path.substr(0, path.size() - kSuffix.size()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Whatever is expected is there, and alike; `given` may have more.
void expect_same(const std::string& path, const json& expected, const json& given) {
  if (expected.is_null()) return;
  if (expected.is_object()) {
    for (const auto& [key, value] : expected.items()) {
      const bool of_the_reader = key == "note" || key == "dot_flops_rule" || key == "behaviour" ||
                                 key == "parse_errors" || key == "truncated" || key == "groups_of_devices";
      if (of_the_reader || value.is_null()) continue;
      ASSERT_TRUE(given.contains(key)) << path << "." << key;
      expect_same(path + "." + key, value, given.at(key));
    }
  } else if (expected.is_array() && !expected.empty() && expected.front().is_object()) {
    for (const json& element : expected) {
      const bool found = std::ranges::any_of(given, [&](const json& other) {
        return std::ranges::all_of(element.items(), [&](const auto& each) {
          return each.key() == "groups_of_devices" ||
                 (other.contains(each.key()) && other.at(each.key()) == each.value());
        });
      });
      EXPECT_TRUE(found) << path << ": " << element << "\nis not in " << given;
    }
  } else {
    EXPECT_EQ(expected, given) << path;
  }
}

TEST(HloOfOthers, gives_the_figures_that_lie_beside_it) {
  const std::vector<std::string> files = modules_beside_figures();
  if (files.empty()) GTEST_SKIP() << "PODSIM_DATA names no folder with HLO modules";
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    std::ifstream figures(file + std::string(kSuffix));
    const json expected = json::parse(figures);
    std::vector<Problem> problems;
    const auto text = read_file(file, problems, std::size_t{1} << 28);
    ASSERT_TRUE(text);
    const auto modules = hlo::parse_modules(file, *text, problems);
    EXPECT_EQ(modules.has_value(), !expected.contains("error"));
    if (!modules) continue;
    const hlo::Module& module = modules->front();
    const Figure whole =
        Figure::group("", hlo::module_figures(hlo::summarize(module), hlo::account_of(module)));
    expect_same("", expected, json::parse(json_text(whole, JsonNumbers::kShortest)));
  }
}

}  // namespace
}  // namespace podsim::hlo_others_test
