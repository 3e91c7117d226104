// Walks through JSON with the parser of nlohmann, which hands over the digits of numbers as they are written.
#include "proto/pages/json_digits.h"

#include <nlohmann/json.hpp>

#include "engine/check.h"

namespace podsim {
namespace {

class DigitWalk : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<JsonValue> values;

  bool null() override { return take("null", false); }
  bool boolean(bool value) override { return take(value ? "true" : "false", false); }
  bool number_integer(number_integer_t value) override { return take(std::to_string(value), true); }
  bool number_unsigned(number_unsigned_t value) override { return take(std::to_string(value), true); }
  bool number_float(number_float_t, const string_t& digits) override { return take(digits, true); }
  bool string(string_t& text) override { return take(text, false); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(-1); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(0); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    open_.back().name = name;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

 private:
  struct Level {
    int next;          // in a list, or -1
    std::string name;  // in an object
  };

  std::string path() const {
    std::string path;
    for (const Level& level : open_) {
      if (level.next >= 0) {
        path += "[" + std::to_string(level.next) + "]";
      } else {
        path += (path.empty() ? "" : ".") + level.name;
      }
    }
    return path;
  }

  bool take(const std::string& text, bool number) {
    values.push_back({path(), text, number});
    return step();
  }
  bool open(int first) {
    open_.push_back({first, ""});
    return true;
  }
  bool close() {
    open_.pop_back();
    return step();
  }
  bool step() {
    if (!open_.empty() && open_.back().next >= 0) ++open_.back().next;
    return true;
  }

  std::vector<Level> open_;
};

}  // namespace

std::vector<JsonValue> json_values(const std::string& json) {
  DigitWalk walk;
  PODSIM_CHECK(nlohmann::json::sax_parse(json, &walk), "results are JSON");
  return std::move(walk.values);
}

}  // namespace podsim
