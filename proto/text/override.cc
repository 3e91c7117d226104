// Sets scenario fields by their path, as --set does.
#include "proto/text/override.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <optional>

#include "engine/number_text.h"
#include "engine/words.h"
#include "proto/text/assign.h"

namespace podsim {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// "mesh[2]" is {mesh, 2}; "mesh" is {mesh, none}.
struct Segment {
  std::string name;
  std::optional<int> index;
};

std::optional<Segment> parse_segment(const std::string& text) {
  const std::size_t bracket = text.find('[');
  if (bracket == std::string::npos) return Segment{text, std::nullopt};
  const auto index = whole_text_as<int>(text.substr(bracket + 1, text.size() - bracket - 2));
  if (text.back() != ']' || !index || *index < 0) return std::nullopt;
  return Segment{text.substr(0, bracket), *index};
}

// Elements are named by the first field of their type, where that is text: mesh.tensor, rule.batch.
const FieldDescriptor* name_field(const Descriptor& type) {
  const FieldDescriptor* first = type.field(0);
  return first->cpp_type() == FieldDescriptor::CPPTYPE_STRING && !first->is_repeated() ? first : nullptr;
}

// A list may stand in brackets.
std::string without_brackets(const std::string& text) {
  const bool brackets = text.size() >= 2 && text.front() == '[' && text.back() == ']';
  return brackets ? text.substr(1, text.size() - 2) : text;
}

// One override on its way down the message.
class Setter {
 public:
  Setter(const Override& override, Message& root, Document& document)
      : override_(override),
        root_(*root.GetDescriptor()),
        message_(&root),
        document_(document),
        segments_(split(override.path, '.')) {}

  void run() {
    while (at_ < segments_.size() && step()) {
    }
  }

 private:
  // True while there is further to go.
  bool step();
  bool enter(const FieldDescriptor& field, const Segment& segment);
  std::optional<int> element_named(const FieldDescriptor& field, const std::string& name);
  void set(const FieldDescriptor& field, const Segment& segment);
  bool fail(const std::string& message, const std::string& hint = "") {
    document_.place_argument(override_.path, "--set", override_.path + "=" + override_.value);
    document_.report(override_.path, message, hint);
    return false;
  }
  void place() { document_.place_argument(path_, "--set", override_.path + "=" + override_.value); }

  const Override& override_;
  const Descriptor& root_;
  Message* message_;
  Document& document_;
  std::vector<std::string> segments_;
  std::size_t at_ = 0;
  std::string path_;  // of message_, with indices
};

bool Setter::step() {
  const auto segment = parse_segment(segments_[at_++]);
  if (!segment) return fail(override_.path + " is not a path", "write, for example, job.mesh[0].size");
  const Descriptor* type = message_->GetDescriptor();
  const FieldDescriptor* field = type->FindFieldByName(segment->name);
  if (!field) {
    const std::string where = path_.empty() ? "" : " in " + path_;
    return fail("unknown field \"" + segment->name + "\"" + where,
                suggest_field(segment->name, *type, root_));
  }
  path_ = join_path(path_, field->name());
  if (segment->index && !field->is_repeated()) return fail(path_ + " is not a list");
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) return enter(*field, *segment);
  if (at_ < segments_.size()) return fail(path_ + " is a value, it has no field \"" + segments_[at_] + "\"");
  set(*field, *segment);
  return false;
}

bool Setter::enter(const FieldDescriptor& field, const Segment& segment) {
  const auto* reflection = message_->GetReflection();
  std::optional<int> index = segment.index;
  if (field.is_repeated()) {
    if (!index && at_ < segments_.size()) {
      index = element_named(field, segments_[at_++]);
      if (!index) return false;
    }
    if (!index)
      return fail(path_ + " is a list: set a field of one element",
                  "such as " + path_ + "[0]." + field.message_type()->field(0)->name());
    const int size = reflection->FieldSize(*message_, &field);
    if (*index > size)
      return fail(path_ + " has " + std::to_string(size) + " elements, so there is no [" +
                  std::to_string(*index) + "]");
    path_ += "[" + std::to_string(*index) + "]";
    if (*index == size) place();
    message_ = *index == size ? reflection->AddMessage(message_, &field)
                              : reflection->MutableRepeatedMessage(message_, &field, *index);
  } else {
    if (!reflection->HasField(*message_, &field)) place();
    message_ = reflection->MutableMessage(message_, &field);
  }
  if (at_ < segments_.size()) return true;
  return fail(path_ + " is a block: set one of its fields",
              "its fields: " + list_names(field_names(*field.message_type())));
}

std::optional<int> Setter::element_named(const FieldDescriptor& field, const std::string& name) {
  const FieldDescriptor* key = name_field(*field.message_type());
  const auto* reflection = message_->GetReflection();
  std::vector<std::string> names;
  for (int i = 0; key && i < reflection->FieldSize(*message_, &field); ++i) {
    const Message& element = reflection->GetRepeatedMessage(*message_, &field, i);
    names.push_back(element.GetReflection()->GetString(element, key));
    if (names.back() == name) return i;
  }
  if (!key) {
    fail(path_ + " is a list: say which element", "such as " + path_ + "[0]");
  } else {
    fail(path_ + " has no element \"" + name + "\"", suggest(name, names, "its elements"));
  }
  return std::nullopt;
}

void Setter::set(const FieldDescriptor& field, const Segment& segment) {
  if (segment.index) {
    fail(path_ + " is set as a whole", "write " + path_ + "=a,b,c");
    return;
  }
  const auto* reflection = message_->GetReflection();
  reflection->ClearField(message_, &field);
  place();
  std::vector<std::string> values = {override_.value};
  if (field.is_repeated()) {
    const std::string list = without_brackets(trim(override_.value));
    values = trim(list).empty() ? std::vector<std::string>{} : split(list, ',');
  }
  for (const std::string& value : values) {
    const bool text = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING && !field.is_repeated();
    const auto problem = assign(*message_, field, text ? value : trim(value));
    if (!problem) continue;
    const bool several =
        !field.is_repeated() && problem->hint.empty() && override_.value.find(',') != std::string::npos;
    document_.report(path_, path_ + " " + problem->message,
                     several ? "run, scale, reliability and compare take several values" : problem->hint);
    document_.spoil(path_);
    return;
  }
}

}  // namespace

const FieldDescriptor* field_at(const Descriptor& root, const std::string& path) {
  const Descriptor* type = &root;
  const std::vector<std::string> names = split(path, '.');
  for (std::size_t at = 0; at < names.size();) {
    const auto segment = parse_segment(names[at++]);
    const FieldDescriptor* field = segment ? type->FindFieldByName(segment->name) : nullptr;
    if (!field) return nullptr;
    type = field->message_type();
    if (!type) return at == names.size() ? field : nullptr;
    if (field->is_repeated() && !segment->index) ++at;  // an element's name
  }
  return nullptr;
}

void apply_overrides(const std::vector<Override>& overrides, Message& message, Document& document) {
  for (const Override& override : overrides) Setter(override, message, document).run();
}

}  // namespace podsim
