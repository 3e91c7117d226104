// Files of other tools that are not part of the repository, against the figures that lie beside them; and
// these and our own with damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
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

// Whether a text of this kind has an end, so that a cut shows: brackets, or a list that is closed.
bool has_end(const std::string& bytes) {
  if (bytes.starts_with("\x1f\x8b")) return true;
  const FileKind* kind = file_kind(bytes);
  using enum FileKind::Form;
  return kind != nullptr && (kind->form == kClosed || kind->form == kStream);
}

// Where one of several modules of a file ends, the file may end as well: behind it comments are left at most.
bool between_modules(const std::string& whole, std::size_t cut) {
  const std::size_t next = whole.find("// -----", cut > 8 ? cut - 8 : 0);
  if (next == std::string::npos) return false;
  std::size_t line = whole.rfind('\n', cut) + 1;
  for (; line < next; line = whole.find('\n', line) + 1)
    if (const std::size_t word = whole.find_first_not_of(" \t\r\n", line); whole.compare(word, 2, "//") != 0)
      return false;
  return true;
}

// Cut at random places and with one random byte changed, so many times each: an answer or a problem with
// words, never both and never neither. A form that has an end never gives another answer where it is cut,
// without doubt in words.
void expect_answer_or_problem(const std::string& file, const std::string& whole, int times,
                              std::mt19937_64& random) {
  SCOPED_TRACE(file);
  if (whole.empty()) return;
  const auto damage = [&](const std::string& bytes) {
    const Damaged damaged = import_damaged(file, bytes);
    EXPECT_NE(damaged.read, !damaged.problem.empty()) << damaged.problem;
    return damaged;
  };
  const std::string figures = has_end(whole) ? import_damaged(file, whole).figures : "";
  for (int i = 0; i < times; ++i) {
    const std::size_t cut = random() % whole.size();
    const Damaged part = damage(whole.substr(0, cut));
    EXPECT_FALSE(part.read && !figures.empty() && part.figures != figures && !part.doubted &&
                 !between_modules(whole, cut))
        << "the first " << cut << " bytes look whole";
    std::string changed = whole;
    const std::size_t at = random() % whole.size();
    changed[at] = static_cast<char>(random() % 256);
    SCOPED_TRACE("byte " + std::to_string(at) + " changed");
    damage(changed);
  }
}

// Of what is compressed the text is damaged as well, as nothing else would reach the reader. Returns how many
// texts there were.
int expect_answers_or_problems(const std::string& file, int times, std::mt19937_64& random) {
  const std::string bytes = bytes_of(file);
  expect_answer_or_problem(file, bytes, times, random);
  if (!bytes.starts_with("\x1f\x8b")) return 1;
  const std::vector<InputText> unpacked = texts_of({file});
  if (unpacked.empty()) return 1;
  expect_answer_or_problem(file, unpacked.front().text, times, random);
  return 2;
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
    for (const std::string& file : found) expect_answers_or_problems(file, kTimes, random);
    files += static_cast<int>(found.size());
  }
  EXPECT_GT(files, 30);
}

std::int64_t unpacked_bytes(const std::string& file) {
  std::int64_t bytes = 0;
  for (const InputText& text : texts_of({file})) bytes += static_cast<std::int64_t>(text.text.size());
  return bytes;
}

// PODSIM_DAMAGE says how often each file is damaged in either way; without it as often as takes a moment.
// PODSIM_DAMAGED picks the files whose paths have these letters.
TEST(FilesOfOthers, with_damage_are_refused_or_read_and_never_stop_the_reader) {
  constexpr std::int64_t kBytesOfAMoment = 200'000;
  const char* asked = std::getenv("PODSIM_DAMAGE");
  const char* picked = std::getenv("PODSIM_DAMAGED");
  std::mt19937_64 random(32);
  std::string last;
  int texts = 0;
  std::vector<std::string> files;
  for (const Case& each : cases_below(data_folder() + "/ingest"))
    files.insert(files.end(), each.files.begin(), each.files.end());
  // Figures of this one have no second reading.
  if (const std::string profile = data_folder() + "/ingest/xplane/jax_conv_mi300.xplane.pb.gz";
      std::filesystem::exists(profile))
    files.push_back(profile);
  for (const std::string& file : files) {
    if (file == last || (picked != nullptr && file.find(picked) == std::string::npos)) continue;
    last = file;
    const auto moment =
        static_cast<int>(std::min<std::int64_t>(200, kBytesOfAMoment / (unpacked_bytes(file) + 1000)));
    texts += expect_answers_or_problems(file, asked != nullptr ? std::atoi(asked) : moment, random);
  }
  if (texts == 0) GTEST_SKIP() << "PODSIM_DATA names no folder with ingest/";
}

}  // namespace
}  // namespace podsim::others_test
