// Text format to a message. One wrong value does not hide the next: it is blanked out and the text is parsed
// again.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "proto/text/assign.h"
#include "proto/text/parse.h"
#include "proto/text/text_words.h"

namespace podsim {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::TextFormat;

// A larger text is not parsed again and again.
constexpr std::size_t kMaxRepairBytes = 256u << 10;

// As the parser gives it: line and column from 0.
struct ParserMessage {
  int line = 0, column = 0;
  std::string text;
};

class Messages : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& text) override {
    if (errors.empty()) errors.push_back({line, column, text});
  }
  void AddWarning(int line, int column, const std::string& text) override {
    if (warnings.size() < Document::kMaxProblems) warnings.push_back({line, column, text});
  }
  std::vector<ParserMessage> errors, warnings;
};

// One run of the parser.
struct Attempt {
  Attempt(const std::string& text, Message& message) {
    TextFormat::Parser parser;
    parser.RecordErrorsTo(&messages);
    parser.WriteLocationsTo(&tree);
    parser.AllowUnknownField(true);  // with a warning each, so that all are found
    parser.SetRecursionLimit(kMaxDepth);
    parsed = parser.ParseFromString(text, &message);
    if (!parsed && messages.errors.empty()) messages.AddError(0, 0, "this is not text format");
  }

  Messages messages;
  TextFormat::ParseInfoTree tree;
  bool parsed = false;
};

// A token that is no value of its field.
struct WrongToken {
  TextPosition at;
  std::string token;
};

struct UnknownField {
  TextPosition at;
  std::string name;
  const Descriptor* type = nullptr;  // of the message around it
  std::string parent;                // path of that message
};

// What follows `before` in a parser message, up to `after`.
std::optional<std::string> between(const std::string& text, std::string_view before, std::string_view after) {
  const std::size_t first = text.find(before);
  if (first == std::string::npos) return std::nullopt;
  const std::size_t start = first + before.size();
  const std::size_t end = after.empty() ? text.size() : text.find(after, start);
  if (end == std::string::npos) return std::nullopt;
  return text.substr(start, end - start);
}

// Counts from 1.
TextPosition position(int line, int column) { return {line + 1, column + 1}; }
TextPosition position(const ParserMessage& at) { return position(at.line, at.column); }

bool holds(const TextFormat::ParseLocationRange& range, TextPosition at) {
  const auto place = std::pair(at.line - 1, at.column - 1);
  return std::pair(range.start.line, range.start.column) <= place &&
         place < std::pair(range.end.line, range.end.column);
}

class TextReader {
 public:
  TextReader(Document& document, Message& message) : document_(document), message_(message) {}

  bool read();

 private:
  TextPosition token_before(const ParserMessage& at, const std::string& name) const;
  std::optional<WrongToken> wrong_token(const ParserMessage& error) const;
  bool blank_out(const ParserMessage& error);
  void blank_out_malformed();
  void replace(const WrongToken& wrong, std::string neutral);  // in text_, by as many bytes
  void collect_unknown(const std::vector<ParserMessage>& warnings);
  void index(Message& message, const TextFormat::ParseInfoTree& tree, const std::string& path);
  void index_field(Message& message, const FieldDescriptor& field, int element,
                   const TextFormat::ParseInfoTree& tree, const std::string& path);
  void report_unknown();
  void report_fatal(const ParserMessage& error);

  Document& document_;
  Message& message_;
  std::string text_;  // the document's; what is replaced in it keeps the place of every byte
  std::vector<WrongToken> wrong_;
  std::vector<UnknownField> unknown_;
};

bool TextReader::read() {
  text_ = document_.text();
  std::replace(text_.begin(), text_.end(), '\t', ' ');  // the parser would count the columns of a tab
  blank_out_malformed();
  std::optional<Attempt> attempt;
  do {
    attempt.emplace(text_, message_);
  } while (!attempt->parsed && blank_out(attempt->messages.errors.front()));

  collect_unknown(attempt->messages.warnings);
  if (attempt->parsed) {
    document_.place("", {1, 1});
    index(message_, attempt->tree, "");
  } else {
    for (const WrongToken& wrong : wrong_)
      document_.report_at(wrong.at, wrong.token + " is not a value of this field");
    report_fatal(attempt->messages.errors.front());
  }
  report_unknown();
  if (attempt->parsed && document_.clean())  // nothing that was replaced counts as read
    for (const WrongToken& wrong : wrong_)
      document_.report_at(wrong.at, wrong.token + " is not a value here");
  return attempt->parsed;
}

// Where the token `name` stands that ends at or before a place: the parser names some tokens after it has
// passed them.
TextPosition TextReader::token_before(const ParserMessage& at, const std::string& name) const {
  const TextPosition after = position(at);
  std::size_t until = static_cast<std::size_t>(after.column - 1);
  for (int line = after.line; line >= 1; --line) {
    const std::size_t found = last_whole_word(document_.line(line).substr(0, until), name);
    if (found != std::string_view::npos) return {line, static_cast<int>(found) + 1};
    until = std::string_view::npos;
  }
  return after;
}

// The value an error is about, or nothing when it is about the structure of the text.
std::optional<WrongToken> TextReader::wrong_token(const ParserMessage& error) const {
  if (const auto name = between(error.text, "Unknown enumeration value of \"", "\"")) {
    return WrongToken{token_before(error, *name), *name};
  }
  if (error.text.rfind("Invalid value for boolean field", 0) == 0) {
    const auto word = between(error.text, "Value: \"", "\"");
    if (word && !word->empty()) return WrongToken{token_before(error, *word), *word};
  }
  std::optional<std::string> token;
  for (const char* start : {"Expected integer, got: ", "Expected integer or identifier, got: ",
                            "Expected double, got: ", "Expected string, got: "}) {
    if (!token) token = between(error.text, start, "");
  }
  if (!token) token = between(error.text, "Integer out of range (", ")");
  if (!token || token->empty() ||
      std::string_view("{}[]<>,:;").find(token->front()) != std::string_view::npos) {
    return std::nullopt;
  }
  const TextPosition at = position(error);
  if (*token == "-") {  // the sign of a number that must not have one
    const std::string_view rest = document_.line(at.line).substr(at.column - 1);
    *token = rest.substr(0, rest.find_first_not_of("0123456789.eE", 1));
  }
  return WrongToken{at, *token};
}

// Replaces the wrong value by a neutral one of the same length. False when that is not possible.
bool TextReader::blank_out(const ParserMessage& error) {
  if (text_.size() > kMaxRepairBytes || wrong_.size() >= Document::kMaxProblems) return false;
  const auto wrong = wrong_token(error);
  if (!wrong) return false;
  std::string neutral = error.text.rfind("Expected string", 0) == 0 ? "\"\"" : "0";
  const std::string_view line = document_.line(wrong->at.line);
  const std::size_t column = static_cast<std::size_t>(wrong->at.column - 1);
  const auto same = [&](const WrongToken& each) {
    return each.at.line == wrong->at.line && each.at.column == wrong->at.column;
  };
  if (const auto known = std::ranges::find_if(wrong_, same); known != wrong_.end()) {
    // A malformed number where there is to be text.
    if (neutral == "0" || known->token.size() < neutral.size()) return false;
    replace(*known, neutral);
    return true;
  }
  if (wrong->token.size() < neutral.size() ||
      line.substr(std::min(column, line.size()), wrong->token.size()) != wrong->token) {
    return false;
  }
  replace(*wrong, neutral);
  wrong_.push_back(*wrong);
  return true;
}

// What the parser would take for a number and something after it is one wrong value.
void TextReader::blank_out_malformed() {
  if (text_.size() > kMaxRepairBytes) return;
  int line = 1;
  std::size_t begin = 0, seen = 0;  // of the line
  for (const TextWord& each : malformed_numbers(text_)) {
    if (wrong_.size() >= Document::kMaxProblems) return;
    for (; seen < each.begin; ++seen) {
      if (text_[seen] != '\n') continue;
      ++line;
      begin = seen + 1;
    }
    wrong_.push_back({{line, static_cast<int>(each.begin - begin) + 1}, each.word});
    replace(wrong_.back(), "0");
  }
}

void TextReader::replace(const WrongToken& wrong, std::string neutral) {
  const std::string_view line = document_.line(wrong.at.line);
  const std::size_t column = static_cast<std::size_t>(wrong.at.column - 1);
  neutral.resize(wrong.token.size(), ' ');
  text_.replace(static_cast<std::size_t>(line.data() - document_.text().data()) + column, neutral.size(),
                neutral);
}

void TextReader::collect_unknown(const std::vector<ParserMessage>& warnings) {
  for (const ParserMessage& warning : warnings) {
    const auto type = between(warning.text, "Message type \"", "\"");
    const auto name = between(warning.text, "has no field named \"", "\"");
    if (!type || !name) {
      document_.report_at(position(warning), "extensions in brackets are not part of this schema");
      continue;
    }
    const auto* pool = message_.GetDescriptor()->file()->pool();
    unknown_.push_back({token_before(warning, *name), *name, pool->FindMessageTypeByName(*type), ""});
  }
}

// Records where the fields of `message` stand, reports the wrong values and finds the parents of unknown
// fields.
void TextReader::index(Message& message, const TextFormat::ParseInfoTree& tree, const std::string& path) {
  const auto* reflection = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (!field->is_repeated()) {
      index_field(message, *field, -1, tree, join_path(path, field->name()));
      continue;
    }
    const std::string list = join_path(path, field->name());
    const auto first = tree.GetLocationRange(field, 0).start;
    document_.place(list, position(first.line, first.column));
    const int size = reflection->FieldSize(message, field);
    for (int i = 0; i < size; ++i) {
      // One range covers all the scalars of a list in brackets.
      if (tree.GetLocationRange(field, i).start.line < 0) break;
      index_field(message, *field, i, tree, list + "[" + std::to_string(i) + "]");
    }
  }
}

void TextReader::index_field(Message& message, const FieldDescriptor& field, int element,
                             const TextFormat::ParseInfoTree& tree, const std::string& path) {
  const auto range = tree.GetLocationRange(&field, element);
  document_.place(path, position(range.start.line, range.start.column));
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    for (UnknownField& unknown : unknown_) {
      if (holds(range, unknown.at)) unknown.parent = path;
    }
    const auto* reflection = message.GetReflection();
    Message* child = element < 0 ? reflection->MutableMessage(&message, &field)
                                 : reflection->MutableRepeatedMessage(&message, &field, element);
    if (const auto* nested = tree.GetTreeForNested(&field, element)) index(*child, *nested, path);
    return;
  }
  for (const WrongToken& wrong : wrong_) {
    if (!holds(range, wrong.at)) continue;
    const ValueProblem problem = wrong_value(field, wrong.token);
    document_.report_at(wrong.at, path + " " + problem.message, problem.hint);
    document_.spoil(path);
    message.GetReflection()->ClearField(&message, &field);
  }
}

void TextReader::report_unknown() {
  for (const UnknownField& unknown : unknown_) {
    const auto names = unknown.type ? field_names(*unknown.type) : std::vector<std::string>{};
    const std::string where = unknown.parent.empty() ? "" : " in " + unknown.parent;
    document_.report_at(
        unknown.at, "unknown field \"" + unknown.name + "\"" + where,
        unknown.type ? suggest_field(unknown.name, *unknown.type, *message_.GetDescriptor()) : "");
    const std::string meant = meant_name(unknown.name, names);
    if (!meant.empty()) document_.spoil(join_path(unknown.parent, meant));
  }
}

// The parser's own words, but for the cases that need better ones.
void TextReader::report_fatal(const ParserMessage& error) {
  TextPosition at = position(error);
  std::string message = error.text, hint;
  while (!message.empty() && (message.back() == '.' || message.back() == ' ')) message.pop_back();
  if (const auto name = between(error.text, "Non-repeated field \"", "\"")) {
    at = token_before(error, *name);
    message = "\"" + *name + "\" is given twice";
  } else if (message == "Expected identifier, got:") {
    message = "the text ends inside a block";
    hint = "a closing brace is missing";
  } else if (error.text.rfind("Interpreting non ascii", 0) == 0) {
    message = "this byte belongs in quotes or in a comment";
  } else if (error.text.rfind("Message is too deep", 0) == 0) {
    message = "blocks are nested deeper than " + std::to_string(kMaxDepth) + " levels";
  } else if (const auto found = between(error.text, "Expected \"{\", found \"", "\"")) {
    message = "expected a block in braces, found " + (found->empty() ? "the end of the text" : *found);
  } else if (!message.empty() && message.front() >= 'A' && message.front() <= 'Z') {
    message.front() = static_cast<char>(message.front() - 'A' + 'a');
  }
  document_.report_at(at, message, hint);
}

}  // namespace

bool parse_text(Document& document, Message& message) {
  const auto opens = [](char c) { return c == '{' || c == '<'; };
  if (std::count_if(document.text().begin(), document.text().end(), opens) > kMaxBlocks) {
    document.report_file("the file has more than " + std::to_string(kMaxBlocks) + " blocks");
    return false;
  }
  return TextReader(document, message).read();
}

bool parse_known_text(std::string_view text, Message& message) {
  google::protobuf::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  return TextFormat::Parse(&input, &message);
}

}  // namespace podsim
