// run --detail: what pages tell of a step is the same in all formats.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "proto/pages/json_digits.h"
#include "proto/report.pb.h"
#include "proto/text/csv_table.h"
#include "tests/cli/command.h"

namespace podsim::detail_test {
namespace {

bool is_detail(const std::string& key) {
  for (const char* list : {"collectives[", "operations[", "links_by_class[", "near_runs["})
    if (key.starts_with(list)) return true;
  return false;
}

std::map<std::string, std::string> details(const std::string& json) {
  std::map<std::string, std::string> found;
  for (const JsonValue& value : json_values(json))
    if (is_detail(value.key)) found[value.key] = value.text;
  return found;
}

TEST(RunDetail, is_in_csv_under_the_keys_of_the_json) {
  const std::string command = "run " + small_scenario() + " --quiet --detail --format ";
  const auto json = details(podsim_command(command + "json").out);
  ASSERT_TRUE(json.contains("collectives[0].link_share"));
  const CsvTable csv("csv", podsim_command(command + "csv").out);
  ASSERT_EQ(csv.rows().size(), 1u);
  std::size_t columns = 0;
  for (const CsvCell& name : csv.header().cells) columns += is_detail(name.text) ? 1 : 0;
  EXPECT_EQ(columns, json.size());
  for (const auto& [key, text] : json) EXPECT_EQ(csv.cell(csv.rows()[0], key).text, text) << key;
}

TEST(RunDetail, is_in_text_format_with_the_values_of_the_json) {
  const std::string command = "run " + small_scenario() + " --quiet --detail --format ";
  const auto json = details(podsim_command(command + "json").out);
  schema::RunReport report;
  ASSERT_TRUE(
      google::protobuf::TextFormat::ParseFromString(podsim_command(command + "textproto").out, &report));
  ASSERT_GT(report.collectives_size(), 0);
  ASSERT_GT(report.operations_size(), 0);
  ASSERT_GT(report.links_by_class_size(), 0);
  ASSERT_GT(report.near_runs_size(), 0);
  const auto of = [&](const std::string& key) { return json.at(key); };
  for (int i = 0; i < report.collectives_size(); ++i) {
    const std::string key = "collectives[" + std::to_string(i) + "].";
    EXPECT_EQ(report.collectives(i).link_share(), std::stod(of(key + "link_share"))) << key;
    EXPECT_EQ(report.collectives(i).bus_bandwidth_gb_per_s(), std::stod(of(key + "bus_bandwidth_gb_per_s")));
    EXPECT_EQ(report.collectives(i).link(), of(key + "link"));
  }
  for (int i = 0; i < report.links_by_class_size(); ++i)
    EXPECT_EQ(report.links_by_class(i).share(),
              std::stod(of("links_by_class[" + std::to_string(i) + "].share")));
  EXPECT_FALSE(json.contains("collectives[" + std::to_string(report.collectives_size()) + "].link"));
}

TEST(RunDetail, is_not_there_unless_it_is_asked_for) {
  for (const char* format : {"csv", "textproto", "json"})
    EXPECT_EQ(
        podsim_command("run " + small_scenario() + " --quiet --format " + format).out.find("link_share"),
        std::string::npos)
        << format;
}

}  // namespace
}  // namespace podsim::detail_test
