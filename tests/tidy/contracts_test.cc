// How well the code says and checks what it takes for granted, folder by folder: no figure may fall below
// where it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/tidy/source_tree.h"

namespace podsim::testing::contracts_test {
namespace {

struct Contracts {
  double lines = 0, checks = 0;            // of headers and sources
  double header_lines = 0, commented = 0;  // of headers, without blank ones; with a comment in them
  double types = 0, explained = 0;         // of headers, at the left margin; with a comment above
  double checks_per_thousand() const { return 1000 * checks / lines; }
  double comment_share() const { return commented / header_lines; }
  double explained_share() const { return explained / types; }
};

bool begins_type(const std::string& line) {
  const bool is_type =
      line.starts_with("class ") || line.starts_with("struct ") || line.starts_with("enum class ");
  return is_type && !line.ends_with(";");
}

void read_header(const SourceFile& file, Contracts& of) {
  const std::string* above = nullptr;
  for (const std::string& line : file.lines) {
    if (begins_type(line)) {
      of.types += 1;
      of.explained += above != nullptr && above->starts_with("//");
    }
    if (!line.starts_with("template <")) above = &line;
    if (line.empty()) continue;
    of.header_lines += 1;
    of.commented += line.find("//") != std::string::npos;
  }
}

std::map<std::string, Contracts> contracts() {
  std::map<std::string, Contracts> of_folder;
  for (const SourceFile& file : all_files()) {
    if (!file.path.ends_with(".h") && !file.path.ends_with(".cc")) continue;
    const std::string folder = file.path.substr(0, file.path.find('/'));
    if (source_folders().count(folder) == 0) continue;
    Contracts& of = of_folder[folder];
    of.lines += static_cast<double>(file.lines.size());
    of.checks += static_cast<double>(std::ranges::count_if(
        file.lines, [](const std::string& line) { return line.find("PODSIM_CHECK(") != std::string::npos; }));
    if (file.path.ends_with(".h")) read_header(file, of);
  }
  return of_folder;
}

struct Floor {
  const char* folder;
  double checks_per_thousand, comment_share, explained_share;
};
// What was reached, rounded down. Raise a floor where you come to stand above it.
constexpr Floor kFloors[] = {
    {"engine", 6.0, 0.28, 0.90},   {"topology", 2.5, 0.36, 0.61},  {"collectives", 4.0, 0.39, 0.59},
    {"workload", 2.2, 0.40, 0.58}, {"scheduler", 6.0, 0.31, 0.85}, {"ingest", 1.1, 0.31, 0.51},
    {"serve", 2.6, 0.30, 0.71},    {"cli", 0.7, 0.30, 0.62},
};

TEST(Contracts, are_checked_and_explained_no_less_than_they_were) {
  const std::map<std::string, Contracts> reached = contracts();
  for (const Floor& floor : kFloors) {
    ASSERT_TRUE(reached.contains(floor.folder)) << floor.folder;
    const Contracts& of = reached.at(floor.folder);
    EXPECT_GE(of.checks_per_thousand(), floor.checks_per_thousand)
        << floor.folder << ": CHECKs in 1,000 lines";
    EXPECT_GE(of.comment_share(), floor.comment_share) << floor.folder << ": header lines with a comment";
    EXPECT_GE(of.explained_share(), floor.explained_share) << floor.folder << ": types with a comment above";
  }
}

}  // namespace
}  // namespace podsim::testing::contracts_test
