// Kernels that a user measured: which number of a stack they tell of, how far they move it, what is wrong in
// their tables.
#include "calibration/anchor_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "calibration/anchor.h"
#include "calibration/anchor_collectives.h"
#include "proto/scenario/load.h"
#include "validation/validate_collectives.h"
#include "workload/partition/lone_kernel.h"
#include "workload/partition/op_cost.h"

namespace podsim::anchor_kernels_test {
namespace {

const Catalog& catalog() {
  static const Catalog kCatalog;
  return kCatalog;
}

const Spec& spec() {
  static const Spec kSpec = [] {
    LoadResult loaded = load_scenario("mine", R"(
cluster { chip: "a100_80" chips: 8 fabric: "dgx_a100" }
job {
  model: "llama3_8b" model_override { layers: 4 }
  stack: "generic_fsdp"
  mesh { name: "fsdp" size: 8 }
  sharding: "fsdp"
  global_batch_sequences: 8
  microbatch_sequences: 1
  sequence_tokens: 4096
  precision: bf16
}
)",
                                      catalog(), {});
    if (!loaded.spec) throw std::runtime_error(format_problem(loaded.problems.at(0)));
    return *std::move(loaded.spec);
  }();
  return kSpec;
}

ReadAnchorKernels read(const std::string& table) {
  return read_anchor_kernels("k.csv", table, spec(), catalog());
}

double moved_number(const ReadAnchorKernels& read, double Stack::*number) {
  for (const Problem& problem : read.problems) ADD_FAILURE() << format_problem(problem);
  const Anchor anchor(builtin_anchor_priors(), {}, 1, read.kernels);
  return anchor.moved(spec()).job.stack.*number / (spec().job.stack.*number);
}

// How far evidence of this noise moves a number of this spread, as a share of its error.
double pull(double spread, double noise) { return spread * spread / (spread * spread + noise * noise); }

// Matmuls as a site with a factor of this on its rate runs them.
std::string step_table(double factor) {
  std::ostringstream table;
  table << "operation,peak_tflops,shape,share_of_peak\n";
  Stack stack = spec().job.stack;
  stack.gemm_factor *= factor;
  for (const double n : {4096.0, 8192.0, 16384.0}) {
    ComputeOp op;
    op.m = op.k = 8192;
    op.n = n;
    op.flops = {2 * op.m * op.n * op.k};
    op.hbm = {2 * (op.m * op.k + op.k * op.n + op.m * op.n)};
    table << "matmul,312,b=1;m=8192;k=8192;n=" << n << ";layout=TN;accumulate=False,"
          << op.flops.value / (op_seconds(op, spec().cluster.chip, stack) * 312e12) << '\n';
  }
  return table.str();
}

TEST(AnchorKernels, matmuls_inside_a_step_move_the_rate_of_matmuls_by_their_share_of_what_is_known) {
  const AnchorPriors& priors = builtin_anchor_priors();
  const double moved = moved_number(read(step_table(0.9)), &Stack::gemm_factor);
  EXPECT_NEAR(std::log(moved), std::log(0.9) * pull(priors.parameters[0].spread, priors.step_kernel_noise),
              0.01);
  EXPECT_NEAR(moved_number(read(step_table(1)), &Stack::gemm_factor), 1, 1e-4);
}

TEST(AnchorKernels, kernels_alone_on_a_cool_chip_say_less_of_steps) {
  const double seconds = *lone_seconds(MatmulCall{8192, 8192, 8192}, spec().cluster.chip, "bf16");
  const ReadAnchorKernels lone = read("chip,dtype,m,n,k,latency_ms\nA100,bf16,8192,8192,8192," +
                                      std::to_string(1e3 * seconds / 0.9) + "\nh100,bf16,8,8,8,1\n");
  const AnchorPriors& priors = builtin_anchor_priors();
  EXPECT_NEAR(std::log(moved_number(lone, &Stack::gemm_factor)),
              std::log(0.9) * pull(priors.parameters[0].spread, priors.lone_kernel_noise), 0.01);
  EXPECT_EQ(lone.unused, std::vector<std::string>{"1 row of another chip, h100"});
  EXPECT_GT(priors.lone_kernel_noise, priors.step_kernel_noise);
}

// A chip of half the rate that takes the time that it is predicted to take.
TEST(AnchorKernels, kernels_alone_are_held_against_the_chip_of_the_scenario) {
  Spec slower = spec();
  for (auto& [dtype, rate] : slower.cluster.chip.matmul) rate.peak = 0.5 * rate.peak;
  const double seconds = *lone_seconds(MatmulCall{8192, 8192, 8192}, slower.cluster.chip, "bf16");
  const ReadAnchorKernels lone = read_anchor_kernels(
      "k.csv",
      "chip,dtype,m,n,k,latency_ms\na100_80,bf16,8192,8192,8192," + std::to_string(1e3 * seconds) + "\n",
      slower, catalog());
  ASSERT_EQ(lone.kernels.size(), 1u);
  EXPECT_NEAR(lone.kernels[0].error, 0, 1e-5);
}

TEST(AnchorKernels, a_matmul_faster_than_any_of_the_chip_is_refused) {
  const ReadAnchorKernels lone = read("chip,dtype,m,n,k,latency_ms\na100_80,bf16,8192,8192,8192,0.5\n");
  ASSERT_EQ(lone.problems.size(), 1u);
  EXPECT_EQ(lone.problems[0].line, 2);
  EXPECT_EQ(lone.problems[0].hint, "latency_ms is in milliseconds");
}

TEST(AnchorKernels, attention_moves_its_own_rate_and_grouped_matmuls_none) {
  const ReadAnchorKernels slow = read(
      "operation,peak_tflops,shape,share_of_peak\n"
      "sdp_fwd,312,batch=1;seq_len=4096;head_num=32;qk_head_dim=128;v_head_dim=128,0.4\n"
      "sdp_bwd,312,batch=1;seq_len=4096;head_num=32;qk_head_dim=128;v_head_dim=128,0.3\n"
      "group_matmul,312,ng=4;M=8;N=8;K=8,0.4\n");
  EXPECT_LT(moved_number(slow, &Stack::attention_factor), 0.7);
  EXPECT_EQ(moved_number(slow, &Stack::gemm_factor), 1);
  EXPECT_EQ(slow.unused, std::vector<std::string>{"1 row of group_matmul"});
}

TEST(AnchorKernels, the_report_counts_steps_and_kernels) {
  const Anchor anchor(builtin_anchor_priors(), {}, 1, read(step_table(0.9)).kernels);
  const Report report = anchor.predict(spec(), {});
  ASSERT_TRUE(report.anchor);
  EXPECT_EQ(report.anchor->runs, 0);
  EXPECT_EQ(report.anchor->kernels, 3);
  EXPECT_GT(report.step_time.ps, report.anchor->step_time_before.ps);
}

TEST(AnchorKernels, wrong_cells_are_told_at_their_place) {
  const auto first = [](const std::string& rows) {
    const auto problems = read("operation,peak_tflops,shape,share_of_peak\n" + rows).problems;
    if (problems.empty()) return std::string();
    const Problem& problem = problems.front();
    return std::to_string(problem.line) + ":" + std::to_string(problem.column) + " " + problem.message +
           "; " + problem.hint;
  };
  EXPECT_EQ(first("matmul,989,m=1;n=1;k=1,0.5\n"),
            "2:8 no matmuls of a100_80 have this peak; expected one of 312");
  EXPECT_EQ(first("matmul,312,m=1;n=1,0.5\n"),
            "2:12 the shape has no k above 0; expected k=WHOLE NUMBER between semicolons");
  EXPECT_EQ(first("matmul,312,m=1;n=1;k=1,none\n"),
            "2:24 share_of_peak is \"none\"; expected a number above 0");
  EXPECT_EQ(first("matmul,312,m=1;n=8.5;k=1,0.5\n"),
            "2:12 the shape has no n above 0; expected n=WHOLE NUMBER between semicolons");
  EXPECT_EQ(first("matmul,312,m=1;n=1;k=1,75\n"),
            "2:24 share_of_peak is above 1; expected a share, such as 0.75 for 75 %");
  EXPECT_EQ(first("group_matmul,312,m=1,0.5\n"),
            "0:0 has no kernel that tells of a stack on a100_80; expected matmuls or attention on that chip");
}

// All-reduces of 1, 128 and 256 MiB as nccl-tests prints them, on two GPUs of each host: the large ones as a
// site runs them that reaches this share of the network, the small one at random.
std::string nccl_output(int hosts, double share, const FabricSpec& fabric = spec().cluster.fabric) {
  std::ostringstream text;
  for (const int mib : {1, 128, 256}) {
    MeasuredCollective row;
    row.gpus = 2 * hosts;
    row.nodes = hosts;
    row.collective = {CollectiveKind::kAllReduce, {mib * 1048576.0}};
    row.time_s = 1;
    const double alone_s = validate_collectives({row}, fabric).rows.at(0).predicted_s;
    const double time_us = mib == 1 ? 7777 : 1e6 * alone_s / share;
    const double algbw = mib * 1.048576e6 / time_us / 1e3, busbw = algbw * 2 * (2 * hosts - 1) / (2 * hosts);
    text << mib * 1048576 << ' ' << mib * 262144 << " float sum -1 " << time_us << ' ' << algbw << ' '
         << busbw << " 0 " << time_us << ' ' << algbw << ' ' << busbw << " 0\n";
  }
  return text.str();
}

TEST(AnchorCollectives, between_servers_move_the_share_of_the_network_by_their_share_of_what_is_known) {
  const ReadAnchorKernels read = read_anchor_collectives("r.log", nccl_output(2, 0.6), {4, 2, true}, spec());
  const double moved = moved_number(read, &Stack::network_share);
  ASSERT_EQ(read.kernels.size(), 1u);
  EXPECT_EQ(read.kernels[0].rows, 2) << "latency counts in the small one";
  const AnchorPriors& priors = builtin_anchor_priors();
  const auto network = std::ranges::find(priors.parameters, "network efficiency", &AnchorPrior::name);
  EXPECT_NEAR(
      std::log(moved),
      std::log(0.6 / spec().job.stack.network_share) * pull(network->spread, priors.lone_kernel_noise), 0.01);
}

TEST(AnchorCollectives, are_held_against_the_network_of_the_scenario) {
  Spec narrow = spec();
  narrow.cluster.fabric.gpu->nic.bandwidth = 0.25 * narrow.cluster.fabric.gpu->nic.bandwidth;
  const double share = narrow.job.stack.network_share;
  const std::string measured = nccl_output(2, share, narrow.cluster.fabric);
  ASSERT_NE(measured, nccl_output(2, share));
  const ReadAnchorKernels read = read_anchor_collectives("r.log", measured, {4, 2, true}, narrow);
  ASSERT_EQ(read.kernels.size(), 1u);
  EXPECT_NEAR(read.kernels[0].error, 0, 1e-3);
}

// Leaves that hold two servers each, whose uplinks carry an eighth.
TEST(AnchorCollectives, count_the_oversubscription_of_the_scenario_once) {
  Spec thin = spec();
  std::vector<FatTreeTier>& tiers = thin.cluster.fabric.gpu->tiers;
  tiers = {{2, 8}, {64, 1}};
  const double share = thin.job.stack.network_share;
  const ReadAnchorKernels read =
      read_anchor_collectives("r.log", nccl_output(8, share, thin.cluster.fabric), {16, 8, true}, thin);
  ASSERT_EQ(read.kernels.size(), 1u);
  EXPECT_NEAR(read.kernels[0].error, 0, 1e-3);
}

TEST(AnchorCollectives, what_says_nothing_of_the_network_is_told) {
  const std::string two = nccl_output(2, 0.6);
  const auto problem = [](const std::string& text, const ListedRanks& listed) {
    const ReadAnchorKernels read = read_anchor_collectives("r.log", text, listed, spec());
    return read.problems.empty() ? "" : read.problems.front().message;
  };
  EXPECT_EQ(problem(nccl_output(1, 0.6), {2, 1, true}),
            "lies within one NVLink domain of dgx_a100, whose share is no number of a stack");
  EXPECT_EQ(problem(two, {0, 0, true}), "does not list its ranks and their hosts");
  EXPECT_EQ(problem(two, {4, 2, false}), "does not say which collective it measured");
  EXPECT_EQ(problem(two.substr(0, two.find("134217728")), {4, 2, true}), "has no row of 64 MiB and more");
}

}  // namespace
}  // namespace podsim::anchor_kernels_test
