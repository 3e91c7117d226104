// Recursive descent: a sum of products of powers.
#include "validation/expression.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <vector>

namespace podsim {
namespace {

constexpr int kMostDepth = 64;  // parentheses in parentheses

class Reader {
 public:
  Reader(const std::string& text, const std::function<Evaluated(const std::string&)>& figure)
      : text_(text), figure_(figure) {}

  Evaluated whole() {
    const double value = sum();
    skip_blanks();
    if (problem_.empty() && at_ < text_.size()) fail("\"" + text_.substr(at_) + "\" is left over");
    if (problem_.empty() && !std::isfinite(value)) fail("\"" + text_ + "\" is not a finite number");
    if (!problem_.empty()) return {std::nullopt, problem_};
    return {value, ""};
  }

 private:
  double fail(const std::string& problem) {
    if (problem_.empty()) problem_ = problem;
    at_ = text_.size();
    return 0;
  }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  double sum() {
    double value = product();
    for (;;) {
      if (take('+')) {
        value += product();
      } else if (take('-')) {
        value -= product();
      } else {
        return value;
      }
    }
  }

  double product() {
    double value = signed_power();
    for (;;) {
      if (take('*')) {
        value *= signed_power();
      } else if (take('/')) {
        value /= signed_power();
      } else {
        return value;
      }
    }
  }

  // -2 ^ 2 is -4, as in mathematics.
  double signed_power() {
    if (++depth_ > kMostDepth) return fail("\"" + text_ + "\" is nested too deeply");
    double value = 0;
    if (take('-')) {
      value = -signed_power();
    } else {
      value = operand();
      if (take('^')) value = std::pow(value, signed_power());
    }
    --depth_;
    return value;
  }

  double operand() {
    skip_blanks();
    if (at_ == text_.size()) return fail("\"" + text_ + "\" ends where a number or figure should be");
    if (take('(')) {
      const double value = sum();
      if (!take(')')) return fail("\"" + text_ + "\" lacks a closing parenthesis");
      return value;
    }
    const char c = text_[at_];
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') return number();
    if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '[') return named();
    return fail("\"" + text_.substr(at_) + "\" is neither a number nor a figure");
  }

  double number() {
    double value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) return fail("\"" + text_.substr(at_) + "\" is no number");
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  // A figure, or a function when a parenthesis follows.
  double named() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && problem_.empty()) {
      const char c = text_[at_];
      if (c == '[' || c == '"') {
        const std::size_t end = text_.find(c == '[' ? ']' : '"', at_ + 1);
        if (end == std::string::npos) return fail("\"" + text_.substr(begin) + "\" is not closed");
        at_ = end + 1;
      } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.') {
        ++at_;
      } else {
        break;
      }
    }
    const std::string name = text_.substr(begin, at_ - begin);
    if (at_ < text_.size() && text_[at_] == '(') return function(name);
    const Evaluated found = figure_(name);
    return found.value ? *found.value : fail(found.problem);
  }

  double function(const std::string& name) {
    std::vector<double> x;
    ++at_;  // the parenthesis
    do {
      x.push_back(sum());
    } while (take(','));
    if (!take(')')) return fail("\"" + text_ + "\" lacks a closing parenthesis");
    if (x.size() == 2 && name == "min") return std::min(x[0], x[1]);
    if (x.size() == 2 && name == "max") return std::max(x[0], x[1]);
    if (x.size() == 1 && name == "abs") return std::fabs(x[0]);
    if (x.size() == 1 && name == "sqrt") return std::sqrt(x[0]);
    if (x.size() == 1 && name == "exp") return std::exp(x[0]);
    if (x.size() == 1 && name == "log") return std::log(x[0]);
    if (x.size() == 1 && name == "floor") return std::floor(x[0]);
    return fail("there is no function " + name + " of " + std::to_string(x.size()) +
                " numbers; there are abs, sqrt, exp, log and floor of one, min and max of two");
  }

  const std::string& text_;
  const std::function<Evaluated(const std::string&)>& figure_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string problem_;
};

}  // namespace

Evaluated evaluate(const std::string& expression,
                   const std::function<Evaluated(const std::string&)>& figure) {
  return Reader(expression, figure).whole();
}

Evaluated evaluate(const std::string& expression) {
  return evaluate(expression, [](const std::string& name) {
    return Evaluated{std::nullopt, "\"" + name + "\" is not a number"};
  });
}

}  // namespace podsim
