// Something the user must fix, and how it reads.
#pragma once

#include <string>

namespace podsim {

// Something the user must fix. Printed by `format_problem` as
//   file:line:column: message
//     source line
//     ^
//     expected ...; did you mean "..."?
struct Problem {
  std::string file;
  int line = 0;    // from 1; 0 = the whole file
  int column = 0;  // from 1
  std::string message;
  std::string source_line;
  std::string hint;  // expected values or the nearest valid name, or empty
  int caret = 0;     // the place in source_line, from 1; 0 = the whole of it
};
std::string format_problem(const Problem& problem);

}  // namespace podsim
