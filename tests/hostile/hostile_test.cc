// Command lines that are wrong, or only strange: each ends with its exit code and its words, soon and in
// little memory.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "tests/text_lines.h"

namespace podsim::hostile_test {
namespace {

using testing::lines_of;

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(PODSIM_SOURCE_DIR) / "tests" / "hostile";

// Enough for every case by itself; on a machine that does other things besides they take longer than the
// second that they take alone.
constexpr const char* kLimits = "ulimit -v 262144; exec timeout 30 sh -c";
constexpr std::size_t kMostLines = 12;  // of output that a case may hold

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string in_quotes(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// A folder of this process with the inputs of the cases, and the program; gone when it ends.
class Scratch {
 public:
  Scratch() {
    fs::create_directories(path_);
    fs::create_symlink(PODSIM_BINARY, path_ / "podsim");
    fs::create_symlink(fs::path(PODSIM_SOURCE_DIR) / "scenarios", path_ / "scenarios");
    fs::copy(kFolder / "inputs", path_, fs::copy_options::recursive);
    const std::string made = "cd " + in_quotes(path_) + " && sh ./make_inputs";
    made_ = std::system(made.c_str()) == 0;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }
  bool made() const { return made_; }

 private:
  const fs::path path_ = fs::path(::testing::TempDir()) / ("podsim_hostile_" + std::to_string(getpid()));
  bool made_ = false;
};

const Scratch& scratch() {
  static const Scratch folder;
  return folder;
}

// What a command line says, in the form in which the files of cases hold it: lines of standard error after "!
// ", of standard output after "> ", of long output only the first and "> ...", then the exit code after "= ".
std::string said(const std::string& command) {
  const fs::path out = scratch().path() / ".stdout", err = scratch().path() / ".stderr";
  const std::string inside = "PATH=$PWD:$PATH; " + command;
  const std::string line = "cd " + in_quotes(scratch().path()) + " && ( " + kLimits + " " +
                           in_quotes(inside) + " ) >" + in_quotes(out) + " 2>" + in_quotes(err) +
                           " </dev/null";
  const int status = std::system(line.c_str());
  const int exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::string text;
  for (const std::string& one : lines_of(content_of(err))) text += "! " + one + "\n";
  const std::vector<std::string> output = lines_of(content_of(out));
  const bool all = output.size() <= kMostLines;
  for (std::size_t i = 0; i < (all ? output.size() : 1); ++i) text += "> " + output[i] + "\n";
  return text + (all ? "" : "> ...\n") + "= " + std::to_string(exit_code) + "\n";
}

struct Case {
  std::string above;    // comments
  std::string command;  // shell text
  std::string expected;
};

// Cases stand one below the other: comments, "$ command", what it says, a blank line.
std::vector<Case> read_cases(const fs::path& file) {
  std::vector<Case> cases;
  std::string above;
  for (const std::string& line : lines_of(content_of(file))) {
    if (line.rfind("$ ", 0) == 0) {
      cases.push_back({above, line.substr(2), ""});
      above.clear();
    } else if (line.rfind("#", 0) == 0) {
      above += line + "\n";
    } else if (!line.empty() && !cases.empty()) {
      cases.back().expected += line + "\n";
    }
  }
  return cases;
}

std::vector<std::string> files() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder / "cases"))
    names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

class Hostile : public ::testing::TestWithParam<std::string> {};

TEST_P(Hostile, command_lines_say_what_is_wrong) {
  ASSERT_TRUE(scratch().made());
  const fs::path file = kFolder / "cases" / (GetParam() + ".txt");
  const bool update = std::getenv("PODSIM_HOSTILE_UPDATE") != nullptr;
  std::string rewritten;
  for (const Case& one : read_cases(file)) {
    const std::string now = said(one.command);
    rewritten += (rewritten.empty() ? "" : "\n") + one.above + "$ " + one.command + "\n" + now;
    if (!update) {
      EXPECT_EQ(now, one.expected) << one.command << "\nif this is right, run tests/hostile/update";
    }
  }
  if (update) std::ofstream(file, std::ios::binary) << rewritten;
}

INSTANTIATE_TEST_SUITE_P(Verbs, Hostile, ::testing::ValuesIn(files()),
                         [](const ::testing::TestParamInfo<std::string>& each) { return each.param; });

TEST(HostileCases, are_at_least_300_and_of_every_exit_code) {
  std::size_t cases = 0, done = 0, failed = 0, refused = 0, unanswered = 0;
  for (const std::string& name : files()) {
    for (const Case& one : read_cases(kFolder / "cases" / (name + ".txt"))) {
      ++cases;
      const std::string code = one.expected.substr(one.expected.rfind("= ") + 2);
      done += code == "0\n";
      failed += code == "1\n";
      refused += code == "2\n";
      unanswered += code == "3\n";
    }
  }
  EXPECT_GE(cases, 300u);
  EXPECT_EQ(done + failed + refused + unanswered, cases) << "podsim has no other exit codes";
  EXPECT_GT(done, 0u);
  EXPECT_GT(failed, 0u);
  EXPECT_GT(unanswered, 0u);
  EXPECT_GT(refused, 200u);
}

}  // namespace
}  // namespace podsim::hostile_test
