// Certificates of searches: what a search writes holds, and what somebody changes of it does not.
// PODSIM_FALSIFIED says how many are falsified, in all ways in turn.
#include "planner/search/certificate.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "tests/planner/layout_scenario.h"
#include "tests/rounds.h"

namespace podsim::certificate_test {
namespace {

using Json = nlohmann::ordered_json;
using Lines = std::vector<Json>;

constexpr const char* kVersion = "1";

const std::string& certificate() {
  static const std::string text = [] {
    const testing::LayoutQuestion asked = testing::layout_question(
        "chip: \"h100\" chips: 8 fabric: \"dgx_h100\"",
        "model: \"llama3_8b\" model_override { layers: 4 } stack: \"megatron_bridge_2025\" "
        "global_batch_sequences: 8 microbatch_sequences: 1 sequence_tokens: 2048",
        "tensor: [1, 2] context: 1 pipeline: [1, 2] microbatch: [1, 2] sharding: [ddp, zero1] "
        "recompute: [none, full] memory_headroom_fraction: 0.8");
    const Space space(asked.question.spec, asked.question.space);
    SearchOptions options;
    options.top = 3;
    options.record = true;
    const SearchAnswer answer = search(space, options);
    return certificate_text({kVersion, asked.text, asked.question.spec.sha256, 3, 0, 0}, answer);
  }();
  return text;
}

CertificateVerdict check(const std::string& text) {
  return check_certificate(text, kVersion, testing::built_in(), 4, 1);
}

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

// The first fault that is found when `change` was made.
std::string fault_of(const std::function<void(Lines&)>& change) {
  Lines lines = lines_of(certificate());
  change(lines);
  std::string text;
  for (const Json& line : lines) text += line.dump() + "\n";
  const CertificateVerdict verdict = check(text);
  return verdict.holds() ? "" : verdict.faults.front();
}

std::size_t first_with(const Lines& lines, const std::string& verdict) {
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].value("verdict", "") == verdict) return i;
  ADD_FAILURE() << "no layout is " << verdict;
  return 1;
}

TEST(Certificate, of_a_search_holds_and_has_every_kind_of_verdict) {
  const CertificateVerdict verdict = check(certificate());
  EXPECT_TRUE(verdict.holds()) << verdict.faults.front();
  EXPECT_GT(verdict.layouts, 20);
  EXPECT_GE(verdict.simulated, 3);
  const Lines lines = lines_of(certificate());
  for (const char* kind :
       {"no_room_for_state", "no_room", "lighter", "passes", "stages", "relaxed", "simulated"})
    first_with(lines, kind);
}

using Falsified =
    std::vector<std::pair<const char*, std::function<void(Lines&)>>>;  // what was done, by which

std::size_t any_layout(const Lines& lines, std::mt19937& random) { return 1 + random() % (lines.size() - 2); }

// Of those with this verdict, any.
std::size_t some_with(const Lines& lines, const std::string& verdict, std::mt19937& random) {
  std::vector<std::size_t> found;
  for (std::size_t i = first_with(lines, verdict); i < lines.size(); ++i)
    if (lines[i].value("verdict", "") == verdict) found.push_back(i);
  return found.at(random() % found.size());
}

void add_ps(Json& line, std::int64_t ps) { line["ps"] = line["ps"].get<std::int64_t>() + ps; }

// REQUIRES, here and below: `random` outlives what is made.
Falsified falsified_layouts(std::mt19937& random) {
  const auto remove = [&](const std::string& verdict) {
    return [&, verdict](Lines& lines) {
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(some_with(lines, verdict, random)));
    };
  };
  const auto moved = [&](const std::string& verdict, std::int64_t ps) {
    return [&, verdict, ps](Lines& lines) { add_ps(lines[some_with(lines, verdict, random)], ps); };
  };
  return {{"a dropped layout is left out", remove("passes")},
          {"a simulated layout is left out", remove("simulated")},
          {"a layout is there twice",
           [&](Lines& lines) {
             const Json line = lines[any_layout(lines, random)];
             lines.insert(lines.begin() + 1, line);
           }},
          {"a layout that is none is added",
           [](Lines& lines) {
             lines.insert(lines.begin() + 1, lines[1]);
             lines[1]["layout"][10] = 7;
           }},
          {"a bound is higher", moved("passes", 1'000'000)},
          {"a bound is lower", moved("passes", -1)},
          {"a bound of a lighter layout is higher", moved("lighter", 1'000'000)},
          {"a bound of a lighter layout is lower", moved("lighter", -1)},
          {"a layout is said not to fit",
           [&](Lines& lines) {
             Json& line = lines[some_with(lines, "passes", random)];
             line["verdict"] = "no_room";
             line.erase("ps");
             line["bytes"] = 1e12;
           }},
          {"a layout that does not fit needs more",
           [&](Lines& lines) { lines[some_with(lines, "no_room", random)]["bytes"] = 1e12; }},
          {"a verdict is none", [&](Lines& lines) { lines[any_layout(lines, random)]["verdict"] = "good"; }}};
}

// Calls `change` with each line of the best layout.
void change_best(Lines& lines, const std::function<void(Json&)>& change) {
  const Json best = lines.back()["best"][0]["layout"];
  for (Json& line : lines)
    if (line.contains("layout") && line["layout"] == best) change(line);
}

void replace_in_scenario(Lines& lines, const std::string& what, const std::string& by) {
  std::string text = lines[0]["scenario"];
  text.replace(text.find(what), what.size(), by);
  lines[0]["scenario"] = text;
}

Falsified falsified_answers() {
  return {{"a simulated step is shorter, and the answer with it",
           [](Lines& lines) {
             change_best(lines, [](Json& line) { add_ps(line, -1); });
             add_ps(lines.back()["best"][0], -1);
           }},
          {"another layout is said to be the best",
           [](Lines& lines) { std::swap(lines.back()["best"][0], lines.back()["best"][1]); }},
          {"the best is dropped for its bound",
           [](Lines& lines) {
             change_best(lines, [](Json& line) {
               line["verdict"] = "passes";
               line["ps"] = std::int64_t{1} << 60;
             });
             lines.back()["best"].erase(0);
           }},
          {"layouts are counted wrongly", [](Lines& lines) { lines.back()["layouts"] = 7; }},
          {"the answer has fewer layouts", [](Lines& lines) { lines.back()["best"].erase(2); }},
          {"the batch is another",
           [](Lines& lines) {
             replace_in_scenario(lines, "global_batch_sequences: 8", "global_batch_sequences: 16");
           }},
          {"the space is smaller",
           [](Lines& lines) { replace_in_scenario(lines, "tensor: [1, 2]", "tensor: 1"); }},
          {"it is of another podsim", [](Lines& lines) { lines[0]["podsim"] = "2"; }},
          {"its end is missing", [](Lines& lines) { lines.pop_back(); }}};
}

TEST(Certificate, that_was_falsified_does_not_hold) {
  std::mt19937 random(1);
  Falsified falsified = falsified_layouts(random);
  for (auto& each : falsified_answers()) falsified.push_back(std::move(each));
  const int wanted = testing::asked_for("PODSIM_FALSIFIED", static_cast<int>(falsified.size()));
  for (int i = 0; i < wanted; ++i) {
    const auto& [what, change] = falsified[static_cast<std::size_t>(i) % falsified.size()];
    EXPECT_NE(fault_of(change), "") << what << ", " << i;
  }
  EXPECT_EQ(fault_of([](Lines&) {}), "");
}

TEST(Certificate, names_the_line_whose_numbers_are_no_layout) {
  const auto with = [](std::size_t number, const Json& value) {
    return fault_of([&](Lines& lines) { lines[2]["layout"][number] = value; });
  };
  for (const std::size_t axis : {0, 1, 2, 3, 4, 5, 7, 10, 12}) {
    EXPECT_EQ(with(axis, 0).rfind("line 3: ", 0), 0u) << axis << ": " << with(axis, 0);
    EXPECT_NE(with(axis, -1), "");
    EXPECT_NE(with(axis, 2147483647), "");
  }
  for (const std::size_t choice : {6, 8, 11})
    EXPECT_NE(with(choice, 99).find("is one of 0 to "), std::string::npos) << with(choice, 99);
  for (const Json& none : {Json(1e300), Json(4294967297), Json("1"), Json(nullptr), Json(1.5)})
    EXPECT_EQ(with(1, none).rfind("line 3: ", 0), 0u) << none;
  EXPECT_NE(fault_of([](Lines& lines) { lines[2]["layout"].erase(12); }).find("13 numbers"),
            std::string::npos);
  EXPECT_NE(fault_of([](Lines& lines) {
              lines[2]["layout"] = {1, 1, 1, 1, 1, 8, 3, 1, 0, 0, 1, 1, 1};
            }).find("in other words"),
            std::string::npos)
      << "fsdp in groups of one is ddp";
  for (const char* verdict : {"passes", "simulated"})
    EXPECT_NE(fault_of([&](Lines& lines) { lines[first_with(lines, verdict)]["ps"] = 1e300; }), "");
  EXPECT_NE(fault_of([](Lines& lines) { lines[0]["within"] = 1e300; }), "");
  EXPECT_NE(fault_of([](Lines& lines) { lines[0]["top"] = 1e300; }), "");
}

TEST(Certificate, of_text_that_is_none_is_refused) {
  for (const char* text : {"", "x", "{}\n", "[]\n", "{\"podsim\":1}\n"})
    EXPECT_FALSE(check(text).holds()) << text;
}

}  // namespace
}  // namespace podsim::certificate_test
