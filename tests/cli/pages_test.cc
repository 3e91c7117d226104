// Pages are true: their commands run and print the lines that the pages show, and the page of commands knows
// every verb.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/command.h"

namespace podsim::first_answers_test {
namespace {

struct Example {
  std::string command;             // without the program's name
  std::vector<std::string> lines;  // "..." = any
};

const std::string kDocs = std::string(PODSIM_SOURCE_DIR) + "/docs";

std::string page(const std::string& name) { return read_file(kDocs + "/" + name); }

std::vector<Example> examples(const std::string& name) {
  std::vector<Example> found;
  std::istringstream lines(page(name));
  bool inside = false, shown = false;  // in a block; behind a command of it
  for (std::string line; std::getline(lines, line);) {
    if (line == "```") {
      inside = !inside;
      shown = false;
    } else if (inside && line.starts_with("$ podsim ")) {
      found.push_back({line.substr(9), {}});
      shown = true;
    } else if (shown) {
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

// Runs every command of a page, holds what it prints against the lines shown, and returns how many there are.
std::size_t hold_examples(const std::string& name) {
  const std::vector<Example> all = examples(name);
  for (const Example& example : all) {
    const CommandResult result = podsim_command(with_program(example.command));
    EXPECT_EQ(result.exit_code, 0) << example.command << "\n" << result.err;
    const std::string printed = "\n" + result.err + result.out;
    std::size_t from = 0;
    for (const std::string& line : example.lines) {
      if (line == "...") continue;
      const std::size_t at = printed.find("\n" + line + "\n", from);
      if (at == std::string::npos) {
        ADD_FAILURE() << name << ": podsim " << example.command << " prints no line\n"
                      << line << "\nbut\n"
                      << printed;
        break;
      }
      from = at + line.size();
    }
  }
  return all.size();
}

std::vector<std::string> all_pages() {
  std::vector<std::string> pages;
  for (const auto& file : std::filesystem::recursive_directory_iterator(kDocs))
    if (file.path().extension() == ".md")
      pages.push_back(std::filesystem::relative(file.path(), kDocs).generic_string());
  std::ranges::sort(pages);
  return pages;
}

TEST(FirstAnswers, every_command_prints_the_lines_that_the_page_shows) {
  EXPECT_EQ(hold_examples("README.md"), 6u);
}

// Examples on files of others, which are not always there, are held by guide_test.cc.
TEST(Pages, commands_print_the_lines_that_are_shown_behind_them) {
  std::size_t count = 0;
  for (const std::string& name : all_pages())
    if (name != "README.md" && name != "guide/import-examples.md") count += hold_examples(name);
  EXPECT_GE(count, 19u);
}

// Blocks of a page that begin with three backquotes alone.
std::vector<std::string> code_blocks(const std::string& name) {
  std::vector<std::string> blocks;
  std::istringstream lines(page(name));
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "```") {
      inside = !inside;
      if (inside) blocks.emplace_back();
    } else if (inside) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

std::string written(const std::string& file, const std::string& text) {
  const std::string path = ::testing::TempDir() + file;
  std::ofstream(path) << text;
  return path;
}

TEST(Pages, scenarios_that_are_written_in_full_are_valid) {
  int count = 0;
  for (const std::string& name : all_pages()) {
    for (const std::string& block : code_blocks(name)) {
      const bool scenario = block.starts_with("cluster {") || block.find("\ncluster {") != std::string::npos;
      // What a command prints is held by the test above.
      if (!scenario || block.starts_with("$ ") || block.find("...") != std::string::npos) continue;
      const CommandResult result = podsim_command("check " + written("in_full.textproto", block));
      EXPECT_EQ(result.exit_code, 0) << name << ":\n" << block << result.err;
      ++count;
    }
  }
  EXPECT_GE(count, 2);
}

TEST(Pages, the_chip_and_the_fabric_that_are_to_be_added_can_be_used) {
  std::string entries;
  for (const std::string& block : code_blocks("guide/scenarios.md"))
    if (block.starts_with("chip {")) entries = block;
  const std::string folder = ::testing::TempDir() + "my/";
  std::filesystem::create_directories(folder);
  written("my/entries.textproto", entries);
  const std::string job = written("my_job.textproto",
                                  "cluster { chip: \"my_card\" chips: 64 fabric: \"my_racks\" "
                                  "usd_per_chip_hour: 2 }\n"
                                  "job { model: \"llama3_8b\" stack: \"torchtitan\" mesh { name: \"fsdp\" "
                                  "size: 64 } sharding: \"fsdp\" global_batch_sequences: 64 "
                                  "sequence_tokens: 2048 }\n");
  const CommandResult result = podsim_command("run " + job + " --catalog " + folder);
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST(FirstAnswers, the_page_of_commands_has_every_verb_and_format) {
  const std::string commands = page("reference/commands.md");
  std::istringstream help(podsim_command("--help").out);
  std::string line;
  do std::getline(help, line);
  while (help && !line.starts_with("Subcommands:"));
  int verbs = 0;
  for (std::string verb; std::getline(help, line) && !line.empty(); ++verbs) {
    std::istringstream(line) >> verb;
    const std::size_t row = commands.find("| `" + verb + "` |");
    ASSERT_NE(row, std::string::npos) << verb;
    const std::string own_row = commands.substr(row, commands.find('\n', row) - row);
    const std::string own_help = podsim_command(verb + " --help").out;
    const std::string formats = "--format TEXT:{table,";
    const std::size_t at = own_help.find(formats);
    std::string others =
        at == std::string::npos
            ? ""
            : own_help.substr(at + formats.size(), own_help.find('}', at) - at - formats.size());
    for (std::size_t comma = 0; (comma = others.find(',', comma)) != std::string::npos; comma += 2)
      others.replace(comma, 1, ", ");
    EXPECT_TRUE(own_row.ends_with(others.empty() ? "| |" : "| " + others + " |")) << own_row;
  }
  EXPECT_EQ(verbs, 31);
}

// The words of a line of Markdown that stand in backquotes.
std::vector<std::string> quoted_words(const std::string& line) {
  std::vector<std::string> words;
  for (std::size_t at = 0; (at = line.find('`', at)) != std::string::npos;) {
    const std::size_t end = line.find('`', at + 1);
    words.push_back(line.substr(at + 1, line.find_first_of(" `", at + 1) - at - 1));
    at = end == std::string::npos ? end : end + 1;
  }
  return words;
}

TEST(FirstAnswers, the_page_of_commands_names_options_of_the_verbs_that_it_says_or_of_run) {
  const std::string commands_page = page("reference/commands.md");
  std::istringstream commands(commands_page);
  int options = 0;
  for (std::string line; std::getline(commands, line);) {
    if (!line.starts_with("| `--")) continue;
    std::vector<std::string> verbs;
    for (const std::string& word : quoted_words(line))
      if (commands_page.find("| `" + word + "` |") != std::string::npos) verbs.push_back(word);
    if (verbs.empty()) verbs = {"run"};
    for (const std::string& option : quoted_words(line)) {
      if (!option.starts_with("--")) continue;
      ++options;
      for (const std::string& verb : verbs)
        EXPECT_NE(podsim_command(verb + " --help").out.find(option), std::string::npos)
            << verb << " " << option;
    }
  }
  EXPECT_GE(options, 12);
}

}  // namespace
}  // namespace podsim::first_answers_test
