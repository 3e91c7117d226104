// Names such as "fault_costs[].cost_s" and "link_utilisation.*.mean" to nested types, and to rows.
#include "tests/api/result_pages.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "api/podsim/podsim.h"
#include "planner/plan/plan.h"
#include "planner/plan/plan_figures.h"
#include "tests/api/verb_lines.h"

namespace podsim::testing {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kReport = "#/$defs/report";  // its place in the schema
const std::string kHead = "| figure | type | unit | since |\n|---|---|---|---|\n";

// The schema of what stands at `name` below `at`, made where it is not there yet.
Json& below(Json& at, const std::string& name) {
  if (name.empty()) return at;
  if (name.starts_with("[]")) return below(at["items"], name.substr(name.starts_with("[].") ? 3 : 2));
  const std::size_t end = name.find_first_of(".[");
  const std::string key = name.substr(0, end);
  const std::string rest = end == std::string::npos ? "" : name.substr(name[end] == '.' ? end + 1 : end);
  Json& part = key == "*" ? at["additionalProperties"] : at["properties"][key];
  return below(part, rest);
}

std::string without_links(const std::string& text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('[', at), close = text.find("](", at);
    if (open == std::string::npos || close == std::string::npos || close < open)
      return plain + text.substr(at);
    plain += text.substr(at, open - at) + text.substr(open + 1, close - open - 1);
    at = text.find(')', close) + 1;
  }
  return plain;
}

std::string row_of(const FigureInfo& info, const std::string& since) {
  return "| `" + info.name + "` | " + info.type + " | " + info.unit + (info.unit.empty() ? "| " : " | ") +
         since + " |\n";
}

std::string with_unit(const std::string& definition, const std::string& unit) {
  return without_links(definition) + (unit.empty() ? "" : " [" + without_links(unit) + "]");
}

// Says of the members of an object what they are.
void describe(Json& object, const std::vector<Figure>& figures) {
  for (const Figure& figure : figures) {
    if (!figure.in_json || !object["properties"].contains(figure.key)) continue;
    Json& member = object["properties"][figure.key];
    if (!figure.definition.empty()) member["description"] = with_unit(figure.definition, figure.unit);
    if (figure.shape == Figure::Shape::kGroup) describe(member, figure.parts);
    const bool of_groups = figure.shape == Figure::Shape::kList && !figure.parts.empty() &&
                           figure.parts.front().shape == Figure::Shape::kGroup;
    if (of_groups) describe(member["items"], figure.parts.front().parts);
  }
}

// With all that may be absent.
std::vector<Figure> every_figure_of_a_plan() {
  PlanQuestion question;
  question.scenarios.resize(2);
  question.scenarios[0].file = question.scenarios[0].name = "one";
  question.limits.push_back({"days", 1, 0});
  PlanRow row;
  row.slice_shape = {4};
  row.carbon_t = 0;
  row.spare_nodes = 0;
  row.missing.emplace();
  row.fastest_step.emplace();
  row.limited = {0};
  return plan_row_figures(question, row);
}

bool is_name(const std::string& key) {
  return !key.empty() && !std::isdigit(static_cast<unsigned char>(key.front())) &&
         std::ranges::all_of(key, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

// What values that stand at one place have in common.
class ResultSchema {
 public:
  Json of(const std::vector<Json>& values) const {
    std::set<std::string> types;
    bool any = false, some_null = false;
    std::vector<Json> elements;
    std::vector<std::pair<std::string, std::vector<Json>>> members;
    for (const Json& value : values) {
      (value.is_null() ? some_null : any) = true;
      if (!value.is_null()) types.insert(value.type_name());
      if (value.is_array()) elements.insert(elements.end(), value.begin(), value.end());
      if (!value.is_object()) continue;
      for (const auto& [key, member] : value.items()) {
        auto known = std::ranges::find(members, key, [](const auto& each) { return each.first; });
        if (known == members.end()) known = members.insert(known, {key, {}});
        known->second.push_back(member);
      }
    }
    Json schema = Json::object();
    if (types.contains("number") || (any && some_null)) types.insert("null");
    if (types.size() == 1) schema["type"] = *types.begin();
    if (types.size() > 1) schema["type"] = types;
    if (!elements.empty()) schema["items"] = of(elements);
    if (!members.empty()) add_members(schema, members);
    return schema;
  }

 private:
  void add_members(Json& schema,
                   const std::vector<std::pair<std::string, std::vector<Json>>>& members) const {
    const auto has = [&](const std::string& key) {
      return std::ranges::any_of(members, [&](const auto& each) { return each.first == key; });
    };
    const bool report = has("podsim") && has("step_time_p50_s");
    if (report) schema["$ref"] = "report.schema.json";
    if (!std::ranges::all_of(members, [](const auto& each) { return is_name(each.first); })) {
      std::vector<Json> all;
      for (const auto& [key, values] : members) all.insert(all.end(), values.begin(), values.end());
      schema["additionalProperties"] = of(all);
      return;
    }
    for (const auto& [key, values] : members)
      if (!report || !figures_.contains(key)) schema["properties"][key] = of(values);
  }

  const Json figures_ = Json::parse(report_json_schema())["$defs"]["report"]["properties"];
};

}  // namespace

std::map<std::string, std::vector<std::string>> json_of_verbs() {
  std::map<std::string, std::vector<std::string>> results;
  for (const VerbLine& line : verb_lines()) {
    if (!line.json || line.verb == "run") continue;
    const CommandOutput printed = command(words_of(line.text));
    if (printed.exit_code != 0) throw std::runtime_error(line.text + ": " + printed.err);
    results[line.verb].push_back(printed.out);
  }
  return results;
}

std::string result_json_schema(const std::string& verb, const std::vector<std::string>& results) {
  std::vector<Json> values;
  for (const std::string& result : results) values.push_back(Json::parse(result));
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "What podsim " + verb + " prints with --format json"},
                 {"description",
                  "Results of schema 1. Keys may be added; a key that is here stays and keeps its meaning."}};
  schema.update(ResultSchema().of(values));
  if (verb == "plan") describe(schema["properties"]["rows"]["items"], every_figure_of_a_plan());
  return schema.dump(1) + "\n";
}

std::string report_json_schema() {
  Json whole = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"title", "A report of podsim run --format json"},
                {"description",
                 "Results of schema 1. Keys may be added; a key that is here stays and keeps its meaning. "
                 "docs/reference/report.md defines every figure."},
                {"$ref", kReport},
                {"required", {"podsim", "schema"}},  // of the whole; reports within it have no header
                {"$defs", Json::object()}};
  Json report = {{"type", "object"}, {"properties", Json::object()}};
  for (const FigureInfo& info : figure_list()) {
    Json& at = below(report, info.name);
    const bool of_job = info.name == "jobs[].alone" || info.name == "jobs[].together";
    if (of_job) {
      at = {{"$ref", kReport}};
      continue;
    }
    if (info.type == "object" || info.type == "array") {
      at["type"] = info.type;
    } else {
      at["type"] = {info.type, "null"};
    }
    if (info.name.starts_with("jobs[].")) below(report, "jobs[]")["type"] = "object";
    if (!info.definition.empty()) at["description"] = with_unit(info.definition, info.unit);
  }
  below(report, "schema")["const"] = 1;
  whole["$defs"]["report"] = std::move(report);
  return whole.dump(1) + "\n";
}

std::string figures_page(const std::string& page) {
  const std::size_t begin = page.find(kHead);
  std::map<std::string, std::string> since;
  std::istringstream rows(page.substr(std::min(page.size(), begin)));
  for (std::string row; std::getline(rows, row);) {
    const std::size_t last = row.rfind(" |"), before = row.rfind("| ", last);
    if (row.starts_with("| `") && before != std::string::npos)
      since[row.substr(3, row.find('`', 3) - 3)] = row.substr(before + 2, last - before - 2);
  }
  std::string text = page.substr(0, begin) + kHead;
  for (const FigureInfo& info : figure_list())
    text += row_of(info, since.contains(info.name) ? since.at(info.name) : library_version());
  return text;
}

}  // namespace podsim::testing
