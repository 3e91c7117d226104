// Names of catalogue entries: how they are compared, and what can be one.
#include "proto/catalog/entry_name.h"

#include <algorithm>
#include <cctype>

namespace podsim {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_separator(char c) { return c == '-' || c == '_' || c == '.' || c == ' ' || c == '/'; }

}  // namespace

std::string without_organisation(const std::string& name) { return name.substr(name.find_last_of('/') + 1); }

std::string entry_key(const std::string& name) {
  std::string key;
  bool separated = false;
  for (const char c : name) {
    if (is_separator(c)) {
      separated = true;
      continue;
    }
    if (separated && !key.empty() && is_digit(key.back()) && is_digit(c)) key += '_';
    key += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    separated = false;
  }
  return key;
}

bool can_name_entry(const std::string& name) {
  return !name.empty() && std::ranges::none_of(name, [](unsigned char c) {
    return c == '"' || c == '\\' || std::iscntrl(c) != 0;
  });
}

}  // namespace podsim
