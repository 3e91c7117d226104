// Every verb that chooses answers in four formats, and text format says what JSON says, digit by digit.
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "proto/answers.pb.h"
#include "tests/cli/command.h"

namespace podsim::answer_formats_test {
namespace {

using nlohmann::json;

std::string job(const std::string& chip) {
  return "cluster { chip: \"" + chip + "\" chips: 8 fabric: \"dgx_" + chip +
         "\" usd_per_chip_hour: 3 }\n"
         "job { model: \"llama3_8b\" model_override { layers: 4 } stack: \"megatron_bridge_2025\"\n"
         "  mesh { name: \"data\" size: 8 } sharding: \"data\" sharding: \"zero1\"\n"
         "  global_batch_sequences: 16 microbatch_sequences: 1 sequence_tokens: 2048 precision: bf16 }\n"
         "space { tensor: [1, 2] context: 1 pipeline: 1 microbatch: 1 recompute: none }\n";
}

std::string words_of(const std::string& verb) {
  const std::string one = temporary_file("one.textproto", job("h100")),
                    other = temporary_file("other.textproto", job("h200")),
                    range = "cluster.usd_per_chip_hour=0.5..30";
  if (verb == "search") return "search " + one;
  if (verb == "plan") return "plan " + one + " --tokens 1e9 --chips 8,16,24 --at-most power_kw=15";
  if (verb == "equal") return "compare " + one + " " + other + " --equal all --tokens 1e9 --days 30";
  if (verb == "sensitivity") return "sensitivity " + one + " " + other + " --vary " + range;
  return "breakeven " + one + " " + other + " --over " + range;
}

std::string output(const std::string& command, const std::string& format) {
  const CommandResult result = podsim_command(command + " --quiet --format " + format);
  EXPECT_EQ(result.exit_code, 0) << command << "\n" << result.err;
  return result.out;
}

// The texts that begin with a comment that names their message, as JSON. Numbers of 64 bits are words in the
// JSON of messages.
std::vector<json> messages_of(const std::string& text) {
  std::vector<json> messages;
  const std::string head = "# proto-file: proto/answers.proto\n# proto-message: podsim.schema.";
  for (std::size_t at = text.find(head), next; at != std::string::npos; at = next) {
    next = text.find(head, at + 1);
    const std::size_t name = at + head.size(), line = text.find('\n', name);
    const auto* descriptor =
        schema::SearchAnswer::descriptor()->file()->FindMessageTypeByName(text.substr(name, line - name));
    if (descriptor == nullptr) throw std::runtime_error("no such message: " + text.substr(name, line - name));
    const std::unique_ptr<google::protobuf::Message> message(
        google::protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor)->New());
    if (!google::protobuf::TextFormat::ParseFromString(text.substr(at, next - at), message.get()))
      throw std::runtime_error("no text format: " + text);
    google::protobuf::util::JsonPrintOptions options;
    options.preserve_proto_field_names = true;
    std::string written;
    if (!google::protobuf::util::MessageToJsonString(*message, &written, options).ok())
      throw std::runtime_error("no JSON: " + text);
    messages.push_back(json::parse(written));
  }
  return messages;
}

// Fields that are not there are empty lists or null in JSON.
void expect_same(const json& field, const json& key, const std::string& path) {
  if (key.is_object()) {
    for (const auto& [name, value] : key.items())
      if (!(value.is_null() || (value.is_array() && value.empty()))) {
        ASSERT_TRUE(field.contains(name)) << path << "." << name;
        expect_same(field[name], value, path + "." + name);
      }
    for (const auto& [name, value] : field.items()) EXPECT_TRUE(key.contains(name)) << path << "." << name;
  } else if (key.is_array()) {
    ASSERT_EQ(field.size(), key.size()) << path;
    for (std::size_t i = 0; i < key.size(); ++i)
      expect_same(field[i], key[i], path + "[" + std::to_string(i) + "]");
  } else if (key.is_number() && field.is_string()) {
    EXPECT_EQ(field.get<std::string>(), key.dump()) << path;
  } else if (key.is_number()) {
    EXPECT_EQ(field.get<double>(), key.get<double>()) << path;
  } else {
    EXPECT_EQ(field, key) << path;
  }
}

class AnswerFormats : public ::testing::TestWithParam<const char*> {};

TEST_P(AnswerFormats, text_format_says_what_json_says) {
  const std::string words = words_of(GetParam());
  const json answer = json::parse(output(words, "json"));
  const std::vector<json> messages = messages_of(output(words, "textproto"));
  const json all = answer.is_array() ? answer : json::array({answer});
  ASSERT_EQ(messages.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) expect_same(messages[i], all[i], std::to_string(i));
}

TEST_P(AnswerFormats, csv_has_a_cell_for_every_heading) {
  const std::string csv = output(words_of(GetParam()), "csv");
  std::vector<std::ptrdiff_t> cells;
  bool quoted = false;
  for (std::size_t at = 0, commas = 0; at < csv.size(); ++at) {
    if (csv[at] == '"') quoted = !quoted;
    if (csv[at] == ',' && !quoted) ++commas;
    if (csv[at] == '\n' && !quoted) cells.push_back(static_cast<std::ptrdiff_t>(std::exchange(commas, 0)));
  }
  ASSERT_GE(cells.size(), 2u) << csv;
  for (const std::ptrdiff_t each : cells) EXPECT_EQ(each, cells.front()) << csv;
}

INSTANTIATE_TEST_SUITE_P(Verbs, AnswerFormats,
                         ::testing::Values("search", "plan", "equal", "sensitivity", "breakeven"),
                         [](const auto& verb) { return std::string(verb.param); });

TEST(AnswerFormats, rows_of_a_sweep_as_text_have_the_figures_of_its_table) {
  const std::string words = "sweep " + temporary_file("swept.textproto", job("h100")) +
                            " --over job.global_batch_sequences=16,32 --columns step_time_s,fits,stack";
  const std::vector<json> messages = messages_of(output(words, "textproto"));
  ASSERT_EQ(messages.size(), 1u);
  const json reports = json::parse(output(words, "json"));
  const json& rows = messages.front()["rows"];
  ASSERT_EQ(rows.size(), 2u);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i]["set"][0],
              (json{{"path", "job.global_batch_sequences"}, {"value", i == 0 ? "16" : "32"}}));
    EXPECT_EQ(rows[i]["figures"][0]["number"].get<double>(), reports[i]["step_time_s"].get<double>());
    EXPECT_EQ(rows[i]["figures"][1]["word"], "true");
    EXPECT_EQ(rows[i]["figures"][2]["word"], reports[i]["stack"]);
  }
}

}  // namespace
}  // namespace podsim::answer_formats_test
