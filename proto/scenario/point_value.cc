// Follows a path through the parsed scenario.
#include "proto/scenario/point_value.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <charconv>
#include <cstdint>

#include "engine/words.h"
#include "proto/scenario.pb.h"
#include "proto/text/document.h"
#include "proto/text/parse.h"
#include "proto/text/ranges.h"

namespace podsim {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::optional<double> field_number(const Message& message, const FieldDescriptor& field) {
  const auto* reflection = message.GetReflection();
  if (field.is_repeated() || !reflection->HasField(message, &field)) return std::nullopt;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection->GetDouble(message, &field);
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection->GetInt32(message, &field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return static_cast<double>(reflection->GetUInt64(message, &field));
    default:
      return std::nullopt;
  }
}

// The element that is meant by its number, or by the text of its first field; nothing for another one.
const Message* element_of(const Message& message, const FieldDescriptor& list, const std::string& name) {
  const auto* reflection = message.GetReflection();
  int index = -1;
  std::from_chars(name.data(), name.data() + name.size(), index);
  for (int i = 0; i < reflection->FieldSize(message, &list); ++i) {
    const Message& element = reflection->GetRepeatedMessage(message, &list, i);
    const FieldDescriptor* key = element.GetDescriptor()->field(0);
    const bool named = key->cpp_type() == FieldDescriptor::CPPTYPE_STRING && !key->is_repeated() &&
                       element.GetReflection()->GetString(element, key) == name;
    if (index == i || named) return &element;
  }
  return nullptr;
}

std::optional<double> written_number(const Message& root, const std::string& path) {
  const Message* at = &root;
  const std::vector<std::string> names = split(path, '.');
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t bracket = names[i].find('[');
    const FieldDescriptor* field = at->GetDescriptor()->FindFieldByName(names[i].substr(0, bracket));
    if (field == nullptr) return std::nullopt;
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return field_number(*at, *field);
    if (!field->is_repeated()) {
      at = &at->GetReflection()->GetMessage(*at, field);
      continue;
    }
    const bool numbered = bracket != std::string::npos;
    if (!numbered && ++i == names.size()) return std::nullopt;
    at = element_of(*at, *field, numbered ? names[i].substr(bracket + 1) : names[i]);
    if (at == nullptr) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> point_value(const std::string& text, const std::string& path, const Spec& spec) {
  Document document("scenario", text);
  schema::Scenario scenario;
  if (!parse(document, scenario)) return std::nullopt;
  if (const auto said = written_number(scenario, path)) return said;
  const Price& price = spec.cluster.price;
  if (path == "cluster.usd_per_chip_hour") return price.usd_per_chip_hour;
  if (path == "cluster.usd_per_kwh") return price.usd_per_kwh;
  if (path == "cluster.pue") return price.pue;
  if (path == "cluster.kg_per_kwh" && spec.cluster.carbon) return spec.cluster.carbon->kg_per_kwh;
  if (path == "reliability.failure_factor") return 1;
  return std::nullopt;
}

std::optional<Problem> wrong_setting(const std::string& text, const std::vector<Override>& overrides,
                                     const Override& setting) {
  Document document("scenario", text);
  schema::Scenario scenario;
  if (!parse(document, scenario)) return std::nullopt;
  apply_overrides(overrides, scenario, document);
  Document told("scenario", "");
  apply_overrides({setting}, scenario, told);
  if (told.clean()) check_ranges(scenario, "", told);
  const std::vector<Problem> problems = told.problems();
  return problems.empty() ? std::nullopt : std::optional(problems.front());
}

}  // namespace podsim
