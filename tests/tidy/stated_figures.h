// Figures that pages state of podsim itself, and where each comes from: docs/evidence/figures.csv.
#pragma once

#include <string>
#include <vector>

namespace podsim::testing {

// A sentence of a page with one figure in braces, "half are within {3.1} %", and its origin. Compared with a
// file:
//   "cell"    the table under the heading `section` of the page `file`, its `row` (first column) and `column`
//   "rows"    how many rows the tables `file` have (joined by |), of those with `column` = `row` where given
//   "fitted"  how many numbers of the catalogue's chips, fabrics and stacks a comment calls fitted
//   "report"  the first field `row` of the expected report `file`, in the unit `column` ("s" of picoseconds)
//   "text"    the file `file` says `section`, in which the figure stands: a test, a default, a comment
//             on data
// Not compared, since `section` says all there is:
//   "cited"   somebody else's measurement: whose
//   "noted"   measured with podsim when the page was written: of what
//   "given"   no measurement: a definition, an example, arithmetic
struct StatedFigure {
  int line = 0;  // of the list
  std::string page, sentence, origin, file, section, row, column;

  std::string figure() const;   // what stands in the braces
  std::string text() const;     // the sentence as the page has it
  std::string problem() const;  // of the braces; empty where there are exactly two
};

// The list under `root`. Throws std::runtime_error where it cannot be read.
std::vector<StatedFigure> stated_figures(const std::string& root);

// What the origin says, to the digits that the figure has. Throws std::runtime_error where there is none.
std::string origin_of(const StatedFigure& stated, const std::string& root);

// A page with line ends and runs of blanks as one blank.
std::string flowing_text(const std::string& path);

// Percentages of a page (code blocks left out, and tables where asked for), each with some words around it,
// that no sentence of `stated` covers.
std::vector<std::string> uncovered_percentages(const std::string& path, bool tables,
                                               const std::vector<StatedFigure>& stated);

// README.md and every page of docs, by their paths under `root`, sorted.
std::vector<std::string> all_pages(const std::string& root);

}  // namespace podsim::testing
