// The one writer of JSON: indented text, key by key, in which a time shows every picosecond.
#pragma once

#include <cstdint>
#include <string>

#include "engine/units.h"

namespace podsim {

// How numbers that are not whole by nature look: 54 or 54.0. Reports have the first, the other verbs' results
// the second.
enum class JsonNumbers { kShortest, kWithPoint };

// Keys are of objects only: those of elements of a list, and of the whole, are passed over.
class JsonWriter {
 public:
  explicit JsonWriter(JsonNumbers numbers) : numbers_(numbers) {}

  void open(const std::string& key, char bracket);  // '{' or '['
  void close();

  void add(const std::string& key, const std::string& value);  // bytes that are not UTF-8 become U+FFFD
  void add(const std::string& key,
           double value);  // the shortest text that reads back alike; null when not finite
  void add(const std::string& key, Time value);  // in seconds
  void add(const std::string& key, bool value);
  void add(const std::string& key, int value);
  void add(const std::string& key, std::int64_t value);
  void add(const std::string& key, std::uint64_t value);
  void add_null(const std::string& key);

  std::string finish();  // the text, which ends with a line break

 private:
  void begin(const std::string& key);
  void new_line();
  void raw(const std::string& key, const std::string& text);

  JsonNumbers numbers_;
  std::string text_, closing_;
  bool first_ = true;
};

}  // namespace podsim
