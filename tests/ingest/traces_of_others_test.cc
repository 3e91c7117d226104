// Traces that are not part of the repository, against the figures that lie beside them and with damage:
// PODSIM_DATA names a folder that has them in ingest/.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "ingest/file_kind.h"
#include "proto/text/gunzip.h"
#include "proto/text/read_file.h"
#include "proto/writing/figure_json.h"

namespace podsim::traces_of_others_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
constexpr std::string_view kSuffix = ".expected.json";

// Of one expected answer: a file, or the ranks of a set.
struct Case {
  std::string figures;
  std::vector<std::string> files;
};

// FILE beside FILE.expected.json; NAME.0.et and so on beside NAME.expected.json; all others of the folder
// beside all_ranks.expected.json.
std::vector<std::string> files_beside(const std::string& figures) {
  const std::string base = figures.substr(0, figures.size() - kSuffix.size());
  if (fs::exists(base)) return {base};
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(fs::path(base).parent_path())) {
    const std::string file = entry.path();
    const bool rank_of_set = file.starts_with(base + ".") && file.ends_with(".et");
    const bool rank_of_folder = base.ends_with("/all_ranks") && !file.ends_with(kSuffix);
    if (rank_of_set || rank_of_folder) files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Case> cases() {
  const char* data = std::getenv("PODSIM_DATA");
  std::vector<Case> found;
  for (const char* below : {"chakra", "kineto", "stablehlo", "own/chakra", "own/kineto"}) {
    const std::string folder = std::string(data != nullptr ? data : "") + "/ingest/" + below;
    if (data == nullptr || !fs::exists(folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (const std::string path = entry.path(); path.ends_with(kSuffix))
        found.push_back({path, files_beside(path)});
  }
  std::ranges::sort(found, {}, &Case::figures);
  return found;
}

// Whatever is expected is there, and alike; `given` may have more. Nothing is asked where null is expected.
void expect_same(const std::string& path, const json& expected, const json& given) {
  if (expected.is_null()) return;
  if (expected.is_object()) {
    for (const auto& [key, value] : expected.items()) {
      if (key == "note" || key == "closed_form" || value.is_null()) continue;
      ASSERT_TRUE(given.contains(key)) << path << "." << key;
      expect_same(path + "." + key, value, given.at(key));
    }
  } else if (expected.is_array()) {
    ASSERT_EQ(expected.size(), given.size()) << path;
    for (std::size_t i = 0; i < expected.size(); ++i)
      expect_same(path + "[" + std::to_string(i) + "]", expected[i], given[i]);
  } else {
    EXPECT_EQ(expected, given) << path;
  }
}

std::optional<Imported> import_of(const std::vector<InputText>& inputs, std::vector<Problem>& problems) {
  const FileKind* kind = file_kind(inputs.front().text);
  if (kind == nullptr || kind->read == nullptr) {
    problems.push_back({inputs.front().name, 0, 0, "of no kind that is read", "", ""});
    return std::nullopt;
  }
  return kind->read(inputs, {}, problems);
}

TEST(TracesOfOthers, give_the_figures_that_lie_beside_them) {
  const std::vector<Case> all = cases();
  if (all.empty()) GTEST_SKIP() << "PODSIM_DATA names no folder with traces";
  for (const Case& each : all) {
    SCOPED_TRACE(each.figures);
    std::ifstream stream(each.figures);
    const json expected = json::parse(stream);
    std::vector<Problem> problems;
    std::vector<InputText> inputs;
    for (const std::string& file : each.files) {
      auto text = read_file(file, problems, std::size_t{1} << 30);
      ASSERT_TRUE(text);
      inputs.push_back({file, *std::move(text)});
    }
    ASSERT_FALSE(inputs.empty());
    const auto imported = import_of(inputs, problems);
    EXPECT_EQ(imported.has_value(), !expected.contains("error"));
    EXPECT_EQ(imported.has_value(), problems.empty());
    if (!imported) continue;
    const Figure whole = Figure::group("", imported->figures);
    expect_same("", expected, json::parse(json_text(whole, JsonNumbers::kShortest)));
  }
}

// The bytes as they lie on the disk: whoever damages a compressed file damages what is compressed.
std::string bytes_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Whether it is read; the problem has words.
bool reads(const std::string& name, std::string bytes) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 26;
  if (is_gzipped(bytes)) {
    auto text = gunzipped(bytes, kMostBytes);
    if (!text) return false;
    bytes = *std::move(text);
  }
  std::vector<Problem> problems;
  const bool read = import_of({{name, std::move(bytes)}}, problems).has_value();
  EXPECT_EQ(read, problems.empty());
  for (const Problem& problem : problems) EXPECT_FALSE(problem.message.empty());
  return read;
}

TEST(TracesOfOthers, with_damage_are_refused_or_read_and_never_stop_the_reader) {
  constexpr std::size_t kLargest = 20'000;
  constexpr int kTimes = 200;
  const std::vector<Case> all = cases();
  if (all.empty()) GTEST_SKIP() << "PODSIM_DATA names no folder with traces";
  std::mt19937 random(31);
  for (const Case& each : all)
    for (const std::string& file : each.files) {
      SCOPED_TRACE(file);
      const std::string whole = bytes_of(file);
      if (whole.empty() || whole.size() > kLargest) continue;
      const bool is_stream = whole.starts_with('{') || is_gzipped(whole);  // one that has an end to miss
      for (int i = 0; i < kTimes; ++i) {
        const bool read = reads(file, whole.substr(0, random() % whole.size()));
        EXPECT_FALSE(read && is_stream) << "a part of the file looks whole";
        std::string changed = whole;
        changed[random() % whole.size()] = static_cast<char>(random() % 256);
        reads(file, changed);
      }
    }
}

}  // namespace
}  // namespace podsim::traces_of_others_test
