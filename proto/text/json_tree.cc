// A tree out of the events of the JSON library.
#include "proto/text/json_tree.h"

#include <nlohmann/json.hpp>

#include "proto/text/json_text.h"
#include "proto/text/parse.h"

namespace podsim {
namespace {

using Sax = nlohmann::json_sax<nlohmann::json>;

class TreeBuilder : public Sax {
 public:
  TreeBuilder(Document& document, std::int32_t most_values, JsonTree& tree)
      : document_(document), most_values_(most_values), tree_(tree), read_(document.text().data()) {}

  bool read() {
    const std::string& text = document_.text();
    return nlohmann::json::sax_parse(CountingIterator(text.data(), &read_),
                                     CountingIterator(text.data() + text.size(), &read_),
                                     static_cast<Sax*>(this));
  }

  bool null() override { return add(JsonKind::kNull, 0, 4); }
  bool boolean(bool value) override { return add(JsonKind::kBoolean, value ? 1 : 0, value ? 4 : 5); }
  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value)); }
  bool number_float(number_float_t value, const std::string&) override { return number(value); }
  bool string(std::string& value) override {
    if (!add(JsonKind::kString, 0, 1)) return false;
    JsonTree::Value& added = tree_.values.back();
    added.offset = static_cast<std::uint32_t>(opening_quote(document_.text(), offset() - 1));
    added.text = keep(value);
    return true;
  }
  bool binary(binary_t&) override { return false; }  // not in JSON text

  bool key(std::string& name) override {
    key_ = keep(name);
    key_offset_ = static_cast<std::uint32_t>(opening_quote(document_.text(), offset() - 1));
    return true;
  }
  bool start_object(std::size_t) override { return start(JsonKind::kObject); }
  bool start_array(std::size_t) override { return start(JsonKind::kArray); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception& error) override {
    document_.report_at(document_.position(position > 0 ? position - 1 : 0), syntax_message(error.what()));
    return false;
  }

 private:
  std::size_t offset() const { return static_cast<std::size_t>(read_ - document_.text().data()); }

  // The lexer has read one byte beyond a number to find its end, unless the text ends there.
  bool number(double value) {
    if (!add(JsonKind::kNumber, value, 1)) return false;
    const std::string& text = document_.text();
    std::size_t at = offset();
    const auto part = [](char c) {
      return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
    };
    while (at > 0 && !part(text[at - 1])) --at;
    while (at > 0 && part(text[at - 1])) --at;
    tree_.values.back().offset = static_cast<std::uint32_t>(at);
    return true;
  }

  bool add(JsonKind kind, double value, std::size_t bytes) {
    const auto index = static_cast<std::int32_t>(tree_.values.size());
    if (index >= most_values_) {
      document_.report_file("the file has more than " + std::to_string(most_values_) + " values");
      return false;
    }
    JsonTree::Value added;
    added.kind = kind;
    added.offset = static_cast<std::uint32_t>(offset() - std::min(offset(), bytes));
    added.key = key_;
    added.key_offset = key_offset_;
    added.end = index + 1;
    added.number = value;
    tree_.values.push_back(added);
    key_ = -1;
    return true;
  }

  bool start(JsonKind kind) {
    if (open_.size() >= static_cast<std::size_t>(kMaxDepth)) {
      document_.report_at(document_.position(offset() - 1), "values are nested deeper than 64 levels");
      return false;
    }
    if (!add(kind, 0, 1)) return false;
    open_.push_back(static_cast<std::int32_t>(tree_.values.size()) - 1);
    return true;
  }
  bool end() {
    tree_.values[open_.back()].end = static_cast<std::int32_t>(tree_.values.size());
    open_.pop_back();
    return true;
  }

  std::int32_t keep(std::string& value) {
    // Keys repeat from object to object in the same order, so the last one of the same name is near.
    constexpr std::size_t kNear = 16;
    auto& texts = tree_.texts;
    for (std::size_t i = texts.size(); i > 0 && i + kNear > texts.size(); --i)
      if (texts[i - 1] == value) return static_cast<std::int32_t>(i - 1);
    texts.push_back(std::move(value));
    return static_cast<std::int32_t>(texts.size() - 1);
  }

  Document& document_;
  const std::int32_t most_values_;
  JsonTree& tree_;
  const char* read_;
  std::vector<std::int32_t> open_;  // arrays and objects around the next value
  std::int32_t key_ = -1;
  std::uint32_t key_offset_ = 0;
};

}  // namespace

std::int32_t JsonTree::count_inside(std::int32_t value) const {
  std::int32_t count = 0;
  for (std::int32_t v = first_inside(value); v < values[value].end; v = after(v)) ++count;
  return count;
}

bool parse_json_tree(Document& document, std::int32_t most_values, JsonTree& tree) {
  return TreeBuilder(document, most_values, tree).read();
}

}  // namespace podsim
