// Makes figures; nothing here knows one of them.
#include "report/figures/figure.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace podsim {

Figure::Figure(std::string key_, FigureValue value_) : key(std::move(key_)), value(std::move(value_)) {
  if (std::holds_alternative<Time>(value)) unit = "s";
}

Figure Figure::group(std::string key, std::vector<Figure> parts) {
  Figure figure(std::move(key), {});
  figure.shape = Shape::kGroup;
  figure.parts = std::move(parts);
  return figure;
}

Figure Figure::list(std::string key, std::vector<Figure> elements) {
  Figure figure = group(std::move(key), std::move(elements));
  figure.shape = Shape::kList;
  return figure;
}

Figure Figure::by_name(std::string key, std::vector<Figure> elements) {
  Figure figure = group(std::move(key), std::move(elements));
  figure.shape = Shape::kByName;
  return figure;
}

Figure Figure::field(int number) && {
  std::string name = key;
  if (key.ends_with("_s") && (unit == "s")) name.replace(name.size() - 1, 1, "ps");
  return std::move(*this).field(std::move(name), number);
}

Figure Figure::field(std::string name, int number) && {
  field_name = std::move(name);
  field_number = number;
  return std::move(*this);
}

Figure Figure::message(std::string type) && {
  message_type = std::move(type);
  return std::move(*this);
}

Figure Figure::not_when_zero() && {
  left_out_when_zero = true;
  return std::move(*this);
}

Figure Figure::not_in_json() && {
  in_json = false;
  return std::move(*this);
}

Figure Figure::column(int place) && { return std::move(*this).column(place, ""); }

Figure Figure::column(int place, std::string name) && {
  column_place = place;
  column_name = std::move(name);
  return std::move(*this);
}

Figure Figure::row(std::string label_, std::string text_) && {
  label = std::move(label_);
  text = std::move(text_);
  return std::move(*this);
}

Figure Figure::is(std::string unit_, std::string definition_) && {
  unit = std::move(unit_);
  return std::move(*this).is(std::move(definition_));
}

Figure Figure::is(std::string definition_) && {
  definition = std::move(definition_);
  return std::move(*this);
}

bool is_zero_or_empty(const FigureValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text ? text->empty()
              : value == FigureValue() || value == FigureValue(0) || value == FigureValue(Time());
}

FigureValue known(const std::optional<double>& value) { return value ? FigureValue(*value) : FigureValue(); }

std::vector<Figure> rows_of(std::vector<Figure> figures) {
  std::erase_if(figures, [](const Figure& figure) { return figure.label.empty(); });
  std::stable_sort(figures.begin(), figures.end(),
                   [](const Figure& a, const Figure& b) { return a.column_place < b.column_place; });
  return figures;
}

namespace {

// Of a value; nothing for words, truths and what is not known.
std::optional<double> number_of(const FigureValue& value) {
  return std::visit(
      [](const auto& known) -> std::optional<double> {
        using Value = std::decay_t<decltype(known)>;
        if constexpr (std::is_same_v<Value, Time>) return known.in_seconds();
        if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>)
          return static_cast<double>(known);
        return std::nullopt;
      },
      value);
}

void add_number_paths(const std::vector<Figure>& figures, const std::string& before,
                      std::vector<std::string>& paths) {
  for (const Figure& figure : figures) {
    if (!figure.in_json) continue;
    if (figure.shape == Figure::Shape::kValue && number_of(figure.value))
      paths.push_back(before + figure.key);
    if (figure.shape == Figure::Shape::kGroup)
      add_number_paths(figure.parts, before + figure.key + ".", paths);
  }
}

}  // namespace

std::vector<std::string> number_paths(const std::vector<Figure>& figures) {
  std::vector<std::string> paths;
  add_number_paths(figures, "", paths);
  return paths;
}

std::optional<double> number_at(const std::vector<Figure>& figures, std::string_view path) {
  const std::size_t dot = path.find('.');
  for (const Figure& figure : figures) {
    if (!figure.in_json || figure.key != path.substr(0, dot)) continue;
    if (dot != std::string_view::npos) return number_at(figure.parts, path.substr(dot + 1));
    return number_of(figure.value);
  }
  return std::nullopt;
}

void append(std::vector<Figure>& figures, std::vector<Figure> more) {
  figures.insert(figures.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace podsim
