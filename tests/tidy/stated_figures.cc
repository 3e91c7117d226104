// Reads the list of stated figures and looks each up where it comes from.
#include "tests/tidy/stated_figures.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "proto/text/csv_table.h"
#include "report/text/text.h"

namespace podsim::testing {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("there is no " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string one_blank(const std::string& text) {
  std::string flowing;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank)
      flowing += c;
    else if (flowing.empty() || flowing.back() != ' ')
      flowing += ' ';
  }
  return flowing;
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> result;
  std::istringstream rest(line.substr(1));
  for (std::string cell; std::getline(rest, cell, '|');) {
    const std::size_t begin = cell.find_first_not_of(' ');
    result.push_back(begin == std::string::npos ? ""
                                                : cell.substr(begin, cell.find_last_not_of(' ') - begin + 1));
  }
  return result;
}

// The lines of the first table behind a heading; the heading is matched by how it begins.
std::vector<std::vector<std::string>> table_under(const std::string& page, const std::string& heading) {
  std::istringstream lines(page);
  std::vector<std::vector<std::string>> table;
  bool below = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) {
      if (!table.empty()) break;
      below = line.substr(line.find_first_not_of("# ")).starts_with(heading);
    } else if (below && line.starts_with("|")) {
      table.push_back(cells(line));
    } else if (!table.empty()) {
      break;
    }
  }
  if (table.size() < 3) throw std::runtime_error("no table under \"" + heading + "\"");
  return table;
}

std::string table_cell(const StatedFigure& stated, const std::string& root) {
  const auto table = table_under(read(root + "/" + stated.file), stated.section);
  const auto column = std::ranges::find(table.front(), stated.column) - table.front().begin();
  for (const auto& row : table)
    if (row.front() == stated.row && static_cast<std::size_t>(column) < row.size())
      return row[static_cast<std::size_t>(column)];
  throw std::runtime_error("no row \"" + stated.row + "\" with a column \"" + stated.column + "\" under \"" +
                           stated.section + "\" of " + stated.file);
}

std::string rows_of(const StatedFigure& stated, const std::string& root) {
  std::size_t count = 0;
  std::istringstream files(stated.file);
  for (std::string file; std::getline(files, file, '|');) {
    const CsvTable table(file, read(root + "/" + file));
    for (const CsvRow& row : table.rows())
      count += stated.column.empty() || table.cell(row, stated.column).text == stated.row ? 1 : 0;
  }
  return std::to_string(count);
}

// Numbers in a line of a catalogue file whose comment, on the line or in the block above it, says "fitted",
// and not that it is assumed as on another chip, where it is fitted.
int fitted_numbers(const std::filesystem::path& file) {
  const std::regex number(":\\s*-?[0-9]");
  const std::regex fitted("fitted", std::regex::icase);
  std::istringstream lines(read(file.string()));
  std::string block;
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t hash = std::min(line.find('#'), line.size());
    const std::string code = line.substr(0, hash), comment = line.substr(hash);
    if (code.find_first_not_of(' ') == std::string::npos) {
      block = comment.empty() ? "" : block + comment;
      continue;
    }
    const std::string& says = comment.empty() ? block : comment;
    if (std::regex_search(says, fitted) && says.find("assumed as") == std::string::npos)
      count += static_cast<int>(std::distance(std::sregex_iterator(code.begin(), code.end(), number), {}));
    block.clear();
  }
  return count;
}

std::string all_fitted_numbers(const std::string& root) {
  int count = 0;
  for (const char* folder : {"chips", "fabrics", "stacks"})
    for (const auto& entry : std::filesystem::directory_iterator(root + "/scenarios/" + folder))
      count += fitted_numbers(entry.path());
  return std::to_string(count);
}

std::string report_field(const StatedFigure& stated, const std::string& root) {
  std::istringstream lines(read(root + "/" + stated.file));
  const std::string begin = stated.row + ": ";
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(begin)) continue;
    const std::string value = line.substr(begin.size()), figure = stated.figure();
    if (stated.column.empty()) return value;
    const std::size_t point = figure.find('.');
    return fixed(std::stod(value) / 1e12, point == std::string::npos ? 0 : figure.size() - point - 1);
  }
  throw std::runtime_error(stated.file + " has no " + stated.row);
}

std::string named_in_text(const StatedFigure& stated, const std::string& root) {
  if (stated.section.find(stated.figure()) == std::string::npos)
    throw std::runtime_error("\"" + stated.section + "\" does not hold the figure");
  if (flowing_text(root + "/" + stated.file).find(stated.section) == std::string::npos)
    throw std::runtime_error(stated.file + " does not say \"" + stated.section + "\"");
  return stated.figure();
}

}  // namespace

std::string StatedFigure::figure() const {
  const std::size_t open = sentence.find('{');
  return sentence.substr(open + 1, sentence.find('}') - open - 1);
}

std::string StatedFigure::text() const {
  std::string plain = sentence;
  std::erase_if(plain, [](char c) { return c == '{' || c == '}'; });
  return plain;
}

std::string StatedFigure::problem() const {
  const bool one = std::ranges::count(sentence, '{') == 1 && std::ranges::count(sentence, '}') == 1 &&
                   sentence.find('{') < sentence.find('}');
  return one ? "" : "one figure stands in braces";
}

std::vector<StatedFigure> stated_figures(const std::string& root) {
  const std::string path = root + "/docs/evidence/figures.csv";
  const CsvTable table(path, read(path));
  for (const Problem& problem : table.problems()) throw std::runtime_error(format_problem(problem));
  std::vector<StatedFigure> list;
  for (const CsvRow& row : table.rows()) {
    const auto cell = [&](const char* column) { return table.cell(row, column).text; };
    list.push_back({row.line, cell("page"), cell("sentence"), cell("origin"), cell("file"), cell("section"),
                    cell("row"), cell("column")});
  }
  return list;
}

std::string origin_of(const StatedFigure& stated, const std::string& root) {
  if (stated.origin == "cell") return table_cell(stated, root);
  if (stated.origin == "rows") return rows_of(stated, root);
  if (stated.origin == "fitted") return all_fitted_numbers(root);
  if (stated.origin == "report") return report_field(stated, root);
  if (stated.origin == "text") return named_in_text(stated, root);
  if (stated.origin != "cited" && stated.origin != "noted" && stated.origin != "given")
    throw std::runtime_error(
        "\"" + stated.origin +
        "\" is no origin: write cell, rows, fitted, report, text, cited, noted or given");
  if (stated.section.empty()) throw std::runtime_error("say in `section` what it is");
  return stated.figure();
}

std::string flowing_text(const std::string& path) { return one_blank(read(path)); }

std::vector<std::string> uncovered_percentages(const std::string& path, bool tables,
                                               const std::vector<StatedFigure>& stated) {
  std::string prose;
  bool code = false;
  std::istringstream lines(read(path));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) code = !code;
    const bool row = line.starts_with("|");
    if (!code && !line.starts_with("    ") && !line.starts_with("```") && (tables || !row))
      prose += line + " ";
  }
  prose = one_blank(prose);
  const std::string whole = prose;  // a figure that is covered may stand in the sentence of another one
  for (const StatedFigure& one : stated)
    if (const std::size_t at = whole.find(one.text()); at != std::string::npos)
      prose.replace(at + one.sentence.find('{'), one.figure().size(), one.figure().size(), '_');
  std::vector<std::string> uncovered;
  const std::regex percent("[0-9][0-9.,]* ?%");
  for (std::sregex_iterator found(prose.begin(), prose.end(), percent); found != std::sregex_iterator();
       ++found) {
    const std::size_t begin = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, found->position() - 60));
    uncovered.push_back(prose.substr(begin, 120));
  }
  return uncovered;
}

std::vector<std::string> all_pages(const std::string& root) {
  std::vector<std::string> pages = {"README.md"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root + "/docs"))
    if (entry.path().extension() == ".md")
      pages.push_back(std::filesystem::relative(entry.path(), root).generic_string());
  std::ranges::sort(pages);
  return pages;
}

}  // namespace podsim::testing
