// The reliability block: rates in their units, storage times, and what is told about wrong ones.
#include <gtest/gtest.h>

#include "engine/random.h"
#include "proto/scenario/load_reliability.h"
#include "tests/proto/scenario.h"
#include "tests/rounds.h"

namespace podsim::reliability_test {
namespace {

// 256 nodes of 8 GPUs; line numbers count in it.
std::string weeks() {
  return R"(cluster { chip: "h100" chips: 2048 fabric: "dgx_h100" }
reliability {
  days: 10
  failure { component: gpu per_1000_node_days: 4 }
  recovery { restart { mean_s: 300 } }
  checkpoint { save_s: 30 }
}
)";
}

LoadReliabilityResult load_weeks(const std::string& text) {
  return load_reliability("weeks.textproto", text, built_in(), {});
}

Lines problems_of_weeks(const std::string& text) {
  Lines lines;
  for (const Problem& problem : load_weeks(text).problems)
    lines.push_back(std::to_string(problem.line) + ":" + std::to_string(problem.column) + " " +
                    problem.message + (problem.hint.empty() ? "" : " | " + problem.hint));
  return lines;
}

Lines problems_but(const std::string& from, const std::string& to) {
  return problems_of_weeks(replaced(weeks(), from, to));
}

ReliabilityQuestion question_but(const std::string& from, const std::string& to) {
  const LoadReliabilityResult loaded = load_weeks(replaced(weeks(), from, to));
  for (const Problem& problem : loaded.problems) ADD_FAILURE() << format_problem(problem);
  return loaded.question.value_or(ReliabilityQuestion{});
}

const std::string kRate = "per_1000_node_days: 4";
const std::string kUnits =
    "write per_1000_node_days, per_chip_year, per_part_day, per_unit_day, per_day or every_days";

TEST(ReliabilityBlock, a_rate_without_its_unit_is_told) {
  EXPECT_EQ(problems_but(kRate, "rate: 4"), Lines{"4:28 the rate has no unit | " + kUnits});
  EXPECT_EQ(problems_but(kRate, ""), Lines{"4:3 reliability.failure[0] has no rate | " + kUnits});
  EXPECT_EQ(problems_but(kRate, kRate + " per_day: 1"),
            (Lines{"4:3 reliability.failure[0] has more than one rate | write one of " + kUnits.substr(6)}));
  EXPECT_EQ(problems_but(kRate, "count: 4"),
            Lines{"4:28 a count says nothing without the nodes and days it was seen in | " + kUnits});
  EXPECT_EQ(
      problems_but(kRate, "per_unit_day: 0.1"),
      Lines{"4:3 reliability.failure[0] must have per_unit_day and units together | per_unit_day: 0.0004 "
            "units: 48"});
}

TEST(ReliabilityBlock, an_unknown_component_is_told_with_the_nearest) {
  const Lines problems = problems_but("component: gpu", "component: gpuu");
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("4:24"), std::string::npos) << problems[0];
  EXPECT_NE(problems[0].find("did you mean gpu?"), std::string::npos) << problems[0];
}

TEST(ReliabilityBlock, an_unknown_mix_is_told_with_the_nearest) {
  EXPECT_EQ(problems_but("days: 10", "failures: \"rscc1\""),
            Lines{"3:3 the catalogue has no mix of failures \"rscc1\" | did you mean \"rsc1\"?"});
}

TEST(ReliabilityBlock, a_checkpoint_longer_than_the_interval_is_told) {
  EXPECT_EQ(
      problems_but("save_s: 30", "save_s: 30 interval_s: 20"),
      Lines{"6:27 a checkpoint takes longer than the interval: 30.00 s of 20.00 s | write interval_s: 30 or "
            "more, or auto: exact for the best"});
  EXPECT_EQ(problems_but("save_s: 30", "mode: asynchronous pause_s: 1 save_s: 30 interval_s: 20").size(), 1u);
  EXPECT_EQ(problems_but("save_s: 30", "save_s: 30 interval_s: 30"), Lines{});
}

TEST(ReliabilityBlock, negative_times_are_told) {
  EXPECT_EQ(problems_but("mean_s: 300", "mean_s: -300"),
            Lines{"5:24 reliability.recovery.restart.mean_s must be from 0 to 100,000,000, not -300"});
  EXPECT_EQ(problems_but("save_s: 30", "save_s: -1"),
            Lines{"6:16 reliability.checkpoint.save_s must be from 0 to 10,000,000, not -1"});
}

TEST(ReliabilityBlock, what_does_not_fit_together_is_told) {
  EXPECT_EQ(problems_but("save_s: 30", "auto: young").size(), 1u);
  EXPECT_EQ(problems_but("save_s: 30", "save_s: 30 size_gb: 100 write_gb_per_s: 1").size(), 1u);
  EXPECT_EQ(problems_but("save_s: 30", "save_s: 30 pause_s: 3").size(), 1u);
  EXPECT_EQ(problems_but("save_s: 30", "save_s: 30 mode: asynchronous").size(), 1u);
  EXPECT_EQ(problems_but("save_s: 30", "save_s: 30 interval_s: 60 auto: young").size(), 1u);
  EXPECT_EQ(problems_but("days: 10", "days: 10 nodes_per_unit: 7").size(), 1u);
  EXPECT_EQ(problems_but("days: 10", "days: 10 nodes_per_unit: 8 spares { nodes: 7 }").size(), 1u);
  EXPECT_EQ(problems_but("days: 10", "days: 10 spares { nodes: 7 kind: warm }").size(), 1u);
  EXPECT_EQ(problems_but("days: 10", "days: 10 target_tokens: 1e12").size(), 3u);
  EXPECT_EQ(
      problems_but("days: 10", "elastic { replicas: 7 least_replicas: 8 reconfigure { mean_s: 1 } }").size(),
      2u);
  EXPECT_EQ(problems_of_weeks("cluster { chip: \"h100\" chips: 2048 fabric: \"dgx_h100\" }").size(), 1u);
  const std::string without = replaced(weeks(), "failure { component: gpu per_1000_node_days: 4 }", "");
  EXPECT_EQ(problems_of_weeks(replaced(without, "dgx_h100", "pcie_h100")).size(), 1u)
      << "of this fabric no mix of failures is known";
}

TEST(ReliabilityBlock, without_failures_those_of_the_fabric_are_taken) {
  EXPECT_EQ(question_but("failure { component: gpu per_1000_node_days: 4 }", "").failures, "llama3_16k_h100");
  EXPECT_EQ(question_but("days: 10", "").failures, "") << "a scenario with failures of its own has no mix";
}

double failures_per_day(const ReliabilityQuestion& question, Component component) {
  double sum = 0;
  for (const FailureSource& source : question.run.failures)
    if (source.component == component) sum += 86400 * source.per_s;
  return sum;
}

// A slice of 8 x 8 x 8 has 3 x 512 cables and uses all 48 switches of its pod; one below a cube uses none.
TEST(ReliabilityBlock, parts_are_those_that_the_job_uses) {
  const auto of_slice = [](const std::string& shape) {
    const LoadReliabilityResult loaded =
        load_weeks("cluster { chip: \"tpu_v4\" fabric: \"v4_pod\" slice_shape: " + shape +
                   " }\nreliability { checkpoint { save_s: 30 } repair { time { mean_s: 86400 } } }\n");
    return loaded.question.value_or(ReliabilityQuestion{});
  };
  const ReliabilityQuestion slice = of_slice("[8, 8, 8]");
  EXPECT_EQ(slice.failures, "tpu_v4");
  EXPECT_NEAR(failures_per_day(slice, Component::kIciLink), 1536 * 0.00005, 1e-12);
  EXPECT_NEAR(failures_per_day(slice, Component::kOcs), 48 * 0.0004, 1e-12);
  EXPECT_NEAR(failures_per_day(slice, Component::kHost), 128 * 0.0008, 1e-12);
  for (const FailureSource& source : slice.run.failures)
    EXPECT_EQ(source.domain_nodes, source.component == Component::kHost ? 1 : 0)
        << "traffic goes round a cable and a switch: no host is out";
  EXPECT_NEAR(failures_per_day(of_slice("[16, 16, 16]"), Component::kIciLink), 12288 * 0.00005, 1e-12);
  EXPECT_EQ(failures_per_day(of_slice("[2, 2, 4]"), Component::kOcs), 0);
}

TEST(ReliabilityBlock, parts_of_a_gpu_cluster_are_counted_with_those_of_spares) {
  const auto per_day = [](const std::string& component, const std::string& spares) {
    const std::string failure = "failure { component: " + component + " per_part_day: 0.001 }" + spares;
    const ReliabilityQuestion question =
        question_but("failure { component: gpu per_1000_node_days: 4 }", failure);
    return 86400 * question.run.failures.at(0).per_s;
  };
  EXPECT_NEAR(per_day("gpu", ""), 2.048, 1e-9);
  EXPECT_NEAR(per_day("host", ""), 0.256, 1e-9);
  EXPECT_NEAR(per_day("nic", ""), 2.048, 1e-9);
  EXPECT_NEAR(per_day("host", " spares { nodes: 64 }"), 0.256 * 1.25, 1e-9);
  EXPECT_EQ(problems_but(kRate, "per_part_day: 0.1 } failure { component: software per_part_day: 1 ").size(),
            1u);
}

TEST(ReliabilityBlock, more_units_than_the_job_uses_are_told) {
  const LoadReliabilityResult loaded = load_weeks(replaced(
      weeks(), "component: gpu per_1000_node_days: 4", "component: host per_unit_day: 0.001 units: 1024"));
  ASSERT_EQ(loaded.warnings.size(), 1u);
  EXPECT_EQ(loaded.warnings[0].message,
            "the job uses 256 of the 1,024 units: failures of the others do not strike it");
}

TEST(ReliabilityBlock, rates_become_those_of_the_whole_cluster) {
  constexpr double kDay = 86400;
  const auto per_day = [&](const std::string& rate) {
    return kDay * question_but(kRate, rate).run.failures.at(0).per_s;
  };
  EXPECT_NEAR(per_day(kRate), 256 * 0.004, 1e-12);
  EXPECT_NEAR(per_day("per_chip_year: 0.1"), 2048 * 0.1 / 365, 1e-12);
  EXPECT_NEAR(per_day("per_unit_day: 0.0004 units: 48"), 0.0192, 1e-12);
  EXPECT_NEAR(per_day("per_day: 3"), 3, 1e-12);
  EXPECT_NEAR(per_day("every_days: 7"), 1.0 / 7, 1e-12);
  EXPECT_NEAR(kDay * question_but("days: 10", "failure_factor: 2").run.failures.at(0).per_s, 512 * 0.004,
              1e-12);
  EXPECT_EQ(question_but(kRate, "per_day: 3").run.failures.at(0).domain_nodes, 0);
  EXPECT_TRUE(question_but(kRate, "every_days: 7").run.failures.at(0).regular);
}

TEST(ReliabilityBlock, a_rate_of_the_job_that_strikes_nodes_leaves_out_the_spares) {
  const ReliabilityQuestion question = question_but(kRate, "per_day: 3 nodes: 1 } spares { nodes: 64 ");
  EXPECT_NEAR(86400 * interruptions_per_s(question.run), 3, 1e-12);
}

TEST(ReliabilityBlock, the_mix_of_llama_3_by_its_counts) {
  const ReliabilityQuestion question =
      question_but("failure { component: gpu per_1000_node_days: 4 }", "failures: \"llama3_16k_h100\"");
  double all = 0, gpu = 0;
  for (const FailureSource& source : question.run.failures) {
    all += source.per_s;
    if (source.component == Component::kGpu) gpu += source.per_s;
  }
  EXPECT_NEAR(all * 54 * 86400 * 2048 / 256, 419, 1e-9);
  EXPECT_NEAR(gpu / all, 148.0 / 419, 1e-12);
}

TEST(ReliabilityBlock, a_component_of_the_scenario_replaces_that_of_the_mix) {
  const ReliabilityQuestion question = question_but("days: 10", "failures: \"llama3_16k_h100\"");
  int gpus = 0;
  for (const FailureSource& source : question.run.failures) gpus += source.component == Component::kGpu;
  EXPECT_EQ(gpus, 1);
  EXPECT_NEAR(question.run.failures.back().per_s * 86400, 256 * 0.004, 1e-12);
}

TEST(ReliabilityBlock, hosts_share_the_storage) {
  const ReliabilityQuestion shared =
      question_but("save_s: 30", "size_gb: 6000 write_gb_per_s: 200 read_gb_per_s: 400");
  EXPECT_EQ(shared.run.checkpoints.pause.ms, 30'000);
  EXPECT_EQ(shared.run.recovery.restore.mean_s, 15);
}

TEST(ReliabilityBlock, domains_have_the_nodes_of_the_fabric) {
  const auto nodes = [](const std::string& domain) {
    return question_but(kRate, kRate + " domain: " + domain).run.failures.at(0).domain_nodes;
  };
  EXPECT_EQ(nodes("node"), 1);
  EXPECT_EQ(nodes("nvlink_domain"), 1);  // 8 GPUs of one node
  EXPECT_EQ(nodes("leaf"), 32);          // a scalable unit
  EXPECT_EQ(nodes("job"), 0);
  EXPECT_EQ(problems_but(kRate, kRate + " domain: cube"),
            Lines{"4:50 dgx_h100 has no cube | it has node, nvlink_domain and leaf"});
  EXPECT_EQ(problems_but(kRate, kRate + " domain: leaf nodes: 4").size(), 1u);
  const LoadReliabilityResult rack =
      load_weeks(replaced(replaced(weeks(), "chip: \"h100\" chips: 2048 fabric: \"dgx_h100\"",
                                   "chip: \"gb200\" chips: 2304 fabric: \"nvl72_gb200\""),
                          kRate, kRate + " domain: nvlink_domain"));
  ASSERT_TRUE(rack.question.has_value());
  EXPECT_EQ(rack.question->run.failures.at(0).domain_nodes, 18);
}

TEST(ReliabilityBlock, hazard_and_lemons) {
  const ReliabilityQuestion question = question_but("days: 10",
                                                    "hazard { infant_factor: 3 infant_decay_days: 14 "
                                                    "diurnal_swing: 0.1 } lemons { share: 0.01 factor: 20 }");
  EXPECT_EQ(question.run.hazard.infant_factor, 3);
  EXPECT_EQ(question.run.hazard.infant_decay_s, 14 * 86400);
  EXPECT_EQ(question.run.lemons.nodes, 3);
  EXPECT_EQ(
      problems_but("days: 10", "hazard { infant_factor: 3 }"),
      Lines{
          "3:3 reliability.hazard.infant_decay_days is missing | write, for example, infant_decay_days: 14"});
  EXPECT_EQ(problems_but("days: 10", "lemons { share: 0.01 }").size(), 1u);
}

TEST(ReliabilityBlock, what_slows_the_job_needs_a_repair) {
  EXPECT_EQ(problems_but(kRate, kRate + " slows_to: 0.9").size(), 1u);
  EXPECT_EQ(question_but(kRate, kRate + " slows_to: 0.9 repair { mean_s: 3600 }").run.failures.at(0).slows_to,
            0.9);
}

TEST(ReliabilityBlock, a_job_with_a_mistake_is_still_the_job_that_says_the_step) {
  const std::string target = replaced(weeks(), "days: 10", "target_tokens: 1e11");
  const std::string job =
      "job { model: \"llama3_8b\" stack: \"torchtitan\" mesh { name: \"fsdp\" size: 2048 } sharding: "
      "\"fsdp\" "
      "global_batch_sequences: 2048 sequence_tokens: 2048 }\n";
  const std::string wrong = replaced(job, "llama3_8b", "llama3_8bb");
  EXPECT_EQ(problems_of_weeks(target + job), Lines{});
  EXPECT_EQ(problems_of_weeks(target + wrong).size(), 1u);
  EXPECT_EQ(
      problems_of_weeks(replaced(target, "save_s: 30", "bytes_per_parameter: 12 write_gb_per_s: 200") + wrong)
          .size(),
      1u);
  EXPECT_EQ(problems_of_weeks(target).size(), 2u) << "without a job both are missing";
}

TEST(ReliabilityBlock, parameters_need_a_job) {
  EXPECT_EQ(problems_but("save_s: 30", "bytes_per_parameter: 14 write_gb_per_s: 10"),
            Lines{"6:16 without a job there are no parameters | write size_gb"});
}

// Three bytes at random places become others: a question, or problems with their places.
TEST(ReliabilityBlock, broken_text_is_told_and_nothing_crashes) {
  for (std::uint64_t round = 0; round < static_cast<std::uint64_t>(testing::rounds(500)); ++round) {
    std::string text = weeks();
    for (std::uint64_t i = 0; i < 3; ++i) {
      const std::uint64_t bits = random_bits(round, RandomPurpose::kTest, 0, i);
      text[bits % text.size()] = static_cast<char>(32 + (bits >> 32) % 95);
    }
    const LoadReliabilityResult loaded = load_weeks(text);
    EXPECT_NE(loaded.question.has_value(), !loaded.problems.empty()) << text;
  }
}

TEST(ReliabilityBlock, software_leaves_nodes_in_order) {
  const ReliabilityQuestion question =
      question_but("days: 10", "failures: \"llama3_16k_h100\" repair { time { mean_s: 3600 } }");
  for (const FailureSource& source : question.run.failures)
    EXPECT_EQ(source.repair.mean_s > 0,
              source.component != Component::kSoftware && source.component != Component::kCollectiveLibrary);
}

TEST(ReliabilityBlock, components_have_the_names_of_the_schema) {
  EXPECT_EQ(to_string(question_but("component: gpu", "component: ici_link").run.failures[0].component),
            "ici_link");
  EXPECT_EQ(to_string(question_but("component: gpu", "component: other").run.failures[0].component), "other");
  EXPECT_EQ(to_string(question_but("component: gpu", "component: switch").run.failures[0].component),
            "switch");
}

// What weeks without a job are told to have no effect beside these fields of the cluster.
Lines idle_beside(const std::string& fields) {
  const LoadReliabilityResult loaded =
      load_weeks(replaced(weeks(), "fabric: \"dgx_h100\"", "fabric: \"dgx_h100\" " + fields));
  for (const Problem& problem : loaded.problems) ADD_FAILURE() << format_problem(problem);
  Lines idle;
  for (const Problem& warning : loaded.warnings)
    if (const std::size_t end = warning.message.find(" has no effect"); end != std::string::npos)
      idle.push_back(warning.message.substr(0, end));
  return idle;
}

TEST(ReliabilityBlock, without_a_job_fields_of_price_and_carbon_have_an_effect_beside_what_they_need) {
  EXPECT_EQ(idle_beside("usd_per_kwh: 0.1 pue: 2"), Lines{});
  EXPECT_EQ(idle_beside("pue: 2"), Lines{}) << "MWh are at the meter";
  EXPECT_EQ(idle_beside("kg_per_kwh: 0.5 embodied_kg: 100"), Lines{});
  EXPECT_EQ(idle_beside("embodied_kg: 100"), Lines{"cluster.embodied_kg"});
  EXPECT_EQ(idle_beside("owned { chip_usd: 30000 }"), Lines{"cluster.owned"});
  EXPECT_EQ(idle_beside("price_term: \"owned\" owned { chip_usd: 30000 }"), Lines{});
  EXPECT_EQ(idle_beside("price_term: \"committed_1y\""), Lines{});
  EXPECT_EQ(idle_beside("usd_per_chip_hour: 2 price_term: \"committed_1y\" region: \"mars\""),
            (Lines{"cluster.price_term", "cluster.region"}));
}

TEST(ReliabilityBlock, a_price_of_its_own_is_of_no_term_of_a_list) {
  const std::string fabric = "fabric: \"dgx_h100\"", priced = fabric + " usd_per_chip_hour: 2";
  const Price plain = question_but(fabric, priced).cluster.price;
  const Price termed = question_but(fabric, priced + " price_term: \"committed_1y\"").cluster.price;
  EXPECT_EQ(termed.term, plain.term);
  EXPECT_EQ(termed.kind, plain.kind);
  EXPECT_EQ(termed.minimum_days, 0);
}

}  // namespace
}  // namespace podsim::reliability_test
