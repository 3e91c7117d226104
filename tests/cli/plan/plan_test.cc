// podsim plan: clusters side by side, limits that are met or missed, and scenarios that other verbs
// reproduce.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.h"
#include "tests/cli/plan/plan_job.h"

namespace podsim::plan_verb_test {
namespace {

TEST(PlanVerb, days_and_dollars_are_those_of_the_step_that_run_reports) {
  const std::string file = temporary_file("plan.textproto", kPlanJob),
                    best = temporary_file("row.textproto", "");
  const CommandResult planned = podsim_command("plan " + file +
                                               " --tokens 1e10 --chips 8,16 --chip h100,tpu_v5p --price-term "
                                               "on_demand,committed_1y --format json --out " +
                                               best);
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const auto answer = nlohmann::json::parse(planned.out);
  ASSERT_GE(answer["rows"].size(), 6U) << planned.out;
  const CommandResult run = podsim_command("run --format json " + best);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto report = nlohmann::json::parse(run.out);
  const auto& first = answer["rows"][0];
  EXPECT_EQ(report["step_time_s"].get<double>(), first["step_time_s"].get<double>());
  EXPECT_NEAR(first["days"].get<double>(), 1e10 / report["tokens_per_s"].get<double>() / 86400,
              1e-9 * first["days"].get<double>());
  EXPECT_NEAR(first["cost_usd"].get<double>(), 1e4 * report["cost_usd_per_million_tokens"].get<double>(),
              1e-6 * first["cost_usd"].get<double>());
  for (std::size_t i = 1; i < answer["rows"].size(); ++i)
    EXPECT_LE(answer["rows"][i - 1]["cost_usd"].get<double>(), answer["rows"][i]["cost_usd"].get<double>());
}

TEST(PlanVerb, what_no_search_lays_out_is_told_at_its_place) {
  const std::string lengths = "scenarios/uneven_lengths_128_h100.textproto";
  for (const std::string& command : {"search " + lengths, "plan " + lengths + " --chips 128 --tokens 1e12"}) {
    const CommandResult refused = podsim_command(command);
    EXPECT_EQ(refused.exit_code, 2) << command;
    EXPECT_NE(refused.err.find(lengths + ":25:3: a search compares steps that are all the same"),
              std::string::npos)
        << refused.err;
  }
  const std::string file = temporary_file("plan.textproto", kPlanJob);
  for (const std::string& command : {"plan " + file + " --tokens 1e10 --chips 2097152",
                                     "plan " + file + " --tokens 1e10 --chips 5000000000,8",
                                     "compare " + file + " " + file + " --equal cost --chips 2097152"}) {
    const CommandResult many = podsim_command(command);
    EXPECT_EQ(many.exit_code, 2) << command;
    EXPECT_NE(many.err.find("chips no layouts are searched, of 1000000 at most"), std::string::npos)
        << many.err;
  }
}

TEST(PlanVerb, plans_a_chip_that_lacks_the_kernels_of_its_stack_with_the_first_usual_one_that_has_them) {
  const CommandResult planned =
      podsim_command("plan " + temporary_file("plan.textproto", kPlanJob) +
                     " --tokens 1e9 --chips 16 --chip v100 --precision fp16 --format json");
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_EQ(nlohmann::json::parse(planned.out)["rows"][0]["stack"], "megatron_2021");
}

TEST(PlanVerb, takes_more_slices_where_one_has_fewer_chips) {
  const std::string file = temporary_file("plan.textproto", kPlanJob),
                    best = temporary_file("row.textproto", "");
  const CommandResult planned =
      podsim_command("plan " + file +
                     " --tokens 1e10 --chips 256,512 --chip tpu_v6e --set job.global_batch_sequences=512 "
                     "--set space.sharding=zero1 --minimise days --format json --out " +
                     best);
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const auto answer = nlohmann::json::parse(planned.out);
  ASSERT_EQ(answer["rows"].size(), 2U) << planned.out;
  EXPECT_EQ(answer["rows"][0]["chips"], 512);
  const CommandResult run = podsim_command("run --format json " + best);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(nlohmann::json::parse(run.out)["step_time_s"], answer["rows"][0]["step_time_s"]);
  EXPECT_NE(read_file(best).find("slices: 2"), std::string::npos) << read_file(best);
}

TEST(PlanVerb, limit_that_nothing_meets_ends_with_3_and_the_nearest_miss) {
  const std::string file = temporary_file("plan.textproto", kPlanJob);
  const CommandResult late = podsim_command("plan " + file + " --tokens 1e12 --chips 8,16 --days 0.5");
  EXPECT_EQ(late.exit_code, 3);
  EXPECT_NE(late.out.find("No choice meets the limits."), std::string::npos) << late.out;
  EXPECT_NE(late.out.find("chips would be in time"), std::string::npos) << late.out;
  EXPECT_NE(late.out.find("1  16 h100 on_demand  late by"), std::string::npos)
      << "more chips miss by less, whatever they cost" << late.out;
  const CommandResult in_time = podsim_command("plan " + file + " --tokens 1e9 --chips 8,16 --days 30");
  EXPECT_EQ(in_time.exit_code, 0) << in_time.out;
}

TEST(PlanVerb, spot_needs_to_know_how_often_chips_are_taken_away) {
  const CommandResult result = podsim_command("plan " + temporary_file("plan.textproto", kPlanJob) +
                                              " --tokens 1e10 --chips 16 --price-term spot");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.err.find("need a reliability block"), std::string::npos) << result.err;
}

TEST(PlanVerb, with_a_reliability_block_counts_failures) {
  const std::string file =
      temporary_file("weeks.textproto",
                     kPlanJob + "reliability { failures: \"llama3_16k_h100\" checkpoint { save_s: 30 } }\n");
  const auto days = [&](const std::string& path) {
    const CommandResult result = podsim_command("plan " + path + " --tokens 1e12 --chips 16 --format json");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return nlohmann::json::parse(result.out)["rows"][0];
  };
  const auto whole = days(temporary_file("plan.textproto", kPlanJob)), broken = days(file);
  EXPECT_GT(broken["days"].get<double>(), whole["days"].get<double>());
  EXPECT_LE(broken["days_p10"].get<double>(), broken["days"].get<double>());
}

TEST(PlanVerb, unknown_chip_and_wrong_range_are_told) {
  const std::string file = temporary_file("plan.textproto", kPlanJob);
  const CommandResult chip = podsim_command("plan " + file + " --tokens 1e10 --chip h1000");
  EXPECT_EQ(chip.exit_code, 2);
  EXPECT_NE(chip.err.find("no chip \"h1000\""), std::string::npos) << chip.err;
  EXPECT_EQ(podsim_command("plan " + file + " --tokens 1e10 --chips x").exit_code, 2);
}

TEST(PlanVerb, terms_of_a_chip_are_numbers_and_of_a_chip_that_is_in_the_plan) {
  const std::string plan =
      "plan " + temporary_file("plan.textproto", kPlanJob) + " --tokens 1e9 --chips 8 --days 100 ";
  for (const char* wrong : {"--from-day h100=nan", "--one-off-usd h100=nan", "--one-off-days h100=inf",
                            "--most-chips h100=nan", "--at-most power_kw=nan"})
    EXPECT_EQ(podsim_command(plan + wrong).exit_code, 2) << wrong;
  const CommandResult other = podsim_command(plan + "--from-day h200=30");
  EXPECT_EQ(other.exit_code, 0);
  EXPECT_NE(other.err.find("says of h200 has no effect"), std::string::npos) << other.err;
  EXPECT_EQ(podsim_command(plan + "--from-day h100=30").err.find("has no effect"), std::string::npos);
}

TEST(PlanVerb, tells_what_may_come_by_the_same_luck_for_any_number_of_threads_and_order) {
  const std::string file =
      temporary_file("weeks.textproto",
                     kPlanJob + "reliability { failures: \"llama3_16k_h100\" checkpoint { save_s: 30 } }\n");
  const std::string words = "plan " + file + " --tokens 1e12 --chips 8,16 --format json --days 60 ";
  const CommandResult one = podsim_command(words + "--chip h100,h200 --threads 1");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(one.out, podsim_command(words + "--chip h100,h200 --threads 3").out);
  const auto answer = nlohmann::json::parse(one.out);
  double best = 0;
  for (const auto& row : answer["rows"]) {
    const auto& outcome = row["outcome"];
    EXPECT_LT(outcome["days"]["p10"].get<double>(), outcome["days"]["p50"].get<double>());
    EXPECT_LT(outcome["days"]["p50"].get<double>(), outcome["days"]["p90"].get<double>());
    EXPECT_LT(outcome["cost_usd"]["p10"].get<double>(), outcome["cost_usd"]["p90"].get<double>());
    best += outcome["best"].get<double>();
  }
  EXPECT_LE(best, 1 + 1e-9);
  EXPECT_GT(best, 0.9) << "60 days are enough for some choice nearly always";
  ASSERT_GE(answer["hangs_on"].size(), 2U);
  ASSERT_GE(answer["worth_of_knowing"].size(), 2U);
}

TEST(PlanVerb, deadline_with_a_probability_asks_for_more_than_one_without) {
  const std::string file = temporary_file("plan.textproto", kPlanJob);
  const auto planned = [&](const std::string& words) {
    return podsim_command("plan " + file + " --tokens 1e12 --chips 16 --format json " + words);
  };
  const double days = nlohmann::json::parse(planned("").out)["rows"][0]["days"];
  const std::string deadline = "--days " + std::to_string(days * 1.01);
  EXPECT_EQ(planned(deadline).exit_code, 0);
  const CommandResult likely = planned(deadline + " --probability 0.95");
  EXPECT_EQ(likely.exit_code, 3) << likely.err;
  const auto answer = nlohmann::json::parse(likely.out);
  EXPECT_LT(answer["rows"][0]["outcome"]["in_time"].get<double>(), 0.95);
  EXPECT_EQ(answer["helps_most"]["chips"], 8 * 4) << "twice the chips are in time";
  EXPECT_TRUE(answer["helps_most"]["meets"].get<bool>());
  EXPECT_EQ(planned("--probability 0.9").exit_code, 2) << "of no limit";
}

TEST(PlanVerb, front_has_no_row_that_another_beats_and_every_row_runs_as_it_says) {
  const std::string file = temporary_file("plan.textproto", kPlanJob),
                    folder = temporary_file("rows", "") + ".d/";
  const CommandResult all =
      podsim_command("plan " + file + " --tokens 1e12 --chips 8,16,32 --chip h100,a100 --format json");
  const CommandResult front = podsim_command("plan " + file +
                                             " --tokens 1e12 --chips 8,16,32 --chip h100,a100 --pareto "
                                             "--format json --out " +
                                             folder);
  ASSERT_EQ(front.exit_code, 0) << front.err;
  const auto rows = nlohmann::json::parse(front.out)["rows"];
  const auto beats = [](const auto& a, const auto& b) {
    return a["chips"].template get<int>() <= b["chips"].template get<int>() &&
           a["days"].template get<double>() <= b["days"].template get<double>() &&
           a["cost_usd"].template get<double>() < b["cost_usd"].template get<double>();
  };
  std::size_t unbeaten = 0;
  const auto every = nlohmann::json::parse(all.out)["rows"];
  for (const auto& row : every)
    unbeaten += std::ranges::none_of(every, [&](const auto& other) { return beats(other, row); });
  EXPECT_EQ(rows.size(), unbeaten);
  EXPECT_LT(rows.size(), every.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string row = folder + std::to_string(i + 1) + "_" +
                            std::to_string(rows[i]["chips"].get<int>()) + "_" +
                            rows[i]["chip"].get<std::string>() + "_on_demand.textproto";
    const CommandResult run = podsim_command("run --format json " + row);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(nlohmann::json::parse(run.out)["step_time_s"].get<double>(),
              rows[i]["step_time_s"].get<double>());
  }
}

std::string with_batch_of_64(const std::string& chip, const std::string& fabric) {
  return "cluster { chip: \"" + chip + "\" chips: 16 fabric: \"" + fabric +
         "\" }\n"
         "job { model: \"llama3_8b\" model_override { layers: 4 } stack: \"megatron_bridge_2025\"\n"
         "  mesh { name: \"data\" size: 16 } sharding: \"data\" sharding: \"zero1\"\n"
         "  global_batch_sequences: 64 microbatch_sequences: 1 sequence_tokens: 2048 precision: bf16 }\n"
         "space { context: 1 pipeline: 1 microbatch: 1 recompute: none }\n";
}

// Of all counts that are tried, those of the answer are equal and their neighbours are not.
// What is known of getting chips: 20 days of porting within 30 of waiting, a quota of 8, what moving costs.
TEST(PlanVerb, lead_times_quotas_and_moving_costs_are_part_of_days_and_dollars) {
  const std::string words = "plan " + temporary_file("plan.textproto", kPlanJob) +
                            " --tokens 1e11 --chip h100,tpu_v5p --chips 8,16 --minimise days --format json ";
  const auto rows_by_name = [&](const std::string& options) {
    const CommandResult result = podsim_command(words + options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::map<std::string, nlohmann::json> rows;
    const auto answer = nlohmann::json::parse(result.out);
    for (const auto& row : answer["rows"])
      rows[row["chip"].get<std::string>() + std::to_string(row["chips"].get<int>())] = row;
    return rows;
  };
  const auto at_once = rows_by_name("");
  const auto later = rows_by_name(
      "--from-day tpu_v5p=30 --one-off-days v5p=20 --one-off-usd tpu_v5p=1e6 --most-chips h100=8");
  ASSERT_EQ(at_once.size(), 4U);
  ASSERT_EQ(later.size(), 3U);
  EXPECT_EQ(later.count("h10016"), 0U) << "more than the quota";
  EXPECT_EQ(later.at("h1008")["days"], at_once.at("h1008")["days"]);
  const auto &before = at_once.at("tpu_v5p16"), &after = later.at("tpu_v5p16");
  for (const char* figure : {"days", "days_p10", "days_p90"})
    EXPECT_NEAR(after[figure].get<double>(), before[figure].get<double>() + 30, 1e-9) << figure;
  EXPECT_NEAR(after["cost_usd"].get<double>(), before["cost_usd"].get<double>() + 1e6, 1e-3)
      << "chips that are waited for are not paid";
  EXPECT_NEAR(after["outcome"]["cost_usd"]["p50"].get<double>(),
              before["outcome"]["cost_usd"]["p50"].get<double>() + 1e6, 1e-3);
  EXPECT_EQ(after["start_day"], 30);
  const CommandResult unknown = podsim_command(words + "--from-day h1000=3");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("no chip \"h1000\""), std::string::npos) << unknown.err;
  EXPECT_EQ(podsim_command(words + "--most-chips h100=1.5").exit_code, 2);
}

TEST(PlanVerb, site_leaves_out_what_draws_more_and_energy_has_the_range_of_watts) {
  const std::string words =
      "plan " + temporary_file("plan.textproto", kPlanJob) + " --tokens 1e11 --chips 8,16 --format json ";
  const auto answer = nlohmann::json::parse(podsim_command(words).out);
  ASSERT_EQ(answer["rows"].size(), 2U);
  for (const auto& row : answer["rows"]) {
    const auto& energy = row["outcome"]["energy_mwh"];
    const double middle = energy["p50"].get<double>();
    EXPECT_LT(energy["p10"].get<double>(), middle * 0.9) << "15 % of the watts, and the step";
    EXPECT_GT(energy["p90"].get<double>(), middle * 1.1);
  }
  double least = 1e9;
  for (const auto& row : answer["rows"]) least = std::min(least, row["power_kw"].get<double>());
  const CommandResult site = podsim_command(words + "--site-kw " + std::to_string(least * 1.01));
  const auto rows = nlohmann::json::parse(site.out);
  ASSERT_EQ(rows["rows"].size(), 1U) << site.out;
  EXPECT_EQ(rows["rows"][0]["chips"], 8);
  EXPECT_NE(site.out.find("kW at the meter"), std::string::npos);
}

TEST(PlanVerb, matmuls_below_16_bits_are_told_as_a_risk) {
  const CommandResult result = podsim_command("plan " + temporary_file("plan.textproto", kPlanJob) +
                                              " --tokens 1e11 --chips 8 --precision bf16,fp8");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("have less than 16 bits"), std::string::npos) << result.out;
  const CommandResult wide =
      podsim_command("plan " + temporary_file("plan.textproto", kPlanJob) + " --tokens 1e11 --chips 8");
  EXPECT_EQ(wide.out.find("have less than 16 bits"), std::string::npos);
}

// A sheet of one's own in place of the list, by its file alone.
TEST(PlanVerb, prices_of_ones_own_take_the_place_of_the_list) {
  const std::string sheet = temporary_file(
      "our_prices.csv", "chip,term,usd_per_chip_hour,kind,minimum_days\nh100,deal,1.5,on_demand,0\n");
  const std::string words = "plan " + temporary_file("plan.textproto", kPlanJob) +
                            " --tokens 1e11 --chips 8 --price-term deal --format json --prices ";
  const CommandResult result = podsim_command(words + sheet);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto row = nlohmann::json::parse(result.out)["rows"][0];
  EXPECT_NEAR(row["cost_usd"].get<double>(), row["days"].get<double>() * 24 * 8 * 1.5, 1e-6);
  const CommandResult other = podsim_command(words + temporary_file("steps.csv", "step,seconds\n1,2\n"));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("columns chip, term and usd_per_chip_hour"), std::string::npos) << other.err;
}

TEST(CompareEqual, clusters_are_as_fast_as_the_first_or_cost_as_much_and_fewer_or_more_are_not) {
  const std::string gpu = temporary_file("gpu.textproto", with_batch_of_64("h100", "dgx_h100")),
                    slow = temporary_file("slow.textproto", with_batch_of_64("a100_80", "dgx_a100"));
  const auto rows = [&](const std::string& words) {
    const CommandResult result =
        podsim_command("compare " + gpu + " " + slow + " --chips 4,8,16,32,64 " + "--format json " + words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    auto found = nlohmann::json::parse(result.out)["rows"];
    if (found[0]["chip"] != "h100") std::swap(found[0], found[1]);
    return found;
  };
  const auto speed = [](const auto& row) { return 1 / row["step_time_s"].template get<double>(); };
  const auto same = rows("--equal chips");
  EXPECT_EQ(same[1]["chips"], 16);
  EXPECT_LT(speed(same[1]), speed(same[0])) << "so that more chips are needed";
  const auto fast = rows("--equal throughput");
  EXPECT_GT(fast[1]["chips"].get<int>(), 16);
  EXPECT_GE(speed(fast[1]), speed(fast[0]));
  const auto searched = rows("--equal throughput --search");
  EXPECT_GE(speed(searched[0]), speed(fast[0]) * 0.99) << "within the gap of the search";
  const auto cheap = rows("--equal cost");
  const auto usd_per_day = [](const auto& row) {
    return row["cost_usd"].template get<double>() / row["days"].template get<double>();
  };
  EXPECT_LE(usd_per_day(cheap[1]), usd_per_day(cheap[0]));
  EXPECT_GT(2 * usd_per_day(cheap[1]), usd_per_day(cheap[0])) << "the next count costs more";
  const double days = same[1]["days"];
  const auto timely = rows("--equal deadline --days " + std::to_string(days * 1.001));
  EXPECT_EQ(timely[1]["chips"], 16);
  EXPECT_LE(timely[0]["chips"].get<int>(), 16);
}

// One command answers by all measures, model by model; each part is what the measure alone answers.
// What an hour costs is what podsim run says of that job, power that is paid by the kWh included.
TEST(CompareEqual, cost_counts_the_energy_that_run_counts) {
  const std::string without = temporary_file("without.textproto", kPlanJob),
                    power = temporary_file("power.textproto", kPlanJob);
  const std::string set = " --set cluster.usd_per_chip_hour=1 --set cluster.usd_per_kwh=2 ";
  for (const char* term : {"on_demand", "owned"}) {
    const std::string prices = std::string(term) == "owned" ? " --set cluster.usd_per_kwh=2 " : set;
    const CommandResult equal =
        podsim_command("compare " + without + " " + power +
                       " --equal cost --tokens 1e9 --chips 16 --price-term " + term + prices);
    ASSERT_EQ(equal.exit_code, 0) << equal.err;
    const auto run = nlohmann::json::parse(
        podsim_command("run " + power + " --format json --set cluster.price_term=" + term + prices).out);
    char told[64];
    std::snprintf(told, sizeof(told), "equal to %.2f USD per hour", run["cost_usd_per_hour"].get<double>());
    EXPECT_NE(equal.out.find(told), std::string::npos) << told << "\n" << equal.out;
  }
}

TEST(CompareEqual, all_measures_of_several_models_are_one_table) {
  const auto of_model = [](std::string text, const char* model) {
    const std::string name = "llama3_8b";
    return text.replace(text.find(name), name.size(), model);
  };
  const std::string files =
      temporary_file("gpu.textproto", with_batch_of_64("h100", "dgx_h100")) + " " +
      temporary_file("slow.textproto", with_batch_of_64("a100_80", "dgx_a100")) + " " +
      temporary_file("gpu7.textproto", of_model(with_batch_of_64("h100", "dgx_h100"), "llama2_7b")) + " " +
      temporary_file("slow7.textproto", of_model(with_batch_of_64("a100_80", "dgx_a100"), "llama2_7b"));
  const std::string command = "compare " + files + " --chips 4,8,16,32,64 --tokens 1e11 ";
  const CommandResult table = podsim_command(command + "--equal all --days 100");
  ASSERT_EQ(table.exit_code, 0) << table.err << table.out;
  for (const char* part : {"llama3_8b", "llama2_7b", "throughput", "deadline", "they tie, USD/h", "h100 at"})
    EXPECT_NE(table.out.find(part), std::string::npos) << part << "\n" << table.out;
  const auto parts =
      nlohmann::json::parse(podsim_command(command + "--equal all --days 100 --format json").out);
  ASSERT_EQ(parts.size(), 8u);
  EXPECT_EQ(parts[1]["equal"], "throughput");
  const std::string first_two = files.substr(0, files.find(" ", files.find(" ") + 1));
  const auto alone = nlohmann::json::parse(
      podsim_command("compare " + first_two +
                     " --chips 4,8,16,32,64 --tokens 1e11 --equal throughput --format json")
          .out);
  EXPECT_EQ(parts[1]["rows"], alone["rows"]);
  EXPECT_EQ(podsim_command(command + "--equal all").exit_code, 2) << "a deadline is missing";
}

TEST(CompareEqual, what_cannot_be_made_equal_ends_with_3_and_the_nearest) {
  const std::string gpu = temporary_file("gpu.textproto", with_batch_of_64("h100", "dgx_h100")),
                    slow = temporary_file("slow.textproto", with_batch_of_64("a100_80", "dgx_a100"));
  const CommandResult result =
      podsim_command("compare " + gpu + " " + slow + " --equal throughput --chips 4,8");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.out.find("Not equal:"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("the nearest of the counts"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace podsim::plan_verb_test
