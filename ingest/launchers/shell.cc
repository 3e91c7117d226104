// One pass over the text: a word is put together from pieces, an assignment takes effect where it stands.
#include "ingest/launchers/shell.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>

#include "engine/words.h"
#include "ingest/launchers/shell_sum.h"
#include "ingest/launchers/slurm_options.h"

namespace podsim {
namespace {

constexpr std::size_t kMostBytes = 1u << 20;  // of a value, so that one that doubles itself ends
constexpr int kMostDefaults = 32;

class ShellReader {
 public:
  ShellReader(Document& document, const std::map<std::string, std::string>& given)
      : document_(document), text_(document.text()), given_(given) {
    for (const auto& [name, value] : given) script_.variables[name] = value;
  }

  ShellScript read() {
    while (at_ < text_.size()) {
      skip_blanks();
      if (at_ >= text_.size()) break;
      const char c = text_[at_];
      if (c == '#') {
        comment();
      } else if (c == '<' || c == '>' || text_.compare(at_, 2, "&>") == 0) {
        redirection();
      } else if (c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' || c == ')') {
        ++at_;
        if (c != '(' && c != ')') end_command();
      } else {
        word();
      }
    }
    end_command();
    return std::move(script_);
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size()) {
      if (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')
        ++at_;
      else if (text_[at_] == '\\' && at_ + 1 < text_.size() &&
               (text_[at_ + 1] == '\n' || text_[at_ + 1] == '\r'))
        at_ += 2;
      else
        break;
    }
  }

  void comment() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string line = text_.substr(at_, end - at_);
    at_ = end;
    if (!line.starts_with("#SBATCH")) return;
    std::istringstream text(line.substr(7));
    std::vector<std::string> words;
    for (std::string word; text >> word && !word.starts_with("#");) words.push_back(word);
    for (const SlurmOption& option : slurm_options(words)) batch_option(option.name, option.value);
  }

  // Slurm tells a script how many nodes it got, which a range of them ("2-16") does not.
  void batch_option(const std::string& name, const std::string& value) {
    script_.batch[name] = value;
    if (name != "nodes" || value.find_first_not_of("0123456789") != std::string::npos) return;
    for (const char* variable : {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"})
      if (given_.count(variable) == 0) script_.variables[variable] = value;
  }

  void end_command() {
    static const std::vector<std::string> kWords = {"then", "do", "else", "if",  "while",
                                                    "{",    "!",  "elif", "time"};
    while (!command_.empty() &&
           std::find(kWords.begin(), kWords.end(), command_.front().text) != kWords.end())
      command_.erase(command_.begin());
    if (!command_.empty()) script_.commands.push_back(std::move(command_));
    command_.clear();
  }

  // An assignment before the command, an array, or a word of the command.
  void word() {
    const TextPosition at = document_.position(at_);
    std::size_t name_end = at_;
    while (name_end < text_.size() && is_of_variable(text_[name_end])) ++name_end;
    const bool adds = text_.compare(name_end, 2, "+=") == 0;
    const bool exported =
        command_.size() == 1 && (command_[0].text == "export" || command_[0].text == "declare" ||
                                 command_[0].text == "local" || command_[0].text == "readonly");
    if ((command_.empty() || exported) && name_end > at_ && name_end < text_.size() &&
        (text_[name_end] == '=' || adds)) {
      assignment(text_.substr(at_, name_end - at_), name_end + (adds ? 2 : 1), adds, at);
      return;
    }
    const std::size_t begin = at_;
    std::vector<ShellWord> words = pieces();
    if (is_redirected(text_.substr(begin, at_ - begin))) return;
    for (ShellWord& piece : words) {
      if (piece.at.line == 0) piece.at = at;
      command_.push_back(std::move(piece));
    }
  }

  // Whether a word that ends here is the 2 of "2> errors".
  bool is_redirected(const std::string& word) const {
    return at_ < text_.size() && (text_[at_] == '<' || text_[at_] == '>') &&
           word.find_first_not_of("0123456789") == std::string::npos;
  }

  // "> file", "2>&1", "&>> file", "<<END", "> >(tee log)": none of its words is the command's.
  void redirection() {
    while (at_ < text_.size() && std::string_view("<>&|").find(text_[at_]) != std::string_view::npos) ++at_;
    skip_blanks();
    if (at_ + 1 < text_.size() && (text_[at_] == '<' || text_[at_] == '>')) ++at_;
    if (at_ < text_.size() && text_[at_] == '(')
      at_ = std::min(closing(at_ + 1, '(', ')') + 1, text_.size());
    else
      pieces();
  }

  void assignment(const std::string& name, std::size_t value, bool adds, TextPosition at) {
    at_ = value;
    std::vector<ShellWord> words;
    const bool array = at_ < text_.size() && text_[at_] == '(';
    if (array) {
      ++at_;
      words = array_words(at);
    } else if (at_ < text_.size() &&
               std::string_view(" \t\r\n;&|)").find(text_[at_]) == std::string_view::npos) {
      words = {{separated(pieces(), " ", [](const ShellWord& piece) { return piece.text; }), at}};
    }
    if (given_.count(name) != 0) return;
    std::string& variable = script_.variables[name];
    std::vector<ShellWord>& list = arrays_[name];
    if (!adds) {
      variable.clear();
      list.clear();
    }
    if (variable.size() > kMostBytes || list.size() > kMostBytes) {
      document_.report_at(at, "the value of " + name + " is too long");
      at_ = text_.size();
      return;
    }
    for (ShellWord& one : words) {
      variable += (array && !variable.empty() ? " " : "") + one.text;
      list.push_back(std::move(one));
    }
    if (!array) list = {{variable, at}};
  }

  std::vector<ShellWord> array_words(TextPosition begin) {
    std::vector<ShellWord> words;
    while (true) {
      skip_blanks();
      if (at_ >= text_.size()) {
        document_.report_at(begin, "this array is not closed", "expected ')'");
        return words;
      }
      if (text_[at_] == ')') {
        ++at_;
        return words;
      }
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_[at_] == '\n') {
        ++at_;
      } else {
        const std::size_t before = at_;
        const TextPosition at = document_.position(at_);
        for (ShellWord& piece : pieces()) {
          if (piece.at.line == 0) piece.at = at;
          words.push_back(std::move(piece));
        }
        if (at_ == before) ++at_;
      }
    }
  }

  // The words that stand for one of the text: an unquoted variable may hold several, a quoted list too.
  std::vector<ShellWord> pieces() {
    std::vector<ShellWord> words(1);
    bool some = false;  // whether the last word exists even when it is empty
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (std::string_view(" \t\r\n;&|()<>").find(c) != std::string_view::npos) break;
      if (c == '\'') {
        words.back().text += single_quoted();
        some = true;
      } else if (c == '"') {
        double_quoted(words);
        some = true;
      } else if (c == '\\' && at_ + 1 < text_.size()) {
        if (text_[at_ + 1] == '\n') break;
        words.back().text += text_[at_ + 1];
        at_ += 2;
        some = true;
      } else if (c == '$' || c == '`') {
        std::string all;
        for (const ShellWord& value : expansion()) all += (all.empty() ? "" : " ") + value.text;
        if (is_unknown_word(all))
          words.back().text += all;  // blanks of $(a command) part no words
        else
          split_into(words, all);
        some = some || !all.empty();
      } else {
        words.back().text += c;
        ++at_;
        some = true;
      }
      if (words.back().text.size() > kMostBytes) {
        document_.report_at(document_.position(at_), "a word is too long");
        at_ = text_.size();
      }
    }
    if (!some) words.pop_back();
    return words;
  }

  // Where a text without quotes has blanks, words end.
  static void split_into(std::vector<ShellWord>& words, const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool blank = std::isspace(static_cast<unsigned char>(text[i])) != 0;
      if (!blank) words.back().text += text[i];
      const bool ends =
          blank && !words.back().text.empty() && text.find_first_not_of(" \t\r\n", i) != std::string::npos;
      if (ends) words.emplace_back();
    }
  }

  std::string single_quoted() {
    const std::size_t begin = at_ + 1, end = text_.find('\'', begin);
    if (end == std::string::npos) {
      document_.report_at(document_.position(at_), "this quote is not closed", "expected '");
      at_ = text_.size();
      return "";
    }
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }

  void double_quoted(std::vector<ShellWord>& words) {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        const char escaped = text_[at_ + 1];
        if (escaped != '\n') words.back().text += escaped;
        at_ += 2;
      } else if (text_[at_] == '$' || text_[at_] == '`') {
        const std::vector<ShellWord> values = expansion();
        for (std::size_t i = 0; i < values.size(); ++i) {
          if (i > 0) words.emplace_back();
          words.back().text += values[i].text;
          if (values.size() > 1) words.back().at = values[i].at;
        }
      } else {
        words.back().text += text_[at_++];
      }
    }
    if (at_ >= text_.size())
      document_.report_at(document_.position(begin), "this quote is not closed", "expected \"");
    else
      ++at_;
  }

  // From a closing bracket that belongs to the one before `at_`; the end of the text where there is none.
  std::size_t closing(std::size_t from, char open, char close) const {
    int depth = 1;
    for (std::size_t i = from; i < text_.size(); ++i) {
      if (text_[i] == open) ++depth;
      if (text_[i] == close && --depth == 0) return i;
    }
    return text_.size();
  }

  // At a "$" or "`". What is not known stays as it is written.
  std::vector<ShellWord> expansion() {
    const std::size_t begin = at_;
    if (text_[at_] == '`') {
      at_ = std::min(text_.find('`', at_ + 1), text_.size() - 1) + 1;
      return known_text(text_.substr(begin, at_ - begin));
    }
    if (text_.compare(at_, 3, "$((") == 0) {
      const std::size_t end = closing(at_ + 2, '(', ')');
      const std::size_t stop = closing(at_ + 3, '(', ')');
      at_ = std::min(end + 1, text_.size());
      if (const auto sum =
              shell_sum(std::string_view(text_).substr(begin + 3, stop - begin - 3), script_.variables))
        return known_text(std::to_string(*sum));
      return known_text(text_.substr(begin, at_ - begin));
    }
    if (text_.compare(at_, 2, "$(") == 0) {
      at_ = std::min(closing(at_ + 2, '(', ')') + 1, text_.size());
      return known_text(text_.substr(begin, at_ - begin));
    }
    if (text_.compare(at_, 2, "${") == 0) {
      const std::size_t end = closing(at_ + 2, '{', '}');
      if (end >= text_.size()) {
        document_.report_at(document_.position(begin), "this bracket is not closed", "expected '}'");
        at_ = text_.size();
        return known_text("");
      }
      const std::string inside = text_.substr(at_ + 2, end - at_ - 2);
      at_ = end + 1;
      return braced(inside, text_.substr(begin, at_ - begin));
    }
    std::size_t end = at_ + 1;
    while (end < text_.size() && is_of_variable(text_[end])) ++end;
    if (end == at_ + 1 && end < text_.size() &&
        std::string_view("@*#?").find(text_[end]) != std::string_view::npos)
      ++end;
    at_ = end;
    return known_text(value_of(text_.substr(begin + 1, end - begin - 1), text_.substr(begin, end - begin)));
  }

  static std::vector<ShellWord> known_text(std::string text) { return {{std::move(text), {0, 0}}}; }

  std::string value_of(const std::string& name, const std::string& unknown) const {
    const auto found = script_.variables.find(name);
    return found == script_.variables.end() ? unknown : found->second;
  }

  // "NAME", "NAME:-value", "NAME:+value", "NAME[@]", "NAME[*]"
  std::vector<ShellWord> braced(const std::string& inside, const std::string& unknown) {
    std::size_t end = 0;
    while (end < inside.size() && is_of_variable(inside[end])) ++end;
    const std::string name = inside.substr(0, end), rest = inside.substr(end);
    if (rest == "[@]" || rest == "[*]") {
      const auto found = arrays_.find(name);
      if (found != arrays_.end() && rest == "[@]") return found->second;
      return known_text(value_of(name, unknown));
    }
    const auto found = script_.variables.find(name);
    const bool set = found != script_.variables.end() && !found->second.empty();
    for (const char* sign : {":-", "-", ":=", "="}) {
      if (!rest.starts_with(sign)) continue;
      return known_text(set ? found->second : expanded(rest.substr(std::string_view(sign).size())));
    }
    for (const char* sign : {":+", "+"})
      if (rest.starts_with(sign) && !name.empty())
        return known_text(set ? expanded(rest.substr(std::string_view(sign).size())) : "");
    if (rest.empty()) return known_text(value_of(name, unknown));
    return known_text(unknown);
  }

  // A default value may name variables itself.
  std::string expanded(const std::string& value) {
    if (depth_ >= kMostDefaults || value.find('$') == std::string::npos) return unquoted(value);
    Document inside(document_.file(), value);
    ShellReader reader(inside, given_);
    reader.script_.variables = script_.variables;
    reader.arrays_ = arrays_;
    reader.depth_ = depth_ + 1;
    std::string text;
    while (reader.at_ < inside.text().size()) {
      const std::size_t before = reader.at_;
      reader.skip_blanks();
      for (const ShellWord& piece : reader.pieces()) text += (text.empty() ? "" : " ") + piece.text;
      if (reader.at_ == before) ++reader.at_;  // a sign that belongs to no word
    }
    return text;
  }

  static std::string unquoted(const std::string& value) {
    const bool quoted =
        value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.front() == value.back();
    return quoted ? value.substr(1, value.size() - 2) : value;
  }

  Document& document_;
  const std::string text_;
  const std::map<std::string, std::string>& given_;
  ShellScript script_;
  std::map<std::string, std::vector<ShellWord>> arrays_;
  std::vector<ShellWord> command_;
  std::size_t at_ = 0;
  int depth_ = 0;  // of defaults within defaults
};

}  // namespace

ShellScript read_shell(Document& document, const std::map<std::string, std::string>& given) {
  return ShellReader(document, given).read();
}

}  // namespace podsim
