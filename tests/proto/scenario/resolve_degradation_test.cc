// Slow parts, background load and flaps in scenarios: what they become, and what is refused with its place.
#include <gtest/gtest.h>

#include "tests/proto/scenario.h"

namespace podsim::resolve_degradation_test {
namespace {

// Entries begin on line 18; 512 GPUs on 64 hosts, 128 data ranks.
std::string with(const std::string& entries) { return valid_scenario() + "adversity {\n" + entries + "}\n"; }

std::vector<Degradation> slow_of(const std::string& entries) {
  const auto result = load("steps: 9\n" + with(entries));
  EXPECT_EQ(problems_of(result), Lines{});
  return result.spec ? result.spec->adversities.degradations : std::vector<Degradation>{};
}

TEST(ResolveDegradation, an_entry_has_parts_a_speed_and_a_season) {
  const std::vector<Degradation> slow = slow_of(R"(
  slow {
    which {
      kind: "chip" index: 3 indices { first: 8 last: 15 }
      data_rank: 1 random_fraction: 0.5 together: "host"
    }
    speed { shape: normal mean: 0.9 coefficient_of_variation: 0.02 low: 0.8 }
    when {
      window { from_s: 1 to_s: 2 } window { from_s: 3 to_s: 4 }
      repeat_every_s: 10 on_off { share: 0.3 slot_s: 5 }
    }
    draw: 7
  })");
  ASSERT_EQ(slow.size(), 1u);
  const Selector& which = slow[0].which;
  EXPECT_EQ(which.kind, PartKind::kChip);
  EXPECT_EQ(which.numbers, (std::vector<std::pair<int, int>>{{3, 3}, {8, 15}}));
  EXPECT_EQ(which.data_ranks, std::vector<int>{1});
  EXPECT_EQ(which.random_fraction, 0.5);
  EXPECT_EQ(which.together, Domain::kHost);
  EXPECT_EQ(slow[0].factor.shape, SpeedFactor::Shape::kNormal);
  EXPECT_EQ(slow[0].factor.mean, 0.9);
  EXPECT_EQ(slow[0].factor.low, 0.8);
  EXPECT_EQ(slow[0].factor.high, 1);
  const Season& season = slow[0].season;
  EXPECT_EQ(season.windows[1], std::pair(Time::seconds(3), Time::seconds(4)));
  EXPECT_EQ(season.repeat, Time::seconds(10));
  EXPECT_EQ(season.chance_share, 0.3);
  EXPECT_EQ(slow[0].draw, 7u);
}

TEST(ResolveDegradation, background_takes_a_share_and_a_flap_takes_all_for_a_while) {
  const std::vector<Degradation> slow = slow_of(R"(
  nic_flap { which { kind: "nic" index: 9 } at_s: 100 down_s: 5 library_timeout_s: 60 }
  background { which { kind: "leaf_uplink" } taken_fraction: 0.75 })");
  ASSERT_EQ(slow.size(), 2u);
  EXPECT_EQ(slow[0].factor.mean, 0.25);
  EXPECT_TRUE(slow[0].season.always());
  EXPECT_EQ(slow[1].factor.mean, 0);
  EXPECT_EQ(slow[1].season.windows[0], std::pair(Time::seconds(100), Time::seconds(105)));
  EXPECT_EQ(slow[1].library_timeout, Time::seconds(60));
}

TEST(ResolveDegradation, parts_are_those_of_the_fabric) {
  EXPECT_EQ(
      problems_of(with(R"(  slow { which { kind: "hst" } speed_fraction: 0.9 }
  slow { which { kind: "host" index: 64 } speed_fraction: 0.9 }
  slow { which { kind: "host" indices { first: 9 last: 8 } } speed_fraction: 0.9 }
  slow { which { kind: "chip" data_rank: 127 random_fraction: 2 together: "cube" } speed_fraction: 0.9 }
  background { which { kind: "leaf" stage: 3 } taken_fraction: 0.4 }
  nic_flap { which { kind: "chip" } at_s: 4 down_s: 1 library_timeout_s: 1 }
)")),
      (Lines{"18:18 dgx_h100 has no parts of kind \"hst\" | did you mean \"host\"?",
             "19:31 adversity.slow[1].which.index[0] must be below the 64 parts of kind \"host\", not 64 "
             "| they count from 0",
             "20:50 adversity.slow[2].which.indices[0].last must not be below first, 9, but is 8",
             "21:46 adversity.slow[3].which.random_fraction must be from 0 to 1, not 2 | a share: 2 % is "
             "0.02",
             "21:65 parts of kind \"chip\" of dgx_h100 are in no domain \"cube\" | there is: host, "
             "nvlink_domain, leaf, all",
             "22:37 adversity.background[0].which.stage chooses among chips, not switches",
             "23:22 dgx_h100 has no links of kind \"chip\" | it has: nic, nvlink, nvswitch, leaf, "
             "leaf_uplink, spine"}));
}

TEST(ResolveDegradation, speeds_and_seasons_make_sense) {
  EXPECT_EQ(
      problems_of(with(R"(  slow { which { kind: "host" index: 1 } }
  slow { which { kind: "host" index: 2 } speed_fraction: 0.5 speed { shape: uniform low: 0.5 } }
  slow { which { kind: "host" index: 3 } speed { shape: uniform low: 0.9 high: 0.8 } }
  slow { which { kind: "host" index: 4 } speed_fraction: 1.5 }
  slow { which { kind: "host" index: 5 } speed_fraction: 0.5 when { window { from_s: 5 to_s: 4 } } }
  slow { which { kind: "host" index: 6 } speed_fraction: 0.5 when { window { to_s: 4 from_s: 1 }
    repeat_every_s: 3 } }
  slow { which { kind: "host" index: 7 } speed_fraction: 0.5 when { repeat_every_s: 3 } }
)")),
      (Lines{"18:3 adversity.slow[0].speed_fraction is missing | write, for example, speed_fraction: 0.8",
             "19:62 speed and speed_fraction say the same thing: write one of them",
             "20:74 high must not be below low, 0.9, but is 0.8",
             "21:42 adversity.slow[3].speed_fraction must be from 0.0001 to 1, not 1.5 | a share: 1.5 % is "
             "0.015",
             "22:88 a window ends after it began: to_s must be above from_s",
             "23:78 the window must end before it comes again: to_s must not be above 3 s, repeat_every_s",
             "25:69 no window is there to come again | write, for example, window { from_s: 0 to_s: 60 }"}));
}

TEST(ResolveDegradation, entries_that_meet_on_a_chip_are_both_named) {
  const std::string host = "  slow { which { kind: \"host\" index: 12 } speed_fraction: 0.9 ";
  const Lines clash = {
      "19:3 adversity.slow[1] and adversity.slow[0] (line 18) both choose chip 100 | compose: multiply in "
      "one of "
      "them lets their speeds multiply"};
  EXPECT_EQ(
      problems_of(with(host + "}\n  slow { which { kind: \"chip\" index: 100 } speed_fraction: 0.9 }\n")),
      clash);
  EXPECT_EQ(
      problems_of(with(host + "}\n  slow { which { kind: \"chip\" index: 104 } speed_fraction: 0.9 }\n")),
      Lines{});
  EXPECT_EQ(problems_of(with(
                host +
                "compose: multiply }\n  slow { which { kind: \"chip\" index: 100 } speed_fraction: 0.9 }\n")),
            Lines{});
}

TEST(ResolveDegradation, an_entry_does_not_meet_itself_at_both_ends_of_a_link) {
  const auto torus = [](const std::string& entries) {
    return "cluster { chip: \"tpu_v5p\" chips: 64 fabric: \"v5p_pod\" }\n"
           "job { model: \"llama3_8b\" stack: \"maxtext_2025\" mesh { name: \"fsdp\" size: 64 }\n"
           "sharding: \"fsdp\" global_batch_sequences: 64 sequence_tokens: 4096 }\n"
           "adversity { " +
           entries + " }\n";
  };
  const std::string half = " speed_fraction: 0.5 }";
  for (const std::string which : {"", "index: [0, 1]", "random_fraction: 0.5 together: \"cube\""}) {
    const std::string ici = "which { kind: \"ici\" " + which + " }";
    EXPECT_EQ(problems_of(torus("slow { " + ici + half)), Lines{}) << which;
    EXPECT_EQ(problems_of(torus("background { " + ici + " taken_fraction: 0.5 }")), Lines{}) << which;
  }
  EXPECT_EQ(problems_of(torus("slow { which { kind: \"ici\" index: 0 }" + half +
                              " slow { which { kind: \"ici\" index: 1 }" + half))
                .size(),
            1u)
      << "two entries do, on the cable between their chips";
}

TEST(ResolveDegradation, entries_of_windows_that_never_meet_do_not_overlap) {
  const auto nic = [](const std::string& when) {
    return "  slow { which { kind: \"nic\" index: 12 } speed_fraction: 0.9 when { " + when + " } }\n";
  };
  EXPECT_EQ(problems_of("steps: 9\n" +
                        with(nic("window { from_s: 1 to_s: 2 }") + nic("window { from_s: 2 to_s: 3 }"))),
            Lines{});
  EXPECT_EQ(problems_of("steps: 9\n" + with(nic("window { from_s: 1 to_s: 2 }") +
                                            nic("window { from_s: 2 to_s: 3 } repeat_every_s: 4")))
                .size(),
            1u);
}

TEST(ResolveDegradation, stages_and_data_ranks_are_those_of_the_job) {
  const auto chip = [](const std::string& role) {
    return with("  slow { which { kind: \"chip\" " + role + " } speed_fraction: 0.9 }\n");
  };
  EXPECT_EQ(
      problems_of(chip("stage: 1")),
      Lines{"18:31 adversity.slow[0].which.stage[0] must be below the 1 pipeline stages, not 1 | they count "
            "from 0"});
  EXPECT_EQ(
      problems_of(chip("data_rank: 128")),
      Lines{"18:31 adversity.slow[0].which.data_rank[0] must be below the 128 data ranks, not 128 | they "
            "count from 0"});
  EXPECT_EQ(problems_of(chip("data_rank: 127")), Lines{});
}

TEST(ResolveDegradation, changing_speeds_ask_for_steps) {
  const auto result =
      load(with("  slow { which { kind: \"chip\" } when { swing { amplitude: 0.1 period_s: 60 } } }\n"));
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(result.warnings[0].message, "speeds change over time, but only one step is simulated");
}

}  // namespace
}  // namespace podsim::resolve_degradation_test
