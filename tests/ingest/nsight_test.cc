// Databases of Nsight Systems: devices of processes, their work and the steps of NVTX.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ingest/file_kind.h"
#include "ingest/nsight/device_profiles.h"
#include "ingest/nsight/import_nsight.h"
#include "proto/text/read_file.h"
#include "proto/writing/figure_json.h"

namespace podsim::nsight_test {
namespace {

// Two processes with a GPU each: in two iterations of 10 us each a kernel of 4 us, on the second GPU of 5,
// an all-reduce beside one of 1 us, and a copy of 0.2 us.
std::string two_gpus() {
  std::vector<Problem> problems;
  return read_file(PODSIM_SOURCE_DIR "/tests/fuzz/corpus/imports/two_gpus.sqlite", problems).value();
}

std::optional<Imported> imported(std::string bytes, std::string& problem) {
  std::vector<Problem> problems;
  std::vector<InputText> files = {{"p.sqlite", std::move(bytes)}};
  auto read = import_nsight(files, {}, problems);
  problem = problems.empty() ? "" : format_problem(problems.front());
  return read;
}

TEST(Nsight, has_the_work_of_each_process_and_device) {
  std::vector<Problem> problems;
  const std::string bytes = two_gpus();
  EXPECT_STREQ(file_kind(bytes)->name, "nsight");
  const auto tables = nsight::Tables::open("p", bytes, problems);
  ASSERT_TRUE(tables);
  Account account;
  const auto devices = nsight::device_profiles("p", *tables, account, problems);
  ASSERT_TRUE(devices);
  ASSERT_EQ(devices->size(), 2u);
  const kineto::Summary &first = (*devices)[0].summary, &second = (*devices)[1].summary;
  EXPECT_EQ(first.compute_kernels, 4);
  EXPECT_EQ(first.communication_kernels, 2);
  EXPECT_EQ(first.memory_operations, 2);
  EXPECT_EQ(first.whole.span, 18900);  // from 1,500 to 20,400
  EXPECT_EQ(first.whole.compute, 2 * 5000);
  EXPECT_EQ(first.whole.communication, 2 * 4000);
  EXPECT_EQ(first.whole.exposed, 2 * 3000);
  EXPECT_EQ(first.whole.memory, 400);
  EXPECT_EQ(second.whole.compute, 2 * 6000);
  EXPECT_EQ(second.whole.exposed, 2 * 2500);
  ASSERT_EQ(first.steps.size(), 2u);
  EXPECT_EQ(first.steps[1].step.number, 2);
  EXPECT_EQ(first.steps[1].launched, 4);
  EXPECT_EQ(first.steps[0].to_next_ns, 10'000);
  EXPECT_EQ((*devices)[1].profile.devices.front().name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(account.read, 46);
  EXPECT_EQ(account.passed_over.at("ranges and marks that are no step"), 2);
  account.check();
}

// Where kernels do not say of which process they are, all are of one, whose steps are those of both devices.
TEST(Nsight, has_the_steps_of_a_process_on_all_of_its_devices) {
  std::string bytes = two_gpus();
  const std::string column = "globalPid", other = "otherwise";
  for (std::size_t at = bytes.find(column); at != std::string::npos; at = bytes.find(column, at))
    bytes.replace(at, column.size(), other);
  std::vector<Problem> problems;
  const auto tables = nsight::Tables::open("p", bytes, problems);
  ASSERT_TRUE(tables) << format_problem(problems.at(0));
  Account account;
  const auto devices = nsight::device_profiles("p", *tables, account, problems);
  ASSERT_TRUE(devices);
  ASSERT_EQ(devices->size(), 2u);
  const kineto::Profile &first = (*devices)[0].profile, &second = (*devices)[1].profile;
  EXPECT_FALSE(first.steps.empty());
  EXPECT_EQ(first.steps.size(), second.steps.size());
  EXPECT_FALSE(first.launches.empty());
  EXPECT_EQ(first.launches.size(), second.launches.size());
}

TEST(Nsight, of_several_devices_is_told_as_ranks_that_wait_for_each_other) {
  std::string problem;
  const auto read = imported(two_gpus(), problem);
  ASSERT_TRUE(read) << problem;
  EXPECT_EQ(read->ranks, 2);
  EXPECT_EQ(read->step(2, nullptr).rank_number.size(), 2u);
  const auto figures =
      nlohmann::json::parse(json_text(Figure::group("", read->figures), JsonNumbers::kShortest));
  EXPECT_EQ(figures["matched_by_order"][0]["transfer_ns"], 3500);
  EXPECT_EQ(figures["matched_by_order"][0]["last_arrival"], 1);
  EXPECT_EQ(figures["device"][1]["gpu"]["whole"]["compute_busy_ns"], 12'000);
}

TEST(Nsight, takes_ranges_with_a_number_for_steps) {
  EXPECT_EQ(nsight::step_named("ProfilerStep#7")->number, 7);
  EXPECT_EQ(nsight::step_named("train_step 12")->number, 12);
  EXPECT_EQ(nsight::step_named("Iteration=3")->number, 3);
  EXPECT_EQ(nsight::step_named("iter_100")->number, 100);
  for (const char* other : {"step", "forward 3", "12", "step 3 of 4", "", "ncclAllReduce"})
    EXPECT_FALSE(nsight::step_named(other)) << other;
}

TEST(Nsight, that_is_cut_or_damaged_is_refused_or_the_same) {
  const std::string whole = two_gpus();
  std::string problem;
  for (std::size_t length = 16; length < whole.size(); length += 97) {
    EXPECT_FALSE(imported(whole.substr(0, length), problem)) << length;
    EXPECT_FALSE(problem.empty());
  }
  EXPECT_FALSE(imported(std::string("SQLite format 3\0", 16), problem));
}

}  // namespace
}  // namespace podsim::nsight_test
