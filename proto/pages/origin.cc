// Holds a scenario against the comments of its schema, and its entries of the catalogue against theirs.
#include "proto/pages/origin.h"

#include <google/protobuf/message.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "engine/words.h"
#include "proto/pages/schema_defaults.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/load.h"
#include "proto/text/parse.h"

namespace podsim {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::string shown_path(const std::string& path) { return path.empty() ? "" : path + "."; }

// Rows {path, what holds} of fields that a message and those below it leave out.
class Omissions {
 public:
  explicit Omissions(const std::vector<Override>& overrides) : overrides_(overrides) {}

  void add(const Message& message, const std::string& path) {
    const auto* type = message.GetDescriptor();
    for (int i = 0; i < type->field_count(); ++i) add(message, *type->field(i), shown_path(path));
  }

  std::vector<std::vector<PageText>> rows;

 private:
  void add(const Message& message, const FieldDescriptor& field, const std::string& before) {
    const auto* reflection = message.GetReflection();
    const bool nested = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    const std::string path = before + std::string(field.name());
    const int count = field.is_repeated() ? reflection->FieldSize(message, &field)
                                          : static_cast<int>(reflection->HasField(message, &field));
    for (int k = 0; nested && k < count; ++k) {
      if (field.is_repeated()) {
        add(reflection->GetRepeatedMessage(message, &field, k), path + "[" + std::to_string(k) + "]");
      } else {
        add(reflection->GetMessage(message, &field), path);
      }
    }
    const bool given = std::ranges::any_of(overrides_, [&](const Override& set) { return set.path == path; });
    const std::string holds = count > 0 || given ? "" : schema_default(field);
    if (!holds.empty()) rows.push_back({{path}, {holds}});
  }

  const std::vector<Override>& overrides_;
};

// A line of a file of the catalogue: what it sets, and its comment, or that of the lines above it.
struct CatalogLine {
  std::string setting, comment;
};

std::pair<std::string, std::string> cut_at_comment(const std::string& line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    quoted = quoted != (line[i] == '"');
    if (line[i] == '#' && !quoted) return {trim(line.substr(0, i)), trim(line.substr(i + 1))};
  }
  return {trim(line), ""};
}

std::vector<CatalogLine> catalog_lines(const std::string& text) {
  std::vector<CatalogLine> lines;
  std::string above;
  for (const std::string& line : split(text, '\n')) {
    const auto [setting, comment] = cut_at_comment(line);
    if (setting.empty()) {
      above += (above.empty() ? "" : " ") + comment;
      continue;
    }
    lines.push_back({setting, comment.empty() ? above : comment});
    above.clear();
  }
  return lines;
}

// Numbers whose comment names no publication and no measurement.
bool is_assumed(const std::string& comment) {
  return comment.find("assumed") != std::string::npos || comment.find("from memory") != std::string::npos;
}

class Entries {
 public:
  explicit Entries(const Catalog& catalog) : catalog_(catalog) {}

  void add(Catalog::Section section, const char* kind, const std::string& name) {
    if (name.empty()) return;
    const auto text = catalog_.text(section, name);
    const std::string title = std::string(kind) + " " + name;
    const auto known = std::ranges::find(all, title, &PageEntry::title);
    if (!text || known != all.end()) return;
    all.push_back({title, *text});
    for (const CatalogLine& line : catalog_lines(*text))
      if (is_assumed(line.comment)) assumed.push_back({{title}, {line.setting}, {line.comment}});
  }

  void add(const schema::JobChoice& job) {
    add(Catalog::Section::kModels, "model", job.model());
    add(Catalog::Section::kStacks, "stack", job.stack());
    add(Catalog::Section::kLengths, "lengths", job.lengths());
  }

  std::vector<PageEntry> all;
  std::vector<std::vector<PageText>> assumed;

 private:
  const Catalog& catalog_;
};

// Other verbs read what a run does not: of that it is no news.
bool concerns_all_verbs(const Problem& warning) {
  constexpr std::array<std::string_view, 4> kOfOthers = {"space", "reliability", "availability", "seed"};
  return std::ranges::none_of(kOfOthers,
                              [&](std::string_view block) { return warning.message.starts_with(block); });
}

}  // namespace

PageOrigin origin_of(const std::string& name, const std::string& text, const Catalog& catalog,
                     const std::vector<Override>& overrides) {
  PageOrigin origin{.name = name, .text = text};
  Document document(name, text);
  schema::Scenario scenario;
  if (!parse(document, scenario)) return origin;
  apply_overrides(overrides, scenario, document);
  const LoadResult loaded = load_scenario(name, text, catalog, overrides);
  for (const Problem& warning : loaded.warnings)
    if (concerns_all_verbs(warning))
      origin.sentences.push_back(warning.message + (warning.hint.empty() ? "" : "; " + warning.hint));
  Omissions omissions(overrides);
  omissions.add(scenario, "");
  const bool torus = !loaded.spec || loaded.spec->cluster.fabric.torus.has_value();
  std::erase_if(omissions.rows, [&](const std::vector<PageText>& row) {
    const std::string& path = row.front().text;
    const bool of_tori = path == "cluster.slice_shape" || path.ends_with(".torus_dimension");
    return path == "name" || path == "space" || (!torus && of_tori);
  });
  if (!omissions.rows.empty())
    origin.assumptions.push_back(
        {"What the scenario leaves out", {"field", "what holds"}, std::move(omissions.rows)});
  Entries entries(catalog);
  entries.add(Catalog::Section::kChips, "chip", scenario.cluster().chip());
  entries.add(Catalog::Section::kFabrics, "fabric", scenario.cluster().fabric());
  entries.add(Catalog::Section::kTransports, "transport", scenario.cluster().transport());
  entries.add(scenario.job());
  for (const schema::PlacedJob& job : scenario.jobs()) entries.add(job.job());
  entries.add(Catalog::Section::kJitters, "jitter", scenario.adversity().jitter());
  if (!entries.assumed.empty())
    origin.assumptions.push_back({"Numbers behind its names that are assumed, or told from memory",
                                  {"entry", "number", "source"},
                                  std::move(entries.assumed)});
  origin.entries = std::move(entries.all);
  return origin;
}

}  // namespace podsim
