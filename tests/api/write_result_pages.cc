// Writes the JSON schemas and the table of figures into docs/reference: tests/api/update. Results of verbs
// are kept where this version has none yet.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "api/podsim/podsim.h"
#include "tests/api/result_pages.h"

int main() {
  namespace fs = std::filesystem;
  const std::string root = std::string(PODSIM_SOURCE_DIR) + "/";
  fs::current_path(root);
  const fs::path kept = fs::path(podsim::testing::kVerbResults) / podsim::library_version();
  fs::create_directories(kept);
  for (const auto& [verb, results] : podsim::testing::json_of_verbs()) {
    std::ofstream(podsim::testing::kSchemaFolder + verb + ".schema.json")
        << podsim::testing::result_json_schema(verb, results);
    if (!fs::exists(kept / (verb + ".json"))) std::ofstream(kept / (verb + ".json")) << results.front();
  }
  std::ofstream(root + podsim::testing::kSchemaFile) << podsim::testing::report_json_schema();
  std::ifstream in(root + podsim::testing::kFiguresPage);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  std::ofstream(root + podsim::testing::kFiguresPage) << podsim::testing::figures_page(page);
}
