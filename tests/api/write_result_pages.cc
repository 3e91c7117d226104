// Writes the JSON schema and the table of figures into docs/reference: tests/api/update.
#include <fstream>
#include <iterator>
#include <string>

#include "tests/api/result_pages.h"

int main() {
  const std::string root = std::string(PODSIM_SOURCE_DIR) + "/";
  std::ofstream(root + podsim::testing::kSchemaFile) << podsim::testing::report_json_schema();
  std::ifstream in(root + podsim::testing::kFiguresPage);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  std::ofstream(root + podsim::testing::kFiguresPage) << podsim::testing::figures_page(page);
}
