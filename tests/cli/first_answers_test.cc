// The page that docs/ opens with: every command on it runs and prints the lines that the page shows, and the
// page leads to all others.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/command.h"

namespace podsim {
namespace {

struct Example {
  std::string command;             // without the program's name
  std::vector<std::string> lines;  // "..." = any
};

const std::string kDocs = std::string(PODSIM_SOURCE_DIR) + "/docs";

std::string page() { return read_file(kDocs + "/README.md"); }

std::vector<Example> examples() {
  std::vector<Example> found;
  std::istringstream lines(page());
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "```") {
      inside = !inside;
    } else if (inside && line.rfind("$ podsim ", 0) == 0) {
      found.push_back({line.substr(9), {}});
    } else if (inside) {
      found.back().lines.push_back(line);
    }
  }
  return found;
}

// The shell text with the program under test behind every pipe.
std::string with_program(std::string command) {
  const std::string name = "| podsim ";
  for (std::size_t at = 0; (at = command.find(name, at)) != std::string::npos; at += name.size())
    command.replace(at, name.size(), std::string("| ") + PODSIM_BINARY + " ");
  return command;
}

TEST(FirstAnswers, every_command_prints_the_lines_that_the_page_shows) {
  ASSERT_EQ(examples().size(), 6u);
  for (const Example& example : examples()) {
    const CommandResult result = podsim_command(with_program(example.command));
    EXPECT_EQ(result.exit_code, 0) << example.command << "\n" << result.err;
    const std::string printed = "\n" + result.err + result.out;
    std::size_t from = 0;
    for (const std::string& line : example.lines) {
      if (line == "...") continue;
      const std::size_t at = printed.find("\n" + line + "\n", from);
      ASSERT_NE(at, std::string::npos) << "podsim " << example.command << " prints no line\n"
                                       << line << "\nbut\n"
                                       << printed;
      from = at + line.size();
    }
  }
}

TEST(FirstAnswers, lead_to_every_other_page) {
  const std::string text = page();
  for (const auto& file : std::filesystem::recursive_directory_iterator(kDocs)) {
    const std::string name = std::filesystem::relative(file.path(), kDocs).generic_string();
    if (name == "README.md" || file.path().extension() != ".md") continue;
    EXPECT_NE(text.find("(" + name + ")"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace podsim
