// Tests of reading files: all bytes whatever the size, and one more than allowed at most.
#include "proto/read_file.h"

#include <gtest/gtest.h>

#include <fstream>

namespace podsim {
namespace {

std::string bytes(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i % 251);
  return text;
}

std::optional<std::string> written_and_read(const std::string& text, std::size_t most_bytes) {
  const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string path = testing::TempDir() + "/podsim_" + test;  // tests run side by side
  std::ofstream(path, std::ios::binary) << text;
  std::vector<Problem> problems;
  const auto read = read_file(path, problems, most_bytes);
  EXPECT_TRUE(problems.empty());
  return read;
}

TEST(ReadFile, has_all_bytes_of_a_file_that_is_not_too_large) {
  for (const std::size_t size : {0, 1, 65535, 65536, 65537, 131072, 300000})
    EXPECT_TRUE(written_and_read(bytes(size), 300000) == bytes(size)) << size;
}

TEST(ReadFile, has_one_byte_more_than_allowed_of_a_file_that_is_too_large) {
  for (const std::size_t most : {0, 10, 65536, 100000})
    for (const std::size_t more : {1, 2, 70000})
      EXPECT_TRUE(written_and_read(bytes(most + more), most) == bytes(most + 1)) << most;
}

TEST(ReadFile, says_why_there_is_nothing) {
  std::vector<Problem> problems;
  EXPECT_FALSE(read_file("no/such/file", problems).has_value());
  EXPECT_FALSE(read_file(testing::TempDir(), problems).has_value());
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].message, "cannot read the file: No such file or directory");
  EXPECT_EQ(problems[1].message, "this is a directory, not a file");
}

}  // namespace
}  // namespace podsim
