// Walks figures.
#include "proto/writing/figure_json.h"

#include <type_traits>
#include <utility>
#include <variant>

#include "report/figures/figures.h"

namespace podsim {
namespace {

void add(JsonWriter& json, const Figure& figure) {
  if (!figure.in_json) return;
  if (figure.shape == Figure::Shape::kValue) {
    const auto add_value = [&](const auto& value) {
      if constexpr (std::is_same_v<decltype(value), const std::monostate&>) {
        json.add_null(figure.key);
      } else {
        json.add(figure.key, value);
      }
    };
    std::visit(add_value, figure.value);
    return;
  }
  json.open(figure.key, figure.shape == Figure::Shape::kList ? '[' : '{');
  for (const Figure& part : figure.parts) add(json, part);
  json.close();
}

}  // namespace

Figure result_figure(const std::string& sha256, std::vector<Figure> figures) {
  std::vector<Figure> all = header_figures(sha256);
  append(all, std::move(figures));
  return Figure::group("", std::move(all));
}

std::string json_text(const Figure& whole, JsonNumbers numbers) {
  JsonWriter json(numbers);
  add(json, whole);
  return json.finish();
}

}  // namespace podsim
