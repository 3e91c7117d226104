// A report as text format of proto/report.proto, made from the list of figures.
#include <google/protobuf/text_format.h>

#include <string>
#include <variant>
#include <vector>

#include "engine/check.h"
#include "proto/report.pb.h"
#include "proto/writing/write.h"
#include "report/figures/figures.h"
#include "report/pictures/detail_figures.h"

namespace podsim {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// A field, and the message that has it.
struct FieldPlace {
  Message* message;
  const FieldDescriptor* field;
  bool repeated() const { return field->is_repeated(); }
};

// A dotted name goes through messages.
FieldPlace place_of(Message& message, const std::string& name) {
  const std::size_t dot = name.find('.');
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name.substr(0, dot));
  PODSIM_CHECK(field != nullptr, "no field " + name + ": tests/report/update writes proto/report.proto");
  if (dot == std::string::npos) return {&message, field};
  return place_of(*message.GetReflection()->MutableMessage(&message, field), name.substr(dot + 1));
}

// Sets a field, or adds to a repeated one.
struct SetValue {
  FieldPlace at;

#define PODSIM_SET(type, Method)                                          \
  void operator()(type value) const {                                     \
    const auto* reflection = at.message->GetReflection();                 \
    at.repeated() ? reflection->Add##Method(at.message, at.field, value)  \
                  : reflection->Set##Method(at.message, at.field, value); \
  }
  PODSIM_SET(bool, Bool)
  PODSIM_SET(int, Int32)
  PODSIM_SET(std::int64_t, Int64)
  PODSIM_SET(std::uint64_t, UInt64)
  PODSIM_SET(double, Double)
  PODSIM_SET(const std::string&, String)
#undef PODSIM_SET
  void operator()(Time time) const { (*this)(time.ps); }
  void operator()(std::monostate) const {}
};

void set(Message& message, const Figure& figure);

void set_all(Message& message, const std::vector<Figure>& figures) {
  for (const Figure& figure : figures) set(message, figure);
}

void add_element(const FieldPlace& at, const Figure& element) {
  if (element.shape == Figure::Shape::kValue) {
    std::visit(SetValue{at}, element.value);
  } else {
    set_all(*at.message->GetReflection()->AddMessage(at.message, at.field), element.parts);
  }
}

void set(Message& message, const Figure& figure) {
  if (figure.field_name.empty()) {
    if (figure.shape == Figure::Shape::kGroup) set_all(message, figure.parts);
    return;
  }
  if (figure.left_out_when_zero && is_zero_or_empty(figure.value)) return;
  const FieldPlace at = place_of(message, figure.field_name);
  switch (figure.shape) {
    case Figure::Shape::kValue:
      std::visit(SetValue{at}, figure.value);
      break;
    case Figure::Shape::kGroup:
      set_all(*at.message->GetReflection()->MutableMessage(at.message, at.field), figure.parts);
      break;
    case Figure::Shape::kList:
    case Figure::Shape::kByName:
      for (const Figure& element : figure.parts) add_element(at, element);
  }
}

// The printer goes by numbers: the header is printed by itself to stand first.
std::string report_text(Message&& message, const std::string& scenario_sha256,
                        const std::vector<Figure>& figures) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  std::string above, text;
  set_all(message, header_figures(scenario_sha256));
  printer.PrintToString(message, &above);
  message.Clear();
  set_all(message, figures);
  printer.PrintToString(message, &text);
  return "# proto-file: proto/report.proto\n# proto-message: " + message.GetTypeName() + "\n" + above + text;
}

}  // namespace

std::string report_textproto(const Report& report) { return report_textproto(report, nullptr); }

std::string report_textproto(const Report& report, const StepDetail* detail) {
  std::vector<Figure> all = figures(report);
  if (detail != nullptr) append(all, detail_figures(*detail));
  return report_text(schema::RunReport(), report.scenario_sha256, all);
}

std::string report_textproto(const Report& report, const std::vector<Figure>& more) {
  std::vector<Figure> all = figures(report);
  append(all, more);
  return report_text(schema::RunReport(), report.scenario_sha256, all);
}

std::string report_textproto(const JobsReport& report) {
  return report_text(schema::JobsRunReport(), report.scenario_sha256, figures(report));
}

}  // namespace podsim
