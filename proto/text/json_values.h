// Typed values out of a JSON tree: what does not fit becomes a problem at its place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/text/json_tree.h"

namespace podsim {

constexpr std::int32_t kMissing = -1;  // in place of a value of a JSON tree

// Messages name a value by its path, "flows[3].bytes". A method that finds a problem reports it and returns
// nothing. A value that is missing (kMissing) gives nothing, without a problem.
class JsonValues {
 public:
  JsonValues(Document& document, const JsonTree& tree) : document_(document), tree_(tree) {}

  // The values of an object, [key of `keys`], kMissing for a key that it does not have or that is null.
  // Unknown keys and keys given twice are problems. Nothing when the value is no object.
  std::optional<std::vector<std::int32_t>> object(std::int32_t value, const std::vector<std::string>& keys);

  // The values of an array; empty when it is missing or no array.
  std::vector<std::int32_t> array(std::int32_t value);

  std::optional<double> number(std::int32_t value, double least, double most);

  // A whole number from 0 to end - 1; `what` is for messages: "a node".
  std::optional<std::int32_t> index(std::int32_t value, std::int32_t end, const std::string& what);

  std::optional<std::string> text(std::int32_t value);
  std::optional<bool> boolean(std::int32_t value);

  bool is(std::int32_t value, JsonKind kind) const { return tree_.at(value).kind == kind; }

  // A problem of a value; of its key, where it has one.
  void report(std::int32_t value, const std::string& message, const std::string& hint = "");
  // The object lacks the key.
  void report_missing(std::int32_t object, const std::string& key);

  std::string path(std::int32_t value) const;
  bool full() const { return document_.full(); }

 private:
  bool expect(std::int32_t value, JsonKind kind, const std::string& what);

  Document& document_;
  const JsonTree& tree_;
};

}  // namespace podsim
