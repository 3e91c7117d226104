// Every verb says within a process what the program says.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "api/podsim/podsim.h"
#include "tests/api/verb_lines.h"
#include "tests/cli/command.h"

namespace podsim::api_commands_test {
namespace {

namespace fs = std::filesystem;

const std::string kNarrow =
    "--set space.tensor=1,2 --set space.pipeline=1 --set space.context=1 --set space.sharding=fsdp "
    "--set space.recompute=full --threads 1";

// Others that tell people something.
const std::vector<std::string> kTold = {
    "--help",
    "run --help",
    "--version",
    "",
    "rnu scenarios/qwen3_14b_8_h100.textproto",
    "run scenarios/there_is_none.textproto",
    "run scenarios/qwen3_14b_8_h100.textproto --set job.modle=a --set seed=x",
    "run scenarios/qwen3_14b_8_h100.textproto --set seed=2",
    "run scenarios/qwen3_14b_8_h100.textproto --set seed=2 --quiet",
    "run scenarios/qwen3_14b_8_h100.textproto --set seed=2",
    "run scenarios/qwen3_14b_8_h100.textproto --fromat json",
    "run scenarios/qwen3_14b_8_h100.textproto --set job.microbatch_sequences=8 --set job.recompute=none",
};

// Builds of sources that no commit has are told apart by their bytes, and the library is not the program.
std::string without_own_version(std::string text) {
  constexpr std::string_view kMark = " (this one)";
  if (const std::size_t at = text.find(kMark); at != std::string::npos) text.erase(at, kMark.size());
  return text;
}

// Returns the exit code.
int expect_the_same(const std::string& line) {
  CommandResult program = podsim_command(line);
  CommandOutput within = command(testing::words_of(line));
  if (line.starts_with("store ")) {
    program.out = without_own_version(program.out);
    within.out = without_own_version(within.out);
  }
  EXPECT_EQ(within.exit_code, program.exit_code) << line << "\n" << program.err;
  EXPECT_EQ(within.out, program.out) << line;
  EXPECT_EQ(within.err, program.err) << line;
  return program.exit_code;
}

class Command : public ::testing::Test {
 protected:
  Command() : before_(fs::current_path()) { fs::current_path(PODSIM_SOURCE_DIR); }
  ~Command() override { fs::current_path(before_); }

 private:
  const fs::path before_;
};

TEST_F(Command, of_every_verb_answers_as_the_program_does) {
  std::set<std::string> tried = {"certificate"};  // proofs are of the program that wrote them: below
  for (const testing::VerbLine& line : testing::verb_lines()) {
    tried.insert(line.verb);
    EXPECT_EQ(expect_the_same(line.text), 0) << line.text;
  }
  std::set<std::string> verbs;
  bool below = false;
  std::istringstream help(command({"--help"}).out);
  for (std::string text; std::getline(help, text);) {
    if (below && text.size() > 2 && text[2] != ' ') verbs.insert(testing::words_of(text).front());
    if (text.empty()) below = false;
    if (text.starts_with("Subcommands:")) below = true;
  }
  for (const std::string& verb : verbs) EXPECT_TRUE(tried.contains(verb)) << verb << " is not in the list";
}

TEST_F(Command, of_a_search_writes_a_proof_that_holds_in_the_same_program) {
  const std::string proof = temporary_file("proof.jsonl", "");
  const std::string search = "search scenarios/qwen3_14b_8_h100.textproto --quiet " + kNarrow;
  EXPECT_EQ(command(testing::words_of(search + " --certificate " + proof)).exit_code, 0);
  const CommandOutput checked = command({"certificate", "check", proof, "--sample", "1", "--threads", "1"});
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_NE(checked.out.find("the proof holds"), std::string::npos) << checked.out;
}

TEST_F(Command, tells_what_the_program_tells_on_standard_error) {
  for (const std::string& line : kTold) expect_the_same(line);
}

TEST_F(Command, leaves_files_alone_that_it_reads_itself_and_no_others) {
  const std::string file = temporary_file("own.textproto", read_file("scenarios/qwen3_14b_8_h100.textproto"));
  EXPECT_EQ(command({"run", file, "--out", file}).exit_code, 2);
  EXPECT_EQ(command({"run", "scenarios/llama3_70b_512_h100.textproto", "--out", file}).exit_code, 0);
  EXPECT_NE(read_file(file).find("A step takes"), std::string::npos);
}

TEST_F(Command, ends_a_server_where_the_caller_says_so) {
  const std::atomic<bool> stop = true;
  const CommandOutput served = command({"serve", "--port", "0"}, &stop);
  EXPECT_EQ(served.exit_code, 0) << served.err;
  EXPECT_NE(served.out.find("http://localhost:"), std::string::npos) << served.out;
}

TEST_F(Command, ends_a_search_with_the_best_so_far_where_the_caller_says_so) {
  const std::atomic<bool> stop = true;
  const CommandOutput stopped =
      command({"search", "scenarios/qwen3_14b_8_h100.textproto", "--format", "json"}, &stop);
  EXPECT_EQ(stopped.out.find("\"proven\": true"), std::string::npos) << stopped.out;
}

}  // namespace
}  // namespace podsim::api_commands_test
