// Attributes of HLO operations from those of StableHLO.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/stablehlo/statement.h"

namespace podsim::stablehlo {

// Of f32[8,128].
std::vector<std::int64_t> sizes_of(const std::string& type);

// {0,1}
std::string braced(const std::vector<std::int64_t>& numbers);

// As HLO calls the operation.
std::string opcode_of(std::string_view operation);

class HloAttributes {
 public:
  explicit HloAttributes(const Words& words) : words_(words) {}

  // ", dimensions={0}"; nothing where the operation has no HLO of this form.
  std::optional<std::string> of(const Statement& statement, const std::string& opcode);

  // Computations of two scalars that attributes so far have named.
  const std::string& combiners() const { return text_; }

 private:
  std::string pair(const Statement& of, std::string_view name, const char* left, const char* right) const;
  std::string product(const Statement& of) const;
  std::optional<std::string> slice(const Statement& of) const;
  std::string padding(const Statement& of) const;
  std::string combiner(const std::string& opcode, const std::string& type);
  std::optional<std::string> combined(const Statement& of) const;
  std::optional<std::string> reduction(const Statement& of);
  std::optional<std::string> convolution(const Statement& of) const;
  std::optional<std::string> window(const Statement& of) const;
  std::optional<std::string> windowed_reduction(const Statement& of);
  std::optional<std::string> selection(const Statement& of);
  std::optional<std::string> gather(const Statement& of) const;
  std::optional<std::string> scatter(const Statement& of);
  std::optional<std::string> sort(const Statement& of);
  std::string lists(const Statement& of, const std::vector<const char*>& names) const;
  std::string function(const std::string& name, const std::string& type, const std::string& root);
  std::optional<std::string> collective(const Statement& of, const std::string& opcode);

  const Words& words_;
  std::string text_;
  std::set<std::string> names_;
};

}  // namespace podsim::stablehlo
