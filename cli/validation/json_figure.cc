// Walks from the root of an answer to a number.
#include "cli/validation/json_figure.h"

#include <nlohmann/json.hpp>

#include "engine/number_text.h"

namespace podsim {
namespace {

using Json = nlohmann::ordered_json;

// One part of a path: a key, or what stands in brackets.
struct PathPart {
  std::string text;
  bool bracket = false;
};

std::vector<PathPart> parts_of_path(const std::string& path) {
  std::vector<PathPart> parts;
  for (std::size_t at = 0; at < path.size();) {
    const char c = path[at];
    if (c == '.') {
      ++at;
    } else if (c == '[' || c == '"') {
      const std::size_t end = path.find(c == '[' ? ']' : '"', at + 1);
      parts.push_back({path.substr(at + 1, end - at - 1), c == '['});
      at = end == std::string::npos ? path.size() : end + 1;
    } else {
      const std::size_t end = path.find_first_of(".[\"", at);
      parts.push_back({path.substr(at, end - at), false});
      at = std::min(end, path.size());
    }
  }
  return parts;
}

// Whether a value is written like this: numbers by their value, text by its letters.
bool equals(const Json& value, const std::string& text) {
  if (value.is_string()) return value.get<std::string>() == text;
  if (value.is_boolean()) return text == (value.get<bool>() ? "true" : "false");
  return value.is_number() && whole_text_as<double>(text) == value.get<double>();
}

// "slice_chips=256,policy=any_cubes"
bool has_values(const Json& element, const std::string& conditions) {
  for (std::size_t begin = 0; begin <= conditions.size();) {
    const std::size_t end = std::min(conditions.find(',', begin), conditions.size());
    const std::size_t equal = conditions.find('=', begin);
    if (equal >= end || !element.is_object()) return false;
    const auto found = element.find(conditions.substr(begin, equal - begin));
    if (found == element.end() || !equals(*found, conditions.substr(equal + 1, end - equal - 1)))
      return false;
    begin = end + 1;
  }
  return true;
}

std::string keys_of(const Json& object) {
  std::string keys;
  for (const auto& [key, value] : object.items()) keys += (keys.empty() ? "" : ", ") + key;
  return keys;
}

// Null where there is no such element, or more than one; `problem` then says so.
const Json* element(const Json& list, const std::string& which, std::string& problem) {
  if (const auto index = whole_text_as<std::size_t>(which)) {
    if (*index < list.size()) return &list[*index];
    problem = "there are only " + std::to_string(list.size()) + " elements";
    return nullptr;
  }
  const Json* found = nullptr;
  for (const Json& one : list) {
    if (!has_values(one, which)) continue;
    if (found) problem = "several elements have " + which;
    if (found) return nullptr;
    found = &one;
  }
  if (!found) problem = "no element has " + which;
  return found;
}

const Json* step_into(const Json& at, const PathPart& step, std::string& problem) {
  if (step.bracket) {
    if (at.is_array()) return element(at, step.text, problem);
    problem = "there is no list before [" + step.text + "]";
    return nullptr;
  }
  if (at.is_object() && at.contains(step.text)) return &at[step.text];
  problem = at.is_object() ? "there is no \"" + step.text + "\" among " + keys_of(at)
                           : "\"" + step.text + "\" is asked of what has no keys";
  return nullptr;
}

}  // namespace

struct JsonAnswer::Tree {
  Json root;
};

JsonAnswer::JsonAnswer(const std::vector<std::string>& texts) : tree_(std::make_unique<Tree>()) {
  for (const std::string& text : texts) tree_->root.push_back(Json::parse(text, nullptr, false));
  if (texts.size() == 1) tree_->root = Json(tree_->root.front());
}
JsonAnswer::~JsonAnswer() = default;
JsonAnswer::JsonAnswer(JsonAnswer&&) noexcept = default;

Evaluated JsonAnswer::figure(const std::string& path) const {
  const Json* at = &tree_->root;
  std::string problem;
  for (const PathPart& step : parts_of_path(path)) {
    if (!step.bracket && step.text == "length" && at->is_array())
      return {static_cast<double>(at->size()), ""};
    at = step_into(*at, step, problem);
    if (!at) return {std::nullopt, path + ": " + problem};
  }
  if (at->is_boolean()) return {at->get<bool>() ? 1.0 : 0.0, ""};
  if (at->is_number()) return {at->get<double>(), ""};
  return {std::nullopt, path + " is not a number"};
}

}  // namespace podsim
