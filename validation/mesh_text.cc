// Reads meshes and slices off the cells of tables.
#include "validation/mesh_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

namespace podsim {
namespace {

// What sources call the axes.
std::string axis_name(const std::string& word) {
  constexpr std::array<std::array<const char*, 2>, 5> kWords = {{{"fsdp_transpose", "fsdp"},
                                                                 {"fsdp(data)", "fsdp"},
                                                                 {"batch/weight", "fsdp"},
                                                                 {"model", "tensor"},
                                                                 {"hidden/heads", "tensor"}}};
  constexpr std::array<const char*, 6> kNames = {"pipeline", "data", "fsdp", "context", "expert", "tensor"};
  if (std::ranges::count(kNames, word) > 0) return word;
  for (const auto& [from, to] : kWords)
    if (word == from) return to;
  return "";
}

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '(' || c == ')' || c == '/';
}

void multiply(const std::string& word, int size, std::vector<std::pair<std::string, int>>& axes) {
  const std::string name = axis_name(word);
  if (name.empty()) return;
  const auto known = std::ranges::find(axes, name, &std::pair<std::string, int>::first);
  if (known == axes.end()) {
    axes.emplace_back(name, size);
  } else {
    known->second = bounded_product(known->second, size);
  }
}

// The number that begins at `at`, which is moved behind it; 0 where none begins.
int number_at(const std::string& text, std::size_t& at) {
  int value = 0;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9' && value < 100'000'000)
    value = 10 * value + (text[at++] - '0');
  return value;
}

// "[256,8] (batch/weight x hidden/heads)": sizes in brackets, names behind them.
std::vector<std::pair<std::string, int>> bracketed_sizes(const std::string& text) {
  std::vector<std::pair<std::string, int>> axes;
  const std::size_t open = text.find('['), names = text.find('(', open);
  if (open == std::string::npos || names == std::string::npos) return axes;
  std::vector<int> sizes;
  for (std::size_t at = open + 1; at < names && text[at] != ']'; ++at) {
    const std::size_t begin = at;
    const int size = number_at(text, at);
    if (at > begin) sizes.push_back(size);
    if (text[at] == ']') break;
  }
  std::size_t at = names + 1;
  for (const int size : sizes) {
    std::string word;
    while (at < text.size() && !(std::isalnum(static_cast<unsigned char>(text[at])))) ++at;
    while (at < text.size() && text[at] != ')' && in_word(text[at])) word += text[at++];
    if (text.compare(at, 3, " x ") == 0) at += 3;
    multiply(word, size, axes);
  }
  return axes;
}

// Which torus dimensions each axis has, innermost axis first: whole dimensions whose lengths multiply to its
// size. The last dimensions are tried first.
bool place(const std::vector<int>& slice, const std::vector<int>& sizes, std::size_t axis, unsigned used,
           std::vector<unsigned>& chosen) {
  const unsigned all = (1u << slice.size()) - 1;
  if (axis == sizes.size()) return used == all;
  for (unsigned left = all; left > 0; --left) {
    // Subsets by size, then from the last dimension: 2, 1, 0, 12, 02, 01, 012.
    constexpr std::array<unsigned, 7> kOrder = {4, 2, 1, 6, 5, 3, 7};
    const unsigned subset = slice.size() == 3 ? kOrder[all - left] : (left == 3 ? 2u : left == 2 ? 1u : 3u);
    if (subset & used) continue;
    int product = 1;
    for (std::size_t d = 0; d < slice.size(); ++d)
      if (subset >> d & 1) product *= slice[d];
    if (product != sizes[axis]) continue;
    chosen[axis] = subset;
    if (place(slice, sizes, axis + 1, used | subset, chosen)) return true;
  }
  return false;
}

}  // namespace

int bounded_count(std::int64_t value) {
  return static_cast<int>(std::min<std::int64_t>(value, std::numeric_limits<int>::max()));
}

std::vector<std::pair<std::string, int>> axis_sizes(const std::string& text) {
  std::vector<std::pair<std::string, int>> axes;
  std::string word;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '=') {
      word = in_word(text[at]) ? word + text[at] : "";
      ++at;
      continue;
    }
    multiply(word, number_at(text, ++at), axes);
    word.clear();
  }
  return axes.empty() ? bracketed_sizes(text) : axes;
}

std::vector<int> torus_shape(const std::string& text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::vector<int> lengths;
    std::size_t end = at;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) {
      lengths.push_back(number_at(text, end));
      if (end >= text.size() || text[end] != 'x') break;
      ++end;
    }
    if (lengths.size() == 2 || lengths.size() == 3) return lengths;
    if (end > at) at = end - 1;
  }
  return {};
}

std::vector<unsigned> whole_dimensions(const std::vector<int>& slice, const std::vector<int>& sizes) {
  std::vector<unsigned> chosen(sizes.size());
  if (slice.size() < 2 || slice.size() > 3 || !place(slice, sizes, 0, 0, chosen)) chosen.clear();
  return chosen;
}

}  // namespace podsim
