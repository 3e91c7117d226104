// Own code because no JSON library writes a number with the digits that it is given.
#include "proto/writing/json_writer.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/text/text.h"

namespace podsim {
namespace {

std::string json_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void JsonWriter::open(const std::string& key, char bracket) {
  begin(key);
  text_ += bracket;
  closing_.push_back(bracket == '{' ? '}' : ']');
  first_ = true;
}

void JsonWriter::close() {
  const char bracket = closing_.back();
  closing_.pop_back();
  if (!first_) new_line();
  text_ += bracket;
  first_ = false;
}

void JsonWriter::add(const std::string& key, const std::string& value) { raw(key, json_string(value)); }
void JsonWriter::add(const std::string& key, double value) {
  const bool point = numbers_ == JsonNumbers::kWithPoint || !std::isfinite(value);
  raw(key, point ? nlohmann::json(value).dump() : shortest(value));
}

void JsonWriter::add(const std::string& key, Time value) { raw(key, exact_seconds(value)); }
void JsonWriter::add(const std::string& key, bool value) { raw(key, value ? "true" : "false"); }
void JsonWriter::add(const std::string& key, int value) { raw(key, std::to_string(value)); }
void JsonWriter::add(const std::string& key, std::int64_t value) { raw(key, std::to_string(value)); }
void JsonWriter::add(const std::string& key, std::uint64_t value) { raw(key, std::to_string(value)); }
void JsonWriter::add_null(const std::string& key) { raw(key, "null"); }

std::string JsonWriter::finish() { return std::exchange(text_, {}) + "\n"; }

void JsonWriter::begin(const std::string& key) {
  if (!first_) text_ += ',';
  if (!closing_.empty()) new_line();
  first_ = false;
  if (!closing_.empty() && closing_.back() == '}') text_ += json_string(key) + ": ";
}

void JsonWriter::new_line() { text_ += "\n" + std::string(2 * closing_.size(), ' '); }

void JsonWriter::raw(const std::string& key, const std::string& text) {
  begin(key);
  text_ += text;
}

}  // namespace podsim
