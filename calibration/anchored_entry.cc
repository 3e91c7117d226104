// Writes entries anew, line by line.
#include "calibration/anchored_entry.h"

#include <algorithm>
#include <sstream>

#include "engine/check.h"
#include "report/text/text.h"

namespace podsim {
namespace {

bool begins_with_field(const std::string& line, const char* field) {
  const std::size_t at = line.find_first_not_of(" \t");
  return at != std::string::npos && line.compare(at, std::string(field).size(), field) == 0;
}

}  // namespace

std::string entry_under_new_name(const std::string& text, const std::string& name,
                                 const std::vector<NumberChange>& changes) {
  const RewrittenFile rewritten = rewrite_numbers(name, text, changes);
  PODSIM_CHECK(rewritten.problems.empty(), "moved numbers stay in their ranges");
  std::istringstream lines(rewritten.text);
  std::string result, added;
  bool named = false;
  for (std::string line; std::getline(lines, line);) {
    if (begins_with_field(line, "alias:")) continue;
    if (!named && begins_with_field(line, "name:")) {
      line = "  name: \"" + name + "\"";
      named = true;
    }
    result += line + "\n";
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const bool stated = std::ranges::count(rewritten.done, i) > 0;
    if (!stated && changes[i].path.find('.') == std::string::npos)
      added += "  " + changes[i].path + ": " + shortest(changes[i].value) + "\n";
  }
  return result.insert(result.rfind('}'), added);
}

}  // namespace podsim
