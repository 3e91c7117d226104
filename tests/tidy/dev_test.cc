// What ./dev tells of tests: how many passed, failed and were skipped; and what it builds.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace podsim {
namespace {

// What a script prints that has these functions of ./dev.
std::string printed(const std::vector<std::string>& functions, const std::string& script) {
  std::string lines = "set -eu; eval \"$(sed -n";
  for (const std::string& function : functions) lines += " -e '/^" + function + "()/,/^}/p'";
  setenv("script", (lines + " \"$dev\")\"\n" + script).c_str(), 1);
  setenv("dev", PODSIM_SOURCE_DIR "/dev", 1);
  std::string text;
  std::FILE* pipe = popen("exec bash -c \"$script\"", "r");
  for (int c = 0; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  if (pipe != nullptr) pclose(pipe);
  return text;
}

// The counts that the functions of ./dev take from what ctest printed.
std::string counted(const std::string& ctest_output) {
  setenv("output", ctest_output.c_str(), 1);
  return printed({"test_build", "count"},
                 "root=$(mktemp -d) passed=0 failed=0 skipped=0; mkdir $root/build\n"
                 "build() { :; }; ctest() { printf '%s' \"$output\"; }; test_build tests all >/dev/null\n"
                 "rm -r $root; echo \"$passed passed, $failed failed, $skipped skipped\"");
}

// What `./dev build WORDS` gives to CMake.
std::string built(const std::string& words) {
  return printed({"command_build"},
                 "packages=() test_packages=(); require() { :; }; build() { echo \"$@\"; }\n"
                 "command_build " + words);
}

TEST(Dev, builds_the_release_binary_or_that_of_the_preset_or_the_targets_that_are_named) {
  EXPECT_EQ(built(""), "release podsim\n");
  EXPECT_EQ(built("tests"), "tests podsim\n");
  EXPECT_EQ(built("tests swarm golden_test"), "tests swarm golden_test\n");
}

TEST(Dev, counts_skipped_tests_as_skipped) {
  EXPECT_EQ(counted("1/3 Test #1: A.a ...   Passed    0.01 sec\n"
                    "2/3 Test #2: A.b ...***Skipped   0.01 sec\n"
                    "3/3 Test #3: A.c ...***Failed    0.01 sec\n"
                    "\n67% tests passed, 1 tests failed out of 3\n"),
            "1 passed, 1 failed, 1 skipped\n");
  EXPECT_EQ(
      counted("1/1 Test #1: A.a ...   Passed    0.01 sec\n\n100% tests passed, 0 tests failed out of 1\n"),
      "1 passed, 0 failed, 0 skipped\n");
}

TEST(Dev, counts_a_run_without_a_result_as_failed) {
  EXPECT_EQ(counted("No tests were found!!!\n"), "0 passed, 1 failed, 0 skipped\n");
}

}  // namespace
}  // namespace podsim
