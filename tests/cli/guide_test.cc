// What guides to imports show is what podsim prints. With PODSIM_GUIDE_UPDATE they are written anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/cli/command.h"

namespace podsim::guide_test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFence = "```\n", kPrompt = "$ podsim ";

std::string without_trailing_blanks(const std::string& text) {
  std::istringstream lines(text);
  std::string trimmed;
  for (std::string line; std::getline(lines, line);)
    trimmed += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  return trimmed;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// Files of others, which are not part of the repository; empty where they are not there.
std::string data_folder() {
  const char* told = std::getenv("PODSIM_DATA");
  const fs::path folder = told != nullptr ? fs::path(told) : fs::path(PODSIM_SOURCE_DIR) / "../shared/data";
  return fs::exists(folder / "ingest") ? (folder / "ingest").string() + "/" : "";
}

// The page with what its commands print today; those on files that are not there stay.
std::string page_of_today(const std::string& page, int& commands) {
  const std::string data = data_folder();
  std::string made;
  std::size_t at = 0;
  for (std::size_t begin = 0;
       (begin = page.find(std::string(kFence) + std::string(kPrompt), at)) != std::string::npos;) {
    const std::size_t line = begin + kFence.size(), text = page.find('\n', line) + 1;
    const std::size_t end = page.find(kFence, text);
    const std::string command = page.substr(line + kPrompt.size(), text - 1 - line - kPrompt.size());
    const bool of_others = command.find("data/ingest/") != std::string::npos;
    made += page.substr(at, text - at);
    at = end;
    if (of_others && data.empty()) {
      made += page.substr(text, end - text);
      continue;
    }
    const CommandResult result =
        podsim_command(of_others ? replaced(command, "data/ingest/", data) : command);
    EXPECT_EQ(result.exit_code, 0) << command << result.err;
    made += without_trailing_blanks(of_others ? replaced(result.out, data, "data/ingest/") : result.out);
    ++commands;
  }
  return made + page.substr(at);
}

void expect_page_of_today(const std::string& name, int commands_at_least) {
  const fs::path file = fs::path(PODSIM_SOURCE_DIR) / "docs/guide" / name;
  const std::string page = read_file(file.string());
  int commands = 0;
  const std::string today = page_of_today(page, commands);
  EXPECT_GE(commands, commands_at_least);
  if (std::getenv("PODSIM_GUIDE_UPDATE") != nullptr)
    std::ofstream(file) << today;
  else
    EXPECT_EQ(page, today) << "PODSIM_GUIDE_UPDATE=1 writes it";
}

TEST(Guide, to_imports_shows_what_its_commands_print) { expect_page_of_today("import.md", 15); }

TEST(Guide, to_imports_of_files_of_others_shows_what_its_commands_print) {
  if (data_folder().empty()) GTEST_SKIP() << "PODSIM_DATA names no folder with ingest/";
  expect_page_of_today("import-examples.md", 15);
}

}  // namespace
}  // namespace podsim::guide_test
