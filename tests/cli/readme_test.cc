// What README shows is what podsim prints. With PODSIM_GUIDE_UPDATE its table of equal clusters is written
// anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "report/text/text.h"
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

// ---- The table of equal clusters

using nlohmann::json;

const std::string kReadme = std::string(PODSIM_SOURCE_DIR) + "/README.md";

// The line that begins like this, without its end.
std::string line_of(const std::string& page, const std::string& begin) {
  const std::size_t at = page.find("\n" + begin) + 1;
  return page.substr(at, page.find('\n', at) - at);
}

// As the page gives it, in its folder: names of files are names of choices, by which outcomes are drawn.
json equal_clusters(const std::string& page) {
  const std::string folder = line_of(page, "    cd scenarios/"), line = line_of(page, "    podsim compare ");
  const std::string words = line.substr(line.find("compare"));
  const CommandResult result = podsim_command("--version > /dev/null && " + folder + " && " + PODSIM_BINARY +
                                              " " + words + " --quiet --format json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return json::parse(result.out);
}

const json& row_of(const json& part, const std::string& chip) {
  return *std::ranges::find_if(part["rows"], [&](const json& row) { return row["chip"] == chip; });
}

// "512: 2.8-7.9": how many chips, and the M USD between which eight outcomes in ten lie.
std::string choice_cell(const json& row) {
  const auto millions = [&](const char* quantile) {
    return fixed(row["outcome"]["cost_usd"][quantile].get<double>() / 1e6, 1);
  };
  return significant(row["chips"].get<double>(), 1) + ": " + millions("p10") + "-" + millions("p90");
}

// The price of an hour of an H100 at which both cost the same.
std::string tie_cell(const json& part) {
  for (const json& swing : part["hangs_on"])
    if (swing["what"].get<std::string>().starts_with("USD per chip-hour of h100") &&
        swing.contains("flips_at"))
      return significant(swing["flips_at"].get<double>(), 3);
  return "-";
}

std::string table_of_equal_clusters(const json& parts) {
  std::string text;
  for (const auto& [equal, named] : {std::pair<std::string, std::string>{"chips", "chips"},
                                     {"throughput", "tokens/s"},
                                     {"cost", "USD/h"},
                                     {"deadline", "130 days"}}) {
    text += "| " + named + " |";
    for (const char* model : {"llama3_70b", "mixtral_8x22b"})
      for (const json& part : parts)
        if (part["model"] == model && part["equal"] == equal)
          text += " " + choice_cell(row_of(part, "h100")) + ", " + choice_cell(row_of(part, "tpu_v5p")) +
                  " | " + tie_cell(part) + " |";
    text += "\n";
  }
  return text;
}

std::string probabilities(const json& parts) {
  double least = 1, most = 0;
  for (const json& part : parts) {
    const double best = row_of(part, "h100")["outcome"]["best"];
    least = std::min(least, best), most = std::max(most, best);
  }
  return "with probability " + fixed(least, 2) + " to " + fixed(most, 2) + ",";
}

TEST(Readme, shows_the_table_of_equal_clusters_that_its_command_prints) {
  const std::string page = read(kReadme);
  const json parts = equal_clusters(page);
  const std::string rule = "\n|-|-|-|-|-|\n";
  const std::size_t begin = page.find(rule) + rule.size(), end = page.find("\n\n", begin) + 1;
  const std::string today = table_of_equal_clusters(parts);
  if (std::getenv("PODSIM_GUIDE_UPDATE") != nullptr) {
    std::ofstream(kReadme) << page.substr(0, begin) + today + page.substr(end);
  } else {
    EXPECT_EQ(page.substr(begin, end - begin), today) << "PODSIM_GUIDE_UPDATE=1 writes it";
  }
  EXPECT_NE(page.find(probabilities(parts)), std::string::npos) << probabilities(parts);
}

}  // namespace
}  // namespace podsim::readme_test
