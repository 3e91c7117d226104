// Files that are whole or not there.
#include "cli/terminal/output.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>

#include "tests/cli/command.h"

namespace podsim::output_test {
namespace {

namespace fs = std::filesystem;

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(WriteWhole, replaces_the_old_content_and_leaves_nothing_beside_it) {
  const fs::path folder = fs::path(temporary_file("mark", "")).parent_path() / "whole";
  fs::create_directories(folder);
  const std::string path = (folder / "report").string();
  write_whole(path, "a long first content");
  write_whole(path, "second");
  EXPECT_EQ(read_file(path), "second");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(WriteWhole, a_folder_that_does_not_exist_is_an_error) {
  EXPECT_THROW(write_whole("no/such/folder/report", "text"), std::runtime_error);
}

TEST(WriteWhole, a_full_disk_is_an_error) {
  EXPECT_THROW(write_whole("/dev/full", std::string(1 << 20, 'x')), std::runtime_error);
}

TEST(EmitEach, names_become_file_names_and_repeated_ones_are_counted) {
  const std::string folder = fs::path(temporary_file("mark", "")).parent_path().string() + "/each/";
  emit_each({{"a", "1"}, {"a", "2"}, {"x/../y z", "3"}}, "json", folder);
  EXPECT_EQ(read_file(folder + "a.json"), "1");
  EXPECT_EQ(read_file(folder + "a-2.json"), "2");
  EXPECT_EQ(read_file(folder + "x_.._y_z.json"), "3");
  EXPECT_EQ(files_in(folder), 3u);
}

TEST(IsFolder, a_trailing_slash_or_an_existing_folder) {
  EXPECT_TRUE(is_folder("not/yet/there/"));
  EXPECT_TRUE(is_folder(fs::path(temporary_file("mark", "")).parent_path().string()));
  EXPECT_FALSE(is_folder("report.json"));
  EXPECT_FALSE(is_folder(""));
}

TEST(Verbose, the_time_of_each_stage_is_told_beside_the_same_report) {
  const std::string run = "run " + small_scenario() + " --format json";
  const CommandResult plain = podsim_command(run), verbose = podsim_command(run + " -v");
  EXPECT_EQ(verbose.out, plain.out);
  EXPECT_EQ(plain.err, "");
  for (const char* stage :
       {"load ", "place and partition", "lower", "plan traffic", "fold", "simulate", "report"})
    EXPECT_NE(verbose.err.find(std::string(" ms  ") + stage), std::string::npos) << stage << "\n"
                                                                                 << verbose.err;
}

TEST(Verbose, is_not_quiet) {
  const CommandResult both = podsim_command("run --quiet --verbose " + small_scenario());
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_NE(both.err.find("--quiet excludes --verbose"), std::string::npos) << both.err;
}

}  // namespace
}  // namespace podsim::output_test
