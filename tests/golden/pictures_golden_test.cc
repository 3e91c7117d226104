// The pictures that the pages show are what podsim draws, byte for byte. tests/golden/update draws them anew.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "prediction/predict.h"
#include "proto/scenario/load.h"
#include "report/pictures/run_pictures.h"
#include "report/pictures/svg.h"

namespace podsim::pictures_golden_test {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string drawn(const std::string& scenario, const std::string& picture) {
  const fs::path path = fs::path(PODSIM_SOURCE_DIR) / "scenarios" / (scenario + ".textproto");
  const LoadResult loaded = load_scenario(path.string(), content(path), Catalog(), {});
  if (!loaded.spec) return "not a scenario: " + path.string();
  PredictOptions options;
  options.detail = true;
  const Prediction prediction = predict_step(*loaded.spec, options);
  if (picture == "network")
    return prediction.detail->network ? prediction.detail->network->svg : "too large to draw";
  const auto found =
      run_picture(picture, prediction.report, prediction.detail ? &*prediction.detail : nullptr);
  return found ? svg_file(*found) : "nothing to draw";
}

TEST(Pictures, of_the_pages_are_what_is_drawn_today) {
  const fs::path folder = fs::path(PODSIM_SOURCE_DIR) / "docs" / "pictures";
  std::ifstream list(folder / "list.txt");
  std::set<std::string> listed = {"list.txt"};
  std::string name, scenario, picture;
  while (list >> name >> scenario >> picture) {
    listed.insert(name + ".svg");
    EXPECT_TRUE(content(folder / (name + ".svg")) == drawn(scenario, picture))
        << name << ": tests/golden/update draws it anew";
  }
  EXPECT_GE(listed.size(), 6u);
  for (const auto& file : fs::directory_iterator(folder))
    EXPECT_EQ(listed.count(file.path().filename().string()), 1u) << file.path();
}

}  // namespace
}  // namespace podsim::pictures_golden_test
