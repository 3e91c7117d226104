// Files of other tools that are not part of the repository, against the figures that lie beside them; and
// these and our own with damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "tests/ingest/expected_figures.h"

namespace podsim::others_test {
namespace {

using namespace expected_figures;

TEST(FilesOfOthers, give_the_figures_that_lie_beside_them) {
  const std::vector<Case> cases = cases_below(data_folder() + "/ingest");
  if (cases.empty()) GTEST_SKIP() << "PODSIM_DATA names no folder with ingest/";
  for (const Case& each : cases) {
    SCOPED_TRACE(each.figures);
    const std::vector<InputText> texts = texts_of(each.files);
    if (texts.empty() && each.refused) continue;  // an empty file has no kind
    ASSERT_FALSE(texts.empty());
    std::vector<Problem> problems;
    const auto imported = import_files(texts, each.stated, problems);
    EXPECT_EQ(imported.has_value(), !each.refused);
    EXPECT_EQ(imported.has_value(), problems.empty())
        << (problems.empty() ? "" : format_problem(problems.front()));
    std::string difference;
    if (!imported) continue;
    EXPECT_TRUE(same(each.expected, figures_of(*imported), difference)) << difference;
  }
}

std::string problem_of(const std::string& text) { return import_damaged("file", text).problem; }

TEST(TextsOfOthers, with_bytes_that_no_text_has_are_refused_with_the_place) {
  const std::string tree = "SwitchName=s0 Nodes=n[1-2]\n# caf\u00e9\n";
  EXPECT_TRUE(import_damaged("file", tree).read);
  EXPECT_NE(problem_of(tree + "#\x01\n").find("file:3:2: a byte that no text has, 0x01"), std::string::npos);
  EXPECT_NE(problem_of("SwitchName=s0 Nodes=n1\xff\n").find("file:1:23: a byte that no text has, 0xff"),
            std::string::npos);
}

TEST(TextsOfOthers, of_lines_say_where_the_last_one_has_no_end) {
  std::vector<Problem> problems;
  const auto whole = import_files({{"f", "SwitchName=s0 Nodes=n[1-2]\n"}}, {}, problems);
  const auto cut =
      import_files({{"f", "SwitchName=s0 Nodes=n[1-2]\nSwitchName=s1 Switches=s0"}}, {}, problems);
  ASSERT_TRUE(whole && cut);
  EXPECT_TRUE(whole->notes.empty());
  ASSERT_EQ(cut->notes.size(), 1u);
  EXPECT_EQ(cut->notes[0].substr(0, 4), "f:2:");
}

// Cut at random places and with one random byte changed, so many times each: an answer or a problem with
// words, never both and never neither. A form that has an end is never read whole where it is cut; what was
// read of one that has none is told in words that end up in the answer.
void expect_answer_or_problem(const std::string& file, int times, std::mt19937_64& random) {
  SCOPED_TRACE(file);
  const std::string whole = bytes_of(file);
  if (whole.empty()) return;
  const auto damage = [&](const std::string& bytes) {
    const Damaged damaged = import_damaged(file, bytes);
    EXPECT_NE(damaged.read, !damaged.problem.empty()) << damaged.problem;
    return damaged;
  };
  const bool has_end = whole.front() == '{' || whole.front() == '<' || whole.starts_with("\x1f\x8b");
  for (int i = 0; i < times; ++i) {
    const std::size_t cut = random() % whole.size();
    const bool only_blanks_lost = whole.find_first_not_of(" \t\r\n", cut) == std::string::npos;
    EXPECT_FALSE(damage(whole.substr(0, cut)).read && has_end && !only_blanks_lost)
        << "the first " << cut << " bytes look whole";
    std::string changed = whole;
    changed[random() % whole.size()] = static_cast<char>(random() % 256);
    damage(changed);
  }
}

TEST(FilesOfOurOwn, with_damage_are_refused_or_read_and_never_stop_the_reader) {
  constexpr int kTimes = 50;
  std::mt19937_64 random(31);
  int files = 0;
  for (const char* folder :
       {"chakra_traces", "hlo_modules", "imports", "kineto_profiles", "nccl_tests", "stablehlo_modules"}) {
    std::vector<std::string> found;
    for (const auto& entry :
         std::filesystem::directory_iterator(PODSIM_SOURCE_DIR "/tests/fuzz/corpus/" + std::string(folder)))
      found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    for (const std::string& file : found) expect_answer_or_problem(file, kTimes, random);
    files += static_cast<int>(found.size());
  }
  EXPECT_GT(files, 30);
}

// PODSIM_DAMAGE says how often each file is damaged in either way: 200 times take an hour of hardly optimised
// code.
TEST(FilesOfOthers, with_damage_are_refused_or_read_and_never_stop_the_reader) {
  const char* asked = std::getenv("PODSIM_DAMAGE");
  const int most = asked != nullptr ? std::atoi(asked) : 200;
  std::mt19937_64 random(32);
  std::string last;
  int files = 0;
  for (const Case& each : cases_below(data_folder() + "/ingest"))
    for (const std::string& file : each.files) {
      if (file == last) continue;
      last = file;
      // Without being asked each file takes a moment.
      const auto bytes = static_cast<int>(std::filesystem::file_size(file));
      const int times = asked != nullptr ? most : std::min(most, 200'000 / (bytes + 1000));
      expect_answer_or_problem(file, times, random);
      ++files;
    }
  if (files == 0) GTEST_SKIP() << "PODSIM_DATA names no folder with ingest/";
}

}  // namespace
}  // namespace podsim::others_test
