// Reads declarations by their brackets and semicolons; it knows the language as this tree is written in it.
#include "tests/tidy/declared_names.h"

#include <cctype>
#include <optional>
#include <regex>
#include <set>
#include <string_view>
#include <utility>

namespace podsim::testing {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The position after the literal that begins at a quote, or at the R of a raw one.
std::size_t after_literal(const std::string& text, std::size_t at) {
  if (text[at] == 'R') {
    const std::size_t open = text.find('(', at);
    const std::string close = ")" + text.substr(at + 2, open - at - 2) + "\"";
    return text.find(close, open) + close.size();
  }
  const char quote = text[at++];
  while (at < text.size() && text[at] != quote) at += text[at] == '\\' ? 2 : 1;
  return at + 1;
}

bool begins_literal(const std::string& text, std::size_t at) {
  if (text[at] == '"') return true;
  if (text.compare(at, 2, "R\"") == 0) return at == 0 || !in_word(text[at - 1]);
  return text[at] == '\'' && (at == 0 || !in_word(text[at - 1]));  // 1'000 has none
}

// Without comments and directives, each literal as "".
std::string plain_text(const std::vector<std::string>& lines) {
  std::string whole, plain;
  bool directive = false;
  for (const std::string& line : lines) {
    directive = directive || line.starts_with("#");
    if (!directive) whole += line + "\n";
    directive = directive && line.ends_with("\\");
  }
  for (std::size_t at = 0; at < whole.size();) {
    if (whole.compare(at, 2, "//") == 0) {
      at = whole.find('\n', at);
    } else if (whole.compare(at, 2, "/*") == 0) {
      at = whole.find("*/", at) + 2;
    } else if (begins_literal(whole, at)) {
      plain += "\"\"";
      at = after_literal(whole, at);
    } else {
      plain += whole[at] == '\n' ? ' ' : whole[at];
      ++at;
    }
  }
  return plain;
}

// The position after the bracket that closes the one at `at`. Of < a closing bracket is none where it is part
// of ->.
std::size_t after_bracket(const std::string& text, std::size_t at) {
  const char open = text[at];
  const char close = open == '(' ? ')' : open == '{' ? '}' : open == '[' ? ']' : '>';
  int depth = 0;
  for (; at < text.size(); ++at) {
    depth += text[at] == open;
    depth -= text[at] == close && !(close == '>' && text[at - 1] == '-');
    if (depth == 0) return at + 1;
  }
  return text.size();
}

// The first of `marks` outside of all brackets, those of templates too.
std::size_t first_outside(const std::string& text, std::string_view marks) {
  for (std::size_t at = 0; at < text.size();) {
    if (marks.find(text[at]) != std::string_view::npos) return at;
    const bool opens = text[at] == '(' || text[at] == '[' || text[at] == '{' ||
                       (text[at] == '<' && at > 0 && in_word(text[at - 1]));
    at = opens ? after_bracket(text, at) : at + 1;
  }
  return std::string::npos;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

std::string first_word(const std::string& text) {
  std::size_t end = 0;
  while (end < text.size() && in_word(text[end])) ++end;
  return text.substr(0, end);
}

const std::set<std::string> kSpecifiers = {"inline", "constexpr",    "consteval", "constinit",
                                           "static", "thread_local", "extern"};

// Without template <...>, attributes and words that say where or when a name lives.
std::string bare(std::string head) {
  static const std::regex attribute("\\[\\[[^\\]]*\\]\\]|alignas\\([^)]*\\)");
  if (head.find("[[") != std::string::npos || head.find("alignas(") != std::string::npos)
    head = trimmed(std::regex_replace(head, attribute, " "));
  while (head.starts_with("template"))
    head = trimmed(head.substr(after_bracket(head, std::min(head.find('<'), head.size() - 1))));
  while (kSpecifiers.contains(first_word(head))) head = trimmed(head.substr(first_word(head).size()));
  return head;
}

std::string last_word(const std::string& text) {
  std::size_t end = text.size();
  while (end > 0 && !in_word(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && in_word(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

// "const Mesh& mesh, int axis = 0" -> "const Mesh&,int"
std::string types_of(const std::string& parameters) {
  static const std::regex name("( |&|\\*)[a-z_0-9]+( = [^,]*)?(,|$)"), blanks("\\s+");
  return std::regex_replace(std::regex_replace(parameters, name, "$1$3"), blanks, "");
}

class Reader {
 public:
  explicit Reader(const std::vector<std::string>& lines) : text_(plain_text(lines)) {}

  std::vector<Declared> read() {
    while (at_ < text_.size()) statement();
    return std::move(found_);
  }

 private:
  // One declaration, one begin or one end of a namespace.
  void statement() {
    const std::size_t length = first_outside_of_rest();
    const std::string head = trimmed(text_.substr(at_, length));
    at_ += length;
    const char mark = at_ < text_.size() ? text_[at_] : ';';
    if (mark != '{') ++at_;
    if (mark == '}' && !within_.empty()) within_.pop_back();
    if (mark == '{' && (head.starts_with("namespace") || head.starts_with("inline namespace"))) {
      ++at_;
      within_.push_back(trimmed(head.substr(head.find("namespace") + 9)));
      return;
    }
    const std::string declaration = bare(head);
    const std::size_t body = at_;
    if (mark == '{') pass_body(declaration);
    if (!declaration.empty()) declare(declaration, mark, text_.substr(body, at_ - body));
  }

  std::size_t first_outside_of_rest() const {
    std::size_t at = at_;
    while (at < text_.size() && text_[at] != ';' && text_[at] != '{' && text_[at] != '}')
      at = text_[at] == '(' || text_[at] == '[' ? after_bracket(text_, at) : at + 1;
    return at - at_;
  }

  static bool is_type(const std::string& declaration) {
    const std::string word = first_word(declaration);
    return word == "struct" || word == "class" || word == "union" || word == "enum";
  }
  static bool is_function(const std::string& declaration) {
    const std::size_t open = first_outside(declaration, "(=");
    return in_operator(declaration) || (open != std::string::npos && declaration[open] == '(');
  }
  static bool in_operator(const std::string& declaration) {
    static const std::regex word("\\boperator\\W");
    return declaration.find("operator") != std::string::npos && std::regex_search(declaration, word);
  }

  // Of a function the body is all; what else has braces ends with a semicolon.
  void pass_body(const std::string& declaration) {
    at_ = after_bracket(text_, at_);
    if (declaration.empty() || (!is_type(declaration) && is_function(declaration))) return;
    while (at_ < text_.size() && text_[at_] != ';')
      at_ = text_[at_] == '{' || text_[at_] == '(' ? after_bracket(text_, at_) : at_ + 1;
    ++at_;
  }

  void declare(const std::string& text, char mark, const std::string& body) {
    if (text.starts_with("using ")) return declare_alias(text.substr(6));
    if (text.starts_with("namespace ")) return declare_alias(text.substr(10));
    if (is_type(text)) return declare_type(text, mark, body);
    const std::size_t open = first_outside(text, "(=");
    if (in_operator(text)) return declare_operator(text);
    if (open == std::string::npos || text[open] == '=') {
      const std::string before = text.substr(0, open);
      const std::size_t length_of_array = before.find('[');
      return add(Declared::Kind::kConstant, last_word(before.substr(0, length_of_array)));
    }
    const std::string before = trimmed(text.substr(0, open));
    const std::string name = last_word(before);
    const std::string result = trimmed(before.substr(0, before.size() - name.size()));
    const bool typed =
        !result.empty() && in_word(result[0]);  // else a macro, or what a constructor begins with
    if (!typed || result.ends_with("::") || result.ends_with("~")) return;
    add(Declared::Kind::kFunction, name,
        "(" + types_of(text.substr(open + 1, after_bracket(text, open) - open - 2)) + ")");
  }

  void declare_alias(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (text.starts_with("namespace ")) return;
    if (equals == std::string::npos) return add(Declared::Kind::kAlias, last_word(text), text);
    add(Declared::Kind::kAlias, last_word(text.substr(0, equals)), trimmed(text.substr(equals + 1)));
  }

  void declare_type(const std::string& text, char mark, const std::string& body) {
    static const std::regex named(
        "^(?:struct|class|union|enum class|enum struct|enum) +(\\w+) *(?:final *)?(: .*)?$");
    static const std::regex enumerators("^enum(?! class| struct).*");
    if (mark == ';') return;
    std::smatch match;
    if (std::regex_match(text, match, named)) add(Declared::Kind::kType, match[1]);
    if (!std::regex_match(text, enumerators)) return;
    std::string rest = body.substr(1, body.rfind('}') - 1);
    while (!trimmed(rest).empty()) {
      const std::size_t comma = first_outside(rest, ",");
      const std::string each = rest.substr(0, comma);
      if (!trimmed(each).empty()) add(Declared::Kind::kConstant, last_word(each.substr(0, each.find('='))));
      rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    }
  }

  void declare_operator(const std::string& text) {
    static const std::regex parts("^.*\\b(operator\\W+?)\\((.*)\\).*$");
    std::smatch match;
    if (!std::regex_match(text, match, parts) || text.find("::operator") != std::string::npos) return;
    add(Declared::Kind::kFunction, trimmed(match[1]), types_of(match[2]));
  }

  void add(Declared::Kind kind, const std::string& name, const std::string& meaning = "") {
    Declared each{kind, name, meaning, "", false};
    for (const std::string& space : within_) {
      each.hidden |= space.empty();
      if (!space.empty()) each.in += (each.in.empty() ? "" : "::") + space;
    }
    found_.push_back(std::move(each));
  }

  const std::string text_;
  std::size_t at_ = 0;
  std::vector<std::string> within_;  // namespaces, outermost first
  std::vector<Declared> found_;
};

}  // namespace

std::vector<Declared> declared_names(const std::vector<std::string>& lines) { return Reader(lines).read(); }

}  // namespace podsim::testing
