// Checks of single JSON values, with messages.
#include "proto/text/json_values.h"

#include <algorithm>
#include <cmath>

#include "engine/spelling.h"
#include "proto/text/assign.h"
#include "report/text/text.h"

namespace podsim {
namespace {

std::string describe(JsonKind kind) {
  switch (kind) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBoolean:
      return "true or false";
    case JsonKind::kNumber:
      return "a number";
    case JsonKind::kString:
      return "a text";
    case JsonKind::kArray:
      return "a list";
    case JsonKind::kObject:
      return "an object";
  }
  return "";
}

}  // namespace

std::string JsonValues::path(std::int32_t value) const {
  std::string path;
  for (std::int32_t around = 0; around != value;) {
    std::int32_t inside = tree_.first_inside(around);
    int number = 0;
    for (; tree_.after(inside) <= value; inside = tree_.after(inside)) ++number;
    const std::int32_t key = tree_.at(inside).key;
    path = key < 0 ? path + "[" + std::to_string(number) + "]" : join_path(path, tree_.texts[key]);
    around = inside;
  }
  return path.empty() ? "the case" : path;
}

void JsonValues::report(std::int32_t value, const std::string& message, const std::string& hint) {
  if (full()) return;
  if (value == kMissing)
    return document_.report_at(document_.position(0), "what is missing " + message, hint);
  const JsonTree::Value& at = tree_.at(value);
  document_.report_at(document_.position(at.key < 0 ? at.offset : at.key_offset), path(value) + " " + message,
                      hint);
}

void JsonValues::report_missing(std::int32_t object, const std::string& key) {
  if (!full())
    document_.report_at(document_.position(tree_.at(object).offset),
                        path(object) + " has no \"" + key + "\"");
}

bool JsonValues::expect(std::int32_t value, JsonKind kind, const std::string& what) {
  if (is(value, kind)) return true;
  report(value, "must be " + what + ", not " + describe(tree_.at(value).kind));
  return false;
}

std::optional<std::vector<std::int32_t>> JsonValues::object(std::int32_t value,
                                                            const std::vector<std::string>& keys) {
  if (value == kMissing || !expect(value, JsonKind::kObject, "an object")) return std::nullopt;
  std::vector<std::int32_t> found(keys.size(), kMissing), given(keys.size(), 0);
  for (std::int32_t v = tree_.first_inside(value); v < tree_.after(value); v = tree_.after(v)) {
    const std::string& key = tree_.texts[tree_.at(v).key];
    const auto known = std::find(keys.begin(), keys.end(), key);
    if (known == keys.end()) {
      if (!full())
        document_.report_at(document_.position(tree_.at(v).key_offset),
                            "unknown key \"" + key + "\" in " + path(value), suggest(key, keys, "its keys"));
      continue;
    }
    const auto position = static_cast<std::size_t>(known - keys.begin());
    if (given[position]++ > 0) report(v, "is given twice");
    if (!is(v, JsonKind::kNull)) found[position] = v;
  }
  return found;
}

std::vector<std::int32_t> JsonValues::array(std::int32_t value) {
  std::vector<std::int32_t> values;
  if (value == kMissing || !expect(value, JsonKind::kArray, "a list")) return values;
  for (std::int32_t v = tree_.first_inside(value); v < tree_.after(value); v = tree_.after(v))
    values.push_back(v);
  return values;
}

std::optional<double> JsonValues::number(std::int32_t value, double least, double most) {
  if (value == kMissing || !expect(value, JsonKind::kNumber, "a number")) return std::nullopt;
  const double number = tree_.at(value).number;
  if (number >= least && number <= most) return number;
  report(value, "must be from " + shortest(least) + " to " + shortest(most) + ", not " + shortest(number));
  return std::nullopt;
}

std::optional<std::int32_t> JsonValues::index(std::int32_t value, std::int32_t end, const std::string& what) {
  if (value == kMissing || !expect(value, JsonKind::kNumber, what)) return std::nullopt;
  const double number = tree_.at(value).number;
  if (number >= 0 && number < end && number == std::floor(number)) return static_cast<std::int32_t>(number);
  report(value, "must be " + what + ", " +
                    (end > 0 ? "0 .. " + std::to_string(end - 1) : std::string("of which there is none")) +
                    ", not " + shortest(number));
  return std::nullopt;
}

std::optional<std::string> JsonValues::text(std::int32_t value) {
  if (value == kMissing || !expect(value, JsonKind::kString, "a text")) return std::nullopt;
  return tree_.texts[tree_.at(value).text];
}

std::optional<bool> JsonValues::boolean(std::int32_t value) {
  if (value == kMissing || !expect(value, JsonKind::kBoolean, "true or false")) return std::nullopt;
  return tree_.at(value).number != 0;
}

}  // namespace podsim
