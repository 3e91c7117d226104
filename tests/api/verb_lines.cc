// Reads the list, and has other verbs write what some of its lines read.
#include "tests/api/verb_lines.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "api/podsim/podsim.h"

namespace podsim::testing {
namespace {

const std::string kRun = "run scenarios/qwen3_14b_8_h100.textproto --quiet --trace ";
const std::string kSweep =
    "sweep scenarios/qwen3_14b_8_h100.textproto --quiet --over job.global_batch_sequences=16,32 --store ";

void write_by(const std::string& line) {
  const CommandOutput written = command(words_of(line));
  if (written.exit_code != 0) throw std::runtime_error(line + ": " + written.err);
}

}  // namespace

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::vector<VerbLine> verb_lines() {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("podsim_verbs_" + std::to_string(::getpid()));
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string trace = (folder / "steps.csv").string(), store = (folder / "runs.db").string();
  write_by(kRun + trace);
  write_by(kSweep + store);
  std::vector<VerbLine> lines;
  std::ifstream in("tests/api/verb_lines.txt");
  for (std::string text; std::getline(in, text);) {
    for (const auto& [word, path] :
         {std::pair{std::string("TRACE"), trace}, std::pair{std::string("STORE"), store}})
      if (const std::size_t at = text.find(" " + word); at != std::string::npos)
        text.replace(at + 1, word.size(), path);
    lines.push_back({words_of(text).front(), text, text.find("--format json") != std::string::npos});
  }
  return lines;
}

}  // namespace podsim::testing
