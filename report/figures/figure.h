// One published figure: its names in JSON, text format and CSV, its unit, its definition, and its value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/units.h"

namespace podsim {

// Nothing is a figure that is not known: null in JSON, an empty cell in CSV, no field in text format.
using FigureValue =
    std::variant<std::monostate, bool, int, std::int64_t, std::uint64_t, double, Time, std::string>;

// A figure, or several that belong together. Setters return the figure, so that each is one expression.
struct Figure {
  enum class Shape { kValue, kGroup, kList, kByName };

  // A time is in seconds under a key that ends in _s, and in whole picoseconds in a field that ends in _ps.
  Figure(std::string key, FigureValue value);

  // An object of JSON. Where it has a field, a message of text format; else its parts stand beside it there.
  static Figure group(std::string key, std::vector<Figure> parts);

  // A repeated field; in JSON an array. An element is a group or a value without key.
  static Figure list(std::string key, std::vector<Figure> elements);

  // A repeated field, or none; in JSON an object, in which each element has a key that names what it is of.
  static Figure by_name(std::string key, std::vector<Figure> elements);

  // Of proto/report.proto. A dotted name goes through the message of another figure. Without a name it is the
  // key, for times with _ps.
  Figure field(int number) &&;
  Figure field(std::string name, int number) &&;
  Figure message(std::string type) &&;  // of a group, or of the elements of a list
  Figure not_when_zero() &&;            // text format leaves out what is zero or empty
  Figure not_in_json() &&;              // nor in CSV

  // Columns of CSV stand by place, those of one place in the order of the list. Without a name it is the keys
  // that lead to the figure, joined by dots.
  Figure column(int place) &&;
  Figure column(int place, std::string name) &&;

  Figure row(std::string label, std::string text) &&;  // of its section in the tables for a terminal
  Figure is(std::string unit, std::string definition) &&;
  Figure is(std::string definition) &&;  // of times, and of what has no unit

  Shape shape = Shape::kValue;
  std::string key;
  bool in_json = true;
  FigureValue value;
  std::vector<Figure> parts;
  std::string field_name;  // empty: not in text format
  int field_number = 0;
  std::string message_type;
  bool left_out_when_zero = false;
  int column_place = 0;  // 0: not in CSV
  std::string column_name;
  std::string label, text;  // of the row; empty: in no table
  std::string unit, definition;
};

// Place of the columns that not every report has, behind all others.
inline constexpr int kLastColumn = 100;

bool is_zero_or_empty(const FigureValue& value);

// Elements of a list.
template <class Values>
std::vector<Figure> values_of(const Values& values) {
  std::vector<Figure> elements;
  for (const auto& value : values) elements.emplace_back("", value);
  return elements;
}

FigureValue known(const std::optional<double>& value);

// Those with a row in tables, in the order of their columns.
std::vector<Figure> rows_of(std::vector<Figure> figures);

// Numbers by the keys that lead to them in JSON, joined by dots: "memory_per_chip_gib.total". Lists have
// none.
std::vector<std::string> number_paths(const std::vector<Figure>& figures);
// Nothing where there is none, and where it is not known.
std::optional<double> number_at(const std::vector<Figure>& figures, std::string_view path);

// The end of a list gets another one.
void append(std::vector<Figure>& figures, std::vector<Figure> more);

}  // namespace podsim
