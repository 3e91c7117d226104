// Random convolutions, pads, slices, joins, lookups and softmaxes: every plan survives the replay.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/random.h"
#include "proto/cases/load_shard_cases.h"
#include "proto/writing/write_shard_plans.h"
#include "tests/sharding/case_judge.h"
#include "workload/cases/plan_case.h"

namespace podsim::testing::shape_fuzz_test {
namespace {

using nlohmann::json;
using Sizes = std::vector<std::int64_t>;

constexpr int kCases = 600;

class Draws {
 public:
  explicit Draws(int input) : input_(static_cast<std::uint64_t>(input)) {}
  std::int64_t from_to(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(random_bits(5, RandomPurpose::kTest, input_, next_++) %
                                             static_cast<std::uint64_t>(last - first + 1));
  }

 private:
  std::uint64_t input_, next_ = 0;
};

// Each axis on some dimension, or on none.
json tensor(Draws& draws, const Sizes& dims) {
  std::vector<std::vector<std::string>> sharding(dims.size());
  for (const char* axis : {"x", "y"}) {
    const auto dim = draws.from_to(0, static_cast<std::int64_t>(dims.size()));
    if (dim < static_cast<std::int64_t>(dims.size()))
      sharding[static_cast<std::size_t>(dim)].emplace_back(axis);
  }
  return {{"dims", dims}, {"sharding", sharding}};
}

// Nothing where the window is wider than its input.
json convolution(Draws& draws) {
  const std::int64_t batch = draws.from_to(1, 6), in = draws.from_to(1, 6), out = draws.from_to(1, 6);
  const int group = draws.from_to(0, 3) == 0 ? 2 : 1;
  const bool feature_groups = draws.from_to(0, 1) == 0;
  Sizes lhs = {batch, 0, 0, in}, rhs = {0, 0, in, out * group}, result = {batch, 0, 0, out * group};
  (feature_groups ? lhs[3] : lhs[0]) *= group;
  json window;
  for (std::size_t s = 0; s < 2; ++s) {
    const std::int64_t rows = draws.from_to(1, 20),
                       taps = draws.from_to(1, draws.from_to(0, 1) == 0 ? 4 : rows);
    const std::int64_t stride = draws.from_to(1, 3), dilation = draws.from_to(1, 2),
                       base = draws.from_to(1, 2);
    const std::int64_t low = draws.from_to(0, 3), high = draws.from_to(0, 3);
    const std::int64_t room = (rows - 1) * base + low + high - (taps - 1) * dilation;
    if (room < 0) return {};
    lhs[s + 1] = rows;
    rhs[s] = taps;
    result[s + 1] = room / stride + 1;
    window["size"].push_back(taps);
    window["stride"].push_back(stride);
    window["rhs_dilate"].push_back(dilation);
    window["lhs_dilate"].push_back(base);
    window["pad"].push_back({low, high});
  }
  return {{"op", "convolution"},
          {"dim_labels", "b01f_01io->b01f"},
          {"window", window},
          {feature_groups ? "feature_group_count" : "batch_group_count", group},
          {"lhs", tensor(draws, lhs)},
          {"rhs", tensor(draws, rhs)},
          {"output", tensor(draws, result)}};
}

json pad(Draws& draws) {
  Sizes in, out, low, high, interior;
  for (int d = 0; d < 2; ++d) {
    in.push_back(draws.from_to(1, 20));
    low.push_back(draws.from_to(0, 9));
    high.push_back(draws.from_to(0, 9));
    interior.push_back(draws.from_to(0, 2));
    out.push_back((in.back() - 1) * (interior.back() + 1) + 1 + low.back() + high.back());
  }
  return {{"op", "pad"},
          {"low", low},
          {"high", high},
          {"interior", interior},
          {"inputs", {tensor(draws, in)}},
          {"output", tensor(draws, out)}};
}

json slice(Draws& draws) {
  Sizes in, out, start, limit, stride;
  for (int d = 0; d < 2; ++d) {
    in.push_back(draws.from_to(1, 30));
    start.push_back(draws.from_to(0, in.back() - 1));
    limit.push_back(draws.from_to(start.back() + 1, in.back()));
    stride.push_back(draws.from_to(1, 3));
    out.push_back((limit.back() - start.back() + stride.back() - 1) / stride.back());
  }
  return {{"op", "slice"},
          {"start", start},
          {"limit", limit},
          {"stride", stride},
          {"inputs", {tensor(draws, in)}},
          {"output", tensor(draws, out)}};
}

json concatenate(Draws& draws) {
  const std::int64_t other = draws.from_to(1, 12), first = draws.from_to(1, 12),
                     second = draws.from_to(1, 12);
  return {{"op", "concatenate"},
          {"dim", 0},
          {"inputs", {tensor(draws, {first, other}), tensor(draws, {second, other})}},
          {"output", tensor(draws, {first + second, other})}};
}

json embedding(Draws& draws) {
  const std::int64_t rows = draws.from_to(1, 40), width = draws.from_to(1, 12), batch = draws.from_to(1, 12);
  return {{"op", "embedding"},
          {"table", tensor(draws, {rows, width})},
          {"indices", tensor(draws, {batch, 3})},
          {"output", tensor(draws, {batch, 3, width})}};
}

json softmax(Draws& draws) {
  const Sizes dims = {draws.from_to(1, 12), draws.from_to(1, 12)};
  return {{"op", "softmax"},
          {"softmax_dim", draws.from_to(0, 1)},
          {"input", tensor(draws, dims)},
          {"output", tensor(draws, dims)}};
}

json random_case(int input) {
  Draws draws(input);
  json question;
  const auto makers = {convolution, pad, slice, concatenate, embedding, softmax};
  question = makers.begin()[draws.from_to(0, 5)](draws);
  if (question.is_null()) return question;
  question["id"] = std::to_string(input);
  question["dtype"] = "f32";
  question["mesh"] = json::parse(input % 2 == 0 ? R"([["x", 2], ["y", 3]])" : R"([["x", 4], ["y", 2]])");
  return question;
}

TEST(ShapeFuzz, every_plan_of_a_random_shape_operation_is_valid) {
  json file = {{"format", "gspmd-cases/1"}, {"cases", json::array()}};
  for (int input = 0; input < kCases; ++input) {
    if (json question = random_case(input); !question.is_null()) file["cases"].push_back(question);
  }
  const LoadShardCasesResult loaded = load_shard_cases("random.json", file.dump());
  for (const Problem& problem : loaded.problems) ADD_FAILURE() << format_problem(problem);
  ASSERT_TRUE(loaded.cases.has_value());
  std::vector<PlannedCase> planned;
  std::map<std::string, Mesh> meshes;
  for (const ShardCase& c : *loaded.cases) {
    planned.push_back({c, plan_case(c, SentBytes())});
    meshes[c.id] = c.mesh;
  }
  const auto plans = read_plans(write_shard_plans(planned, ""), meshes);
  for (const json& question : file["cases"]) {
    const auto id = question["id"].get<std::string>();
    for (const std::string& fault : judge(meshes.at(id), question.dump(), plans.at(id)))
      ADD_FAILURE() << fault << "\n" << question.dump();
  }
  EXPECT_GT(planned.size(), 500u);
}

}  // namespace
}  // namespace podsim::testing::shape_fuzz_test
