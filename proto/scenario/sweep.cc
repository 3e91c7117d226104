// Tells by the field's type which commas separate values.
#include "proto/scenario/sweep.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "engine/words.h"
#include "proto/scenario.pb.h"
#include "proto/text/override.h"

namespace podsim {
namespace {

using google::protobuf::FieldDescriptor;

bool is_word(const std::string& text) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-' || c == '.'; };
  return !text.empty() && std::all_of(text.begin(), text.end(), plain);
}

// "[8,8,4],[4,4,16]" is two lists; anything else is one.
std::vector<std::string> lists_in(const std::string& text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return {text};
  std::vector<std::string> lists;
  std::size_t from = 0;
  for (std::size_t next; (next = text.find("],[", from)) != std::string::npos; from = next + 2)
    lists.push_back(text.substr(from, next + 1 - from));
  lists.push_back(text.substr(from));
  return lists;
}

std::vector<std::string> values_of(const Override& override) {
  const FieldDescriptor* field = field_at(*schema::Scenario::descriptor(), override.path);
  if (!field) return {override.value};  // whoever sets it says what is wrong
  if (field->is_repeated()) return lists_in(override.value);
  if (override.path == "question") return {override.value};  // a sentence, whatever its commas
  std::vector<std::string> values = split(override.value, ',');
  for (std::string& value : values) value = trim(value);
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING &&
      !std::all_of(values.begin(), values.end(), is_word))
    return {override.value};
  return values;
}

// One path with its values, of each path the last that is given.
struct Axis {
  std::string path;
  std::vector<std::string> values;
};

std::vector<Axis> axes_of(const std::vector<Override>& overrides) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const auto replaces = [&](const Override& later) { return later.path == overrides[i].path; };
    if (std::none_of(overrides.begin() + static_cast<std::ptrdiff_t>(i) + 1, overrides.end(), replaces))
      axes.push_back({overrides[i].path, values_of(overrides[i])});
  }
  return axes;
}

}  // namespace

std::optional<Sweep> sweep_of(const std::vector<Override>& overrides, std::size_t most) {
  Sweep sweep;
  sweep.points.emplace_back();
  for (const auto& [path, values] : axes_of(overrides)) {
    if (values.size() > 1) sweep.paths.push_back(path);
    if (values.size() * sweep.points.size() > most) return std::nullopt;
    std::vector<SweepPoint> product;
    for (const SweepPoint& point : sweep.points) {
      for (const std::string& value : values) {
        SweepPoint& next = product.emplace_back(point);
        if (values.size() > 1) next.values.push_back(value);
        next.overrides.push_back({path, value});
      }
    }
    sweep.points = std::move(product);
  }
  return sweep;
}

bool takes_whole_numbers(const std::string& path) {
  const FieldDescriptor* field = field_at(*schema::Scenario::descriptor(), path);
  return field && (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32 ||
                   field->cpp_type() == FieldDescriptor::CPPTYPE_INT64 ||
                   field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM);
}

std::optional<Sweep> zipped_sweep(const std::vector<Override>& overrides) {
  Sweep sweep;
  sweep.points.resize(1);
  const std::vector<Axis> axes = axes_of(overrides);
  for (const auto& [path, values] : axes) {
    if (values.size() == 1) continue;
    if (!sweep.paths.empty() && values.size() != sweep.points.size()) return std::nullopt;
    sweep.paths.push_back(path);
    sweep.points.resize(values.size());
  }
  for (std::size_t i = 0; i < sweep.points.size(); ++i)
    for (const auto& [path, values] : axes) {
      const std::string& value = values[values.size() > 1 ? i : 0];
      if (values.size() > 1) sweep.points[i].values.push_back(value);
      sweep.points[i].overrides.push_back({path, value});
    }
  return sweep;
}

}  // namespace podsim
