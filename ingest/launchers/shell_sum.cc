// Terms, factors and brackets, each by a function.
#include "ingest/launchers/shell_sum.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace podsim {
namespace {

constexpr int kMostBrackets = 32;  // within each other

class ShellSum {
 public:
  ShellSum(std::string_view text, const std::map<std::string, std::string>& variables)
      : text_(text), variables_(variables) {}

  std::optional<std::int64_t> value() {
    const auto sum = terms(0);
    skip();
    return at_ == text_.size() ? sum : std::nullopt;
  }

 private:
  using Number = std::optional<std::int64_t>;

  void skip() {
    while (at_ < text_.size() && (std::isspace(static_cast<unsigned char>(text_[at_])) != 0)) ++at_;
  }

  char next() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  Number terms(int depth) {
    Number sum = factors(depth);
    while (next() == '+' || next() == '-') {
      const bool plus = text_[at_++] == '+';
      const Number more = factors(depth);
      std::int64_t result = 0;
      if (!sum || !more ||
          (plus ? __builtin_add_overflow(*sum, *more, &result)
                : __builtin_sub_overflow(*sum, *more, &result)))
        return std::nullopt;
      sum = result;
    }
    return sum;
  }

  Number factors(int depth) {
    Number product = single(depth);
    while (next() == '*' || next() == '/' || next() == '%') {
      const char sign = text_[at_++];
      const Number more = single(depth);
      std::int64_t result = 0;
      if (!product || !more) return std::nullopt;
      if (sign == '*' ? __builtin_mul_overflow(*product, *more, &result) : *more <= 0) return std::nullopt;
      product = sign == '*' ? result : sign == '/' ? *product / *more : *product % *more;
    }
    return product;
  }

  Number single(int depth) {
    if (depth > kMostBrackets) return std::nullopt;
    if (next() == '(') {
      ++at_;
      const Number inside = terms(depth + 1);
      if (next() != ')') return std::nullopt;
      ++at_;
      return inside;
    }
    if (next() == '$') ++at_;
    const bool braces = next() == '{';
    if (braces) ++at_;
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_of_variable(text_[at_])) ++at_;
    std::string word(text_.substr(begin, at_ - begin));
    if (braces && next() == '}') ++at_;
    if (const auto found = variables_.find(word); found != variables_.end()) word = found->second;
    if (word.empty() || word.size() > 18 ||
        !std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
      return std::nullopt;
    return std::strtoll(word.c_str(), nullptr, 10);
  }

  std::string_view text_;
  const std::map<std::string, std::string>& variables_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_of_variable(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::optional<std::int64_t> shell_sum(std::string_view text,
                                      const std::map<std::string, std::string>& variables) {
  return ShellSum(text, variables).value();
}

}  // namespace podsim
