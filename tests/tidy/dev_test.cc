// What ./dev tells of tests: how many passed, failed and were skipped; and what it builds.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace podsim::dev_test {
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

// The counts that the functions of ./dev take from what ctest printed, and from what the binaries did.
std::string counted(const std::string& ctest_output, const std::string& of_binaries) {
  setenv("output", ctest_output.c_str(), 1);
  setenv("of_binaries", of_binaries.c_str(), 1);
  return printed(
      {"test_build", "cases", "count"},
      "root=$(mktemp -d) passed=0 failed=0 skipped=0; mkdir -p $root/build/tests/Testing/Temporary\n"
      "printf '%s' \"$of_binaries\" >$root/build/tests/Testing/Temporary/LastTest.log\n"
      "build() { :; }; ctest() { printf '%s' \"$output\"; }; test_build tests whole >/dev/null\n"
      "rm -r $root; echo \"$passed passed, $failed failed, $skipped skipped\"");
}

// What `./dev build WORDS` gives to CMake.
std::string built(const std::string& words) {
  return printed({"command_build"},
                 "packages=() test_packages=(); require() { :; }; build() { echo \"$@\"; }\n"
                 "command_build " +
                     words);
}

TEST(Dev, builds_the_release_binary_or_that_of_the_preset_or_the_targets_that_are_named) {
  EXPECT_EQ(built(""), "release podsim\n");
  EXPECT_EQ(built("tests"), "tests podsim\n");
  EXPECT_EQ(built("tests swarm golden_test"), "tests swarm golden_test\n");
}

TEST(Dev, counts_the_cases_of_all_binaries) {
  EXPECT_EQ(counted("100% tests passed, 0 tests failed out of 2\n",
                    "[==========] 5 tests from 2 test suites ran.\n[  PASSED  ] 4 tests.\n"
                    "[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] A.b\n[  PASSED  ] 1 test.\n"),
            "5 passed, 0 failed, 1 skipped\n");
  EXPECT_EQ(
      counted(
          "67% tests passed, 1 tests failed out of 3\n",
          "[  PASSED  ] 4 tests.\n[  FAILED  ] A.c\n[  PASSED  ] 3 tests.\n"
          "[  FAILED  ] 2 tests, listed below:\n[  FAILED  ] A.c\n[  FAILED  ] A.d\n[  PASSED  ] 7 tests.\n"),
      "14 passed, 2 failed, 0 skipped\n");
}

TEST(Dev, counts_a_binary_that_died_as_failed) {
  EXPECT_EQ(
      counted("50% tests passed, 1 tests failed out of 2\n", "[ RUN      ] A.a\n[  PASSED  ] 7 tests.\n"),
      "7 passed, 1 failed, 0 skipped\n");
  EXPECT_EQ(counted("0% tests passed, 2 tests failed out of 2\n",
                    "[ RUN      ] A.a\n[  PASSED  ] 7 tests.\n[  FAILED  ] 1 test, listed below:\n"),
            "7 passed, 2 failed, 0 skipped\n");
}

TEST(Dev, counts_a_run_without_a_result_as_failed) {
  EXPECT_EQ(counted("No tests were found!!!\n", ""), "0 passed, 1 failed, 0 skipped\n");
  EXPECT_EQ(counted("", ""), "0 passed, 1 failed, 0 skipped\n");
}

}  // namespace
}  // namespace podsim::dev_test
