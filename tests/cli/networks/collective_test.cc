// podsim collective, and the figures of podsim draw, as a user runs them.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace podsim::collective_test {
namespace {

using nlohmann::json;

json rows_of(const std::string& options) {
  const CommandResult result = podsim_command("collective " + options + " --format json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.exit_code == 0 ? json::parse(result.out)["rows"] : json();
}

// The same chips: without the option, of equal shares, and of shares that differ by little.
TEST(CollectiveVerb, an_imbalance_of_one_is_none_and_a_little_more_is_hardly_slower) {
  const std::string command = "--fabric dgx_h100_roce --chips 128 --kind all-to-all --bytes 1GiB ";
  const json equal = rows_of(command);
  EXPECT_EQ(rows_of(command + "--imbalance 1"), equal);
  const double none = equal[0]["time_s"];
  double last = none;
  for (const char* imbalance : {"1.0001", "1.2", "1.5"}) {
    const double time = rows_of(command + "--imbalance " + imbalance)[0]["time_s"];
    EXPECT_GE(time, last) << imbalance;
    last = time;
  }
  EXPECT_NEAR(rows_of(command + "--imbalance 1.0001")[0]["time_s"].get<double>(), none, 1e-3 * none);
  const json direct = rows_of(command + "--algorithm direct");
  EXPECT_EQ(rows_of(command + "--algorithm direct --imbalance 1"), direct);
  EXPECT_GE(rows_of(command + "--algorithm direct --imbalance 1.2")[0]["time_s"], direct[0]["time_s"]);
}

TEST(CollectiveVerb, times_beyond_what_a_step_may_take_are_refused_as_run_refuses_them) {
  const std::filesystem::path folder = std::filesystem::path(small_scenario()).parent_path() / "snail";
  std::filesystem::create_directories(folder);
  temporary_file("snail/snail.textproto", R"(fabric {
    name: "snail" library: "ideal" collective_launch_us: 0
    gpu_cluster { gpus_per_domain: 1 nic { bandwidth_gb_per_s: 0.01 efficiency: 0.001 latency_us: 0 }
                  tier { down: 8 } } })");
  const std::string command = "--catalog " + folder.string() + " --fabric snail --chips 8 --algorithm ring ";
  // 2 x 7/8 x 1e9 B at 1e4 B/s.
  EXPECT_DOUBLE_EQ(rows_of(command + "--bytes 1GB")[0]["time_s"], 175'000);
  EXPECT_DOUBLE_EQ(rows_of(command + "--bytes 1GB --fidelity stepwise")[0]["time_s"], 175'000);
  for (const char* of : {"100GB", "100GB --fidelity stepwise", "1PB", "1GB,100GB"}) {
    const CommandResult result = podsim_command("collective " + command + "--bytes " + of);
    EXPECT_EQ(result.exit_code, 2) << of;
    EXPECT_EQ(result.out, "") << of;
    EXPECT_NE(result.err.find(" bytes takes more than 10 days, and podsim simulates 10 at most"),
              std::string::npos)
        << result.err;
  }
}

TEST(CollectiveVerb, stepwise_takes_the_algorithms_that_the_library_has) {
  const std::string command = "--fabric dgx_h100 --chips 8 --bytes 64KiB --fidelity ";
  EXPECT_EQ(rows_of(command + "fluid")[0]["algorithm"], "ring");
  EXPECT_EQ(rows_of(command + "stepwise")[0]["algorithm"], "ring");
}

TEST(CollectiveVerb, stepwise_says_which_algorithm_it_simulates_in_place_of_one_without_steps) {
  const CommandResult twisted = podsim_command(
      "collective --fabric v5p_pod --shape 4x4x8 --twisted --bytes 64MiB,65MiB --fidelity stepwise --quiet");
  EXPECT_EQ(twisted.exit_code, 0) << twisted.err;
  EXPECT_EQ(twisted.err,
            "podsim: warning: torus, the fastest for all-reduce of 67108864 bytes, has no steps in a twisted "
            "torus, whose rings wind through it: halving-doubling is simulated in its place\n");
  const CommandResult pinned = podsim_command(
      "collective --fabric v5p_pod --shape 4x4x8 --twisted --bytes 64MiB --fidelity stepwise --quiet "
      "--algorithm halving-doubling");
  EXPECT_EQ(pinned.err, "");
}

TEST(CollectiveVerb, a_barrier_has_neither_bytes_nor_bandwidth) {
  const std::string command = "collective --fabric dgx_h100 --chips 16 --kind barrier ";
  const CommandResult given = podsim_command(command + "--bytes 1GB --format json");
  EXPECT_EQ(given.err, "podsim: warning: --bytes has no effect: a barrier carries none\n");
  const json rows = rows_of("--fabric dgx_h100 --chips 16 --kind barrier");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(json::parse(given.out)["rows"], rows);
  for (const char* figure : {"bytes", "algbw_gb_per_s", "busbw_gb_per_s"})
    EXPECT_EQ(rows[0][figure], 0) << figure;
  EXPECT_GT(rows[0]["time_s"], 0);
  const CommandResult stepwise = podsim_command(command + "--fidelity stepwise");
  EXPECT_EQ(stepwise.exit_code, 2);
  EXPECT_NE(stepwise.err.find("a barrier cannot be simulated stepwise in this group of 16 chips"),
            std::string::npos)
      << stepwise.err;
}

// Of 16 NICs of 48.5 GB/s one half has eight in a minimum cut.
TEST(DrawVerb, slow_links_narrow_the_bisection) {
  const auto bisection = [](const std::string& adversity) {
    const std::string file = temporary_file("drawn.textproto", read_file(small_scenario()) + adversity);
    const CommandResult result = podsim_command("draw --metrics " + file);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return std::stod(result.out.substr(result.out.find("GB/s") + 4));
  };
  const double whole = bisection("");
  const std::string nic = "slow_link { chip: 0 kind: \"nic\" speed_fraction: 0.1 }";
  EXPECT_NEAR(bisection("adversity { " + nic + " }"), whole * (8 - 0.9) / 8, 0.06);
  const std::string drawn = temporary_file(
      "selected.textproto", read_file(small_scenario()) +
                                "adversity { slow { which { kind: \"nic\" index: 0 } speed_fraction: "
                                "0.1 } }");
  EXPECT_NE(
      podsim_command("draw --metrics " + drawn).err.find("choose by a selector is drawn as if it were whole"),
      std::string::npos);
}

}  // namespace
}  // namespace podsim::collective_test
