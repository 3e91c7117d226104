// Pages of results to files.
#pragma once

#include <string>
#include <vector>

#include "proto/pages/page.h"

namespace CLI {
class App;
}

namespace podsim {

// The words of the command that runs in this thread, which pages name as what made them.
class CommandWords {
 public:
  explicit CommandWords(const std::vector<std::string>& words);
  ~CommandWords();
  CommandWords(const CommandWords&) = delete;
  CommandWords& operator=(const CommandWords&) = delete;

 private:
  const std::vector<std::string>* outer_;
};

void add_html_option(CLI::App& verb, std::string& path);

// Writes the page, with the command and the text of the scenario `file`, where there is one that is no
// standard input. Says on standard error when its pictures are still.
void write_page(Page page, const std::string& file, const std::string& path);

}  // namespace podsim
