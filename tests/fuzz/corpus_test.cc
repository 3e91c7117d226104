// Every input that was ever worth keeping, through the reader that it is for: those that began the search,
// and those that once broke something.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "tests/fuzz/readers.h"

namespace podsim::testing::corpus_test {
namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = PODSIM_SOURCE_DIR "/tests/fuzz/corpus";
constexpr std::uintmax_t kLargest = 16 << 10;

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(FuzzCorpus, every_reader_has_inputs_and_every_input_a_reader) {
  std::set<std::string> folders;
  for (const auto& entry : fs::directory_iterator(kCorpus)) folders.insert(entry.path().filename());
  for (const Reader& reader : readers()) EXPECT_EQ(folders.erase(reader.name), 1u) << reader.name;
  EXPECT_TRUE(folders.empty()) << *folders.begin() << " is no reader";
}

TEST(FuzzCorpus, every_reader_keeps_its_promise_on_its_inputs_and_on_their_beginnings) {
  for (const Reader& reader : readers()) {
    int inputs = 0;
    for (const auto& entry : fs::directory_iterator(kCorpus / reader.name)) {
      SCOPED_TRACE(entry.path().string());
      const std::string bytes = contents(entry.path());
      EXPECT_LE(bytes.size(), kLargest);
      reader.read(bytes);
      for (const std::size_t share : {1, 2, 3}) reader.read(bytes.substr(0, bytes.size() * share / 4));
      ++inputs;
    }
    EXPECT_GE(inputs, 3) << reader.name;
  }
}

}  // namespace
}  // namespace podsim::testing::corpus_test
