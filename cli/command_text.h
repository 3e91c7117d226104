// What the command line offers, read off its parser: the verbs with their options, for pages and shells.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace podsim {

struct OptionText {
  std::vector<std::string> flags;    // "-h", "--help"; none: it is told by its position
  std::string value;                 // stands for what it takes, such as FILE; empty: it takes nothing
  std::vector<std::string> choices;  // all that it takes, where that is a list
  std::string limit;                 // such as "INT in [0 - 1024]", or empty
  std::string default_value;
  std::string description;
  bool required = false;
  bool repeated = false;

  bool positional() const { return flags.empty(); }
};

struct VerbText {
  std::string name;
  std::string description;
  std::string footer;
  std::vector<OptionText> options;  // in the order of the help text
};

struct CommandText {
  VerbText program;
  std::vector<VerbText> verbs;
};

CommandText describe(const CLI::App& app);

std::vector<std::string> verb_names(const CommandText& command);
std::vector<std::string> flag_names(const VerbText& verb);

// "; did you mean "run"?", or nothing where no candidate is near.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates);

// The verb of that name, or nullptr.
const VerbText* find_verb(const CommandText& command, const std::string& name);

// What to say when there is none.
std::string unknown_verb(const CommandText& command, const std::string& name);

}  // namespace podsim
