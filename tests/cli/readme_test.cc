// The report that README shows is the one that podsim prints.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/cli/command.h"

namespace podsim::readme_test {
namespace {

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The code block whose first line begins like this.
std::string code_block(const std::string& page, const std::string& first_line) {
  const std::string fence = "```\n";
  const std::size_t begin = page.find(fence + first_line);
  if (begin == std::string::npos) return "";
  const std::size_t text = begin + fence.size();
  return page.substr(text, page.find(fence, text) - text);
}

std::string without_trailing_blanks(const std::string& text) {
  std::istringstream lines(text);
  std::string trimmed;
  for (std::string line; std::getline(lines, line);)
    trimmed += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  return trimmed;
}

TEST(Readme, shows_the_scenario_and_the_report_of_its_first_command) {
  const std::string scenario = "scenarios/llama3_70b_512_h100.textproto";
  const std::string readme = read(std::string(PODSIM_SOURCE_DIR) + "/README.md");
  EXPECT_NE(read(std::string(PODSIM_SOURCE_DIR) + "/" + scenario).find(code_block(readme, "question: ")),
            std::string::npos);
  const CommandResult run = podsim_command("run " + scenario);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(without_trailing_blanks(run.out),
            without_trailing_blanks(code_block(readme, "llama3_70b_512_h100\n")));
}

}  // namespace
}  // namespace podsim::readme_test
