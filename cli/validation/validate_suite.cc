// Runs commands within the program and reads figures off their answers.
#include "cli/validation/validate_suite.h"

#include <spdlog/spdlog.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "cli/validation/json_figure.h"

namespace podsim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWholeFile = ".csv";

// A command's words, or why it cannot be run here.
struct Words {
  std::vector<std::string> words;
  std::string missing;
};

// "$PODSIM_DATA/traces/a.csv" with the variable's value.
std::string expanded(const std::string& word, std::string& missing) {
  const std::size_t slash = std::min(word.find('/'), word.size());
  const std::string name = word.substr(1, slash - 1);
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) {
    missing = name + " is not set";
    return word;
  }
  const std::string path = value + word.substr(slash);
  if (!fs::exists(path)) missing = name + " has no " + word.substr(std::min(slash + 1, word.size()));
  return path;
}

Words words_of(const std::string& command, const std::string& folder) {
  Words result;
  std::istringstream text(command);
  for (std::string word; text >> word;) {
    if (word.front() == '$') {
      word = expanded(word, result.missing);
    } else if (fs::exists(fs::path(folder) / word)) {
      word = (fs::path(folder) / word).string();
    }
    result.words.push_back(word);
  }
  result.words.insert(result.words.end(), {"--format", "json"});
  return result;
}

// What a command answers.
struct Answer {
  std::optional<JsonAnswer> json;
  Verdict verdict = Verdict::kFail;  // without an answer
  std::string reason;
};

thread_local bool at_command = false;

int run_row(RunCommand run_command, const std::vector<std::string>& words) {
  at_command = true;
  const int exit_code = run_command(words);
  at_command = false;
  return exit_code;
}

Answer answer_of(const std::string& commands, const std::string& folder, RunCommand run_command) {
  std::vector<std::string> texts;
  for (std::size_t begin = 0; begin < commands.size();) {
    const std::size_t end = std::min(commands.find(" ; ", begin), commands.size());
    const Words words = words_of(commands.substr(begin, end - begin), folder);
    if (!words.missing.empty()) return {std::nullopt, Verdict::kSkipped, words.missing};
    const CollectedOutput output;
    const int exit_code = run_row(run_command, words.words);
    if (exit_code != kDone)
      return {std::nullopt, Verdict::kFail, "the command ends with exit code " + std::to_string(exit_code)};
    texts.push_back(output.text());
    begin = std::min(end + 3, commands.size());
  }
  return {JsonAnswer(texts), Verdict::kPass, ""};
}

SuiteResult without_figure(const SuiteRow& row, Verdict verdict, const std::string& reason) {
  SuiteResult result;
  result.row = row;
  result.verdict = verdict;
  result.reason = reason;
  return result;
}

}  // namespace

std::optional<std::string> find_suite(const std::string& name) {
  if (name.ends_with(kWholeFile)) return name;
  const fs::path file = fs::path("scenarios") / name / "suite.csv";
  std::error_code error;
  std::vector<fs::path> roots = {fs::current_path(error)};
  for (fs::path at = fs::read_symlink("/proc/self/exe", error); at.has_relative_path(); at = at.parent_path())
    roots.push_back(at.parent_path());
  for (const fs::path& root : roots)
    if (fs::exists(root / file)) return (root / file).string();
  spdlog::error("there is no {} here or above the program: give the file as --suite PATH.csv", file.string());
  return std::nullopt;
}

bool in_suite() { return at_command; }

std::vector<SuiteResult> run_suite(const std::vector<SuiteRow>& rows, const std::string& folder,
                                   RunCommand run_command) {
  std::map<std::string, Answer> answers;
  std::vector<SuiteResult> results;
  for (const SuiteRow& row : rows) {
    if (row.command.empty()) {
      results.push_back(without_figure(row, Verdict::kNone, row.note));
      continue;
    }
    auto known = answers.find(row.command);
    if (known == answers.end())
      known = answers.emplace(row.command, answer_of(row.command, folder, run_command)).first;
    const Answer& answer = known->second;
    results.push_back(answer.json
                          ? judge(row, [&](const std::string& path) { return answer.json->figure(path); })
                          : without_figure(row, answer.verdict, answer.reason));
  }
  return results;
}

}  // namespace podsim
