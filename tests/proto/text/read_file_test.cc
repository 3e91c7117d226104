// Tests of reading files: all bytes whatever the size, up to the largest that is allowed.
#include "proto/text/read_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "proto/traces/trace_file.h"

namespace podsim::read_file_test {
namespace {

std::string bytes(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i % 251);
  return text;
}

std::optional<std::string> written_and_read(const std::string& text, std::size_t most_bytes,
                                            std::vector<Problem>& problems) {
  const std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string path = ::testing::TempDir() + "/podsim_" + test;  // tests run side by side
  std::ofstream(path, std::ios::binary) << text;
  return read_file(path, problems, most_bytes);
}

TEST(ReadFile, has_all_bytes_of_a_file_that_is_not_too_large) {
  std::vector<Problem> problems;
  for (const std::size_t size : {0, 1, 65535, 65536, 65537, 131072, 300000})
    EXPECT_TRUE(written_and_read(bytes(size), 300000, problems) == bytes(size)) << size;
  EXPECT_TRUE(problems.empty());
}

// Compressed files that are joined are one; without the second part the answer would look whole.
TEST(ReadFile, unpacks_all_parts_of_a_compressed_file) {
  const std::string two(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x2b\x29\xcf\x57\x00\x00\xa2\xc1\xac\x4d\x04\x00\x00\x00", 24);
  const std::string parts(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x2b\x48\x2c\x2a\x29\x06\x00\xfe\xa7\x40\x69\x05\x00\x00\x00",
      25);
  std::vector<Problem> problems;
  EXPECT_EQ(written_and_read(two + parts, 100, problems), "two parts");
  EXPECT_EQ(written_and_read(two + parts + std::string(8, '\0'), 100, problems), "two parts");
  EXPECT_TRUE(problems.empty());
  EXPECT_FALSE(written_and_read(two + "parts", 100, problems));
  EXPECT_FALSE(written_and_read(two + parts.substr(0, 15), 100, problems));
}

TEST(ReadFile, refuses_a_file_that_is_too_large) {
  for (const std::size_t most : {0, 10, 65536, 100000, 1 << 20})
    for (const std::size_t more : {1, 2, 70000}) {
      std::vector<Problem> problems;
      EXPECT_FALSE(written_and_read(bytes(most + more), most, problems).has_value()) << most;
      ASSERT_EQ(problems.size(), 1u) << most;
      EXPECT_EQ(problems[0].message,
                "the file is larger than " + (most == 1 << 20 ? "1 MiB" : std::to_string(most) + " bytes"));
    }
}

TEST(ReadFile, unpacks_what_gzip_has_compressed) {
  const std::string text = bytes(300000), packed = gzipped(text);
  std::vector<Problem> problems;
  EXPECT_TRUE(written_and_read(packed, text.size(), problems) == text);
  EXPECT_EQ(written_and_read(gzipped(""), 100, problems), "");
  EXPECT_TRUE(problems.empty());
  EXPECT_FALSE(written_and_read(packed, text.size() - 1, problems).has_value());
  EXPECT_FALSE(written_and_read(packed.substr(0, packed.size() / 2), text.size(), problems).has_value());
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].message, "the file is larger than 299999 bytes");
  EXPECT_EQ(problems[1].message, "the compressed file is damaged or cut short");
}

TEST(ReadFile, leaves_out_a_byte_order_mark) {
  std::vector<Problem> problems;
  EXPECT_EQ(written_and_read("\xEF\xBB\xBFid,name\n", 100, problems), "id,name\n");
  EXPECT_EQ(written_and_read("id\xEF\xBB\xBF", 100, problems), "id\xEF\xBB\xBF");
}

TEST(ReadFile, refuses_text_of_two_bytes_a_character) {
  for (const std::string mark : {"\xFF\xFE", "\xFE\xFF"}) {
    std::vector<Problem> problems;
    EXPECT_FALSE(written_and_read(mark + "x", 100, problems).has_value());
    EXPECT_EQ(problems.at(0).message, "the text is UTF-16: save it as UTF-8");
  }
}

TEST(ReadFile, knows_the_files_it_has_read_by_other_names_too) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / "podsim_known_inputs";
  fs::create_directories(folder);
  fs::remove(folder / "link");
  const std::string read = folder / "read", other = folder / "other";
  std::ofstream(read) << "x";
  std::ofstream(other) << "x";
  fs::create_symlink(read, folder / "link");
  std::vector<Problem> problems;
  EXPECT_FALSE(is_input(read));
  EXPECT_TRUE(read_file(read, problems).has_value());
  EXPECT_TRUE(is_input(read));
  EXPECT_TRUE(is_input(folder / "link"));
  EXPECT_TRUE(is_input(folder / "." / "read"));
  EXPECT_FALSE(is_input(other));
  EXPECT_FALSE(is_input(folder));
  EXPECT_FALSE(is_input(folder / "none"));
}

TEST(ReadFile, never_reads_a_device_without_end) {
  std::vector<Problem> problems;
  EXPECT_FALSE(read_file("/dev/zero", problems).has_value());
  EXPECT_EQ(problems.at(0).message, "the file is larger than 4 MiB");
}

TEST(ReadFile, says_why_there_is_nothing) {
  std::vector<Problem> problems;
  EXPECT_FALSE(read_file("no/such/file", problems).has_value());
  EXPECT_FALSE(read_file(::testing::TempDir(), problems).has_value());
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].message, "cannot read the file: No such file or directory");
  EXPECT_EQ(problems[1].message, "this is a directory, not a file");
}

}  // namespace
}  // namespace podsim::read_file_test
