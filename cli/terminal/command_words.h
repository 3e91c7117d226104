// The words of the command that runs.
#pragma once

#include <string>
#include <vector>

namespace podsim {

// While one lives, these are the words of the command that runs in this thread, after the program's name.
class CommandWords {
 public:
  explicit CommandWords(const std::vector<std::string>& words);
  ~CommandWords();
  CommandWords(const CommandWords&) = delete;
  CommandWords& operator=(const CommandWords&) = delete;

  static const std::vector<std::string>* current();  // nullptr where none runs

 private:
  const std::vector<std::string>* outer_;
};

// As one would type it.
std::string in_shell(const std::string& word);

}  // namespace podsim
