// Writes pictures as the scripts of web/page.js read them: marks as columns of numbers.
#include "proto/pages/picture_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace podsim {
namespace {

using Json = nlohmann::ordered_json;

// Places on a drawing need no more digits than a screen has pixels.
double drawn(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double unit = std::pow(10, 8 - std::floor(std::log10(std::abs(value))));
  return std::round(value * unit) / unit;
}

Json axis_json(const PictureAxis& axis) {
  Json json = {{"label", axis.label}, {"unit", axis.unit}};
  if (!axis.names.empty()) json["names"] = axis.names;
  if (axis.logarithmic) json["log"] = true;
  if (axis.low) json["low"] = *axis.low;
  if (axis.high) json["high"] = *axis.high;
  for (const AxisWindow& window : axis.windows) json["windows"].push_back({window.low, window.high});
  return json;
}

const char* shape_name(MarkShape shape) {
  constexpr const char* kNames[] = {"box", "cell", "dot", "line", "area"};
  return kNames[static_cast<int>(shape)];
}

Json series_json(const PictureSeries& series) {
  Json x = Json::array(), y = Json::array(), extent = Json::array(), text = Json::array();
  bool any_text = false;
  for (const PictureMark& mark : series.marks) {
    x.push_back(drawn(mark.x));
    y.push_back(drawn(mark.y));
    extent.push_back(drawn(mark.extent));
    text.push_back(mark.text);
    any_text = any_text || !mark.text.empty();
  }
  Json json = {{"name", series.name}, {"role", series.role}, {"shape", shape_name(series.shape)},
               {"x", std::move(x)},   {"y", std::move(y)},   {"extent", std::move(extent)}};
  if (any_text) json["text"] = std::move(text);
  return json;
}

Json picture_json(const Picture& picture) {
  Json json = {{"id", picture.id},          {"title", picture.title},    {"summary", picture.summary},
               {"x", axis_json(picture.x)}, {"y", axis_json(picture.y)}, {"scale", axis_json(picture.scale)},
               {"series", Json::array()},   {"lines", Json::array()}};
  for (const PictureSeries& series : picture.series) json["series"].push_back(series_json(series));
  for (const PictureLine& line : picture.lines)
    json["lines"].push_back({{"vertical", line.vertical}, {"at", line.at}, {"text", line.text}});
  return json;
}

}  // namespace

std::string pictures_json(std::span<const Picture> pictures) {
  Json all = Json::array();
  for (const Picture& picture : pictures) all.push_back(picture_json(picture));
  const std::string text = all.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string safe;
  for (const char c : text)
    safe += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : c == '&' ? "\\u0026" : std::string(1, c);
  return safe;
}

}  // namespace podsim
