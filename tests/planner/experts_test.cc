// Layouts that experts tuned and published, of the tables of measured runs: the space of their job has each
// of them, with the step that `podsim run` gives it, and a search finds none that is slower. PODSIM_EXPERTS
// says how many of each family of runs are searched; then the test tells what was found beside each.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "planner/search/search.h"
#include "prediction/evaluator.h"
#include "prediction/predict.h"
#include "tests/planner/layout_scenario.h"
#include "tests/rounds.h"
#include "validation/run_rules.h"
#include "validation/run_scenario.h"

namespace podsim::experts_test {
namespace {

struct Expert {
  RunScenario run;
  SearchQuestion question;
  JobLayout layout;
};

// Runs whose layout is stated in full, of which the words of a space can say it (not that eight of them
// offload activations), and which lies on whole dimensions where it lies on a torus; the smallest first.
std::vector<Expert> read_experts() {
  std::vector<Expert> found;
  for (const char* table : {"gpu_runs", "tpu_runs"}) {
    std::ostringstream text;
    text << std::ifstream(std::string(PODSIM_SOURCE_DIR "/scenarios/measurements/") + table + ".csv").rdbuf();
    for (const RunRow& row : read_run_table(table, text.str()).rows) {
      RunScenario run = run_scenario(row, builtin_run_rules(), testing::built_in());
      if (!run.ready || !run.skipped.empty() || run.chips < 8) continue;
      LoadSearchResult loaded = load_search(run.id, run.text, testing::built_in(), {});
      if (!loaded.question) continue;
      SearchQuestion& question = *loaded.question;
      question.space.memory_headroom_share = 0;  // what ran fitted, however closely
      const auto layout = layout_of(question.spec);
      if (!layout || Space(question.spec, question.space).why_illegal(*layout).find("whole dimensions") !=
                         std::string::npos)
        continue;
      found.push_back({std::move(run), std::move(question), *layout});
    }
  }
  std::ranges::stable_sort(found, {}, [](const Expert& each) { return each.run.chips; });
  return found;
}

const std::vector<Expert>& experts() {
  static const std::vector<Expert> all = read_experts();
  return all;
}

TEST(Experts, layouts_of_published_runs_are_in_the_space_of_their_job_with_the_step_of_run) {
  EXPECT_GE(experts().size(), 222U);
  std::map<std::string, int> of_source;
  int count = 0;
  for (const Expert& each : experts()) {
    for (const char* source : {"megatron", "nemo", "mlperf", "maxtext", "torchtitan"})
      of_source[source] += each.run.family.find(source) != std::string::npos ? 1 : 0;
    const Space space(each.question.spec, each.question.space);
    EXPECT_EQ(space.why_illegal(each.layout), "") << each.run.id;
    JobLayout stem = each.layout;
    stem.schedule = PipelineSchedule::k1F1B;
    stem.chunks = 1;
    EXPECT_TRUE(std::ranges::binary_search(space.stems(), stem) &&
                std::ranges::count(space.leaves(stem), each.layout) == 1)
        << each.run.id << " " << to_string(each.layout);
    if (++count % 40 != 0 || each.run.chips > 1024) continue;
    EXPECT_EQ(predict_step(with_layout(each.question.spec, each.layout), {}).report.step_time,
              predict_step(each.question.spec, {}).report.step_time)
        << each.run.id;
  }
  for (const auto& [source, runs] : of_source) EXPECT_GE(runs, 4) << source;
}

TEST(Experts, layouts_of_published_runs_are_not_faster_than_those_that_a_search_finds) {
  const int of_each = testing::asked_for("PODSIM_EXPERTS", 0);
  if (of_each == 0) GTEST_SKIP() << "PODSIM_EXPERTS is not set";
  std::map<std::string, int> searched;  // [family]
  for (const Expert& each : experts()) {
    if (each.run.chips < 64 || each.run.chips > 1024 || searched[each.run.family] == of_each) continue;
    const Spec& spec = each.question.spec;
    const Report predicted = predict_step(spec, {}).report;
    if (!predicted.memory.fits) {
      std::printf("%s does not fit by prediction, and is left out\n", each.run.id.c_str());
      continue;
    }
    ++searched[each.run.family];
    const Space space(spec, each.question.space);
    SearchOptions options;
    options.top = 1;
    options.gap = 0.02;
    const SearchAnswer answer = search(space, options);
    const Time own = predicted.step_time;
    ASSERT_FALSE(answer.best.empty()) << each.run.id;
    ASSERT_TRUE(answer.own) << each.run.id << " does not fit";
    EXPECT_EQ(answer.own->figures.step_time, own) << each.run.id;
    const FoundLayout& best = answer.best.front();
    EXPECT_LE(best.figures.step_time, own) << each.run.id;
    std::printf("%s, %s, %d chips, %s: %.4f s; found %.4f s, %s\n", each.run.id.c_str(),
                each.run.model.c_str(), each.run.chips, to_string(each.layout).c_str(), own.in_seconds(),
                best.figures.step_time.in_seconds(), to_string(best.layout).c_str());
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace podsim::experts_test
