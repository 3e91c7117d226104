// Writes entries anew, line by line.
#include "calibration/anchored_entry.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "engine/check.h"
#include "report/text/text.h"

namespace podsim {
namespace {

bool begins_with_field(const std::string& line, const char* field) {
  const std::size_t at = line.find_first_not_of(" \t");
  return at != std::string::npos && line.compare(at, std::string(field).size(), field) == 0;
}

// Where the block of this name begins, behind its brace; npos where the entry has none. Comments and quoted
// text are passed over.
std::size_t inside_block(const std::string& text, const std::string& name) {
  int depth = 0;
  std::string word;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '#') {
      at = text.find('\n', at);
      if (at == std::string::npos) return at;
    } else if (c == '"') {
      at = text.find('"', at + 1);
      if (at == std::string::npos) return at;
      word.clear();
    } else if (c == '{') {
      if (++depth == 2 && word == name) return at + 1;
      word.clear();
    } else if (c == '}') {
      --depth;
      word.clear();
    } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      const bool begins =
          at == 0 || (std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0 && text[at - 1] != '_');
      word = (begins ? "" : word) + c;
    }
  }
  return std::string::npos;
}

// Adds a number that the entry does not state, "field" or "block.field".
void add_number(std::string& text, const std::string& path, double value) {
  const std::size_t dot = path.find('.');
  const std::string line = path.substr(dot == std::string::npos ? 0 : dot + 1) + ": " + shortest(value);
  if (dot == std::string::npos) {
    text.insert(text.rfind('}'), "  " + line + "\n");
    return;
  }
  const std::string block = path.substr(0, dot);
  const std::size_t inside = inside_block(text, block);
  if (inside == std::string::npos) {
    text.insert(text.rfind('}'), "  " + block + " { " + line + " }\n");
  } else {
    text.insert(inside, " " + line);
  }
}

}  // namespace

std::string entry_under_new_name(const std::string& text, const std::string& name,
                                 const std::vector<NumberChange>& changes) {
  const RewrittenFile rewritten = rewrite_numbers(name, text, changes);
  PODSIM_CHECK(rewritten.problems.empty(), "moved numbers stay in their ranges");
  std::istringstream lines(rewritten.text);
  std::string result;
  bool named = false;
  for (std::string line; std::getline(lines, line);) {
    if (begins_with_field(line, "alias:")) continue;
    if (!named && begins_with_field(line, "name:")) {
      line = "  name: \"" + name + "\"";
      named = true;
    }
    result += line + "\n";
  }
  for (std::size_t i = 0; i < changes.size(); ++i)
    if (std::ranges::count(rewritten.done, i) == 0) add_number(result, changes[i].path, changes[i].value);
  return result;
}

}  // namespace podsim
