// Private names: whatever files are compiled as one, in whatever order, a name in an anonymous namespace
// means what its own file says (docs/architecture.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/tidy/declared_names.h"
#include "tests/tidy/source_tree.h"

namespace podsim::testing::names_test {
namespace {

using Kind = Declared::Kind;

bool is_product(const std::string& folder) { return source_folders().count(folder) != 0; }

// Files that may be compiled as one lie in one of these: a folder of the product, or of tests.
std::string unit_of(const std::string& path) {
  const std::string folder = path.substr(0, path.find('/'));
  if (is_product(folder)) return folder;
  return folder == "tests" ? path.substr(0, path.find('/', 6)) : "";
}

struct NamedFile {
  std::string path, unit;
  std::vector<Declared> names;
};
std::vector<NamedFile> read_names() {
  std::vector<NamedFile> files;
  for (const SourceFile& file : all_files()) {
    const std::string unit = unit_of(file.path);
    if (unit.empty() || !(file.path.ends_with(".h") || file.path.ends_with(".cc"))) continue;
    files.push_back({file.path, unit, declared_names(file.lines)});
  }
  return files;
}

const std::vector<NamedFile>& named_files() {
  static const std::vector<NamedFile> files = read_names();
  return files;
}

// Functions that several files have for themselves: one would become an overload of another, and calls might
// change to it without a word. Operators are told apart by what they are applied to, and the same alias may
// stand twice.
bool collide_hidden(const Declared& a, const Declared& b) {
  if (a.name != b.name || a.in != b.in) return false;
  const bool operators = a.kind == Kind::kFunction && a.name.starts_with("operator");
  if (a.kind == b.kind && (a.kind == Kind::kAlias || operators)) return operators == (a.meaning == b.meaning);
  return true;
}

// In a namespace below podsim's a type or constant takes the place of podsim's own of this name for the files
// that come after.
bool takes_place(const Declared& own, const Declared& header) {
  return own.name == header.name && own.in.starts_with(header.in + "::") &&
         (own.kind == Kind::kType || own.kind == Kind::kConstant) && header.kind != Kind::kFunction;
}

// A header's functions are everyone's; another of the same parameters makes calls ambiguous.
bool collide_with_header(const Declared& own, const Declared& header) {
  if (own.name != header.name || own.in != header.in) return false;
  const bool functions = own.kind == Kind::kFunction && header.kind == Kind::kFunction;
  const bool aliases = own.kind == Kind::kAlias && header.kind == Kind::kAlias;
  return functions ? own.meaning == header.meaning : !aliases || own.meaning != header.meaning;
}

// Whether files of this unit may include headers of another: all of the product, and those of their own
// tests.
bool may_include(const std::string& unit, const std::string& other) {
  return unit == other || is_product(other);
}

using Places = std::map<std::string, std::vector<std::pair<const NamedFile*, const Declared*>>>;  // [name]

// "a.cc and b.h: name", sorted, each pair once.
std::vector<std::string> collisions(const std::vector<NamedFile>& files) {
  Places hidden, of_headers;
  for (const NamedFile& file : files) {
    for (const Declared& each : file.names) {
      if (file.path.ends_with(".cc") && each.hidden) hidden[each.name].push_back({&file, &each});
      if (file.path.ends_with(".h") && !each.hidden) of_headers[each.name].push_back({&file, &each});
    }
  }
  std::vector<std::string> found;
  for (const auto& [name, places] : hidden) {
    for (const auto& [file, own] : places) {
      for (const auto& [other, theirs] : places)
        if (file->path < other->path && file->unit == other->unit && collide_hidden(*own, *theirs))
          found.push_back(file->path + " and " + other->path + ": " + name);
      for (const auto& [header, theirs] : of_headers[name])
        if (may_include(file->unit, header->unit) &&
            (collide_with_header(*own, *theirs) || (is_product(file->unit) && takes_place(*own, *theirs))))
          found.push_back(file->path + " and " + header->path + ": " + name);
    }
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// "name: path path" of each type that is defined in several files outside of their anonymous namespaces.
std::vector<std::string> types_defined_again(const std::vector<NamedFile>& files) {
  std::map<std::string, std::vector<std::string>> paths;  // [type with its namespace]
  for (const NamedFile& file : files)
    for (const Declared& each : file.names)
      if (each.kind == Kind::kType && !each.hidden) paths[each.in + "::" + each.name].push_back(file.path);
  std::vector<std::string> again;
  for (const auto& [name, of] : paths) {
    if (of.size() < 2) continue;
    again.push_back(name + ":");
    for (const std::string& path : of) again.back() += " " + path;
  }
  return again;
}

TEST(Names, that_a_file_keeps_to_itself_are_no_others_with_which_it_may_be_compiled) {
  const std::vector<NamedFile> files = named_files();
  std::size_t hidden = 0;
  for (const NamedFile& file : files)
    hidden += static_cast<std::size_t>(std::ranges::count_if(file.names, &Declared::hidden));
  EXPECT_GT(hidden, 4000u);
  EXPECT_EQ(collisions(files), std::vector<std::string>{});
}

// The linker takes one of two types of a name for the other, and with it its destructor.
TEST(Names, of_types_are_those_of_one_file) {
  std::vector<NamedFile> product = named_files();
  std::erase_if(product, [](const NamedFile& file) { return !is_product(file.unit); });
  EXPECT_GT(product.size(), 500u);
  EXPECT_EQ(types_defined_again(product), std::vector<std::string>{});
}

std::vector<NamedFile> written(const std::string& unit,
                               const std::map<std::string, std::vector<std::string>>& lines) {
  std::vector<NamedFile> files;
  for (const auto& [path, of] : lines) files.push_back({path, unit, declared_names(of)});
  return files;
}

TEST(Names, of_types_that_are_defined_again_are_found) {
  const auto again = [](const std::string& a, const std::string& b) {
    return types_defined_again(written("engine", {{"a.h", {a}}, {"b.h", {b}}})).size();
  };
  EXPECT_EQ(again("struct Step {};", "class Step : public Base {};"), 1u);
  EXPECT_EQ(again("struct Step {};", "struct alignas(kCacheLine) Step {};"), 1u);
  EXPECT_EQ(again("struct Step {};", "struct Step final : Base {};"), 1u);
  EXPECT_EQ(again("struct Step {};", "struct Step;"), 0u);
}

// How many collisions there are between one declaration in a source and another in a source or a header.
std::size_t between(const std::string& mine, const std::string& theirs, const std::string& their_path,
                    const std::string& space = "podsim") {
  const std::string open = "namespace " + space + " {";
  const bool header = their_path.ends_with(".h");
  return collisions(written("engine", {{"mine.cc", {open, "namespace {", mine, "}", "}"}},
                                       {their_path,
                                        {header ? "namespace podsim {" : open, header ? "" : "namespace {",
                                         theirs, header ? "" : "}", "}"}}}))
      .size();
}

TEST(Names, that_collide_are_found) {
  const auto sources = [](const std::string& a, const std::string& b) { return between(a, b, "theirs.cc"); };
  EXPECT_EQ(sources("struct Step {};", "class Step {};"), 1u);
  EXPECT_EQ(sources("constexpr int kMost = 3;", "constexpr double kMost = 0.5;"), 1u);
  EXPECT_EQ(sources("thread_local int depth = 0;", "int depth(int of) { return of; }"), 1u);
  EXPECT_EQ(sources("enum { kId = 1, kName };", "constexpr int kName = 3;"), 1u);
  EXPECT_EQ(sources("bool has(const Map& map, int key) {}", "bool has(const Map& map) {}"), 1u);
  EXPECT_EQ(sources("A& operator+=(A& a, A b) {}", "B& operator+=(B& a, B b) {}"), 0u);
  EXPECT_EQ(sources("A& operator+=(A& a, A b) {}", "A& operator+=(A& to, A more) {}"), 1u);
  EXPECT_EQ(sources("using Sizes = std::vector<int>;", "using Sizes = std::vector<int>;"), 0u);
  EXPECT_EQ(sources("using google::Message;", "struct Message { int a; };"), 1u);
  EXPECT_EQ(sources("using Sizes = std::vector<int>;", "struct Sizes {};"), 1u);
}

TEST(Names, that_collide_with_a_header_s_are_found) {
  const auto header = [](const std::string& a, const std::string& b) { return between(a, b, "theirs.h"); };
  EXPECT_EQ(header("bool has(const Map& map, int key) {}", "bool has(const Map& all, int number = 0);"), 1u);
  EXPECT_EQ(header("bool has(const Map& map, int key) {}", "bool has(const Map& map);"), 0u);
  EXPECT_EQ(header("struct Step {};", "enum class Step { kOne };"), 1u);
  EXPECT_EQ(between("struct Step {};", "struct Step {};", "theirs.h", "podsim::hlo"), 1u);
  EXPECT_EQ(between("int step() {}", "int step();", "theirs.h", "podsim::hlo"), 0u);
}

TEST(Names, are_read_past_bodies_literals_and_templates) {
  const std::vector<Declared> found =
      declared_names({"#define OTHER(a) \\", "  int a", "namespace podsim {", "namespace {",
                      "template <class Key, class Of = std::map<Key, int>>",
                      "std::function<void(double)> of_all(std::function<void(double)> told, Of of = {}) {",
                      "  return \"}\" + R\"(} struct Raw {)\";  // } struct Comment {", "}",
                      "Reader::Reader(int a) : a_(a), b_{a}, c_(a) {", "  struct Inner {};", "}",
                      "const char kQuote = '\"', kBrace = '{';", "constexpr int kMillion[] = {1'000'000, 2};",
                      "struct Bits<Quad> { int a; };", "static_assert(sizeof(int) == 4);", "}  // namespace",
                      "[[nodiscard]] Time at(std::int64_t ps);", "}  // namespace podsim"});
  std::vector<std::string> names;
  for (const Declared& each : found) names.push_back(each.in + " " + each.name + (each.hidden ? "!" : ""));
  EXPECT_EQ(names,
            (std::vector<std::string>{"podsim of_all!", "podsim kQuote!", "podsim kMillion!", "podsim at"}));
}

}  // namespace
}  // namespace podsim::testing::names_test
