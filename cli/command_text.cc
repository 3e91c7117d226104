// Reads the tree of verbs and options that CLI11 keeps.
#include "cli/command_text.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "engine/spelling.h"
#include "engine/words.h"

namespace podsim {
namespace {

// CLI11 writes what an option takes as "NAME", "NAME:{one,other}" or "NAME:INT in [0 - 9]".
void read_type(const std::string& type, OptionText& option) {
  const std::size_t colon = type.find(':');
  option.value = type.substr(0, colon);
  if (colon == std::string::npos) return;
  const std::string rest = type.substr(colon + 1);
  if (rest.front() == '{' && rest.back() == '}') {
    option.choices = split(rest.substr(1, rest.size() - 2), ',');
  } else {
    option.limit = rest;
  }
}

OptionText describe_option(const CLI::Option& parsed) {
  OptionText option;
  for (const std::string& name : parsed.get_snames()) option.flags.push_back("-" + name);
  for (const std::string& name : parsed.get_lnames()) option.flags.push_back("--" + name);
  if (parsed.get_type_size() != 0) read_type(parsed.get_type_name(), option);
  if (parsed.get_positional()) option.value = parsed.get_name(true);
  option.default_value = parsed.get_default_str();
  option.description = parsed.get_description();
  option.required = parsed.get_required();
  option.repeated = parsed.get_expected_max() > 1;
  return option;
}

VerbText describe_verb(const CLI::App& app) {
  VerbText verb{app.get_name(), app.get_description(), app.get_footer(), {}};
  for (const CLI::Option* option : app.get_options()) verb.options.push_back(describe_option(*option));
  return verb;
}

}  // namespace

CommandText describe(const CLI::App& app) {
  CommandText command{describe_verb(app), {}};
  for (const CLI::App* verb : app.get_subcommands({})) command.verbs.push_back(describe_verb(*verb));
  for (VerbText& verb : command.verbs) {
    for (OptionText& option : verb.options) {
      if (option.value == "VERB") option.choices = verb_names(command);
    }
  }
  return command;
}

std::vector<std::string> verb_names(const CommandText& command) {
  std::vector<std::string> names;
  for (const VerbText& verb : command.verbs) names.push_back(verb.name);
  return names;
}

std::vector<std::string> flag_names(const VerbText& verb) {
  std::vector<std::string> names;
  for (const OptionText& option : verb.options)
    names.insert(names.end(), option.flags.begin(), option.flags.end());
  return names;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string close = closest_name(word, candidates);
  return close.empty() ? "" : "; did you mean \"" + close + "\"?";
}

const VerbText* find_verb(const CommandText& command, const std::string& name) {
  const auto found = std::find_if(command.verbs.begin(), command.verbs.end(),
                                  [&](const VerbText& verb) { return verb.name == name; });
  return found == command.verbs.end() ? nullptr : &*found;
}

std::string unknown_verb(const CommandText& command, const std::string& name) {
  return "unknown verb \"" + name + "\"" + did_you_mean(name, verb_names(command));
}

}  // namespace podsim
