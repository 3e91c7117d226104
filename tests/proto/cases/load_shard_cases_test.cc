// Sharding cases from JSON: what is read, and what each mistake is answered with.
#include "proto/cases/load_shard_cases.h"

#include <gtest/gtest.h>

#include <tuple>

#include "engine/random.h"

namespace podsim::load_shard_cases_test {
namespace {

using Lines = std::vector<std::string>;

const std::string kShipped = std::string(PODSIM_SOURCE_DIR) + "/scenarios/sharding/gspmd_cases.json";

std::string file_of(const std::string& cases) {
  return "{\"format\": \"gspmd-cases/1\", \"cases\": [\n" + cases + "]}";
}

// A case on the mesh x = 4, y = 6, on one line.
std::string case_of(const std::string& op, const std::string& keys) {
  return file_of("{\"id\": \"one\", \"mesh\": [[\"x\", 4], [\"y\", 6]], \"op\": \"" + op + "\", " + keys +
                 "}");
}

// "line message | hint" of every problem.
Lines problems_of(const std::string& text) {
  const LoadShardCasesResult loaded = load_shard_cases("cases.json", text);
  EXPECT_EQ(loaded.cases.has_value(), loaded.problems.empty());
  Lines lines;
  for (const Problem& problem : loaded.problems)
    lines.push_back((problem.line > 0 ? std::to_string(problem.line) + " " : "") + problem.message +
                    (problem.hint.empty() ? "" : " | " + problem.hint));
  return lines;
}

ShardCase only(const std::string& text) {
  LoadShardCasesResult result = load_shard_cases("cases.json", text);
  for (const Problem& problem : result.problems) ADD_FAILURE() << format_problem(problem);
  return result.cases && result.cases->size() == 1 ? result.cases->front() : ShardCase{};
}

std::string reshard(const std::string& sharding) {
  return case_of("reshard", R"("input": {"dims": [8, 12], "sharding": )" + sharding +
                                R"(}, "output": {"dims": [8, 12], "sharding": [[], []]})");
}

TEST(LoadShardCases, every_shipped_case_is_read) {
  const LoadShardCasesResult loaded = load_shard_cases_file(kShipped);
  for (const Problem& problem : loaded.problems) ADD_FAILURE() << format_problem(problem);
  ASSERT_TRUE(loaded.cases.has_value());
  EXPECT_EQ(loaded.cases->size(), 170u);
}

TEST(LoadShardCases, axes_may_be_pieces_and_lists_are_merged) {
  const ShardCase one = only(reshard(R"([["x:(1)2", "x:(2)2"], ["y:(2)3"]])"));
  const auto& question = std::get<ReshardQuestion>(one.question);
  EXPECT_EQ(question.from.layout.dims[0], (AxisList{{0, 1, 4}}));
  EXPECT_EQ(question.from.layout.dims[1], (AxisList{{1, 2, 3}}));
  EXPECT_TRUE(question.to.layout.dims[0].empty());
  EXPECT_EQ(question.from.element_bytes, 2);
}

TEST(LoadShardCases, a_partial_sum_is_an_unreduced_axis) {
  const ShardCase one =
      only(case_of("reshard", R"("dtype": "f32", "input": {"dims": [8], "sharding": [[]], "unreduced": ["y"]},
                    "output": {"dims": [8], "sharding": [["y"]]}, "expected": {"totals": {"a": {"send_bytes": 5},
                    "b": {"send_bytes": 6}}})"));
  EXPECT_EQ(std::get<ReshardQuestion>(one.question).from.layout.unreduced, (AxisList{{1, 1, 6}}));
  ASSERT_TRUE(one.expected.has_value());
  EXPECT_EQ(one.expected->send_bytes, 11);
}

TEST(LoadShardCases, an_unknown_axis_is_answered_with_the_nearest) {
  EXPECT_EQ(problems_of(file_of(R"({"id": "one", "mesh": [["model", 4]], "op": "reshard",
      "input": {"dims": [8], "sharding": [["modle"]]}, "output": {"dims": [8], "sharding": [[]]}})")),
            (Lines{"3 cases[0].input.sharding[0][0] names axis \"modle\", which the mesh does not have | "
                   "did you mean \"model\"?"}));
}

TEST(LoadShardCases, an_axis_is_used_once_on_a_tensor) {
  EXPECT_EQ(problems_of(reshard(R"([["x"], ["y", "x:(1)2"]])")),
            (Lines{"2 cases[0].input.sharding[1][1] uses axis \"x\" a second time on one tensor"}));
}

TEST(LoadShardCases, pieces_divide_their_axis_and_each_other) {
  EXPECT_EQ(problems_of(reshard(R"([["x:(1)3"], []])")),
            (Lines{"2 cases[0].input.sharding[0][0] is \"x:(1)3\": 1 x 3 does not divide the axis's 4"}));
  EXPECT_EQ(
      problems_of(reshard(R"([["y:(1)2"], ["y:(3)2"]])")),
      (Lines{"2 cases[0].input.sharding[1][0] cuts axis \"y\" at 3; another piece of this case is cut at "
             "2, and one must divide the other"}));
  EXPECT_EQ(
      problems_of(reshard(R"([["y:2"], []])")),
      (Lines{"2 cases[0].input.sharding[0][0] must be an axis or a piece of one, not \"y:2\" | a piece is "
             "written \"y:(pre-size)size\""}));
}

TEST(LoadShardCases, a_sharding_has_one_list_per_dimension) {
  EXPECT_EQ(problems_of(reshard(R"([["x"]])")),
            (Lines{"2 cases[0].input.sharding has 1 lists of axes; the tensor has 2 dimensions"}));
}

std::string einsum(const std::string& equation, const std::string& rhs, const std::string& more = "") {
  return case_of("einsum", "\"equation\": \"" + equation + "\", " + more +
                               R"("lhs": {"dims": [8, 12]}, "rhs": {"dims": )" + rhs +
                               R"(}, "output": {"dims": [8, 10]})");
}

TEST(LoadShardCases, letters_and_sizes_of_an_equation_agree) {
  EXPECT_EQ(problems_of(einsum("ik,kj->ij", "[12, 10]")), Lines{});
  EXPECT_EQ(problems_of(einsum("ik,kj->iq", "[12, 10]")),
            (Lines{"2 cases[0].equation has the letter 'q' in its result and in no operand"}));
  EXPECT_EQ(problems_of(einsum("ik,kj->ij", "[11, 10]")),
            (Lines{"2 cases[0].rhs has size 11 for 'k', which is 12 elsewhere"}));
  EXPECT_EQ(problems_of(einsum("ik,kj->ij", "[12, 10, 1]")),
            (Lines{"2 cases[0].rhs has 3 dimensions; the equation gives it \"kj\""}));
  EXPECT_EQ(problems_of(einsum("ik,kj->ij", "[12, 10]", R"("sizes": {"i": 9}, )")),
            (Lines{"2 cases[0].lhs has size 8 for 'i', which is 9 elsewhere"}));
  EXPECT_EQ(problems_of(einsum("ik,kj->ij", "[12, 10]", R"("sizes": {"w": 9}, )")),
            (Lines{"2 cases[0].sizes.w is the size of a letter that the equation does not have"}));
  EXPECT_EQ(problems_of(einsum("ik kj", "[12, 10]")),
            (Lines{"2 cases[0].equation must be an equation such as \"ik,kj->ij\", not \"ik kj\""}));
  EXPECT_EQ(problems_of(einsum("ii,kj->ij", "[12, 10]")),
            (Lines{"2 cases[0].equation has the letter 'i' twice on one tensor"}));
}

std::string convolution(const std::string& labels, const std::string& window) {
  return case_of("convolution", "\"dim_labels\": \"" + labels + "\", \"window\": " + window +
                                    R"(, "lhs": {"dims": [2, 9, 3]}, "rhs": {"dims": [3, 3, 5]},
                                       "output": {"dims": [2, 4, 5]})");
}

TEST(LoadShardCases, a_window_gives_as_many_outputs_as_there_are) {
  const ShardCase one = only(convolution("b0f_0io->b0f", R"({"size": [3], "stride": [2]})"));
  const auto& question = std::get<ConvolutionQuestion>(one.question);
  ASSERT_EQ(question.shape.windows.size(), 1u);
  EXPECT_EQ(question.shape.windows[0].stride, 2);
  EXPECT_EQ(question.shape.lhs_spatial, std::vector<int>{1});
  EXPECT_EQ(question.shape.rhs_out, 2);
  EXPECT_EQ(problems_of(convolution("b0f_0io->b0f", R"({"size": [3]})")),
            (Lines{"2 cases[0].window gives 7 outputs along spatial dimension 0; the output has 4"}));
  EXPECT_EQ(problems_of(convolution("b0f_0io->b0f", R"({"size": [2], "stride": [2]})")),
            (Lines{"2 cases[0].window has size 2 along spatial dimension 0; rhs has 3"}));
  EXPECT_EQ(
      problems_of(convolution("b0f,0io->b0f", R"({"size": [3]})")),
      (Lines{"2 cases[0].dim_labels must be labels such as \"b01f_01io->b01f\", not \"b0f,0io->b0f\""}));
}

TEST(LoadShardCases, pad_and_slice_give_the_size_of_the_output) {
  const auto pad = [](int out) {
    return case_of("pad", R"("low": [1], "high": [2], "interior": [1], "inputs": [{"dims": [5]}],
                             "output": {"dims": [)" +
                              std::to_string(out) + "]}");
  };
  const ShardCase one = only(pad(12));
  EXPECT_EQ(std::get<ShiftQuestion>(one.question).windows[0].base_dilation, 2);
  EXPECT_EQ(problems_of(pad(11)),
            (Lines{"3 cases[0].output has 11 along dimension 0; of 12 after padding, 12 are "
                   "kept"}));
}

TEST(LoadShardCases, propagation_takes_annotations) {
  const auto propagate = [](const std::string& second) {
    return case_of("propagate",
                   "\"rule\": \"(ik),(kj)->(ij)\", \"tensors\": {\"sizes\": {\"i\": 8, \"k\": 4, "
                   "\"j\": 6}, \"shardings\": [\"[{x},{?}]\", \"" +
                       second + "\", \"unset\"]}");
  };
  const ShardCase one = only(propagate("[{?},{y,?}]"));
  const auto& question = std::get<PropagateQuestion>(one.question);
  EXPECT_EQ(question.dims[1], (std::vector<std::int64_t>{4, 6}));
  EXPECT_TRUE(question.annotations[1].dims[1].open);
  const Lines problems = problems_of(propagate("[{?},{z}]"));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("cases[0].tensors.shardings[1]"), std::string::npos) << problems[0];
}

TEST(LoadShardCases, ids_formats_and_operations_are_checked) {
  EXPECT_EQ(problems_of(R"({"format": "gspmd-cases/2", "cases": []})"),
            (Lines{"1 format must be \"gspmd-cases/1\", not \"gspmd-cases/2\""}));
  EXPECT_EQ(problems_of(case_of("reshrad", "\"input\": {}")),
            (Lines{"2 cases[0].op is \"reshrad\", which is not planned | did you mean \"reshard\"?"}));
  EXPECT_EQ(problems_of(case_of("reshard", "\"inptu\": {}")),
            (Lines{"2 cases[0] has no \"input\"", "2 cases[0] has no \"output\"",
                   "2 unknown key \"inptu\" in cases[0] | did you mean \"input\"?"}));
  const std::string twice = R"({"id": "a", "mesh": [], "op": "parse_hlo"})";
  EXPECT_EQ(problems_of(file_of(twice + ",\n" + twice)),
            (Lines{"3 cases[1].id is \"a\", the id of another case"}));
}

TEST(LoadShardCases, those_without_problems_are_read_beside_those_with_some) {
  const LoadShardCasesResult loaded =
      load_shard_cases("cases.json", file_of(R"({"id": "wrong", "mesh": [["x", 2]], "op": "reshrad"},
      {"id": "right", "mesh": [["x", 2]], "op": "reshard", "input": {"dims": [8], "sharding": [["x"]]},
       "output": {"dims": [8]}})"));
  EXPECT_FALSE(loaded.cases);
  EXPECT_EQ(loaded.problems.size(), 1u);
  ASSERT_EQ(loaded.readable.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<Unplanned>(loaded.readable[0].question));
  EXPECT_TRUE(std::holds_alternative<ReshardQuestion>(loaded.readable[1].question));
}

TEST(LoadShardCases, what_is_rearranged_has_the_sizes_that_follow) {
  const auto question = [](const std::string& op, const std::string& keys, const std::string& output) {
    return case_of(
        op, keys + R"("input": {"dims": [4, 6, 8], "sharding": [["x"], [], []]}, "output": {"dims": )" +
                output + "}");
  };
  EXPECT_EQ(std::get<RearrangeQuestion>(
                only(question("transpose", R"("permutation": [2, 0, 1], )", "[8, 4, 6]")).question)
                .dims,
            (std::vector<int>{2, 0, 1}));
  EXPECT_EQ(std::get<RearrangeQuestion>(only(question("reduce", R"("dims": [0], )", "[6, 8]")).question).how,
            RearrangeQuestion::How::kReduce);
  std::get<RearrangeQuestion>(only(question("reshape", "", "[24, 8]")).question);
  for (const auto& [op, keys, output] :
       {std::tuple("transpose", R"("permutation": [2, 0], )", "[8, 4]"),
        std::tuple("transpose", R"("permutation": [1, 0, 2], )", "[8, 4, 6]"),
        std::tuple("reduce", R"("dims": [3], )", "[6, 8]"), std::tuple("reshape", "", "[23, 8]")})
    EXPECT_EQ(problems_of(question(op, keys, output)).size(), 1u) << op << keys;
}

TEST(LoadShardCases, sequences_are_read_where_letters_have_sizes) {
  const std::string steps =
      R"("steps": [{"name": "up", "equation": "bm,mf->bf", "lhs": [[], []], "rhs": [[], ["x"]],
      "out": [[], ["x"]]}])";
  const auto& sequence =
      only(case_of("sequence", steps + R"(, "sizes": {"b": 4, "m": 8, "f": 16})")).question;
  EXPECT_EQ(std::get<SequenceQuestion>(sequence).steps[0].second.rhs.dims,
            (std::vector<std::int64_t>{8, 16}));
  EXPECT_TRUE(std::get<Unplanned>(only(case_of("sequence", steps)).question).asks_nothing);
  EXPECT_EQ(problems_of(case_of("sequence", steps + R"(, "sizes": {"b": 4, "m": 8})")).size(), 1u);
}

TEST(LoadShardCases, every_problem_is_reported_at_once) {
  EXPECT_EQ(problems_of(file_of(R"({"id": "a", "mesh": [["x", 0]], "op": "parse_hlo"},
      {"id": "b", "mesh": [["x", 2], ["x", 2]], "op": "parse_hlo"}, {"mesh": [["x", 2]], "op": "parse_hlo"},
      {"id": "c", "mesh": [["x", 9999], ["y", 9999]], "op": "parse_hlo"})")),
            (Lines{"2 cases[0].mesh[0][1] must be from 1 to 1048576, not 0",
                   "3 cases[1].mesh[1][0] is \"x\", the name of another axis of this mesh",
                   "3 cases[2] has no \"id\"", "4 cases[3].mesh has more than 1048576 devices"}));
}

TEST(LoadShardCases, sizes_beyond_whole_bytes_are_refused) {
  EXPECT_EQ(
      problems_of(case_of("reshard", R"("input": {"dims": [1099511627776, 32]}, "output": {"dims": [8]})")),
      (Lines{"2 cases[0].input.dims are those of more than 2^44 elements"}));
  EXPECT_EQ(problems_of(case_of("gspmd_pipeline_fwd", R"("microbatches": 2, "state": {"dims": [1048577]})")),
            (Lines{"2 cases[0].state has more than 2^20 stages"}));
}

// Pieces of the shipped file are cut out, doubled and exchanged.
TEST(LoadShardCases, mutated_files_never_crash_the_loader) {
  const std::string base = einsum("ik,kj->ij", "[12, 10]") +
                           convolution("b0f_0io->b0f", R"({"size": [3], "stride": [2]})") +
                           reshard(R"([["x:(1)2"], ["y"]])");
  for (std::uint64_t input = 0; input < 20'000; ++input) {
    std::uint64_t draw = 0;
    const auto below = [&](std::size_t n) {
      return static_cast<std::size_t>(random_bits(11, RandomPurpose::kTest, input, draw++) % n);
    };
    // One of the three files, then bytes from anywhere.
    std::string text = input % 3 == 0   ? einsum("ik,kj->ij", "[12, 10]")
                       : input % 3 == 1 ? convolution("b0f_0io->b0f", R"({"size": [3], "stride": [2]})")
                                        : reshard(R"([["x:(1)2"], ["y"]])");
    for (std::size_t edits = 1 + below(4); edits > 0 && !text.empty(); --edits) {
      const std::size_t at = below(text.size()), length = 1 + below(6), from = below(base.size());
      if (below(2) == 0) text.erase(at, length);
      if (below(2) == 0) text.insert(std::min(at, text.size()), base.substr(from, length));
      if (below(3) == 0 && at < text.size()) text[at] = "0123456789-x"[below(12)];
    }
    const LoadShardCasesResult loaded = load_shard_cases("mutated.json", text);
    ASSERT_EQ(loaded.cases.has_value(), loaded.problems.empty()) << text;
  }
}

}  // namespace
}  // namespace podsim::load_shard_cases_test
