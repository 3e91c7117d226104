// Private names of a source: no other source of its library, and no header, may have them for something else,
// so that any files can be compiled as one (docs/architecture.md).
#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace podsim::testing {
namespace {

// What is declared at the left margin of a file: a name, and what tells it from others of that name, which is
// the parameters of a function and nothing of a type, an alias or a constant.
struct Declared {
  std::string name, parameters;
  auto operator<=>(const Declared&) const = default;
};

std::string without_comment(const std::string& line) { return line.substr(0, line.find("//")); }

// "const Mesh& mesh, int axis = 0" -> "const Mesh&,int"
std::string types_of(const std::string& parameters) {
  static const std::regex name("( |&|\\*)[a-z_0-9]+( = [^,]*)?(,|$)"), blanks("\\s+");
  return std::regex_replace(std::regex_replace(parameters, name, "$1$3"), blanks, "");
}

// Aliases of one text may stand twice; their text is their parameters.
std::vector<Declared> declared(const std::vector<std::string>& lines) {
  static const std::regex type(
      "^(?:struct|class|enum class|enum) (?:alignas\\(\\w+\\) )?(\\w+)(?: : [\\w:<>, ]+)? \\{.*");
  static const std::regex alias("^using (\\w+) = (.*)");
  static const std::regex constant("^(?:inline )?(?:constexpr|const) [\\w:<>, *&]*?(\\w+)(?: = |\\{|\\[).*");
  static const std::regex function(
      "^(?:inline |constexpr )*[A-Za-z][\\w:<>,&* ]*[ &*](\\w+)\\((.*)\\)(?: const)? \\{.*");
  std::vector<Declared> found;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string line = without_comment(lines[i]);
    if (line.empty() || !std::isalpha(static_cast<unsigned char>(line[0]))) continue;
    for (std::size_t next = i + 1;
         next < lines.size() && next < i + 6 && line.find(" {") == std::string::npos &&
         line.find(';') == std::string::npos;
         ++next)
      line += lines[next];
    std::smatch match;
    if (std::regex_match(line, match, type) || std::regex_match(line, match, constant)) {
      found.push_back({match[1], ""});
    } else if (std::regex_match(line, match, alias)) {
      found.push_back({match[1], "= " + match[2].str()});
    } else if (std::regex_match(line, match, function)) {
      found.push_back({match[1], "(" + types_of(match[2]) + ")"});
    }
  }
  return found;
}

// The lines of the file's anonymous namespaces, and of the rest; without what lies in a namespace below
// podsim's.
struct Halves {
  std::vector<std::string> hidden, open;
};
Halves halves(const SourceFile& file) {
  Halves result;
  bool hidden = false, below = false;
  for (const std::string& line : file.lines) {
    if (line == "namespace {") hidden = true;
    if (line == "}  // namespace") hidden = false;
    if (line.starts_with("namespace ") && line.ends_with("{") && line != "namespace {" &&
        line != "namespace podsim {")
      below = true;
    if (line.starts_with("}  // namespace ") && line != "}  // namespace podsim") below = false;
    if (!below) (hidden ? result.hidden : result.open).push_back(line);
  }
  return result;
}

bool collide(const Declared& a, const Declared& b) {
  if (a.name != b.name) return false;
  const bool functions = a.parameters.starts_with("(") && b.parameters.starts_with("(");
  const bool aliases = a.parameters.starts_with("=") && b.parameters.starts_with("=");
  return functions ? a.parameters == b.parameters : !aliases || a.parameters != b.parameters;
}

// [name] where it is declared, and how.
using Index = std::map<std::string, std::vector<std::pair<std::string, Declared>>>;

void add(Index& index, const std::string& path, const std::vector<Declared>& names) {
  for (const Declared& each : names) index[each.name].push_back({path, each});
}

// "path: name" of each name of this file that another one has for something else.
std::vector<std::string> collisions(const std::string& own_path, const std::vector<Declared>& names,
                                    const Index& index) {
  std::vector<std::string> found;
  for (const Declared& each : names) {
    const auto others = index.find(each.name);
    if (others == index.end()) continue;
    for (const auto& [path, other] : others->second)
      if (path != own_path && collide(each, other)) found.push_back(path + ": " + each.name);
  }
  return found;
}

TEST(Names, that_a_source_keeps_to_itself_are_no_other_source_s_of_its_library_and_no_header_s) {
  Index headers;
  std::map<std::string, Index> sources;                 // [folder]
  std::map<std::string, std::vector<Declared>> hidden;  // [path]
  for (const SourceFile& file : all_files()) {
    const std::string folder = file.path.substr(0, file.path.find('/'));
    if (source_folders().count(folder) == 0) continue;
    if (file.path.ends_with(".h")) add(headers, file.path, declared(halves(file).open));
    if (file.path.ends_with(".cc"))
      add(sources[folder], file.path, hidden[file.path] = declared(halves(file).hidden));
  }
  std::size_t count = 0;
  for (const auto& [path, names] : hidden) {
    count += names.size();
    EXPECT_EQ(collisions(path, names, headers), std::vector<std::string>{}) << path;
    EXPECT_EQ(collisions(path, names, sources[path.substr(0, path.find('/'))]), std::vector<std::string>{})
        << path;
  }
  EXPECT_GT(count, 1000u);
}

// "name: path path" of each type that is defined in several files outside of their anonymous namespaces.
std::vector<std::string> types_defined_again(const std::map<std::string, std::vector<std::string>>& open) {
  std::map<std::string, std::string> paths;  // [type]
  std::map<std::string, int> count;
  static const std::regex type(
      "^(?:struct|class|enum class|enum) (?:alignas\\(\\w+\\) )?(\\w+)(?: final)?(?: : .*)? \\{.*");
  for (const auto& [path, lines] : open)
    for (const std::string& line : lines) {
      std::smatch match;
      if (!std::regex_match(line, match, type)) continue;
      ++count[match[1]];
      paths[match[1]] += " " + path;
    }
  std::vector<std::string> again;
  for (const auto& [name, times] : count)
    if (times > 1) again.push_back(name + ":" + paths[name]);
  return again;
}

// The linker takes one of two types of a name for the other, and with it its destructor.
TEST(Names, of_types_are_those_of_one_file) {
  std::map<std::string, std::vector<std::string>> open;  // [path]
  for (const SourceFile& file : all_files())
    if (source_folders().count(file.path.substr(0, file.path.find('/'))) != 0)
      open[file.path] = halves(file).open;
  EXPECT_GT(open.size(), 500u);
  EXPECT_EQ(types_defined_again(open), std::vector<std::string>{});
  EXPECT_EQ(types_defined_again({{"a.h", {"struct Step {"}}, {"b.h", {"class Step : public Base {"}}}),
            std::vector<std::string>{"Step: a.h b.h"});
  EXPECT_EQ(types_defined_again({{"a.h", {"struct Step {"}}, {"b.h", {"struct alignas(kCacheLine) Step {"}}}),
            std::vector<std::string>{"Step: a.h b.h"});
  EXPECT_EQ(types_defined_again({{"a.h", {"struct Step {"}}, {"b.h", {"struct Step;"}}}),
            std::vector<std::string>{});
}

TEST(Names, that_collide_are_found) {
  const auto found = [](const std::string& mine, const std::string& theirs) {
    Index index;
    add(index, "theirs.cc", declared({theirs}));
    return collisions("mine.cc", declared({mine}), index).size();
  };
  EXPECT_EQ(found("struct Step {", "class Step {"), 1u);
  EXPECT_EQ(found("constexpr int kMost = 3;", "constexpr double kMost = 0.5;"), 1u);
  EXPECT_EQ(found("bool has(const Map& map, int key) {", "bool has(const Map& all, int number = 0) {"), 1u);
  EXPECT_EQ(found("bool has(const Map& map, int key) {", "bool has(const Map& map) {"), 0u);
  EXPECT_EQ(found("using Sizes = std::vector<int>;", "using Sizes = std::vector<int>;"), 0u);
  EXPECT_EQ(found("using Sizes = std::vector<int>;", "struct Sizes {"), 1u);
}

}  // namespace
}  // namespace podsim::testing
