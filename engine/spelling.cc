// Which valid name a user probably meant.
#include "engine/spelling.h"

#include <algorithm>
#include <numeric>

namespace podsim {
namespace {

constexpr std::size_t kLongestName = 64;  // beyond this a name is no misspelling

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Levenshtein distance with swaps of neighbours counted as one; letters of either case are the same.
int edit_distance(const std::string& a, const std::string& b) {
  std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::size_t common_start(const std::string& a, const std::string& b) {
  std::size_t same = 0;
  while (same < a.size() && same < b.size() && a[same] == b[same]) ++same;
  return same;
}

// What tells names apart: "llama-2-7b" has the letters "llamab" and the numbers 2 and 7.
struct NameParts {
  std::string letters;               // in lower case
  std::string plain;                 // letters and digits, in lower case
  std::vector<std::string> numbers;  // in their order

  explicit NameParts(const std::string& name) {
    bool in_number = false;
    for (const char c : name) {
      if (is_letter(c) || is_digit(c)) plain += lower(c);
      if (is_letter(c)) letters += lower(c);
      if (is_digit(c) && !in_number) numbers.emplace_back();
      if (is_digit(c)) numbers.back() += c;
      in_number = is_digit(c);
    }
  }
};

bool has_numbers_of(const NameParts& part, const NameParts& whole) {
  return std::ranges::all_of(part.numbers, [&](const std::string& number) {
    return std::ranges::find(whole.numbers, number) != whole.numbers.end();
  });
}

// "v5p" in "tpu_v5p", but not "h10" in "h100": numbers are whole.
bool is_part(const NameParts& part, const NameParts& whole) {
  if (part.plain.size() < 3 || whole.plain.find(part.plain) == std::string::npos) return false;
  return has_numbers_of(part, whole);
}

// "h100" of "h100_sxm", where it is at least half of the name.
bool is_start(const NameParts& start, const NameParts& whole) {
  if (start.plain.size() < 3 || 2 * start.plain.size() < whole.plain.size()) return false;
  return whole.plain.starts_with(start.plain) && has_numbers_of(start, whole);
}

// The same numbers, and no more than two letters in five wrong: beside a number a single letter is a word, so
// that "a100" is no misspelling of "h100".
bool may_be_misspelt(const NameParts& a, const NameParts& b) {
  if (a.numbers != b.numbers) return false;
  if (a.numbers.empty()) return true;
  const std::size_t longest = std::max(a.letters.size(), b.letters.size());
  return edit_distance(a.letters, b.letters) <= static_cast<int>(2 * longest / 5);
}

std::string first_word(const std::string& name) {
  std::string word;
  for (const char c : name) {
    if (!is_letter(c)) break;
    word += lower(c);
  }
  return word;
}

}  // namespace

std::string closest_name(const std::string& name, const std::vector<std::string>& candidates) {
  if (name.empty() || name.size() > kLongestName) return "";
  const NameParts parts(name);
  std::string best;
  int best_distance = 0;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const NameParts other(candidate);
    // A part of a name is as close as one wrong letter.
    const bool part = candidate != name && is_part(parts, other);
    const int distance = part ? 1 : edit_distance(name, candidate);
    const int allowed = std::max(1, static_cast<int>(std::max(name.size(), candidate.size())) / 3);
    const bool misspelt = distance <= allowed && may_be_misspelt(parts, other);
    if (!part && !misspelt && !is_start(other, parts)) continue;
    const bool nearer =
        distance < best_distance ||
        (distance == best_distance && common_start(name, candidate) > common_start(name, best));
    if (best.empty() || nearer) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::vector<std::string> family(const std::string& name, const std::vector<std::string>& candidates) {
  const std::string word = first_word(name);
  std::vector<std::string> kin;
  for (const std::string& candidate : candidates)
    if (!word.empty() && first_word(candidate) == word) kin.push_back(candidate);
  // Of the same generation, where there are any: Llama 2 for Llama 2.
  const NameParts parts(name);
  std::vector<std::string> generation;
  for (const std::string& candidate : kin) {
    const NameParts other(candidate);
    if (!parts.numbers.empty() && !other.numbers.empty() && other.numbers.front() == parts.numbers.front())
      generation.push_back(candidate);
  }
  return generation.empty() ? kin : generation;
}

}  // namespace podsim
