// The scored replay of every case of the shipped file: is each plan possible, and what does it send?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "proto/cases/load_shard_cases.h"
#include "proto/writing/write_shard_plans.h"
#include "report/text/align.h"
#include "tests/sharding/case_judge.h"
#include "workload/cases/plan_case.h"

namespace podsim::testing::cases_test {
namespace {

using nlohmann::json;

const std::string kCases = std::string(PODSIM_SOURCE_DIR) + "/scenarios/sharding/gspmd_cases.json";

std::string plans_of(const std::vector<ShardCase>& cases) {
  std::vector<PlannedCase> planned;
  for (const ShardCase& question : cases) planned.push_back({question, plan_case(question, SentBytes())});
  return write_shard_plans(planned, "");
}

// (kind, axes, operand bytes, result bytes), each as often as it is carried out.
using Collectives = std::multiset<std::string>;

void note(Collectives& all, std::string kind, std::vector<std::string> axes, const json& sizes, int count) {
  std::replace(kind.begin(), kind.end(), '_', '-');
  if (kind == "collective-permute") axes.clear();  // written in several ways
  std::sort(axes.begin(), axes.end());
  for (const std::string& axis : axes) kind += " " + axis;
  for (int i = 0; i < count; ++i) all.insert(kind + " " + sizes.dump());
}

Collectives collectives_of(const ReadPlan& plan, const json& written) {
  Collectives all;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const json& step = written.at("steps").at(s);
    const auto op = step.at("op").get<std::string>();
    if (op == "slice" || op == "compute") continue;
    note(all, op, plan.steps[s].axes, {step.at("operand_bytes"), step.at("result_bytes")}, step.at("count"));
  }
  return all;
}

Collectives expected_collectives(const json& expected) {
  Collectives all;
  for (const json& c : expected.value("collectives", json::array()))
    note(all, c.at("kind"), c.value("axes", std::vector<std::string>{}),
         {c.at("operand_bytes"), c.at("result_bytes")}, c.value("count", 1));
  return all;
}

double expected_sent(const json& expected) {
  double sent = 0;
  for (const json& kind : expected.value("totals", json::object()))
    sent += kind.at("send_bytes").get<double>();
  return sent;
}

std::string annotation_text(const std::string& text) {
  if (text == "unset" || text.find_first_not_of("[]{}?,") != std::string::npos) return text;
  return text.find("{}") == std::string::npos ? "unset" : text;
}

struct Score {
  int cases = 0, valid = 0, passed = 0, at_best_known = 0, with_best_known = 0;
  std::vector<std::string> better, failed;
};

class CaseFile : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::ifstream in(kCases);
    file_ = json::parse(in);
    LoadShardCasesResult loaded = load_shard_cases_file(kCases);
    for (const Problem& problem : loaded.problems) ADD_FAILURE() << format_problem(problem);
    ASSERT_TRUE(loaded.cases.has_value());
    for (const ShardCase& c : *loaded.cases) meshes_[c.id] = c.mesh;
    text_ = plans_of(*loaded.cases);
    plans_ = read_plans(text_, meshes_);
    const json written = json::parse(text_);
    for (std::size_t c = 0; c < file_["cases"].size(); ++c) {
      const json& question = file_["cases"][c];
      const auto id = question.at("id").get<std::string>();
      if (question["op"] == "sequence" || question["op"] == "parse_hlo") continue;
      judge_case(question, meshes_.at(id), plans_.at(id), written["cases"][c]);
    }
  }

  static void judge_case(const json& question, const Mesh& mesh, const ReadPlan& plan, const json& written) {
    const auto id = question.at("id").get<std::string>();
    const json& expected = question.at("expected");
    Score& score = scores_[question.at("category")];
    ++score.cases;
    const Faults faults = judge(mesh, question.dump(), plan);
    for (const std::string& fault : faults) score.failed.push_back(id + ": " + fault);
    score.valid += faults.empty();
    if (question["op"] == "propagate") {
      std::vector<std::string> wanted, found;
      for (const json& text : expected.at("shardings")) wanted.push_back(annotation_text(text));
      for (const std::string& text : plan.propagated) found.push_back(annotation_text(text));
      score.passed += wanted == found;
      if (wanted != found)
        score.failed.push_back(id + ": " + json(found).dump() + ", not " + json(wanted).dump());
      return;
    }
    const double sent = expected_sent(expected), flops = expected.value("flops_per_device", 0.0);
    const auto check = question.at("check").get<std::string>();
    const bool fewer = plan.sent < sent;
    const bool equal = check == "cost_at_most"
                           ? plan.sent == sent
                           : collectives_of(plan, written) == expected_collectives(expected);
    const bool work = check == "collectives_exact_flops_informative" || plan.flops <= flops;
    const bool passed = faults.empty() && work && (fewer || equal);
    score.passed += passed;
    if (fewer)
      score.better.push_back(id + " (" + check + "): " + std::to_string(std::llround(plan.sent)) + " of " +
                             std::to_string(std::llround(sent)));
    if (!passed)
      score.failed.push_back(id + ": sends " + std::to_string(plan.sent) + " of " + std::to_string(sent) +
                             ", computes " + std::to_string(plan.flops) + " of " + std::to_string(flops));
    if (!expected.contains("best_known")) return;
    ++score.with_best_known;
    score.at_best_known += plan.sent <= expected["best_known"]["send_bytes"].get<double>();
  }

  static json file_;
  static std::string text_;
  static std::map<std::string, Mesh> meshes_;
  static std::map<std::string, ReadPlan> plans_;
  static std::map<std::string, Score> scores_;
};
json CaseFile::file_;
std::string CaseFile::text_;
std::map<std::string, Mesh> CaseFile::meshes_;
std::map<std::string, ReadPlan> CaseFile::plans_;
std::map<std::string, Score> CaseFile::scores_;

TEST_F(CaseFile, every_plan_is_valid_and_sends_no_more_than_expected) {
  std::vector<std::vector<std::string>> table = {
      {"category", "cases", "valid", "equal or better", "better", "at or below best known"}};
  std::string better;
  for (const auto& [category, score] : scores_) {
    const bool known = score.with_best_known > 0;
    table.push_back(
        {category, std::to_string(score.cases), std::to_string(score.valid), std::to_string(score.passed),
         std::to_string(score.better.size()),
         known ? std::to_string(score.at_best_known) + " of " + std::to_string(score.with_best_known) : ""});
    for (const std::string& line : score.better) better += "  " + line + "\n";
    for (const std::string& line : score.failed) ADD_FAILURE() << line;
    EXPECT_EQ(score.valid, score.cases) << category;
    EXPECT_EQ(score.passed, score.cases) << category;
  }
  std::cout << align(table) << "fewer bytes than expected:\n" << better;
}

TEST_F(CaseFile, contractions_reach_the_best_plan_that_is_known) {
  const Score& einsum = scores_["einsum"];
  EXPECT_GT(einsum.with_best_known, 50);
  EXPECT_GE(einsum.at_best_known, 0.95 * einsum.with_best_known);
}

// Without a step, or with a narrower halo or fewer bytes, no plan is valid: the replay misses nothing.
TEST_F(CaseFile, a_damaged_plan_is_found_out) {
  int damaged = 0;
  for (const json& question : file_["cases"]) {
    const ReadPlan& plan = plans_.at(question["id"]);
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
      if (plan.steps[s].step.kind == StepKind::kCompute) continue;
      ReadPlan without = plan, cheaper = plan;
      without.steps.erase(without.steps.begin() + static_cast<std::ptrdiff_t>(s));
      PlanStep& step = cheaper.steps[s].step;
      step.sent.value -= 8;
      cheaper.sent -= 8 * step.count;
      for (const ReadPlan& changed : {without, cheaper}) {
        const Faults faults = judge(meshes_.at(question["id"]), question.dump(), changed);
        EXPECT_FALSE(faults.empty()) << question["id"] << ", step " << s;
        ++damaged;
      }
      if (step.kind != StepKind::kHalo) continue;
      ReadPlan narrower = plan;
      --narrower.steps[s].step.halo_width;
      EXPECT_FALSE(judge(meshes_.at(question["id"]), question.dump(), narrower).empty()) << question["id"];
    }
  }
  EXPECT_GT(damaged, 200);
}

TEST_F(CaseFile, what_has_no_sizes_is_said_not_to_be_planned) {
  for (const json& question : file_["cases"]) {
    const bool planned = question["op"] != "sequence" && question["op"] != "parse_hlo";
    EXPECT_EQ(plans_.at(question["id"]).error.empty(), planned) << question["id"];
  }
}

TEST_F(CaseFile, plans_are_the_same_bytes_every_time) {
  EXPECT_EQ(plans_of(*load_shard_cases_file(kCases).cases), text_);
}

}  // namespace
}  // namespace podsim::testing::cases_test
