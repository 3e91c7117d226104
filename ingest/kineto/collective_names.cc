// Looks for words in names.
#include "ingest/kineto/collective_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

namespace podsim::kineto {
namespace {

// In lower case and without lines below.
std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (c != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

using Words = std::array<std::pair<const char*, const char*>, 12>;
// The first that a name has counts: one word holds another.
constexpr Words kKinds = {{{"allreduce", "all_reduce"},
                           {"allgather", "all_gather"},
                           {"reducescatter", "reduce_scatter"},
                           {"alltoall", "all_to_all"},
                           {"broadcast", "broadcast"},
                           {"barrier", "barrier"},
                           {"sendrecv", "send_recv"},
                           {"send", "send"},
                           {"recv", "recv"},
                           {"gather", "gather"},
                           {"scatter", "scatter"},
                           {"reduce", "reduce"}}};

const char* kind_in(const std::string& letters) {
  for (const auto& [word, kind] : kKinds)
    if (letters.find(word) != std::string::npos) return kind;
  return nullptr;
}

}  // namespace

std::string kind_of_call(std::string_view name) {
  const char* kind = kind_in(letters_of(name));
  return kind != nullptr ? kind : std::string(name);
}

std::string kind_of_kernel(std::string_view name) {
  const char* kind = kind_in(letters_of(name.substr(0, name.find('('))));
  return kind != nullptr ? kind : "unknown";
}

bool is_of_collective_library(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* library : {"nccl", "rccl", "nvshmem", "msccl", "deep_ep"})
    if (lower.find(library) != std::string::npos) return true;
  return false;
}

std::optional<std::int64_t> bytes_of_type(std::string_view type) {
  static const std::map<std::string_view, std::int64_t> kBytes = {{"Float", 4},
                                                                  {"BFloat16", 2},
                                                                  {"Half", 2},
                                                                  {"Double", 8},
                                                                  {"Long", 8},
                                                                  {"Int", 4},
                                                                  {"Short", 2},
                                                                  {"Char", 1},
                                                                  {"Byte", 1},
                                                                  {"Bool", 1},
                                                                  {"ComplexFloat", 8},
                                                                  {"ComplexDouble", 16},
                                                                  {"ComplexHalf", 4},
                                                                  {"Float8_e4m3fn", 1},
                                                                  {"Float8_e5m2", 1},
                                                                  {"Float8_e4m3fnuz", 1},
                                                                  {"Float8_e5m2fnuz", 1},
                                                                  {"UInt16", 2},
                                                                  {"UInt32", 4},
                                                                  {"UInt64", 8}};
  const auto found = kBytes.find(type);
  return found == kBytes.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace podsim::kineto
