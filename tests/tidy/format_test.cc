// Every C++ file is laid out as clang-format 14 does, the version of .clang-format.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace podsim::testing::format_test {
namespace {

// What a command prints, and how it ends.
struct Answer {
  std::string text;
  int status = 0;
};

Answer answer_of(const std::string& command) {
  Answer answer;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {"", -1};
  std::array<char, 4096> part{};
  for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;)
    answer.text.append(part.data(), n);
  answer.status = pclose(pipe);
  return answer;
}

TEST(Format, every_file_is_laid_out_as_by_dev_format) {
  const std::string version = answer_of("clang-format --version 2>&1").text;
  if (version.find("version 14.") == std::string::npos)
    GTEST_SKIP() << "clang-format 14 is not at hand; others lay some lines out differently. Here: "
                 << version;
  const Answer found = answer_of("cd '" PODSIM_SOURCE_DIR
                                 "' && find . -path ./build -prune -o -path './[.]*' -prune -o "
                                 "\\( -name '*.h' -o -name '*.cc' \\) -print0 | xargs -0 clang-format "
                                 "--dry-run -Werror 2>&1 | grep error: ; true");
  EXPECT_EQ(found.text, "") << "run ./dev format";
}

}  // namespace
}  // namespace podsim::testing::format_test
