// Writes pictures as the scripts of web/page.js read them: marks as columns of numbers.
#include "proto/pages/picture_json.h"

#include <algorithm>
#include <cmath>
#include <map>
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
  constexpr const char* kNames[] = {"box", "cell", "dot", "line", "area", "tick"};
  return kNames[static_cast<int>(shape)];
}

// Of each mark, where any has one.
void add_texts(Json& json, const char* name, const PictureSeries& series, std::string PictureMark::*text) {
  if (std::ranges::none_of(series.marks, [&](const PictureMark& mark) { return !(mark.*text).empty(); }))
    return;
  for (const PictureMark& mark : series.marks) json[name].push_back(mark.*text);
}

// Definitions of the figures that marks show: each stands once in `meanings`, and marks have its place there.
void add_mark_meanings(Json& json, Json& meanings, const PictureSeries& series, const MeaningOf& meaning_of) {
  Json places = Json::array();
  bool any = false;
  for (const PictureMark& mark : series.marks) {
    const std::string meaning = mark.key.empty() || !meaning_of ? "" : meaning_of(mark.key);
    const auto known = std::ranges::find(meanings, Json(meaning));
    places.push_back(meaning.empty() ? -1 : known - meanings.begin());
    if (!meaning.empty() && known == meanings.end()) meanings.push_back(meaning);
    any = any || !meaning.empty();
  }
  if (any) json["meaning"] = std::move(places);
}

Json series_json(const PictureSeries& series) {
  Json x = Json::array(), y = Json::array(), extent = Json::array();
  for (const PictureMark& mark : series.marks) {
    x.push_back(drawn(mark.x));
    y.push_back(drawn(mark.y));
    extent.push_back(drawn(mark.extent));
  }
  Json json = {{"name", series.name}, {"role", series.role}, {"shape", shape_name(series.shape)},
               {"x", std::move(x)},   {"y", std::move(y)},   {"extent", std::move(extent)}};
  constexpr const char* kDots[] = {"circle", "rect", "triangle", "diamond"};
  if (series.dot != DotShape::kCircle) json["dot"] = kDots[static_cast<int>(series.dot)];
  if (!series.note.empty()) json["note"] = series.note;
  add_texts(json, "text", series, &PictureMark::text);
  add_texts(json, "row", series, &PictureMark::row);
  add_texts(json, "more", series, &PictureMark::more);
  return json;
}

Json picture_json(const Picture& picture, const MeaningOf& meaning_of) {
  Json json = {{"id", picture.id},          {"title", picture.title},    {"summary", picture.summary},
               {"x", axis_json(picture.x)}, {"y", axis_json(picture.y)}, {"scale", axis_json(picture.scale)},
               {"series", Json::array()},   {"lines", Json::array()}};
  Json meanings = Json::array();
  for (const PictureSeries& series : picture.series) {
    json["series"].push_back(series_json(series));
    add_mark_meanings(json["series"].back(), meanings, series, meaning_of);
  }
  if (!meanings.empty()) json["meanings"] = std::move(meanings);
  for (const PictureLine& line : picture.lines)
    json["lines"].push_back({{"vertical", line.vertical}, {"at", line.at}, {"text", line.text}});
  return json;
}

// Text that ends no script and begins no element.
std::string inert(const Json& json) {
  const std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string safe;
  for (const char c : text)
    safe += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : c == '&' ? "\\u0026" : std::string(1, c);
  return safe;
}

}  // namespace

std::string pictures_json(std::span<const Picture> pictures, const MeaningOf& meaning_of) {
  Json all = Json::array();
  for (const Picture& picture : pictures) all.push_back(picture_json(picture, meaning_of));
  return inert(all);
}

std::string drawings_json(std::span<const Drawing* const> drawings) {
  Json all = Json::array();
  for (const Drawing* drawing : drawings) {
    Json x = Json::array(), y = Json::array(), names = Json::array(), loads = Json::array(),
         load = Json::array();
    std::map<std::string, std::size_t> known;
    for (const DrawnBox& box : drawing->boxes) {
      x.push_back(drawn(box.x));
      y.push_back(drawn(box.y));
      const std::size_t name_end = std::min(box.text.find(": "), box.text.size());
      names.push_back(box.text.substr(0, name_end));
      const auto [found, added] = known.try_emplace(box.text.substr(name_end), known.size());
      if (added) loads.push_back(found->first);
      load.push_back(found->second);
    }
    all.push_back({{"width", drawing->width},
                   {"height", drawing->height},
                   {"box", {drawing->box_width, drawing->box_height}},
                   {"x", std::move(x)},
                   {"y", std::move(y)},
                   {"names", std::move(names)},
                   {"loads", std::move(loads)},
                   {"load", std::move(load)}});
  }
  return inert(all);
}

}  // namespace podsim
