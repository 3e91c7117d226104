// JSON to a message: keys are field names, in snake_case or camelCase; enum values are strings.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <nlohmann/json.hpp>

#include "proto/text/assign.h"
#include "proto/text/json_text.h"
#include "proto/text/parse.h"

namespace podsim {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

class JsonReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonReader(Document& document, Message& message) : document_(document), message_(message) {}

  bool read() {
    const std::string& text = document_.text();
    read_ = text.data();
    document_.place("", {1, 1});
    return nlohmann::json::sax_parse(CountingIterator(text.data(), &read_),
                                     CountingIterator(text.data() + text.size(), &read_), this);
  }

  bool null() override { return true; }  // as a missing field
  bool boolean(bool value) override { return scalar(value ? "true" : "false", false); }
  bool number_integer(number_integer_t value) override { return scalar(std::to_string(value), false); }
  bool number_unsigned(number_unsigned_t value) override { return scalar(std::to_string(value), false); }
  bool number_float(number_float_t, const std::string& text) override { return scalar(text, false); }
  bool string(std::string& value) override { return scalar(value, true); }
  bool binary(binary_t&) override { return false; }  // not in JSON text

  bool start_object(std::size_t) override;
  bool key(std::string& name) override;
  bool end_object() override { return end(); }
  bool start_array(std::size_t) override;
  bool end_array() override { return end(); }
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::json::exception& error) override;

 private:
  // An object, or an array of the values of one field. `message` is null inside what is ignored.
  struct Frame {
    Message* message;
    const FieldDescriptor* field;  // that the next value belongs to; null = ignored
    bool array;
    std::string path;  // of the message
  };

  bool scalar(const std::string& value, bool quoted);
  bool push(Frame frame);
  bool end() {
    frames_.pop_back();
    return true;
  }
  std::size_t offset() const { return static_cast<std::size_t>(read_ - document_.text().data()); }
  std::string value_path() const;  // of the next value
  bool accepts(bool array);        // the next value, reporting why not

  Document& document_;
  Message& message_;
  const char* read_ = nullptr;
  std::vector<Frame> frames_;
  int blocks_ = 0;
};

bool JsonReader::push(Frame frame) {
  const auto at = document_.position(offset() - 1);
  if (frames_.size() >= static_cast<std::size_t>(kMaxDepth)) {
    document_.report_at(at, "blocks are nested deeper than 64 levels");
    return false;
  }
  if (++blocks_ > kMaxBlocks) {
    document_.report_file("the file has more than 100,000 blocks");
    return false;
  }
  frames_.push_back(std::move(frame));
  return true;
}

std::string JsonReader::value_path() const {
  const Frame& top = frames_.back();
  const std::string path = join_path(top.path, top.field->name());
  if (!top.array) return path;
  return path + "[" + std::to_string(top.message->GetReflection()->FieldSize(*top.message, top.field)) + "]";
}

bool JsonReader::accepts(bool array) {
  const Frame& top = frames_.back();
  if (!top.message || !top.field) return false;
  const std::string path = value_path();
  if (top.array && array) {
    document_.report(path, path + " must not be a list in a list");
  } else if (top.field->is_repeated() && !top.array && !array) {
    document_.report(path, path + " must be a list", "write [ ... ]");
  } else if (!top.field->is_repeated() && array) {
    document_.report(path, path + " must be " + describe_value(*top.field) + ", not a list");
  } else if (!top.field->is_repeated() && top.message->GetReflection()->HasField(*top.message, top.field)) {
    document_.report(path, path + " is given twice");
  } else {
    return true;
  }
  document_.spoil(path);
  return false;
}

bool JsonReader::scalar(const std::string& value, bool quoted) {
  if (frames_.empty()) {
    document_.report_at({1, 1}, "the JSON text must be an object with the fields of a scenario");
    return false;
  }
  if (!accepts(false)) return true;
  const Frame& top = frames_.back();
  const std::string path = value_path();
  const bool text_field = top.field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  const auto problem = top.field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE || (text_field && !quoted)
                           ? std::optional(wrong_value(*top.field, value))
                           : assign(*top.message, *top.field, value);
  if (problem) {
    document_.report(path, path + " " + problem->message, problem->hint);
    document_.spoil(path);
  }
  return true;
}

bool JsonReader::start_object(std::size_t) {
  if (frames_.empty()) return push({&message_, nullptr, false, ""});
  if (!accepts(false)) return push({nullptr, nullptr, false, ""});
  const Frame& top = frames_.back();
  const std::string path = value_path();
  if (top.field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
    document_.report(path, path + " must be " + describe_value(*top.field) + ", not an object");
    document_.spoil(path);
    return push({nullptr, nullptr, false, ""});
  }
  if (top.array) {
    const auto at = document_.position(offset() - 1);
    document_.place(path, at);
  }
  const auto* reflection = top.message->GetReflection();
  Message* child = top.array ? reflection->AddMessage(top.message, top.field)
                             : reflection->MutableMessage(top.message, top.field);
  return push({child, nullptr, false, path});
}

bool JsonReader::start_array(std::size_t) {
  if (frames_.empty()) return scalar("", false);
  if (!accepts(true)) return push({nullptr, nullptr, true, ""});
  const Frame top = frames_.back();
  return push({top.message, top.field, true, top.path});
}

bool JsonReader::key(std::string& name) {
  Frame& top = frames_.back();
  top.field = nullptr;
  if (!top.message) return true;
  const Descriptor* type = top.message->GetDescriptor();
  top.field = type->FindFieldByName(name);
  if (!top.field) top.field = type->FindFieldByCamelcaseName(name);
  if (!top.field && document_.full()) return true;
  const auto at = document_.position(opening_quote(document_.text(), offset() - 1));
  if (top.field) {
    document_.place(join_path(top.path, top.field->name()), at);
    return true;
  }
  const auto names = field_names(*type);
  const std::string where = top.path.empty() ? "" : " in " + top.path;
  document_.report_at(at, "unknown field \"" + name + "\"" + where,
                      suggest_field(name, *type, *message_.GetDescriptor()));
  const std::string meant = meant_name(name, names);
  if (!meant.empty()) document_.spoil(join_path(top.path, meant));
  return true;
}

bool JsonReader::parse_error(std::size_t position, const std::string&,
                             const nlohmann::json::exception& error) {
  const auto at = document_.position(position > 0 ? position - 1 : 0);
  document_.report_at(at, syntax_message(error.what()));
  return false;
}

}  // namespace

bool parse_json(Document& document, Message& message) { return JsonReader(document, message).read(); }

}  // namespace podsim
