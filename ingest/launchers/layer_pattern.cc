// Reads sums of lists that are repeated.
#include "ingest/launchers/layer_pattern.h"

#include <algorithm>
#include <cctype>

namespace podsim {
namespace {

constexpr std::int64_t kMostPatternLayers = 10'000;
constexpr int kDeepestPattern = 16;

class PatternReader {
 public:
  explicit PatternReader(const std::string& text) {
    for (const char c : text)
      if (std::isspace(static_cast<unsigned char>(c)) == 0 && c != '"' && c != '\'') text_ += c;
  }

  // Layers, or nothing; all of the text is read.
  std::optional<std::vector<bool>> read() {
    auto layers = sum(0);
    return at_ == text_.size() ? layers : std::nullopt;
  }

 private:
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::optional<std::int64_t> number() {
    const std::size_t begin = at_;
    std::int64_t value = 0;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0)
      value = std::min<std::int64_t>(kMostPatternLayers + 1, 10 * value + (text_[at_++] - '0'));
    return at_ > begin ? std::optional(value) : std::nullopt;
  }

  std::optional<std::vector<bool>> sum(int depth) {
    auto all = product(depth);
    while (all && take('+')) {
      const auto more = product(depth);
      if (!more || std::ssize(*all) + std::ssize(*more) > kMostPatternLayers) return std::nullopt;
      all->insert(all->end(), more->begin(), more->end());
    }
    return all;
  }

  std::optional<std::vector<bool>> product(int depth) {
    auto all = part(depth);
    while (all && take('*')) {
      const auto times = number();
      if (!times || *times * std::ssize(*all) > kMostPatternLayers) return std::nullopt;
      std::vector<bool> repeated;
      for (std::int64_t i = 0; i < *times; ++i) repeated.insert(repeated.end(), all->begin(), all->end());
      all = std::move(repeated);
    }
    return all;
  }

  std::optional<std::vector<bool>> part(int depth) {
    if (depth < kDeepestPattern && take('(')) {
      auto inside = sum(depth + 1);
      return take(')') ? inside : std::nullopt;
    }
    if (!take('[')) return std::nullopt;
    std::vector<bool> layers;
    while (!take(']')) {
      if (!layers.empty() && !take(',')) return std::nullopt;
      const auto value = number();
      if (!value || *value > 1 || std::ssize(layers) >= kMostPatternLayers) return std::nullopt;
      layers.push_back(*value == 1);
    }
    return layers;
  }

  std::string text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::vector<bool>> layer_pattern(const std::string& text, std::int64_t layers) {
  if (layers < 1 || layers > kMostPatternLayers) return std::nullopt;
  if (!text.empty() && text.size() < 6 && text.find_first_not_of("0123456789") == std::string::npos) {
    const std::int64_t every = std::stoll(text);
    if (every < 1) return std::nullopt;
    std::vector<bool> pattern;
    for (std::int64_t layer = 0; layer < layers; ++layer) pattern.push_back(layer % every == 0);
    return pattern;
  }
  auto pattern = PatternReader(text).read();
  return pattern && std::ssize(*pattern) == layers ? pattern : std::nullopt;
}

}  // namespace podsim
