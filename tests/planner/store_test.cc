// The store: what is kept is found again, whoever keeps it, and what contradicts it is refused.
#include "planner/store/store.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "planner/store/contents.h"
#include "planner/store/database.h"
#include "planner/store/schema.h"

namespace podsim::store_test {
namespace {

namespace fs = std::filesystem;

// A path in a folder of this process, with nothing there yet.
std::string new_store() {
  static int count = 0;
  const fs::path folder = fs::temp_directory_path() / ("podsim_store_" + std::to_string(getpid()));
  fs::create_directories(folder);
  return folder / ("store" + std::to_string(++count) + ".db");
}

MainFigures figures_of(std::int64_t step_ps) {
  MainFigures figures;
  figures.step_time = Time{step_ps};
  figures.memory_gib = 1.0 / 3;
  figures.tokens_per_s = 1e5 + 1.0 / static_cast<double>(step_ps);
  figures.fits = true;
  return figures;
}

StoredScenario scenario(const std::string& key) { return {key, "seed: 1\n", "scenario " + key}; }

std::string failure_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const StoreFailure& failure) {
    return failure.what();
  }
  return "";
}

std::vector<StoredResult> results_of(const std::string& path) {
  std::vector<StoredResult> all;
  each_result(path, [&](const StoredResult& each) { all.push_back(each); });
  return all;
}

TEST(Store, gives_back_every_digit_before_and_after_it_is_written) {
  const std::string path = new_store();
  {
    Store store(path, "1");
    EXPECT_FALSE(store.figures("a"));
    store.keep(scenario("a"), figures_of(123), "{}", 7);
    ASSERT_TRUE(store.figures("a")) << "what waits to be written is known";
    EXPECT_EQ(*store.figures("a"), figures_of(123));
  }
  Store again(path, "1");
  ASSERT_TRUE(again.figures("a"));
  EXPECT_EQ(*again.figures("a"), figures_of(123));
  EXPECT_EQ(again.report("a"), "{}");
}

TEST(Store, has_every_result_that_it_took_when_the_process_is_killed) {
  const std::string path = new_store();
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    Store store(path, "1");
    for (char i = 0; i < 100; ++i) {
      store.keep(scenario(std::to_string(i)), figures_of(i + 1), "{}", 0);
      static_cast<void>(write(pipe_ends[1], &i, 1));
    }
    pause();
  }
  char last = 0;
  while (last < 40) ASSERT_EQ(read(pipe_ends[0], &last, 1), 1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(pipe_ends[1]);
  for (char next = 0; read(pipe_ends[0], &next, 1) == 1;) last = next;
  close(pipe_ends[0]);
  EXPECT_GE(results_of(path).size(), static_cast<std::size_t>(last) + 1);
}

TEST(Store, keeps_results_of_several_versions_apart) {
  const std::string path = new_store();
  Store(path, "1").keep(scenario("a"), figures_of(123), "{}", 0);
  Store other(path, "2");
  EXPECT_FALSE(other.figures("a"));
  other.keep(scenario("a"), figures_of(124), "{}", 0);
  EXPECT_EQ(contents_of(path).versions.size(), 2U);
  EXPECT_EQ(contents_of(path).scenarios, 1);
}

TEST(Store, refuses_another_result_of_a_scenario_and_tells_both) {
  const std::string path = new_store();
  Store store(path, "1");
  store.keep(scenario("a"), figures_of(123), "{}", 0);
  store.keep(scenario("a"), figures_of(123), "{}", 9);
  const std::string waiting = failure_of([&] { store.keep(scenario("a"), figures_of(124), "{}", 0); });
  EXPECT_NE(waiting.find("0.000000000123 s"), std::string::npos) << waiting;
  EXPECT_NE(waiting.find("0.000000000124 s"), std::string::npos) << waiting;
  Store later(path, "1");
  EXPECT_NE(
      failure_of([&] { later.keep(scenario("a"), figures_of(125), "{}", 0); }).find("one of them is wrong"),
      std::string::npos);
  EXPECT_EQ(*Store(path, "1").figures("a"), figures_of(123));
}

TEST(Store, takes_results_of_several_threads_and_of_several_stores_on_one_file) {
  const std::string path = new_store();
  constexpr int kEach = 150;
  std::vector<std::thread> threads;
  for (int writer = 0; writer < 3; ++writer)
    threads.emplace_back([&] {
      Store store(path, "1");
      for (int i = 0; i < kEach; ++i) store.keep(scenario(std::to_string(i)), figures_of(i + 1), "{}", 0);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(contents_of(path).versions.front().results, kEach);
  EXPECT_TRUE(damage_of(path).empty());
}

TEST(Store, study_that_goes_on_is_the_same_study) {
  const std::string path = new_store();
  Store store(path, "1");
  store.keep(scenario("a"), figures_of(2), "{}", 0);
  store.keep(scenario("b"), figures_of(1), "{}", 0);
  const std::int64_t first = store.begin_study({"search", "q"});
  EXPECT_EQ(contents_of(path).studies.front().state, "running");
  EXPECT_EQ(store.begin_study({"search", "q"}), first);
  EXPECT_NE(store.begin_study({"search", "q", 1, 2}), first) << "a part of it is another";
  store.end_study(first, StudyState::kStopped, 0.25, {{"a", "A"}});
  store.end_study(first, StudyState::kComplete, 0, {{"b", "B"}, {"a", "A"}});
  const StudyAnswer answer = answer_of(path, first);
  ASSERT_EQ(answer.rows.size(), 2U);
  EXPECT_EQ(answer.rows[0].name, "B");
  EXPECT_EQ(answer.rows[1].figures, figures_of(2));
  EXPECT_TRUE(answer.missing.empty());
  EXPECT_EQ(answer.study.state, "done");
}

TEST(Store, merged_in_any_order_and_twice_is_the_same) {
  std::vector<std::string> parts;
  for (int part = 1; part <= 3; ++part) {
    parts.push_back(new_store());
    Store store(parts.back(), "1");
    store.keep(scenario("shared"), figures_of(50), "{}", 0);
    const std::string own = std::to_string(part);
    store.keep(scenario(own), figures_of(part), "{}", 0);
    store.end_study(store.begin_study({"search", "q", part, 3}), StudyState::kComplete, 0, {{own, own}});
  }
  const std::string one = new_store(), other = new_store();
  merge_stores(one, {parts[0], parts[2]});
  EXPECT_EQ(answer_of(one, 1).missing, std::vector<int>{2});
  merge_stores(one, {parts[1], parts[1]});
  EXPECT_EQ(merge_stores(one, {parts[0]}).known, 2);
  merge_stores(other, {parts[2], parts[1], parts[0]});
  const auto keys = [](const std::string& path) {
    std::vector<std::string> all;
    for (const StoredResult& each : results_of(path)) all.push_back(each.key + " " + each.name);
    return all;
  };
  EXPECT_EQ(keys(one), keys(other));
  EXPECT_EQ(keys(one).size(), 4U);
  for (const std::string& path : {one, other}) {
    const StudyAnswer answer = answer_of(path, 1);
    EXPECT_TRUE(answer.missing.empty());
    ASSERT_EQ(answer.rows.size(), 1U) << "as many as one part has";
    EXPECT_EQ(answer.rows.front().name, "1") << "the fastest of all parts";
  }
}

TEST(Store, merge_of_a_store_that_contradicts_writes_nothing_of_it) {
  const std::string good = new_store(), wrong = new_store();
  Store(good, "1").keep(scenario("a"), figures_of(1), "{}", 0);
  {
    Store store(wrong, "1");
    store.keep(scenario("a"), figures_of(2), "{}", 0);
    store.keep(scenario("b"), figures_of(3), "{}", 0);
  }
  EXPECT_NE(failure_of([&] { merge_stores(good, {wrong}); }).find("one of them is wrong"), std::string::npos);
  EXPECT_EQ(results_of(good).size(), 1U);
}

TEST(Store, that_is_newer_damaged_or_of_another_program_is_refused_in_a_sentence_and_left_alone) {
  const std::string path = new_store();
  {
    Store store(path, "1");
    for (int i = 0; i < 200; ++i)
      store.keep(scenario("key" + std::to_string(i)), figures_of(i), std::string(500, 'x'), 0);
  }
  const auto refusal = [](const std::string& file) { return failure_of([&] { Store(file, "1"); }); };
  const std::string half = new_store(), text = new_store(), other = new_store(), newer = new_store();
  fs::copy_file(path, half);
  fs::resize_file(half, fs::file_size(path) / 2);
  const std::string damaged = failure_of([&] {
    Store store(half, "1");
    store.keep(scenario("new"), figures_of(1), "{}", 0);
  });
  EXPECT_NE(damaged.find("damaged"), std::string::npos) << damaged;
  std::ofstream(text) << "cluster { chip: \"h100\" } and so on, for more than a few words of text";
  EXPECT_NE(refusal(text).find("is no store"), std::string::npos) << refusal(text);
  Database(other, Database::Access::kWrite).execute("CREATE TABLE theirs(x)");
  EXPECT_NE(refusal(other).find("another program"), std::string::npos) << refusal(other);
  fs::copy_file(path, newer);
  Database(newer, Database::Access::kWrite).execute("PRAGMA user_version = 2");
  EXPECT_NE(refusal(newer).find("newer podsim"), std::string::npos) << refusal(newer);
  EXPECT_NE(refusal("/no/such/folder/x.db").find("unable to open"), std::string::npos);
}

TEST(Store, tells_rows_without_their_other_half) {
  const std::string path = new_store();
  Store(path, "1").keep(scenario("a"), figures_of(1), "{}", 0);
  EXPECT_TRUE(damage_of(path).empty());
  Database(path, Database::Access::kWrite).execute("DELETE FROM scenario");
  ASSERT_EQ(damage_of(path).size(), 1U);
  EXPECT_EQ(damage_of(path).front(), "a result without its scenario: a");
}

}  // namespace
}  // namespace podsim::store_test
