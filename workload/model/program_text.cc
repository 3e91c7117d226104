// How dimensions and equations of a tensor program are written.
#include "workload/model/program_text.h"

#include <algorithm>
#include <utility>

#include "engine/number_text.h"
#include "engine/words.h"

namespace podsim {
namespace {

constexpr std::string_view kBlanks = " \t\n\r";

bool is_blank(char c) { return kBlanks.find(c) != std::string_view::npos; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '.' || c == '-';
}

constexpr std::int64_t kLargestSize = 1'000'000'000'000;

// Reads terms from left to right; the first problem ends the reading.
class DimReader {
 public:
  explicit DimReader(const std::string& text) : text_(text) {}

  ParsedDims read() {
    while (skip_blanks(), at_ < text_.size() && result_.problem.empty()) {
      const std::size_t begin = at_;
      DimTerm term = text_[at_] == '(' ? product() : plain();
      term.text = text_.substr(begin, at_ - begin);
      result_.terms.push_back(std::move(term));
    }
    return std::move(result_);
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void fail(const std::string& problem) {
    if (result_.problem.empty()) result_.problem = problem;
  }

  std::string word() {
    const std::size_t begin = at_;
    const bool sign = at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '.');
    while (!sign && at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ > begin) return text_.substr(begin, at_ - begin);
    if (at_ >= text_.size()) {
      fail("\"" + text_ + "\" ends where a dimension is expected");
    } else {
      fail("\"" + text_ + "\" has '" + text_[at_] + "' at byte " + std::to_string(at_ + 1) +
           ", where a dimension is expected");
    }
    return "";
  }

  DimSize size() {
    DimSize size;
    size.name = word();
    if (size.name.empty() || !is_digit(size.name.front())) return size;
    size.number = whole_text_as<std::int64_t>(size.name).value_or(0);
    if (size.number < 1 || size.number > kLargestSize)
      fail("\"" + size.name + "\" is no size: a whole number from 1 to 1e12 is expected");
    size.name.clear();
    return size;
  }

  DimTerm plain() {
    DimTerm term;
    const DimSize first = size();
    term.name = first.name;
    if (!take('=')) {
      term.blocks = {first};
      return term;
    }
    if (first.name.empty()) fail("\"" + text_ + "\" gives a number another size");
    do term.blocks.push_back(size());
    while (take('+'));
    return term;
  }

  DimTerm product() {
    DimTerm term;
    take('(');
    while (skip_blanks(), at_ < text_.size() && text_[at_] != ')' && result_.problem.empty())
      term.factors.push_back(plain());
    if (!take(')')) fail("\"" + text_ + "\" has a ( without )");
    if (term.factors.empty()) {
      fail("\"" + text_ + "\" has () without a dimension in it");
    } else {
      term.name = term.factors.front().name;
    }
    return term;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  ParsedDims result_;
};

std::vector<std::string> at_commas(const std::string& text) {
  std::vector<std::string> parts = split(text, ',');
  for (std::string& part : parts) part = trim(part, kBlanks);
  return parts;
}

// "b(sn)d": a letter per dimension, products in brackets.
EquationOperand letters(const std::string& text, std::string& problem) {
  EquationOperand dims;
  bool inside = false;
  for (char c : text) {
    if (c == '(' && !inside) {
      inside = true;
      dims.emplace_back();
    } else if (c == ')' && inside && !dims.back().empty()) {
      inside = false;
    } else if (is_word(c) && !is_digit(c)) {
      if (!inside) dims.emplace_back();
      dims.back().push_back(std::string(1, c));
    } else {
      problem = "\"" + text + "\" is no list of letters";
    }
  }
  if (inside) problem = "\"" + text + "\" has a ( without )";
  return dims;
}

EquationOperand names(const std::string& text, std::string& problem) {
  const ParsedDims parsed = parse_dims(text);
  if (!parsed.problem.empty()) problem = parsed.problem;
  EquationOperand dims;
  for (const DimTerm& term : parsed.terms) {
    dims.emplace_back();
    const auto name = [](const DimTerm& plain) {
      return plain.name.empty() ? std::to_string(plain.blocks.front().number) : plain.name;
    };
    if (term.factors.empty()) dims.back().push_back(name(term));
    for (const DimTerm& factor : term.factors) dims.back().push_back(name(factor));
  }
  return dims;
}

bool uses_letters(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                  const std::vector<std::size_t>& ranks) {
  for (const auto* operands : {&inputs, &outputs}) {
    for (const std::string& operand : *operands) {
      if (std::any_of(operand.begin(), operand.end(), is_blank)) return false;
    }
  }
  std::string ignored;
  for (std::size_t i = 0; i < inputs.size() && i < ranks.size(); ++i) {
    if (letters(inputs[i], ignored).size() != ranks[i]) return false;
  }
  return true;
}

}  // namespace

ParsedDims parse_dims(const std::string& text) { return DimReader(text).read(); }

Equation parse_equation(const std::string& text, const std::vector<std::size_t>& ranks) {
  Equation equation;
  const std::size_t arrow = text.find("->");
  if (arrow == std::string::npos) {
    equation.problem = "\"" + text + "\" has no ->";
    return equation;
  }
  const std::vector<std::string> inputs = at_commas(text.substr(0, arrow)),
                                 outputs = at_commas(text.substr(arrow + 2));
  const bool short_form = uses_letters(inputs, outputs, ranks);
  const auto read = [&](const std::string& operand) {
    return short_form ? letters(operand, equation.problem) : names(operand, equation.problem);
  };
  for (const std::string& input : inputs) equation.inputs.push_back(read(input));
  for (const std::string& output : outputs) equation.outputs.push_back(read(output));
  return equation;
}

}  // namespace podsim
