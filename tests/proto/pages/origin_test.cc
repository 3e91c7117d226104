// What a page says of where its figures come from.
#include "proto/pages/origin.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace podsim::origin_test {
namespace {

const std::string kJob =
    "cluster { chip: \"h100\" chips: 8 fabric: \"dgx_h100\" }\n"
    "job { model: \"qwen3_14b\" stack: \"torchtitan\" mesh { name: \"data\" size: 8 } sharding: \"fsdp\"\n"
    "  global_batch_sequences: 64 sequence_tokens: 4096 }\n";

// What a table says of its row, from the second column on; "-" where it has none.
std::string row_of(const PageOrigin& origin, std::size_t table, const std::string& name) {
  for (const auto& row : origin.assumptions.at(table).rows)
    if (row.front().text == name) return row.at(1).text;
  return "-";
}

TEST(Origin, tells_what_holds_where_the_scenario_says_nothing) {
  const PageOrigin origin = origin_of("mine", kJob, Catalog(), {});
  EXPECT_EQ(origin.text, kJob);
  EXPECT_EQ(row_of(origin, 0, "job.recompute"), "none");
  EXPECT_EQ(row_of(origin, 0, "cluster.prices"), "\"list_2026\"");
  EXPECT_EQ(row_of(origin, 0, "job.microbatch_sequences"), "all in one");
  EXPECT_EQ(row_of(origin, 0, "cluster.chip"), "-") << "it says so itself";
  EXPECT_EQ(row_of(origin, 0, "cluster.slice_shape"), "-") << "no torus";
  EXPECT_TRUE(origin.sentences.empty());
}

TEST(Origin, what_is_set_on_the_command_line_is_not_left_out) {
  for (const char* value : {"full", "full,none"}) {
    const PageOrigin origin = origin_of("mine", kJob, Catalog(), {{"job.recompute", value}});
    EXPECT_EQ(row_of(origin, 0, "job.recompute"), "-") << value;
  }
}

TEST(Origin, lists_numbers_of_the_catalogue_that_are_assumed_with_their_comments) {
  const PageOrigin origin = origin_of("mine", kJob, Catalog(), {});
  bool busy = false;
  for (const auto& row : origin.assumptions.at(1).rows) {
    ASSERT_EQ(row.size(), 3u);
    const std::string& source = row[2].text;
    EXPECT_TRUE(source.find("assumed") != std::string::npos ||
                source.find("from memory") != std::string::npos)
        << source;
    busy = busy || (row[0].text == "chip h100" && row[1].text.starts_with("power_busy_w: "));
  }
  EXPECT_TRUE(busy);
  std::vector<std::string> titles;
  for (const PageEntry& entry : origin.entries) titles.push_back(entry.title);
  EXPECT_EQ(titles, (std::vector<std::string>{"chip h100", "fabric dgx_h100", "model qwen3_14b",
                                              "stack torchtitan"}));
}

TEST(Origin, repeats_what_the_loader_doubts_but_for_what_other_verbs_read) {
  std::string text = kJob;
  text.replace(text.find("\"h100\""), 6, "\"A100\"");
  text.replace(text.find("dgx_h100"), 8, "dgx_a100");
  const PageOrigin origin = origin_of("mine", text + "space { tensor: 2 }\n", Catalog(), {});
  ASSERT_EQ(origin.sentences.size(), 1u);
  EXPECT_NE(origin.sentences.front().find("\"A100\" is taken as a100"), std::string::npos);
}

TEST(Origin, of_a_text_that_cannot_be_read_is_that_text) {
  for (const std::string& text :
       {std::string("}"), std::string("cluster { chip: </script> }"), std::string()}) {
    const PageOrigin origin = origin_of("mine", text, Catalog(), {});
    EXPECT_EQ(origin.text, text);
    EXPECT_TRUE(origin.entries.empty());
  }
}

}  // namespace
}  // namespace podsim::origin_test
