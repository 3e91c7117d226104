// Fields by reflection.
#include "tests/swarm/fields.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "proto/text/assign.h"

namespace podsim::testing {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

namespace {

template <class Number>
Number within(double value) {
  const auto least = static_cast<double>(std::numeric_limits<Number>::min());
  const auto most = static_cast<double>(std::numeric_limits<Number>::max());
  if (!(value > least)) return std::numeric_limits<Number>::min();
  if (value >= most) return std::numeric_limits<Number>::max();
  return static_cast<Number>(value);
}

}  // namespace

bool FieldPlace::is_message() const { return field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE; }

Message* FieldPlace::inner() const {
  const Reflection& reflection = *message->GetReflection();
  return element < 0 ? reflection.MutableMessage(message, field)
                     : reflection.MutableRepeatedMessage(message, field, element);
}

void FieldPlace::remove() const {
  const Reflection& reflection = *message->GetReflection();
  if (element < 0) return reflection.ClearField(message, field);
  for (int i = element; i + 1 < reflection.FieldSize(*message, field); ++i)
    reflection.SwapElements(message, field, i, i + 1);
  reflection.RemoveLast(message, field);
}

bool FieldPlace::is_number() const {
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_UINT64:
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return true;
    case FieldDescriptor::CPPTYPE_ENUM:
      return takes_numbers(*field);
    default:
      return false;
  }
}

double FieldPlace::number() const {
  const Reflection& r = *message->GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return element < 0 ? r.GetInt32(*message, field) : r.GetRepeatedInt32(*message, field, element);
    case FieldDescriptor::CPPTYPE_UINT64:
      return static_cast<double>(element < 0 ? r.GetUInt64(*message, field)
                                             : r.GetRepeatedUInt64(*message, field, element));
    case FieldDescriptor::CPPTYPE_ENUM:
      return element < 0 ? r.GetEnumValue(*message, field) : r.GetRepeatedEnumValue(*message, field, element);
    default:
      return element < 0 ? r.GetDouble(*message, field) : r.GetRepeatedDouble(*message, field, element);
  }
}

void FieldPlace::set_number(double value) const {
  const Reflection& r = *message->GetReflection();
  const auto set = [&](auto one, auto of_list, auto number) {
    element < 0 ? (r.*one)(message, field, number) : (r.*of_list)(message, field, element, number);
  };
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return set(&Reflection::SetInt32, &Reflection::SetRepeatedInt32, within<std::int32_t>(value));
    case FieldDescriptor::CPPTYPE_UINT64:
      return set(&Reflection::SetUInt64, &Reflection::SetRepeatedUInt64, within<std::uint64_t>(value));
    case FieldDescriptor::CPPTYPE_ENUM:
      return set(&Reflection::SetEnumValue, &Reflection::SetRepeatedEnumValue, within<std::int32_t>(value));
    default:
      return set(&Reflection::SetDouble, &Reflection::SetRepeatedDouble, value);
  }
}

std::vector<FieldPlace> field_places(Message& message) {
  std::vector<FieldPlace> places;
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const int elements = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < elements; ++i) {
      const FieldPlace& place =
          places.emplace_back(FieldPlace{&message, field, field->is_repeated() ? i : -1});
      if (!place.is_message()) continue;
      const std::vector<FieldPlace> inside = field_places(*place.inner());
      places.insert(places.end(), inside.begin(), inside.end());
    }
  }
  return places;
}

}  // namespace podsim::testing
