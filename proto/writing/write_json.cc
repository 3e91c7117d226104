// A report as JSON, made from the list of figures.
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "proto/writing/json_writer.h"
#include "proto/writing/write.h"
#include "report/figures.h"

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

std::string text_of(const std::string& scenario_sha256, const std::vector<Figure>& figures) {
  JsonWriter json;
  json.open("", '{');
  for (const Figure& figure : header_figures(scenario_sha256)) add(json, figure);
  for (const Figure& figure : figures) add(json, figure);
  json.close();
  return json.finish();
}

}  // namespace

std::string report_json(const Report& report) { return text_of(report.scenario_sha256, figures(report)); }

std::string report_json(const JobsReport& report) { return text_of(report.scenario_sha256, figures(report)); }

}  // namespace podsim
