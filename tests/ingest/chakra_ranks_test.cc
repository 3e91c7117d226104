// Chakra traces of all ranks of a step: their messages and collectives meet, or are refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ingest/chakra/import_chakra.h"
#include "ingest/chakra/ranks.h"
#include "ingest/chakra/read_trace.h"
#include "tests/ingest/chakra_bytes.h"

namespace podsim::chakra_ranks_test {
namespace {

using namespace podsim::testing;

std::vector<InputText> files_of(const std::vector<std::string>& nodes_of_ranks) {
  std::vector<InputText> files;
  for (const std::string& nodes : nodes_of_ranks)
    files.push_back({"t." + std::to_string(files.size()) + ".et", kMetadata + nodes});
  return files;
}

std::string refusal_of(std::vector<InputText> files) {
  std::vector<Problem> problems;
  if (import_chakra(files, {}, problems)) return "";
  return problems.empty() ? "no problem" : problems.front().message;
}

std::string message(int type, const char* peer, std::uint64_t rank, std::uint64_t tag) {
  return node({0,
               type,
               0,
               {},
               {},
               attribute(peer, 7, rank) + attribute("comm_tag", 7, tag) + attribute("comm_size", 9, 64)});
}

TEST(ChakraRanks, meet_in_collectives_by_group_and_order_of_calls) {
  const std::string tensor = all_reduce(1, 64, "t") + all_reduce(2, 32, "t");
  EXPECT_EQ(refusal_of(files_of({tensor + all_reduce(3, 8), all_reduce(7, 8) + tensor})), "");
  EXPECT_EQ(
      refusal_of(files_of({all_reduce(0, 1024), all_reduce(0, 2048)})),
      "members of one group (all ranks) call different collectives as their 1st: rank 0 node 0 ALL_REDUCE of "
      "1024 bytes, rank 1 node 0 ALL_REDUCE of 2048 bytes");
  EXPECT_EQ(refusal_of(files_of({tensor, tensor + all_reduce(3, 8, "t")})),
            "rank 0 never makes the 3rd call of group t, which is rank 1 node 3 ALL_REDUCE of 8 bytes");
}

TEST(ChakraRanks, that_a_group_lists_must_call_what_the_others_call) {
  std::vector<InputText> files = files_of({all_reduce(1, 64, "5"), all_reduce(1, 64, "5"), node({1})});
  EXPECT_EQ(refusal_of(files), "");
  files.push_back({"groups.json", R"({"5": [0, 1, 2]})"});
  EXPECT_EQ(refusal_of(files),
            "rank 2 never makes the 1st call of group 5, which is rank 0 node 1 ALL_REDUCE of 64 bytes");
}

TEST(ChakraRanks, messages_meet_by_sender_receiver_and_tag) {
  EXPECT_EQ(refusal_of(files_of({message(kSend, "comm_dst", 1, 3), message(kReceive, "comm_src", 0, 3)})),
            "");
  EXPECT_EQ(refusal_of(files_of({message(kSend, "comm_dst", 1, 3), message(kReceive, "comm_src", 0, 4)})),
            "rank 0 node 0 sends 64 bytes with tag 3 to rank 1, which receives none such");
}

// A rank of a larger run can be looked at alone.
TEST(ChakraRanks, that_are_not_there_are_not_missed) {
  EXPECT_EQ(refusal_of(files_of({message(kSend, "comm_dst", 7, 3), node({1})})), "");
}

TEST(ChakraRanks, are_those_of_the_names_of_the_files_and_differ) {
  std::vector<InputText> files = files_of({node({1}), node({1})});
  files[1].name = "u.0.et.gz";
  EXPECT_EQ(refusal_of(files), "rank 0 is that of t.0.et too");
}

TEST(ChakraRanks, add_up) {
  std::vector<chakra::RankTrace> ranks;
  for (const InputText& file : files_of({node({1, kComputation, 5}) + all_reduce(2, 64),
                                         node({1, kComputation, 9}) + all_reduce(2, 64)})) {
    std::vector<Problem> problems;
    auto trace = chakra::read_trace(file.name, file.text, problems);
    ASSERT_TRUE(trace);
    auto summary = chakra::summarize(file.name, *trace, problems);
    ASSERT_TRUE(summary);
    ranks.push_back({file.name, static_cast<std::int64_t>(ranks.size()),
                     std::make_shared<const chakra::Trace>(*trace),
                     std::make_shared<const chakra::Summary>(*summary)});
  }
  const chakra::Summary sum = chakra::sum_of(ranks);
  EXPECT_EQ(sum.nodes, 4);
  EXPECT_EQ(sum.device_compute_us, 14);
  ASSERT_EQ(sum.communication.size(), 1u);
  EXPECT_EQ(sum.communication[0].count, 2);
  EXPECT_EQ(sum.communication_bytes, 128);
}

}  // namespace
}  // namespace podsim::chakra_ranks_test
