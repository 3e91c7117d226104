// Results against the schema that is shipped with them: those of today, and those that earlier versions
// wrote.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "api/podsim/podsim.h"
#include "tests/api/result_pages.h"
#include "tests/cli/command.h"

namespace podsim::api_results_test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const fs::path kRoot = PODSIM_SOURCE_DIR;

bool has_type(const json& value, const std::string& type) {
  return type == "object"    ? value.is_object()
         : type == "array"   ? value.is_array()
         : type == "number"  ? value.is_number()
         : type == "integer" ? value.is_number_integer()
         : type == "boolean" ? value.is_boolean()
         : type == "string"  ? value.is_string()
                             : value.is_null();
}

json schema_of_file(const std::string& name) { return json::parse(read_file((kRoot / name).string())); }

// What of a value the schema does not allow, or does not name, by path.
void collect_breaches(const json& value, const json& schema, const json& root, const std::string& path,
                      std::vector<std::string>& breaches) {
  for (const json& key : schema.value("required", json::array()))
    if (value.is_object() && !value.contains(key))
      breaches.push_back(path + ": there is no " + key.get<std::string>());
  if (const std::string ref = schema.value("$ref", ""); ref.starts_with('#'))
    return collect_breaches(value, root.at(json::json_pointer(ref.substr(1))), root, path, breaches);
  if (schema.contains("$ref")) {  // another file, whose objects have keys of this one besides
    const json of_file = schema_of_file(testing::kSchemaFolder + schema["$ref"].get<std::string>());
    json rest = value;
    const json properties = schema.value("properties", json::object());
    for (const auto& [key, part] : properties.items()) {
      if (value.contains(key)) collect_breaches(value[key], part, root, path + "/" + key, breaches);
      rest.erase(key);
    }
    return collect_breaches(rest, of_file, of_file, path, breaches);
  }
  if (schema.contains("const") && value != schema["const"]) breaches.push_back(path + " is not the constant");
  if (schema.contains("type")) {
    const json types = schema["type"].is_array() ? schema["type"] : json::array({schema["type"]});
    if (std::none_of(types.begin(), types.end(), [&](const json& type) { return has_type(value, type); }))
      breaches.push_back(path + " is " + value.type_name());
  }
  if (value.is_object())
    for (const auto& [key, part] : value.items()) {
      const json properties = schema.value("properties", json::object());
      if (properties.contains(key)) {
        collect_breaches(part, properties[key], root, path + "/" + key, breaches);
      } else if (schema.contains("additionalProperties")) {
        collect_breaches(part, schema["additionalProperties"], root, path + "/" + key, breaches);
      } else {
        breaches.push_back(path + "/" + key + " is not in the schema");
      }
    }
  if (value.is_array() && schema.contains("items"))
    for (const json& element : value) collect_breaches(element, schema["items"], root, path + "[]", breaches);
}

std::vector<std::string> breaches_of(const std::string& text,
                                     const std::string& file = testing::kSchemaFile) {
  const json schema = schema_of_file(file);
  std::vector<std::string> breaches;
  collect_breaches(json::parse(text), schema, schema, "", breaches);
  return breaches;
}

std::string report_of(const std::string& scenario) {
  const Expected<Scenario> loaded =
      Scenario::load((kRoot / "scenarios" / (scenario + ".textproto")).string());
  EXPECT_TRUE(loaded);
  return loaded->evaluate()->json();
}

TEST(Results, have_the_schema_and_the_table_that_the_list_of_figures_gives) {
  EXPECT_EQ(read_file((kRoot / testing::kSchemaFile).string()), testing::report_json_schema())
      << "tests/api/update writes it";
  const std::string page = read_file((kRoot / testing::kFiguresPage).string());
  EXPECT_EQ(page, testing::figures_page(page))
      << "tests/api/update writes it; a figure that goes raises the schema";
}

TEST(Results, of_one_job_several_jobs_and_adversities_follow_the_schema) {
  for (const char* scenario : {"qwen3_14b_8_h100", "one_slow_chip_512", "two_jobs_oversubscribed",
                               "nic_flap_32_h100", "jitter_16_h100"}) {
    if (!fs::exists(kRoot / "scenarios" / (std::string(scenario) + ".textproto"))) continue;
    EXPECT_EQ(breaches_of(report_of(scenario)), std::vector<std::string>()) << scenario;
  }
}

TEST(Results, that_break_the_schema_are_found) {
  json report = json::parse(report_of("qwen3_14b_8_h100"));
  report["step_time_s"] = "long";
  report["a_new_key"] = 1;
  report["memory_per_chip_gib"]["total"] = json::array();
  report.erase("podsim");
  EXPECT_EQ(breaches_of(report.dump()).size(), 4u);
}

// A program that reads what this version writes can read what earlier ones wrote.
TEST(Results, that_earlier_versions_wrote_follow_the_schema) {
  int read = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "tests/api/results")) {
    if (entry.path().extension() != ".json") continue;
    EXPECT_EQ(breaches_of(read_file(entry.path().string())), std::vector<std::string>()) << entry.path();
    ++read;
  }
  EXPECT_GE(read, 3);
}

// The other way round: what is there now was there before, with the same key and the same kind of value.
TEST(Results, of_today_have_every_key_that_earlier_versions_wrote) {
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "tests/api/results")) {
    if (entry.path().extension() != ".json") continue;
    const json before = json::parse(read_file(entry.path().string()));
    const json now = json::parse(report_of(entry.path().stem().string()));
    for (const auto& [key, value] : before.items()) {
      ASSERT_TRUE(now.contains(key)) << entry.path() << ": " << key;
      EXPECT_EQ(now[key].is_number(), value.is_number()) << entry.path() << ": " << key;
    }
  }
}

// Every key, by its path; elements of a list are one.
void collect_keys(const json& value, const std::string& path, std::set<std::string>& keys) {
  keys.insert(path);
  if (value.is_object())
    for (const auto& [key, part] : value.items()) collect_keys(part, path + "/" + key, keys);
  if (value.is_array())
    for (const json& element : value) collect_keys(element, path + "[]", keys);
}

// What verbs print is described key by key, follows its description, and has all that earlier versions had.
TEST(Results, of_every_verb_have_a_schema_and_all_keys_that_earlier_versions_wrote) {
  const fs::path before = fs::current_path();
  fs::current_path(kRoot);
  const std::map<std::string, std::vector<std::string>> results_by_verb = testing::json_of_verbs();
  fs::current_path(before);
  EXPECT_GE(results_by_verb.size(), 15u);
  for (const auto& [verb, results] : results_by_verb) {
    const std::string file = testing::kSchemaFolder + verb + ".schema.json";
    EXPECT_EQ(read_file((kRoot / file).string()), testing::result_json_schema(verb, results))
        << "tests/api/update writes it; a key that goes raises the schema";
    for (const std::string& result : results)
      EXPECT_EQ(breaches_of(result, file), std::vector<std::string>()) << verb;
  }
  int compared = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / testing::kVerbResults)) {
    if (entry.path().extension() != ".json") continue;
    const std::string verb = entry.path().stem().string(), written = read_file(entry.path().string());
    ASSERT_TRUE(results_by_verb.contains(verb)) << verb;
    EXPECT_EQ(breaches_of(written, testing::kSchemaFolder + verb + ".schema.json"),
              std::vector<std::string>())
        << entry.path();
    std::set<std::string> then, now;
    collect_keys(json::parse(written), "", then);
    for (const std::string& result : results_by_verb.at(verb)) collect_keys(json::parse(result), "", now);
    std::vector<std::string> gone;
    std::ranges::set_difference(then, now, std::back_inserter(gone));
    EXPECT_EQ(gone, std::vector<std::string>()) << verb;
    ++compared;
  }
  EXPECT_GE(compared, 15);
}

}  // namespace
}  // namespace podsim::api_results_test
