// Scenarios with mistakes in them.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>

#include <limits>

#include "engine/check.h"
#include "proto/scenario.pb.h"
#include "tests/swarm/fields.h"
#include "tests/swarm/random_scenario.h"

namespace podsim::testing {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

double odd_number(Draw& draw, double now) {
  return draw.of({0.0, -1.0, now + 1, now * 2, now / 2, now * 1000, 1e-300, 1e300, 2147483647.0,
                  std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()});
}

void set_text(const FieldPlace& place, const std::string& text) {
  const Reflection& reflection = *place.message->GetReflection();
  place.element < 0 ? reflection.SetString(place.message, place.field, text)
                    : reflection.SetRepeatedString(place.message, place.field, place.element, text);
}

void set_choice(Draw& draw, const FieldPlace& place) {
  const Reflection& reflection = *place.message->GetReflection();
  const auto* value = place.field->enum_type()->value(draw.below(place.field->enum_type()->value_count()));
  place.element < 0 ? reflection.SetEnum(place.message, place.field, value)
                    : reflection.SetRepeatedEnum(place.message, place.field, place.element, value);
}

void spoil(Draw& draw, const FieldPlace& place) {
  if (draw.chance(0.25)) return place.remove();
  const Reflection& reflection = *place.message->GetReflection();
  if (place.is_number()) return place.set_number(odd_number(draw, place.number()));
  switch (place.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return set_text(place,
                      draw.of({"", "h100", "tensor", "data", "nic", "x y", "\x01", "llama3_8b", "\xc3\xa9"}));
    case FieldDescriptor::CPPTYPE_ENUM:
      return set_choice(draw, place);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.SetBool(place.message, place.field, !reflection.GetBool(*place.message, place.field));
    default:
      if (place.element >= 0) {  // the same block once more
        Message& copy = *reflection.AddMessage(place.message, place.field);
        copy.CopyFrom(reflection.GetRepeatedMessage(*place.message, place.field, place.element));
      } else {
        place.remove();
      }
  }
}

}  // namespace

std::string spoiled_scenario(std::uint64_t seed) {
  schema::Scenario scenario;
  const bool parsed = google::protobuf::TextFormat::ParseFromString(random_scenario(seed), &scenario);
  PODSIM_CHECK(parsed, "a drawn scenario is text format");
  Draw draw(mix(seed, 1));
  for (int mistakes = draw.of({1, 1, 1, 2, 3}); mistakes > 0; --mistakes) {
    const std::vector<FieldPlace> places = field_places(scenario);
    if (!places.empty()) spoil(draw, draw.of(places));
  }
  std::string text;
  google::protobuf::TextFormat::PrintToString(scenario, &text);
  return text;
}

}  // namespace podsim::testing
