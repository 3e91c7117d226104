// Tells by the field's type which commas separate values.
#include "proto/scenario/sweep.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cctype>
#include <utility>

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
  std::vector<std::string> values = split(override.value, ',');
  for (std::string& value : values) value = trim(value);
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING &&
      !std::all_of(values.begin(), values.end(), is_word))
    return {override.value};
  return values;
}

}  // namespace

std::optional<Sweep> sweep_of(const std::vector<Override>& overrides) {
  Sweep sweep;
  sweep.points.emplace_back();
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const auto replaces = [&](const Override& later) { return later.path == overrides[i].path; };
    if (std::any_of(overrides.begin() + static_cast<std::ptrdiff_t>(i) + 1, overrides.end(), replaces))
      continue;
    const std::vector<std::string> values = values_of(overrides[i]);
    if (values.size() > 1) sweep.paths.push_back(overrides[i].path);
    if (values.size() * sweep.points.size() > kMostPoints) return std::nullopt;
    std::vector<SweepPoint> product;
    for (const SweepPoint& point : sweep.points) {
      for (const std::string& value : values) {
        SweepPoint& next = product.emplace_back(point);
        if (values.size() > 1) next.values.push_back(value);
        next.overrides.push_back({overrides[i].path, value});
      }
    }
    sweep.points = std::move(product);
  }
  return sweep;
}

}  // namespace podsim
