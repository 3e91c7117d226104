// What people look at: pages of every verb, whose figures are those of its JSON digit for digit; plots of
// terminals; drawings of networks; traces for viewers.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "proto/pages/json_digits.h"
#include "proto/pages/page.h"
#include "proto/perfetto.pb.h"
#include "tests/cli/command.h"
#include "tests/proto/pages/read_page.h"

namespace podsim::html_test {
namespace {

std::string small() { return small_scenario(); }

struct PageCase {
  std::string name, arguments;

  friend std::ostream& operator<<(std::ostream& out, const PageCase& shown) { return out << shown.name; }
};

std::vector<PageCase> page_cases() {
  return {
      {"run", "run " + small()},
      {"slow", "run scenarios/stage_imbalance_32_h100.textproto"},
      {"jobs", "run scenarios/two_jobs_oversubscribed.textproto"},
      {"seeds", "run tests/golden/jitter_16_h100.scenario.textproto --seeds 3"},
      {"compare", "compare " + small() + " --set job.recompute=full,none"},
      {"scale", "scale " + small() + " --chips 8,16,32 --weak --strong"},
      {"whatif", "whatif " + small() + " --slow chip:3=0.8x"},
      {"search", "search " + small() + " --top 3 --set space.tensor=2,4"},
      {"plan", "plan " + small() + " --tokens 1e9 --chips 16 --set space.tensor=4"},
      {"reliability", "reliability scenarios/reliability/spares_2048_nodes.textproto --seeds 2"},
      {"replay", "replay tests/hostile/inputs/trace.csv --meta tests/hostile/inputs/meta.yaml"},
      {"validate", "validate scenarios/measurements/gpu_runs.csv --only id=g057"},
  };
}

class Html : public ::testing::TestWithParam<PageCase> {};

TEST_P(Html, show_the_figures_of_the_json_digit_for_digit) {
  const std::string path = temporary_file(GetParam().name + ".html", "");
  const CommandResult result =
      podsim_command(GetParam().arguments + (GetParam().name == "replay" ? "" : " --quiet") +
                     " --format json --html " + path);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::map<std::string, std::string> digits;
  for (const JsonValue& value : json_values(result.out)) digits[value.key] = value.text;
  const std::string page = read_file(path);
  std::map<std::string, int> shown;
  for (const auto& [key, text] : podsim::testing::figures_of_page(page)) {
    ASSERT_EQ(digits.count(key), 1u) << key;
    EXPECT_EQ(text, digits[key]) << key;
    ++shown[key];
  }
  for (const auto& [key, text] : digits)
    EXPECT_TRUE(text.empty() || shown.contains(key)) << "every value of the JSON stands on the page: " << key;
  EXPECT_LE(page.size(), 1'500'000u);
  EXPECT_NE(page.find("<svg xmlns"), std::string::npos) << "there is a picture";
  EXPECT_NE(page.find("podsim " + GetParam().arguments.substr(0, 6)), std::string::npos)
      << "the command stands on the page";
}

INSTANTIATE_TEST_SUITE_P(Verbs, Html, ::testing::ValuesIn(page_cases()),
                         [](const ::testing::TestParamInfo<PageCase>& each) { return each.param.name; });

TEST(RunPage, has_a_panel_for_everything_that_the_step_shows) {
  const std::string path = temporary_file("panels.html", "");
  ASSERT_EQ(podsim_command("run scenarios/one_slow_chip_512.textproto --quiet --html " + path).exit_code, 0);
  const std::string page = read_file(path);
  for (const char* id : {"step", "schedule", "memory", "stragglers", "network", "operations", "collectives",
                         "cost", "origin", "values"})
    EXPECT_NE(page.find("<section id=\"" + std::string(id) + "\""), std::string::npos) << id;
  for (const char* picture : {"breakdown", "schedule", "memory", "memory-over-step", "heat", "links",
                              "roofline", "collectives", "certainty"})
    EXPECT_NE(page.find("data-picture=\"" + std::string(picture) + "\""), std::string::npos) << picture;
  EXPECT_NE(page.find("question: "), std::string::npos) << "the scenario as text";
  EXPECT_NE(page.find("What is assumed"), std::string::npos);
  EXPECT_NE(page.find("What the scenario leaves out"), std::string::npos);
}

TEST(RunPage, every_number_of_its_tables_of_collectives_and_operations_is_one_of_the_json) {
  const std::string path = temporary_file("detail.html", "");
  const CommandResult with_page = podsim_command("run " + small() + " --quiet --format json --html " + path);
  const CommandResult detailed = podsim_command("run " + small() + " --quiet --format json --detail");
  const CommandResult plain = podsim_command("run " + small() + " --quiet --format json");
  EXPECT_EQ(with_page.out, detailed.out);
  std::map<std::string, std::string> of_detail;
  for (const JsonValue& value : json_values(detailed.out)) of_detail[value.key] = value.text;
  for (const char* key : {"collectives[0].bus_bandwidth_gb_per_s", "collectives[0].link_share",
                          "operations[0].tflop_per_s", "links_by_class[0].share", "near_runs[0].ratio"})
    EXPECT_EQ(of_detail.count(key), 1u) << key;
  for (const JsonValue& value : json_values(plain.out)) {
    // A step that is shown is simulated event by event.
    if (value.key != "events" && value.key != "periods_skipped") {
      EXPECT_EQ(of_detail[value.key], value.text) << value.key;
    }
  }
}

TEST(RunPage, is_of_one_scenario_and_says_so) {
  const CommandResult two = podsim_command("run " + small() + " " + small() + " --quiet --html x.html");
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_NE(two.err.find("give one scenario"), std::string::npos) << two.err;
  const CommandResult heat = podsim_command("run " + small() + " --quiet --svg heat");
  EXPECT_EQ(heat.exit_code, 2);
  EXPECT_NE(heat.err.find("nothing to draw"), std::string::npos) << heat.err;
}

TEST(VerbPages, of_a_search_are_the_same_however_long_it_took) {
  const std::string path = temporary_file("again.html", "");
  const std::string search =
      "search " + small() + " --quiet --threads 1 --set space.tensor=2,4 --html " + path;
  std::string pages[2];
  for (std::string& page : pages) {
    const CommandResult result = podsim_command(search);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    page = read_file(path);
  }
  EXPECT_EQ(pages[0], pages[1]);
}

TEST(VerbPages, show_what_leads_to_their_answer) {
  const auto page_of = [](const std::string& name, const std::string& command) {
    const std::string path = temporary_file(name, "");
    const CommandResult result = podsim_command(command + " --quiet --html " + path);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return read_file(path);
  };
  const std::string search =
      page_of("why.html", "search " + small() + " --top 3 --set space.tensor=2,4 --course");
  EXPECT_NE(search.find("data-picture=\"course\""), std::string::npos) << "how the search went";
  EXPECT_NE(search.find("is the fastest layout that was found."), std::string::npos) << "why not another";
  for (const char* picture : {"money", "layouts"})
    EXPECT_NE(search.find("data-picture=\"" + std::string(picture) + "\""), std::string::npos) << picture;
  EXPECT_NE(search.find(" of memory free; compute "), std::string::npos) << "layout and buckets";
  const std::string plan =
      page_of("plan.html", "plan " + small() + " --tokens 1e9 --chips 8,16 --set space.tensor=4");
  EXPECT_NE(plan.find(" is the first choice."), std::string::npos) << "why not another";
  EXPECT_NE(plan.find(" of memory free; "), std::string::npos);
  const std::string compare = page_of("change.html", "compare " + small() + " --set job.recompute=full,none");
  EXPECT_NE(compare.find("data-picture=\"difference-2\""), std::string::npos);
  const std::string weeks =
      page_of("weeks.html", "reliability scenarios/reliability/spares_2048_nodes.textproto --seeds 3");
  for (const char* picture : {"weeks", "goodput"})
    EXPECT_NE(weeks.find("data-picture=\"" + std::string(picture) + "\""), std::string::npos) << picture;
  const std::size_t ticks = weeks.find("\"shape\":\"tick\",\"x\":[");
  ASSERT_NE(ticks, std::string::npos) << "what struck the run";
  const std::string days = weeks.substr(ticks, weeks.find("]", ticks) - ticks);
  EXPECT_LE(std::count(days.begin(), days.end(), ','), 240) << "more than can be told apart";
  const std::string seeds =
      page_of("seeds.html", "run tests/golden/jitter_16_h100.scenario.textproto --seeds 3");
  EXPECT_NE(seeds.find("data-picture=\"steps\""), std::string::npos);
  EXPECT_NE(seeds.find("<figure class=\"still\""), std::string::npos) << "the network";
}

// Dots of a picture of a page, as its script reads them.
std::string dots_of(const std::string& page, const std::string& series) {
  const std::size_t begin = page.find("{\"name\":\"" + series + "\"");
  return begin == std::string::npos ? "" : page.substr(begin, page.find(']', begin) - begin);
}

TEST(VerbPages, of_scaling_mark_where_the_batch_is_too_small) {
  const std::string job = temporary_file("starved.textproto", R"(
cluster { chip: "h100" chips: 16 fabric: "dgx_h100" }
job {
  model: "llama3_8b" stack: "megatron_bridge_2025"
  mesh { name: "pipeline" size: 4 } mesh { name: "data" size: 4 }
  sharding: "data" pipeline { schedule: one_f_one_b }
  global_batch_sequences: 32 microbatch_sequences: 1 sequence_tokens: 2048 precision: bf16 recompute: full
})");
  const std::string path = temporary_file("starved.html", "");
  const std::string command = "scale " + job + " --strong --chips 16..64x2 --quiet --html " + path;
  ASSERT_EQ(podsim_command(command).exit_code, 0);
  const std::string page = read_file(path);
  // 8, 4 and 2 microbatches for 4 stages; 2, 1 and a half sequence a chip.
  const std::string pipeline = dots_of(page, "fewer microbatches than stages");
  const std::string chips = dots_of(page, "less than a sequence for each chip");
  EXPECT_TRUE(pipeline.ends_with("\"x\":[64.0")) << pipeline;
  EXPECT_TRUE(chips.ends_with("\"x\":[64.0")) << chips;
}

TEST(RunPage, is_the_same_every_time) {
  const std::string path = temporary_file("same.html", "");
  ASSERT_EQ(podsim_command("run " + small() + " --quiet --html " + path).exit_code, 0);
  const std::string first = read_file(path);
  ASSERT_EQ(podsim_command("run " + small() + " --quiet --html " + path).exit_code, 0);
  EXPECT_TRUE(first == read_file(path));
}

// What a command says on a terminal.
std::string on_terminal(const std::string& command) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  EXPECT_EQ(::grantpt(terminal) | ::unlockpt(terminal), 0);
  const std::string path = ::ptsname(terminal);
  const int other = ::open(path.c_str(), O_RDWR | O_NOCTTY);  // so that what was said outlives the command
  std::string said;
  std::thread reader([&] {
    char part[4096];
    for (ssize_t count;
         said.find("[the end]") == std::string::npos && (count = ::read(terminal, part, sizeof part)) > 0;)
      said.append(part, static_cast<std::size_t>(count));
  });
  EXPECT_EQ(podsim_command(command + " > " + path + "; printf '[the end]' > " + path).exit_code, 0);
  reader.join();
  ::close(other);
  ::close(terminal);
  return said;
}

TEST(Plots, stand_below_the_table_on_a_terminal_and_never_in_a_pipe) {
  const std::string run = "run " + small() + " --quiet", title = "Where the step goes";
  EXPECT_EQ(podsim_command(run).out.find(title), std::string::npos);
  const std::string shown = on_terminal(run);
  EXPECT_NE(shown.find(title), std::string::npos);
  EXPECT_EQ(on_terminal(run + " --color never").find(title), std::string::npos);
  EXPECT_EQ(on_terminal(run + " --format json").find(title), std::string::npos);
  EXPECT_NE(podsim_command(run + " --color always").out.find("\033[38;5;"), std::string::npos);
}

TEST(Plots, have_no_colour_where_NO_COLOR_is_set) {
  const std::string run = "run " + small() + " --quiet";
  ::setenv("TERM", "xterm", 1);
  EXPECT_NE(on_terminal(run).find("\033[38;5;"), std::string::npos);
  ::setenv("NO_COLOR", "1", 1);
  const std::string plain = on_terminal(run);
  ::unsetenv("NO_COLOR");
  EXPECT_NE(plain.find("Where the step goes"), std::string::npos);
  EXPECT_EQ(plain.find('\033'), std::string::npos);
}

TEST(Plots, show_curves_of_scaling_and_the_front_of_a_plan) {
  const std::string curve =
      podsim_command("scale " + small() + " --chips 8,16,32 --quiet --color always").out;
  EXPECT_NE(curve.find("efficiency, % against chips"), std::string::npos) << curve;
  const std::string plan =
      podsim_command("plan " + small() +
                     " --tokens 1e9 --chips 8,16 --set space.tensor=4 --quiet --color always")
          .out;
  EXPECT_NE(plan.find("USD against days"), std::string::npos) << plan;
}

// Drawn strokes of a kind of link.
std::size_t strokes_of(const std::string& svg, const std::string& kind) {
  const std::size_t begin = svg.find("data-kind=\"" + kind + "\"");
  if (begin == std::string::npos) return 0;
  const std::string path = svg.substr(begin, svg.find("/>", begin) - begin);
  return static_cast<std::size_t>(std::count(path.begin(), path.end(), 'M'));
}

TEST(NetworkDrawing, a_torus_shows_every_cable_once_and_both_ends_of_those_that_wrap) {
  const std::string pod = podsim_command("draw --fabric v5p_pod --shape 4x4x8 --svg").out;
  // Inside of planes 2 x 3 x 4 of 8, along z 3 in each cube; stubs of the optical ones at both ends of each
  // ring.
  EXPECT_EQ(strokes_of(pod, "ici"), 8u * 24 + 16 * 6);
  EXPECT_EQ(strokes_of(pod, "ici_optical"), 8u * 16 + 16 * 3);
  for (int z = 0; z < 8; ++z) EXPECT_NE(pod.find(">z = " + std::to_string(z) + "<"), std::string::npos);
  EXPECT_NE(pod.find("stroke-dasharray"), std::string::npos) << "optical links are told apart";
}

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++count;
  return count;
}

TEST(NetworkDrawing, a_torus_of_more_than_4096_chips_is_drawn_by_cubes) {
  const CommandResult result = podsim_command("draw --fabric v5p_pod --shape 16x16x20 --svg");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(count_of(result.out, "class=\"cube\""), 4u * 4 * 5);
  // From each cube to the next along every dimension, and stubs at both ends of each ring.
  EXPECT_EQ(strokes_of(result.out, "ici_optical"), 3u * 80 + 5 * 4 + 5 * 4 + 16);
  EXPECT_NE(result.out.find(">z = 16 to 19<"), std::string::npos);
  EXPECT_EQ(count_of(podsim_command("draw --fabric v5p_pod --shape 16x16x16 --svg").out, "class=\"cube\""),
            0u);
}

// Of 8,192 cubes of 64 chips.
TEST(NetworkDrawing, a_torus_of_more_than_4096_cubes_is_drawn_by_larger_ones_that_say_what_they_hold) {
  const std::string huge = temporary_file(
      "huge.textproto",
      "cluster { chip: \"tpu_v5p\" fabric: \"v5p_pod\" slice_shape: 128 slice_shape: 64 slice_shape: 64\n"
      "  fabric_override { torus { max_chips: 1000000 pod_cubes: 100000 } } }\n"
      "job { model: \"llama3_70b\" stack: \"maxtext_2025\" mesh { name: \"data\" size: 524288 }\n"
      "  sharding: \"fsdp\" global_batch_sequences: 524288 sequence_tokens: 4096 }\n");
  const CommandResult result = podsim_command("draw " + huge + " --svg");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(count_of(result.out, "class=\"cube\""), 16u * 8 * 8);
  EXPECT_NE(result.out.find("by cubes of 8 x 8 x 8 chips"), std::string::npos);
}

TEST(NetworkDrawing, a_twisted_torus_shows_its_seams_and_says_where_they_lead) {
  const CommandResult result = podsim_command("draw --fabric v4_pod --shape 4x4x8 --twisted --svg");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("class=\"seam\""), std::string::npos);
  EXPECT_NE(result.out.find("twisted: past the end of x z goes on by 4"), std::string::npos)
      << result.out.substr(0, 800);
  EXPECT_EQ(podsim_command("draw --fabric v4_pod --shape 4x4x8 --svg").out.find("class=\"seam\""),
            std::string::npos);
}

TEST(NetworkDrawing, what_is_slow_is_struck_out_and_links_have_their_own_load) {
  const std::string slow = temporary_file(
      "slow.textproto",
      read_file(small()) + " adversity { slow_link { chip: 3 kind: \"nic\" speed_fraction: 0.5 } }");
  const CommandResult result = podsim_command("draw " + slow + " --svg --load");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("with parts that are slow"), std::string::npos) << result.out.substr(0, 600);
}

TEST(NetworkDrawing, other_networks_stand_in_columns_and_count_what_has_no_room) {
  const std::string cluster = podsim_command("draw --fabric dgx_h100 --chips 256 --svg").out;
  EXPECT_NE(cluster.find("chips 8 to 15"), std::string::npos);
  EXPECT_NE(cluster.find(">leaf 0<"), std::string::npos) << cluster;
  EXPECT_NE(cluster.find("and 8 more"), std::string::npos);
  EXPECT_EQ(strokes_of(cluster, "nvlink"), 24u);
  EXPECT_GT(strokes_of(cluster, "nic"), 0u);
}

TEST(NetworkDrawing, links_have_the_colour_of_the_step_that_loads_them) {
  const std::string plain = podsim_command("draw " + small() + " --svg").out;
  const std::string loaded = podsim_command("draw " + small() + " --svg --load").out;
  EXPECT_EQ(plain.find("of the busiest used"), std::string::npos);
  EXPECT_NE(loaded.find("of the busiest used"), std::string::npos);
  EXPECT_EQ(strokes_of(plain, "nvlink"), strokes_of(loaded, "nvlink"));
  EXPECT_EQ(podsim_command("draw " + small() + " --load").exit_code, 2);
  EXPECT_EQ(podsim_command("draw --fabric dgx_h100 --chips 8 --svg --load").exit_code, 2);
}

TEST(NetworkDrawing, what_failed_is_crossed_out) {
  const std::string failed = temporary_file(
      "failed.textproto", read_file(small()) + " adversity { failed_port { chip: 3 kind: \"nic\" } }");
  const CommandResult result = podsim_command("draw " + failed + " --svg");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("limit cross"), std::string::npos);
}

TEST(StepTrace, protoc_prints_every_packet_that_a_run_writes) {
  const std::string path = temporary_file("step.pftrace", "");
  ASSERT_EQ(podsim_command("run " + small() + " --quiet --perfetto " + path).exit_code, 0);
  perfetto::Trace trace;
  ASSERT_TRUE(trace.ParseFromString(read_file(path)));
  const CommandResult printed =
      podsim_command("--version && protoc --decode=podsim.perfetto.Trace proto/perfetto.proto < " + path);
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  std::istringstream lines(printed.out);
  int packets = 0, names = 0, unknown = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t word = line.find_first_not_of(' ');
    packets += line == "packet {" ? 1 : 0;
    names += word != std::string::npos && line.compare(word, 16, "track_descriptor") == 0 ? 1 : 0;
    unknown += word != std::string::npos && line[word] >= '0' && line[word] <= '9' ? 1 : 0;
  }
  EXPECT_EQ(packets, trace.packet_size());
  EXPECT_GT(names, 3);
  EXPECT_EQ(unknown, 0) << "protoc names every field";
}

TEST(StepTrace, of_a_part_of_a_step_is_smaller_and_a_wrong_part_is_told) {
  const std::string whole = temporary_file("whole.pftrace", ""), part = temporary_file("part.pftrace", "");
  const std::string run = "run " + small() + " --quiet --perfetto ";
  ASSERT_EQ(podsim_command(run + whole).exit_code, 0);
  const CommandResult cut = podsim_command(run + part + " --trace-window 0..100ms --trace-stages 0");
  ASSERT_EQ(cut.exit_code, 0) << cut.err;
  perfetto::Trace trace;
  ASSERT_TRUE(trace.ParseFromString(read_file(part)));
  EXPECT_LT(read_file(part).size(), read_file(whole).size() / 2);
  for (const char* wrong :
       {"--trace-window 2s", "--trace-window 3s..2s", "--trace-window 1s..2h", "--trace-window ..1s",
        "--trace-window 1000s..1001s", "--trace-stages 7", "--trace-stages x"}) {
    const CommandResult refused = podsim_command(run + part + " " + wrong);
    EXPECT_EQ(refused.exit_code, 2) << wrong;
    EXPECT_NE(refused.err.find(std::string(wrong).substr(0, 14)), std::string::npos) << refused.err;
  }
  EXPECT_EQ(podsim_command("run " + small() + " --trace-stages 0").exit_code, 2) << "there is no trace";
}

}  // namespace
}  // namespace podsim::html_test
