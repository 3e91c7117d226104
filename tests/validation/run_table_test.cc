// Tables of runs: column names of several sources become one, and rules fill what a table leaves out, words
// of recipes are read.
#include "validation/run_table.h"

#include <gtest/gtest.h>

#include "validation/recompute_lists.h"
#include "validation/run_rules.h"

namespace podsim::run_table_test {
namespace {

using Lines = std::vector<std::string>;

TEST(RunTable, column_names_of_three_sources_are_one) {
  const auto gpu =
      read_run_table("a.csv", "id,gpu,n_gpus,hidden,global_batch_seqs,layers\ng1,V100-32,8,512,4,2\n");
  const auto tpu =
      read_run_table("b.csv", "row_id,chip,chips,d_model,global_batch_seqs,layers\nt1,v4,64,512,4,2\n");
  const auto bare = read_run_table(
      "dir/some-runs.csv", "# GPUs,hidden size,global batch,# layers,iteration time (ms)\n8,512,4,2,20\n");
  EXPECT_EQ(gpu.rows.at(0).text("chip"), "V100-32");
  EXPECT_EQ(gpu.rows.at(0).whole("chips", 0), 8);
  EXPECT_EQ(tpu.rows.at(0).text("id"), "t1");
  EXPECT_EQ(tpu.rows.at(0).whole("hidden", 0), 512);
  EXPECT_EQ(bare.rows.at(0).whole("chips", 0), 8);
  EXPECT_EQ(bare.rows.at(0).number("step_time_ms"), 20);
  EXPECT_EQ(bare.rows.at(0).text("id"), "1");
  EXPECT_EQ(bare.rows.at(0).text("family"), "some-runs");
}

TEST(RunTable, an_empty_cell_is_no_cell) {
  const auto table = read_run_table("a.csv", "id,layers,global_batch_seqs,vp\ng1,2,4,\n");
  EXPECT_FALSE(table.rows.at(0).has("vp"));
  EXPECT_EQ(table.rows.at(0).whole("vp", 7), 7);
}

TEST(RunTable, a_number_that_is_none_is_told_with_its_place) {
  const auto table = read_run_table("a.csv", "id,layers,global_batch_seqs\ng1,two,4\n");
  ASSERT_EQ(table.problems.size(), 1u);
  EXPECT_EQ(table.problems[0].line, 2);
  EXPECT_EQ(table.problems[0].column, 4);
  EXPECT_EQ(table.problems[0].message, "layers is \"two\"");
}

TEST(RunTable, times_are_above_0_and_counts_not_below_it) {
  const auto table = read_run_table(
      "a.csv", "id,layers,global_batch_seqs,step_time_s,tok_s_gpu\ng1,2,4,-0.5,0\ng2,-0.5,4,1,\n");
  std::vector<std::string> told;
  for (const Problem& problem : table.problems) told.push_back(problem.message + "; " + problem.hint);
  EXPECT_EQ(told, (Lines{"step_time_s is \"-0.5\"; expected a number above 0",
                         "tok_s_gpu is \"0\"; expected a number above 0",
                         "layers is \"-0.5\"; expected a number, 0 or more"}));
}

TEST(RunTable, a_column_that_stands_there_twice_is_told) {
  const auto table = read_run_table("a.csv", "id,layers,global_batch_seqs,layers\ng1,2,4,3\n");
  ASSERT_EQ(table.problems.size(), 1u);
  EXPECT_EQ(table.problems[0].message, "column \"layers\" stands there twice");
  EXPECT_EQ(table.problems[0].column, 29);
}

Lines told_of(const std::string& text) {
  Lines told;
  for (const Problem& problem : read_run_table("a.csv", text).problems)
    told.push_back(std::to_string(problem.line) + ":" + std::to_string(problem.column) + " " +
                   problem.message + "; " + problem.hint);
  return told;
}

TEST(RunTable, counts_are_whole_numbers_that_can_be_counted) {
  const std::string expected = "; expected a whole number, at most 100000000";
  for (const char* column : {"layers", "global_batch_seqs", "chips", "micro_batch", "tp", "heads", "seq_len",
                             "optimizer_group", "chunk_layers", "vocab", "n_experts"}) {
    const std::string name = column;
    EXPECT_EQ(told_of(name + "\n31.9\n"), Lines{"2:1 " + name + " is \"31.9\"" + expected});
    EXPECT_EQ(told_of(name + "\n1e300\n"), Lines{"2:1 " + name + " is \"1e300\"" + expected});
    EXPECT_EQ(told_of(name + "\n100000001\n"), Lines{"2:1 " + name + " is \"100000001\"" + expected});
    EXPECT_EQ(told_of(name + "\n100000000\n"), Lines{});
    EXPECT_EQ(told_of(name + "\n4\n"), Lines{});
  }
  EXPECT_EQ(told_of("chunk_layers,optimizer_group\nx,eight\n"),
            (Lines{"2:1 chunk_layers is \"x\"; expected a number, 0 or more",
                   "2:3 optimizer_group is \"eight\"; expected a number, 0 or more"}));
  EXPECT_EQ(told_of("params_total_b,nic_gbps_per_gpu,step_time_s\n70.6,0.5,1.5\n"), Lines{});
}

TEST(RunTable, matrices_are_two_or_three_and_ready_is_one_or_zero) {
  EXPECT_EQ(told_of("ffn_matrices,sim_ready\n4,0.5\n"),
            (Lines{"2:1 ffn_matrices is \"4\"; expected 2, or 3 of a gated block",
                   "2:3 sim_ready is \"0.5\"; expected 1 or 0"}));
  for (const char* word : {"yes", "TRUE"})
    EXPECT_EQ(told_of("sim_ready\n" + std::string(word) + "\n"),
              Lines{"2:1 sim_ready is \"" + std::string(word) + "\"; expected 1 or 0"});
}

TEST(RunTable, two_names_of_one_column_are_told) {
  EXPECT_EQ(told_of("chip,layers,gpu\nh100,2,a100_80\n"),
            Lines{"1:13 \"chip\" and \"gpu\" are two names of column \"chip\"; expected one of them"});
  EXPECT_EQ(told_of("micro_batch,micro batch\n1,1\n").size(), 1u);
  EXPECT_EQ(told_of("layers,# layers\n32,16\n").size(), 1u);
}

// 64 sequences of 2048 tokens on 8 chips are 16384 tokens a chip.
TEST(RunTable, times_and_rates_of_different_steps_are_told) {
  const std::string header = "chips,seq_len,global_batch_seqs,step_time_s,step_time_ms,tok_s_gpu\n8,2048,64,";
  EXPECT_EQ(told_of(header + "2,2010,8200\n"), Lines{}) << "rounded";
  EXPECT_EQ(told_of(header + "2,,\n"), Lines{});
  EXPECT_EQ(
      told_of(header + "2,200,\n"),
      Lines{"2:1 by step_time_s a step takes 2.000 s, by step_time_ms 0.2000 s; expected one of them, or "
            "the same step"});
  EXPECT_EQ(told_of(header + ",2000,4096\n"),
            Lines{"2:1 by step_time_ms a step takes 2.000 s, by tok_s_gpu 4.000 s; expected one of them, or "
                  "the same step"});
}

TEST(RunTable, is_known_by_its_columns) {
  EXPECT_TRUE(is_run_table("row_id,layers,global_batch_seqs\n"));
  EXPECT_TRUE(is_run_table("# GPUs,global batch,# layers\n"));
  EXPECT_TRUE(is_run_table("id,catalog_model,global_batch_seqs\n"));
  EXPECT_FALSE(is_run_table("system,gpus,nodes,network,collective,algo,bytes,time_us\n"));
}

RunRow row_of(const std::map<std::string, std::string>& cells) {
  RunRow row;
  for (const auto& [column, text] : cells) row.set(column, text);
  return row;
}

TEST(RunRules, the_first_that_applies_fills_an_empty_column_and_tells_its_assumption) {
  const std::vector<RunRule> rules = {{"mega", "", "notes", "parallel", "stack", "a", "parallel is a"},
                                      {"mega", "", "", "", "stack", "b", ""},
                                      {"", "", "", "", "stack", "c", "c of all"}};
  RunRow parallel = row_of({{"family", "megascale"}, {"notes", "a parallel block"}});
  RunRow plain = row_of({{"family", "megascale"}});
  RunRow other = row_of({{"family", "mosaic"}});
  RunRow stated = row_of({{"family", "megascale"}, {"stack", "mine"}});
  EXPECT_EQ(apply(rules, parallel), Lines{"parallel is a"});
  EXPECT_EQ(apply(rules, plain), Lines{});
  EXPECT_EQ(apply(rules, other), Lines{"c of all"});
  EXPECT_EQ(apply(rules, stated), Lines{});
  EXPECT_EQ(parallel.text("stack") + plain.text("stack") + other.text("stack") + stated.text("stack"),
            "abcmine");
}

TEST(RunRules, a_rule_sees_what_an_earlier_one_has_filled) {
  RunRow row = row_of({{"chip", "A100-80"}});
  apply({{"", "A100-80", "", "", "catalog_chip", "a100_80", ""},
         {"", "", "catalog_chip", "a100", "fabric", "dgx", ""}},
        row);
  EXPECT_EQ(row.text("fabric"), "dgx");
}

TEST(RunRules, columns_joined_by_an_ampersand_must_all_have_their_words) {
  const std::vector<RunRule> rules = {{"", "", "stack&overlap", "generic_&tp", "fields", "hidden", ""}};
  RunRow both = row_of({{"stack", "generic_eager"}, {"overlap", "dp+tp"}});
  RunRow known = row_of({{"stack", "mine"}, {"overlap", "dp+tp"}});
  RunRow silent = row_of({{"stack", "generic_eager"}});
  for (RunRow* row : {&both, &known, &silent}) apply(rules, *row);
  EXPECT_EQ(both.text("fields") + known.text("fields") + silent.text("fields"), "hidden");
}

TEST(RunRules, columns_without_their_words_are_told) {
  const auto read = read_run_rules(
      "r.csv", "family,chip,column,words,sets,value,assumption\n,,stack&overlap,generic_,fields,hidden,\n");
  ASSERT_EQ(read.problems.size(), 1u);
  EXPECT_EQ(read.problems[0].line, 2);
  EXPECT_EQ(read.problems[0].message, "each of the columns joined by & needs its words");
}

TEST(RunRules, a_missing_column_of_the_file_is_told) {
  const auto read = read_run_rules("r.csv", "family,chip,column,words,set,value,assumption\n");
  ASSERT_EQ(read.problems.size(), 1u);
  EXPECT_EQ(read.problems[0].message, "the table has no column \"sets\"");
  EXPECT_EQ(read.problems[0].hint, "is it \"set\"?");
}

TEST(RematText, a_verb_holds_for_the_names_before_it) {
  EXPECT_EQ(retention_fields("custom: decoder input, q, k, v offloaded"),
            R"(recompute: full offload: ["decoder_layer_input", "query_proj", "key_proj", "value_proj"])");
  EXPECT_EQ(retention_fields("custom: decoder input, mlpwo offloaded; k,v kept"),
            R"(keep: ["key_proj", "value_proj"] offload: ["decoder_layer_input", "mlpwo"])");
  EXPECT_EQ(retention_fields("decoder input, context, out kept"), R"(keep: ["context", "out_proj"])");
  EXPECT_EQ(retention_fields("custom: q,k,v rematerialised"), "recompute: full");
}

}  // namespace
}  // namespace podsim::run_table_test
