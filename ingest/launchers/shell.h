// The commands of a shell script, with the variables that it sets expanded; nothing is run.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "proto/text/document.h"

namespace podsim {

struct ShellWord {
  std::string text;  // what stays unknown keeps its "$NAME"
  TextPosition at = {0, 0};
};

struct ShellScript {
  std::vector<std::vector<ShellWord>> commands;  // in order, without assignments
  std::map<std::string, std::string> variables;  // as they are at the end
  // Options of "#SBATCH --nodes=4" lines, by name without hyphens.
  std::map<std::string, std::string> batch;
};

// Understands quotes, comments, lines that go on, NAME=value, NAME+=value, arrays, ${NAME}, ${NAME:-value},
// ${NAME:+value}, ${NAME[@]} and $((sums)); redirections are no words of a command. `given` replaces what the
// script sets. Commands in conditions and loops are taken as if they ran once. Problems: a quote, bracket or
// array that is not closed.
ShellScript read_shell(Document& document, const std::map<std::string, std::string>& given);

// Whether a word is nothing but one thing that the script does not say: "$NAME", "$@", "${NAME}",
// "$(a command)".
bool is_unknown_word(std::string_view word);

// Whether a script reads a variable: $NAME, ${NAME...}, or in a sum.
bool reads_variable(std::string_view text, std::string_view name);

}  // namespace podsim
