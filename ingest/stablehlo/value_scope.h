// A computation of HLO while its lines are written, and what regions in it take from around them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace podsim::stablehlo {

// A value that statements below may use.
struct Value {
  std::string name, type;  // of HLO
  std::size_t line = 0;    // that makes it
  bool constant = false;
};

std::string plain_name(std::string_view name);                // %0 as HLO may call it
std::string tuple_of(const std::vector<std::string>& types);  // (f32[2], s32[])

class ValueScope;

// What the regions of one operation take from around it: HLO hands it to them behind what they are given.
struct Captures {
  ValueScope& around;
  std::vector<Value> values = {};  // of the computation around
};

class ValueScope {
 public:
  // `count` numbers the values of a module.
  ValueScope(std::string name, std::int64_t& count) : name_(std::move(name)), count_(count) {}
  // Of a region, whose one parameter is a tuple of what it is given and of what it takes: close() writes it.
  ValueScope(std::string name, std::int64_t& count, Captures& captures, const std::vector<std::string>& given,
             const std::vector<std::string>& types);

  const std::string& name() const { return name_; }
  Value define(const std::string& result, const std::string& type, const std::string& rest);
  // %0#1 of %0:2. A constant from around a region is written again in it; other values from there are
  // captured. Throws Unread where none is in sight.
  Value value(const std::string& name);
  // All that its regions have captured so far, as elements of what this one is given.
  std::vector<Value> carried();
  std::string list(const std::vector<std::string>& names);  // (a, b)
  void elements(const Value& tuple, const std::vector<std::string>& results,
                const std::vector<std::string>& types);
  void set_root(std::size_t line) { lines_[line] = "ROOT " + lines_[line]; }
  void close();
  std::string written() const;

 private:
  Value element(const std::string& result, std::size_t captured);

  std::string name_;
  std::int64_t& count_;
  std::vector<std::string> lines_;
  std::map<std::string, Value, std::less<>> values_;
  Captures* captures_ = nullptr;
  Value parameter_;
  std::vector<std::string> given_;  // types
};

}  // namespace podsim::stablehlo
