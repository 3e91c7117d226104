// Reads lists of kept and offloaded activations.
#include "validation/recompute_lists.h"

#include <algorithm>
#include <array>
#include <vector>

namespace podsim {
namespace {

// What recipes call activations, and the words that scenarios understand.
std::string activation(const std::string& word) {
  constexpr std::array<std::array<const char*, 2>, 5> kWords = {{{"decoder input", "decoder_layer_input"},
                                                                 {"q", "query_proj"},
                                                                 {"k", "key_proj"},
                                                                 {"v", "value_proj"},
                                                                 {"out", "out_proj"}}};
  for (const auto& [from, to] : kWords)
    if (word == from) return to;
  return word;
}

std::vector<std::string> listed_words(const std::string& text) {
  std::vector<std::string> parts = {""};
  for (const char c : text) {
    if (c == ',' || c == ';') {
      parts.emplace_back();
    } else if (c != ' ' || !parts.back().empty()) {
      parts.back() += c;
    }
  }
  std::erase(parts, "");
  return parts;
}

// Takes " verb" off the end of the text. Whether it was there.
bool take_verb(const std::string& verb, std::string& text) {
  if (!text.ends_with(" " + verb)) return false;
  text.resize(text.size() - verb.size() - 1);
  return true;
}

std::string list(const char* field, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "\"" : ", \"") + name + "\"";
  return text.empty() ? "" : std::string(field) + ": [" + text + "]";
}

}  // namespace

std::string retention_fields(const std::string& text) {
  const std::size_t colon = text.find(':');
  std::vector<std::string> open, kept, offloaded;
  const auto close = [&open](std::vector<std::string>& into) {
    into.insert(into.end(), open.begin(), open.end());
    open.clear();
  };
  for (std::string word : listed_words(colon == std::string::npos ? text : text.substr(colon + 1))) {
    const bool keeps = take_verb("kept", word), offloads = take_verb("offloaded", word);
    const bool remakes = take_verb("rematerialised", word);
    open.push_back(activation(word));
    if (keeps) close(kept);
    if (offloads) close(offloaded);
    if (remakes) open.clear();
  }
  std::erase(kept, "decoder_layer_input");  // kept in any case
  const std::string keep = kept.empty() ? "recompute: full" : list("keep", kept);
  return offloaded.empty() ? keep : keep + " " + list("offload", offloaded);
}

}  // namespace podsim
