// Packs attributes and finds them again.
#include "ingest/hlo/attributes.h"

#include <algorithm>
#include <utility>

namespace podsim::hlo {
namespace {

// The least significant seven bits first; the highest bit of a byte says that another follows.
void add_length(ShortList<char, 8>& packed, std::size_t length) {
  for (; length >= 128; length /= 128) packed.push_back(static_cast<char>(length % 128 + 128));
  packed.push_back(static_cast<char>(length));
}

// Takes it from the front.
std::size_t take_length(std::string_view& packed) {
  std::size_t length = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(packed.front());
    packed.remove_prefix(1);
    length += std::size_t{byte & 127u} << shift;
    if (byte < 128) return length;
  }
}

struct Entry {
  std::string_view key, value, behind;
};

Entry first_of(std::string_view packed) {
  const std::size_t key = take_length(packed), value = take_length(packed);
  return {packed.substr(0, key), packed.substr(key, value), packed.substr(key + value)};
}

}  // namespace

Attributes::Iterator::value_type Attributes::Iterator::operator*() const {
  const Entry first = first_of(rest_);
  return {first.key, first.value};
}

Attributes::Iterator& Attributes::Iterator::operator++() {
  rest_ = first_of(rest_).behind;
  return *this;
}

Attributes::Iterator Attributes::Iterator::operator++(int) {
  const Iterator before = *this;
  ++*this;
  return before;
}

void Attributes::add(std::string_view key, std::string_view value) {
  add_length(packed_, key.size());
  add_length(packed_, value.size());
  for (const std::string_view text : {key, value}) packed_.append(text.data(), text.data() + text.size());
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
