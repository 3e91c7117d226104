// Scenarios and reports of the library, held against what the program prints.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "api/podsim/podsim.h"
#include "tests/cli/command.h"

namespace podsim::api_library_test {
namespace {

using nlohmann::json;

const std::string kQwen = std::string(PODSIM_SOURCE_DIR) + "/scenarios/qwen3_14b_8_h100.textproto";
const std::string kSlow = std::string(PODSIM_SOURCE_DIR) + "/scenarios/one_slow_chip_512.textproto";
const std::string kJobs = std::string(PODSIM_SOURCE_DIR) + "/scenarios/two_jobs_oversubscribed.textproto";

// A space of few layouts.
const std::vector<std::pair<std::string, std::string>> kNarrow = {{"space.tensor", "1,2"},
                                                                  {"space.pipeline", "1"},
                                                                  {"space.context", "1"},
                                                                  {"space.sharding", "fsdp"},
                                                                  {"space.recompute", "full"}};

Scenario loaded(const std::string& path) {
  Expected<Scenario> scenario = Scenario::load(path);
  EXPECT_TRUE(scenario) << scenario.error().text();
  return *scenario;
}

StepReport report_of(const Scenario& scenario) {
  const Expected<StepReport> report = scenario.evaluate();
  EXPECT_TRUE(report) << report.error().text();
  return *report;
}

// The element of a JSON text at the name of a figure.
const json& at(const json& whole, const std::string& name) {
  std::string pointer;
  for (const char c : "/" + name) {
    if (c == '.' || c == '[') {
      pointer += '/';
    } else if (c != ']') {
      pointer += c;
    }
  }
  return whole.at(json::json_pointer(pointer));
}

json json_of(const Value& value) {
  return std::visit(
      [](const auto& held) {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return json();
        } else {
          return json(held);
        }
      },
      value);
}

TEST(Library, shows_a_step_as_the_program_does) {
  Scenario scenario = loaded(kSlow);
  ASSERT_FALSE(scenario.set("job.global_batch_sequences", "128"));
  const StepReport report = report_of(scenario);
  const std::string page = *report.html(), panels = *report.panels();
  EXPECT_NE(page.find("\n# --set job.global_batch_sequences=128"), std::string::npos);
  EXPECT_EQ(panels.find("<script"), std::string::npos);
  EXPECT_EQ(panels.find("<html"), std::string::npos);
  std::size_t drawn = 0;
  for (const std::string& picture : picture_names())
    drawn += report.picture(picture).starts_with("<svg") ? 1 : 0;
  EXPECT_EQ(drawn, picture_names().size() - 1) << "all but \"steps\", of which there is one";
  EXPECT_EQ(report.picture("steps"), "");
  EXPECT_EQ(report.picture("nothing"), "");
  const std::string file = temporary_file("step.pftrace", "");
  EXPECT_EQ(
      podsim_command("run " + kSlow + " --quiet --set job.global_batch_sequences=128 --perfetto " + file)
          .exit_code,
      0);
  EXPECT_EQ(*report.trace("perfetto"), read_file(file));
  EXPECT_TRUE(report.trace("chrome")->starts_with("{"));
  EXPECT_NE(report.trace("xml").error().text().find("perfetto"), std::string::npos);
  const StepReport jobs = report_of(loaded(kJobs));
  EXPECT_TRUE(jobs.html());
  EXPECT_EQ(jobs.trace("perfetto").error().kind, Error::Kind::kInput);
}

TEST(Library, has_the_version_of_the_project) {
  EXPECT_EQ(library_version(), PODSIM_PROJECT_VERSION);
  EXPECT_EQ(std::to_string(PODSIM_VERSION_MAJOR) + "." + std::to_string(PODSIM_VERSION_MINOR) + "." +
                std::to_string(PODSIM_VERSION_PATCH),
            PODSIM_PROJECT_VERSION);
}

TEST(Library, reports_what_the_program_reports_in_every_format) {
  for (const std::string& path : {kQwen, kSlow, kJobs}) {
    const StepReport report = report_of(loaded(path));
    for (const std::string format : {"json", "csv", "textproto", "table"})
      EXPECT_EQ(report.render(format), podsim_command("run " + path + " --format " + format).out) << format;
  }
  EXPECT_EQ(report_of(loaded(kQwen)).render("xml"), "");
}

TEST(Library, finds_every_figure_of_the_json_by_its_name) {
  for (const std::string& path : {kQwen, kSlow, kJobs}) {
    const StepReport report = report_of(loaded(path));
    const json whole = json::parse(report.json());
    const std::vector<std::string> names = report.names();
    EXPECT_GE(names.size(), 60u);
    std::size_t leaves = 0;
    const json flat = whole.flatten();  // in which empty lists are null
    for (const auto& [pointer, leaf] : flat.items())
      leaves += whole.at(json::json_pointer(pointer)).is_primitive();
    EXPECT_EQ(names.size(), leaves);
    for (const std::string& name : names) {
      const Expected<Value> value = report.figure(name);
      ASSERT_TRUE(value) << name;
      EXPECT_EQ(json_of(*value), at(whole, name)) << name;
    }
  }
}

TEST(Library, names_the_nearest_figure_for_one_that_there_is_not) {
  const StepReport report = report_of(loaded(kQwen));
  const Expected<Value> value = report.figure("step_tme_s");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().kind, Error::Kind::kInput);
  EXPECT_NE(value.error().text().find("did you mean \"step_time_s\"?"), std::string::npos)
      << value.error().text();
  EXPECT_FALSE(report.figure(""));
  EXPECT_FALSE(report.figure("memory_per_chip_gib"));
  EXPECT_FALSE(report.figure("algorithms[99]"));
  EXPECT_FALSE(report.figure("algorithms[x]"));
  EXPECT_FALSE(report.figure("step_time_s.x"));
  EXPECT_TRUE(std::isnan(report.number("chip")));
  EXPECT_GT(report.number("step_time_s"), 0);
  EXPECT_EQ(report.number("fits"), 1);
}

TEST(Library, changes_a_field_and_answers_as_if_nothing_had_been_asked_before) {
  Scenario scenario = loaded(kQwen);
  report_of(scenario);
  for (const std::string value : {"2", "1", "4", "2"}) {
    ASSERT_FALSE(scenario.set("job.microbatch_sequences", value));
    EXPECT_EQ(report_of(scenario).json(),
              podsim_command("run " + kQwen + " --format json --set job.microbatch_sequences=" + value).out);
  }
  EXPECT_EQ(scenario.settings().size(), 1u);
}

TEST(Library, calls_more_chips_than_can_be_told_apart_a_mistake_of_the_input) {
  Scenario scenario = loaded(kQwen);
  for (const auto& [field, value] : {std::pair{"cluster.chips", "2097152"},
                                     {"cluster.oversubscription", "2"},
                                     {"job.mesh[0].size", "rest"},
                                     {"job.global_batch_sequences", "4194304"}})
    ASSERT_FALSE(scenario.set(field, value)) << field;
  const Expected<StepReport> report = scenario.evaluate();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, Error::Kind::kInput);
  EXPECT_NE(report.error().text().find("2097152 chips"), std::string::npos) << report.error().text();
}

TEST(Library, tells_mistakes_with_their_place) {
  const Expected<Scenario> scenario = Scenario::parse("name: \"a\"\njob { modle: \"x\" }\n", "my scenario");
  ASSERT_FALSE(scenario);
  EXPECT_EQ(scenario.error().kind, Error::Kind::kInput);
  ASSERT_GE(scenario.error().diagnostics.size(), 1u);
  const Diagnostic& first = scenario.error().diagnostics.front();
  EXPECT_EQ(first.file, "my scenario");
  EXPECT_EQ(first.line, 2);
  EXPECT_EQ(first.column, 7);
  EXPECT_EQ(first.source_line, "job { modle: \"x\" }");
  EXPECT_NE(first.hint.find("model"), std::string::npos);
  EXPECT_FALSE(Scenario::load("there/is/none.textproto"));
}

TEST(Library, tells_mistakes_in_an_argument_with_the_call_and_what_was_given) {
  const Expected<Value> value = report_of(loaded(kQwen)).figure("step_tme_s");
  ASSERT_FALSE(value);
  ASSERT_EQ(value.error().diagnostics.size(), 1u);
  EXPECT_EQ(value.error().diagnostics.front().file, "figure");
  EXPECT_EQ(value.error().diagnostics.front().source_line, "step_tme_s");
  const auto planned = plan(loaded(kQwen), {});
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.error().diagnostics.at(0).file, "plan");
  EXPECT_EQ(planned.error().diagnostics.at(0).source_line, "tokens");
}

TEST(Library, refuses_what_a_field_cannot_take_and_keeps_the_scenario) {
  Scenario scenario = loaded(kQwen);
  const std::optional<Error> error = scenario.set("job.microbatch_sequences", "many");
  ASSERT_TRUE(error);
  EXPECT_NE(error->text().find("--set"), std::string::npos) << error->text();
  EXPECT_TRUE(scenario.set("job.microbatch_sequence", "2"));
  EXPECT_TRUE(scenario.settings().empty());
  // Each field is good by itself; together they make no job.
  EXPECT_FALSE(scenario.set("cluster.chips", "7"));
  EXPECT_FALSE(scenario.evaluate());
}

TEST(Library, ends_where_the_watch_says_so) {
  Effort effort;
  effort.watch = [](const Advance&) { return false; };
  const Scenario random =
      loaded(std::string(PODSIM_SOURCE_DIR) + "/scenarios/jitter_1000_seeds_8_h100.textproto");
  for (const Scenario& scenario : {loaded(kQwen), random}) {
    const Expected<StepReport> report = scenario.evaluate(effort);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind, Error::Kind::kCancelled);
  }
  const auto rows = sweep(loaded(kQwen), {{"job.microbatch_sequences", {"1", "2"}}}, effort);
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind, Error::Kind::kCancelled);
  EXPECT_TRUE(loaded(kQwen).evaluate());
}

TEST(Library, gives_eight_threads_the_same_report) {
  const Scenario scenario = loaded(kQwen);
  const std::string alone = report_of(scenario).json();
  std::vector<std::thread> threads;
  std::atomic<int> same = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 4; ++k) same += report_of(scenario).json() == alone;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(same, 32);
}

TEST(Library, sweeps_every_combination_and_tells_which_cannot_be) {
  Effort effort;
  effort.threads = 2;
  const auto rows =
      sweep(loaded(kQwen), {{"job.microbatch_sequences", {"1", "2"}}, {"job.recompute", {"full", "fully"}}},
            effort);
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 4u);
  EXPECT_EQ((*rows)[2].values, (std::vector<std::string>{"2", "full"}));
  EXPECT_EQ((*rows)[2].report->json(),
            podsim_command("run " + kQwen +
                           " --format json --set job.microbatch_sequences=2 --set job.recompute=full")
                .out);
  EXPECT_FALSE((*rows)[1].report);
  EXPECT_FALSE((*rows)[3].report);
  EXPECT_FALSE(sweep(loaded(kQwen), {{"seed", std::vector<std::string>(400, "1")},
                                     {"steps", std::vector<std::string>(400, "1")}}));
}

TEST(Library, searches_and_plans_as_the_program_does) {
  Scenario scenario = loaded(kQwen);
  std::string narrow = " --threads 1 --format json";
  for (const auto& [path, value] : kNarrow) {
    ASSERT_FALSE(scenario.set(path, value));
    narrow += " --set " + path + "=" + value;
  }
  const Expected<SearchResult> found = search(scenario);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->json, podsim_command("search " + kQwen + narrow).out);
  const Expected<Scenario> best = Scenario::parse(found->layouts.front().scenario);
  ASSERT_TRUE(best);
  EXPECT_EQ(report_of(*best).number("step_time_s"), found->layouts.front().step_time_s);
  PlanWish plans;
  plans.tokens = 1e11;
  plans.counts = {8};
  const Expected<PlanResult> planned = plan(scenario, plans);
  ASSERT_TRUE(planned) << planned.error().text();
  EXPECT_EQ(planned->json, podsim_command("plan " + kQwen + " --tokens 1e11 --chips 8" + narrow).out);
  plans.chips = {"h1000"};
  EXPECT_NE(plan(scenario, plans).error().text().find("no chip \"h1000\""), std::string::npos);
}

// A gap ends a search before all layouts are found that the others ask for.
TEST(Library, refuses_a_gap_beside_a_share_and_a_front_beside_both) {
  const Scenario scenario = loaded(kQwen);
  const SearchWish wishes[] = {
      {.within = 0.02, .gap = 0.01}, {.gap = 0.01, .pareto = true}, {.within = 0.02, .pareto = true}};
  for (const SearchWish& wish : wishes) {
    const Expected<SearchResult> found = search(scenario, wish);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, Error::Kind::kInput);
  }
}

TEST(Library, tells_that_a_search_is_done_at_its_end_alone) {
  Scenario scenario = loaded(kQwen);
  for (const auto& [path, value] : kNarrow) ASSERT_FALSE(scenario.set(path, value));
  std::vector<Advance> told;
  Effort effort;
  effort.watch = [&](const Advance& advance) {
    told.push_back(advance);
    return true;
  };
  ASSERT_TRUE(search(scenario, {}, effort));
  ASSERT_GT(told.size(), 1U);
  for (std::size_t i = 0; i + 1 < told.size(); ++i) EXPECT_LT(told[i].done, told[i].total) << told[i].text;
  EXPECT_EQ(told.back().done, told.back().total);
  EXPECT_NE(told.back().text.find(" simulated"), std::string::npos);
}

TEST(Library, refuses_wishes_of_a_plan_that_the_program_refuses) {
  const Scenario scenario = loaded(kQwen);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [&](const char* word, const std::function<void(PlanWish&)>& change) {
    PlanWish wish;
    wish.tokens = 1e11;
    wish.counts = {8};
    change(wish);
    const Expected<PlanResult> planned = plan(scenario, wish);
    ASSERT_FALSE(planned) << word;
    EXPECT_EQ(planned.error().kind, Error::Kind::kInput) << word;
    EXPECT_NE(planned.error().text().find(std::string(word) + ": expected"), std::string::npos)
        << planned.error().text();
  };
  for (const double days : {-1.0, 0.0, 1e9, nan})
    refused("most_days", [&](PlanWish& wish) { wish.most_days = days; });
  for (const double usd : {-1.0, 0.0, 1e13, nan})
    refused("most_usd", [&](PlanWish& wish) { wish.most_usd = usd; });
  refused("tokens", [&](PlanWish& wish) { wish.tokens = nan; });
  refused("gap", [](PlanWish& wish) { wish.gap = 1; });
  refused("counts", [](PlanWish& wish) { wish.counts = {8, 0}; });
  refused("price_terms", [](PlanWish& wish) { wish.price_terms = {"on_demand", ""}; });
  refused("precisions", [](PlanWish& wish) { wish.precisions = {""}; });
  PlanWish wish;
  wish.tokens = 1e11;
  wish.precisions = {"fp7"};
  EXPECT_NE(plan(scenario, wish).error().text().find("no precision \"fp7\""), std::string::npos);
}

TEST(Library, plans_what_the_block_of_a_scenario_asks_but_for_what_the_wish_says) {
  const auto asked =
      Scenario::parse(loaded(kQwen).text() +
                      "plan { target_tokens: 1e10 limit { key: \"power_kw\" at_most: 1 }\n"
                      "  choice { chip: \"h200\" chips: \"8\" price_term: \"committed_1y\" } }\n"
                      "space { tensor: 1 context: 1 pipeline: 1 microbatch: 1 }\n");
  ASSERT_TRUE(asked);
  const Expected<PlanResult> of_block = plan(*asked, {});
  ASSERT_TRUE(of_block) << of_block.error().text();
  EXPECT_EQ(of_block->clusters.at(0).chip, "h200");
  EXPECT_EQ(of_block->clusters.at(0).price_term, "committed_1y");
  EXPECT_FALSE(of_block->clusters.at(0).meets_limits);
  PlanWish wish;
  wish.tokens = 2e10;
  wish.price_terms = {"on_demand"};
  const Expected<PlanResult> changed = plan(*asked, wish);
  ASSERT_TRUE(changed) << changed.error().text();
  EXPECT_EQ(changed->clusters.at(0).price_term, "on_demand");
  EXPECT_DOUBLE_EQ(changed->clusters.at(0).days, 2 * of_block->clusters.at(0).days);
}

TEST(Library, lists_the_figures_and_the_fields_that_there_can_be) {
  std::vector<std::string> figures;
  for (const FigureInfo& info : figure_list()) figures.push_back(info.name);
  for (const char* name : {"step_time_s", "memory_per_chip_gib.weights", "fault_costs[].cost_s",
                           "link_utilisation.*.mean", "jobs[].slowdown"})
    EXPECT_NE(std::find(figures.begin(), figures.end(), name), figures.end()) << name;
  bool found = false;
  for (const FieldInfo& field : scenario_fields())
    if (field.message == "JobChoice" && field.name == "recompute") {
      found = true;
      EXPECT_NE(std::find(field.values.begin(), field.values.end(), "full"), field.values.end());
    }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace podsim::api_library_test
