// The one writer of JSON: indented text, key by key, in which a time shows every picosecond.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/units.h"

namespace podsim {

// An empty key is for what has none: elements of a list, and the whole.
class JsonWriter {
 public:
  void open(const std::string& key, char bracket);  // '{' or '['
  void close();

  void add(const std::string& key, const std::string& value);  // bytes that are not UTF-8 become U+FFFD
  void add(const std::string& key, const char* value) { add(key, std::string(value)); }
  void add(const std::string& key,
           double value);  // the shortest text that reads back alike; null when not finite
  void add(const std::string& key, Time value);  // in seconds
  void add(const std::string& key, bool value);
  void add(const std::string& key, int value);
  void add(const std::string& key, std::int64_t value);
  void add(const std::string& key, std::uint64_t value);
  void add(const std::string& key, const std::vector<std::string>& values);
  void add_null(const std::string& key);

  std::string finish();  // the text, which ends with a line break

 private:
  void begin(const std::string& key);
  void new_line();
  void raw(const std::string& key, const std::string& text);

  std::string text_, closing_;
  bool first_ = true;
};

}  // namespace podsim
