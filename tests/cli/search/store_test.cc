// Stores of the command line: nothing is simulated twice, whatever ended, and parts make the whole.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "planner/store/contents.h"
#include "planner/store/database.h"
#include "tests/cli/command.h"
#include "tests/rounds.h"

namespace podsim::store_verb_test {
namespace {

using Json = nlohmann::json;

const std::string kText =
    "cluster { chip: \"h100\" chips: 16 fabric: \"dgx_h100\" }\n"
    "job { model: \"llama3_8b\" model_override { layers: 4 } stack: \"megatron_bridge_2025\"\n"
    "  mesh { name: \"data\" size: 16 } sharding: \"data\" sharding: \"zero1\"\n"
    "  global_batch_sequences: 16 microbatch_sequences: 1 sequence_tokens: 2048 precision: bf16 }\n"
    "space { tensor: [1, 2, 4] context: 1 pipeline: [1, 2] microbatch: 1 sharding: [ddp, zero1] recompute: "
    "none }\n";

std::string no_store(const std::string& name) {
  const std::string path = temporary_file(name, "");
  for (const char* suffix : {"", "-wal", "-shm"}) std::remove((path + suffix).c_str());
  return path;
}

Json found(const std::string& arguments) {
  const CommandResult result = podsim_command("search " + arguments + " --quiet --format json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Json::parse(result.out);
}

TEST(StoreVerb, search_again_simulates_nothing_and_answers_the_same) {
  const std::string file = temporary_file("stored.textproto", kText), store = no_store("search.db");
  const Json first = found(file + " --store " + store), second = found(file + " --store " + store),
             without = found(file);
  EXPECT_EQ(first["layouts"], without["layouts"]);
  EXPECT_EQ(second["layouts"], without["layouts"]);
  EXPECT_EQ(first["proof"]["known"], 0);
  EXPECT_EQ(second["proof"]["known"], second["proof"]["simulated"]);
  // Another question about layouts that are known; several threads look at some more, in no order.
  const Json narrower = found(file + " --top 2 --threads 1 --store " + store);
  EXPECT_EQ(narrower["proof"]["known"], narrower["proof"]["simulated"]);
}

TEST(StoreVerb, list_has_the_same_in_every_form) {
  const std::string file = temporary_file("listed.textproto", kText), store = no_store("listed.db");
  const Json answer = found(file + " --top 1 --store " + store);
  const CommandResult listed = podsim_command("store list " + store + " --format json");
  ASSERT_EQ(listed.exit_code, 0) << listed.err;
  const Json json = Json::parse(listed.out);
  EXPECT_EQ(json["versions"].size(), 1U);
  EXPECT_EQ(json["scenarios"], json["versions"][0]["results"]);
  ASSERT_EQ(json["studies"].size(), 1U);
  const Json& study = json["studies"][0];
  EXPECT_EQ(study["state"], "done");
  EXPECT_EQ(study["part"], 1);
  EXPECT_EQ(study["rows"], answer["layouts"].size());
  EXPECT_EQ(study["command"].get<std::string>().rfind("podsim search " + file, 0), 0U);
  const std::string table = podsim_command("store list " + store).out,
                    csv = podsim_command("store list " + store + " --format csv").out;
  EXPECT_NE(table.find(study["command"].get<std::string>()), std::string::npos);
  EXPECT_EQ(csv.rfind("study,part,parts,state,gap,rows,version,command\n1,1,1,done,", 0), 0U) << csv;
}

TEST(StoreVerb, search_killed_at_any_instant_and_run_again_gives_the_same_answer_and_repeats_no_kept_step) {
  const std::string file = temporary_file("killed.textproto", kText);
  const auto begin = std::chrono::steady_clock::now();
  const Json whole = found(file);
  const std::chrono::duration<double> takes = std::chrono::steady_clock::now() - begin;
  std::mt19937 random(3);
  constexpr int kLives = 3;
  const int kills = testing::asked_for("PODSIM_KILLS", kLives * testing::rounds(2, 2));
  for (int killed = 0; killed < kills;) {
    const std::string store = no_store("killed.db");
    for (int life = 0; life < kLives; ++life, ++killed) {
      const double seconds = 0.01 + takes.count() * 0.001 * static_cast<double>(random() % 1000);
      const std::string command = "timeout -s KILL " + std::to_string(seconds) +
                                  " " PODSIM_BINARY " search " + file + " --quiet --threads 2 --store " +
                                  store + " > /dev/null 2>&1";
      static_cast<void>(std::system(command.c_str()));
    }
    const auto kept = [&] {
      std::int64_t count = 0;
      each_result(store, [&](const StoredResult&) { ++count; });
      return count;
    };
    // Killed before it had tables, it is empty.
    if (podsim_command("store list " + store).exit_code != 0) found(file + " --top 1 --store " + store);
    const std::int64_t before = kept();
    const Json resumed = found(file + " --store " + store);
    EXPECT_EQ(resumed["layouts"], whole["layouts"]);
    EXPECT_EQ(kept() - before, resumed["proof"]["simulated"].get<std::int64_t>() -
                                   resumed["proof"]["known"].get<std::int64_t>());
    EXPECT_EQ(podsim_command("store verify --sample 2 " + store).exit_code, 0);
  }
}

TEST(StoreVerb, parts_of_a_search_joined_are_the_search) {
  const std::string file = temporary_file("parts.textproto", kText), all = no_store("all.db");
  std::string parts;
  for (const char* part : {"1/3", "2/3", "3/3"}) {
    const std::string store = no_store(std::string("part-") + part[0] + ".db");
    found(file + " --top 3 --shard " + part + " --store " + store);
    parts += " " + store;
  }
  const CommandResult merged = podsim_command("store merge " + all + parts);
  EXPECT_NE(merged.out.find("all 3 parts are done"), std::string::npos) << merged.out << merged.err;
  const Json joined = found(file + " --top 3 --store " + all), alone = found(file + " --top 3");
  EXPECT_EQ(joined["layouts"], alone["layouts"]);
  EXPECT_EQ(joined["proof"]["known"], joined["proof"]["simulated"]);
  const CommandResult shown = podsim_command("store show " + all + " --study 1 --format csv");
  EXPECT_EQ(std::count(shown.out.begin(), shown.out.end(), '\n'), 4);
}

TEST(StoreVerb, plan_takes_the_steps_of_a_search_from_its_store) {
  const std::string file = temporary_file("plan.textproto", kText), store = no_store("plan.db");
  const std::string plan = "plan " + file + " --tokens 1e10 --chips 8,16 --format csv";
  const CommandResult first = podsim_command(plan + " --store " + store),
                      again = podsim_command(plan + " --store " + store);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, podsim_command(plan).out);
  EXPECT_EQ(again.out, first.out);
  for (const char* threads : {" --threads 1", " --threads 4"})
    EXPECT_EQ(podsim_command(plan + threads).out, first.out) << threads;
}

// What decides a search is in its name: a store never answers another question.
TEST(StoreVerb, plan_answers_in_the_same_words_whatever_the_store_was_asked_before) {
  const std::string file = temporary_file("plan.textproto", kText), store = no_store("limits.db");
  const std::string plan = "plan " + file + " --tokens 1e10 --chips 16 ";
  const CommandResult alone = podsim_command(plan);
  const double memory =
      Json::parse(podsim_command(plan + "--format json").out)["rows"][0]["memory_gib"].get<double>();
  EXPECT_EQ(
      podsim_command(plan + "--at-most memory_gib=" + std::to_string(memory - 0.5) + " --store " + store)
          .exit_code,
      0);
  EXPECT_EQ(podsim_command(plan + "--store " + store).out, alone.out);
  EXPECT_EQ(podsim_command(plan + "--store " + store).out, alone.out);
}

TEST(StoreVerb, verify_finds_a_figure_that_was_changed_and_a_text_that_was) {
  const std::string file = temporary_file("verified.textproto", kText), store = no_store("verified.db");
  found(file + " --top 1 --store " + store);
  EXPECT_EQ(podsim_command("store verify " + store + " --sample 100").exit_code, 0);
  const auto change = [&](const std::string& sql) { Database(store, Database::Access::kWrite).execute(sql); };
  change("UPDATE result SET step_ps = step_ps - 1");
  const CommandResult other_step = podsim_command("store verify " + store + " --sample 100");
  EXPECT_EQ(other_step.exit_code, 1);
  EXPECT_NE(other_step.err.find("simulated again"), std::string::npos) << other_step.err;
  change("UPDATE scenario SET text = replace(text, '16', '32')");
  const CommandResult other_text = podsim_command("store verify " + store);
  EXPECT_EQ(other_text.exit_code, 1);
  EXPECT_NE(other_text.err.find("does not have its key"), std::string::npos) << other_text.err;
}

TEST(SweepVerb, rows_are_the_reports_of_run_and_are_the_same_from_a_store) {
  const std::string file = temporary_file("swept.textproto", kText), store = no_store("sweep.db");
  const std::string values = "job.global_batch_sequences=16,32";
  const CommandResult run = podsim_command("run " + file + " --format json --set " + values),
                      swept = podsim_command("sweep " + file + " --format json --over " + values),
                      kept = podsim_command("sweep " + file + " --format json --threads 3 --store " + store +
                                            " --over job.global_batch_sequences=16..32x2"),
                      again = podsim_command("sweep " + file + " --format json --store " + store +
                                             " --over " + values);
  EXPECT_EQ(swept.exit_code, 0) << swept.err;
  EXPECT_EQ(swept.out, run.out);
  EXPECT_EQ(kept.out, run.out);
  EXPECT_EQ(again.out, run.out);
}

TEST(SweepVerb, csv_of_a_sweep_and_of_its_store_runs_no_name_as_a_formula) {
  const std::string file = temporary_file("formula.textproto", "name: \"=1+1\"\n" + kText),
                    store = no_store("formula.db");
  const CommandResult swept =
      podsim_command("sweep " + file + " --quiet --over job.global_batch_sequences=16,32 --format csv " +
                     "--columns scenario,chips --store " + store);
  EXPECT_NE(swept.out.find("\n16,'=1+1"), std::string::npos) << swept.out << swept.err;
  const CommandResult kept = podsim_command("store export " + store);
  EXPECT_NE(kept.out.find(",'=1+1"), std::string::npos) << kept.out << kept.err;
}

TEST(SweepVerb, has_any_figure_as_a_column_and_zips_values) {
  const std::string file = temporary_file("swept.textproto", kText);
  const CommandResult zipped = podsim_command(
      "sweep " + file +
      " --over job.global_batch_sequences=16,32 --over job.recompute=none,full --zip --format csv "
      "--columns chips,memory_per_chip_gib.weights,exposed_communication_s.total,step_time_band");
  EXPECT_EQ(zipped.exit_code, 0) << zipped.err;
  EXPECT_EQ(zipped.out.substr(0, zipped.out.find('\n')),
            "job.global_batch_sequences,job.recompute,chips,memory_per_chip_gib.weights,"
            "exposed_communication_s.total,step_time_band");
  EXPECT_NE(zipped.out.find("\n16,none,16,"), std::string::npos) << zipped.out;
  EXPECT_NE(zipped.out.find("\n32,full,16,"), std::string::npos) << zipped.out;
  EXPECT_EQ(std::count(zipped.out.begin(), zipped.out.end(), '\n'), 3);
}

}  // namespace
}  // namespace podsim::store_verb_test
