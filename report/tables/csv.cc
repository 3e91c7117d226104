// Reports as one spreadsheet: a line per report, the union of their columns.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "report/figures/figures.h"
#include "report/tables/write.h"
#include "report/text/text.h"

namespace podsim {
namespace {

// A figure's cell, and the place of its column.
struct Cell {
  int place;
  std::string column, text;
};

struct CellText {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(double value) const { return shortest(value); }
  std::string operator()(Time value) const { return exact_seconds(value); }
  std::string operator()(const std::string& value) const { return cell_text(value); }
  std::string operator()(auto whole) const { return std::to_string(whole); }
};

// `above` leads to the figures: keys, each with a dot behind it.
void add_cells(std::vector<Cell>& cells, const std::string& above, const std::vector<Figure>& figures) {
  for (const Figure& figure : figures) {
    if (figure.shape == Figure::Shape::kList) {
      for (std::size_t i = 0; i < figure.parts.size(); ++i)
        add_cells(cells, above + figure.key + "[" + std::to_string(i) + "].", figure.parts[i].parts);
    } else if (figure.shape != Figure::Shape::kValue) {
      add_cells(cells, above + figure.key + ".", figure.parts);
    }
    if (figure.column_place == 0) continue;
    const std::string& name = figure.column_name;
    cells.push_back({figure.column_place, name.empty() ? above + figure.key : name,
                     std::visit(CellText(), figure.value)});
  }
}

// The columns that every report has, then those that depend on its mesh and fabric.
std::vector<Cell> cells_of(const std::vector<Figure>& figures) {
  std::vector<Cell> cells;
  add_cells(cells, "", figures);
  std::stable_sort(cells.begin(), cells.end(),
                   [](const Cell& a, const Cell& b) { return a.place < b.place; });
  return cells;
}

std::vector<Cell> cells_of(const Report& report) { return cells_of(figures(report)); }

// What the job has beside its report while the others run.
std::vector<Cell> cells_of(const JobReport& job) {
  std::vector<Cell> cells = cells_of(job.together);
  for (Cell& cell : cells_of(own_figures(job))) cells.push_back(std::move(cell));
  return cells;
}

std::vector<Cell> cells_of(const DetailedReport& detailed) {
  std::vector<Figure> all = figures(*detailed.report);
  append(all, detailed.detail);
  return cells_of(all);
}

std::string csv_of(std::vector<std::vector<Cell>> lines) {
  std::vector<std::string> columns;
  std::vector<std::map<std::string, std::string>> values;
  for (std::vector<Cell>& line : lines) {
    values.emplace_back();
    for (auto& [place, column, value] : line) {
      if (std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
      values.back()[column] = std::move(value);
    }
  }
  std::string text = csv_line(columns);
  for (auto& row : values) {
    std::vector<std::string> cells;
    for (const std::string& column : columns) cells.push_back(row[column]);
    text += csv_line(cells);
  }
  return text;
}

}  // namespace

std::string report_csv(std::span<const Report> reports) {
  std::vector<SpreadsheetLine> lines;
  for (const Report& report : reports) lines.emplace_back(&report);
  return report_csv(lines);
}

std::string report_csv(std::span<const SpreadsheetLine> lines) {
  std::vector<std::vector<Cell>> cells;
  for (const SpreadsheetLine& line : lines)
    cells.push_back(std::visit([](const auto* shown) { return cells_of(*shown); }, line));
  return csv_of(std::move(cells));
}

std::string figures_csv(std::span<const std::vector<Figure>> lines) {
  std::vector<std::vector<Cell>> cells;
  for (const std::vector<Figure>& line : lines) cells.push_back(cells_of(line));
  return csv_of(std::move(cells));
}

}  // namespace podsim
