// Remembers them for each thread.
#include "cli/terminal/command_words.h"

namespace podsim {
namespace {

thread_local const std::vector<std::string>* command_words = nullptr;

}  // namespace

CommandWords::CommandWords(const std::vector<std::string>& words) : outer_(command_words) {
  command_words = &words;
}
CommandWords::~CommandWords() { command_words = outer_; }

const std::vector<std::string>* CommandWords::current() { return command_words; }

std::string in_shell(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_-+=./:,@%") == std::string::npos;
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace podsim
