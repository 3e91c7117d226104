// Writes the schema of reports and the tables of their page anew: tests/report/update calls it.
#include <cstdio>
#include <fstream>
#include <sstream>

#include "tests/report/report_pages.h"

namespace podsim::testing {
namespace {

const std::string kRoot = PODSIM_SOURCE_DIR;

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(kRoot + path, std::ios::binary).rdbuf();
  return text.str();
}

bool write(const std::string& path, const std::string& text) {
  std::ofstream out(kRoot + path, std::ios::binary);
  out << text;
  return out.flush().good();
}

}  // namespace
}  // namespace podsim::testing

int main() {
  using namespace podsim::testing;
  return write(kReportPage, report_page(read(kReportPage))) && write(kReportSchema, report_schema()) ? 0 : 1;
}
