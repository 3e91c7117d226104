// Packs attributes and finds them again.
#include "ingest/hlo/attributes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace podsim::hlo {
namespace {

using Lengths = std::array<std::uint32_t, 2>;

Lengths lengths_of(std::string_view packed) {
  Lengths lengths;
  std::memcpy(lengths.data(), packed.data(), sizeof lengths);
  return lengths;
}

}  // namespace

Attributes::Iterator::value_type Attributes::Iterator::operator*() const {
  const auto [key, value] = lengths_of(rest_);
  return {rest_.substr(sizeof(Lengths), key), rest_.substr(sizeof(Lengths) + key, value)};
}

Attributes::Iterator& Attributes::Iterator::operator++() {
  const auto [key, value] = lengths_of(rest_);
  rest_.remove_prefix(sizeof(Lengths) + key + value);
  return *this;
}

Attributes::Iterator Attributes::Iterator::operator++(int) {
  const Iterator before = *this;
  ++*this;
  return before;
}

void Attributes::add(std::string_view key, std::string_view value) {
  const Lengths lengths = {static_cast<std::uint32_t>(key.size()), static_cast<std::uint32_t>(value.size())};
  packed_.append(reinterpret_cast<const char*>(lengths.data()), sizeof lengths).append(key).append(value);
}

void Attributes::remove(std::string_view key) {
  Attributes kept;
  for (const auto& [each, value] : *this)
    if (each != key) kept.add(each, value);
  *this = std::move(kept);
}

std::string_view Attributes::of(std::string_view key) const {
  for (const auto& [each, value] : *this)
    if (each == key) return value;
  return {};
}

bool Attributes::has(std::string_view key) const {
  return std::any_of(begin(), end(), [&](const auto& attribute) { return attribute.first == key; });
}

}  // namespace podsim::hlo
