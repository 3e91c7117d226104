// Fields of a run of weeks together, drawn at random: what each changes is what it says, and nothing is paid
// twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/random.h"
#include "prediction/weeks.h"
#include "proto/scenario/load_reliability.h"
#include "tests/rounds.h"

namespace podsim::weeks_laws_test {
namespace {

constexpr double kExact = 1e-9;

// Which of the choices a round has.
class Draws {
 public:
  explicit Draws(std::uint64_t round) : round_(round) {}
  std::string of(const std::vector<std::string>& choices) {
    return choices[random_bits(round_, RandomPurpose::kTest, next_++, 0) % choices.size()];
  }

 private:
  std::uint64_t round_, next_ = 0;
};

// A job of eight hosts, or one that only its step is known of, under a contract, with things that go wrong.
std::string random_weeks(std::uint64_t round) {
  Draws draw(round);
  const bool tpu = draw.of({"h100", "v4"}) == "v4";
  std::string cluster = tpu ? R"(chip: "tpu_v4" fabric: "v4_pod" slice_shape: [4, 4, 4])"
                            : R"(chip: "h100" chips: 64 fabric: "dgx_h100")";
  const std::string contract =
      draw.of({"", R"(price_term: "spot")", R"(price_term: "committed_1y")",
               R"(price_term: "committed_1y" contract { rest_used_share: 0.5 })",
               "usd_per_chip_hour: 3 contract { kind: calendar minimum_days: 30 }",
               "usd_per_chip_hour: 3 contract { kind: reservation }",
               std::string(R"(price_term: "owned" owned { chip_usd: 20000 utilisation: 0.7 })")});
  cluster += " " + contract + draw.of({"", " grid: \"us\"", ""});
  if (contract.find("owned") == std::string::npos) cluster += draw.of({"", " usd_per_kwh: 0.1"});
  std::string text = "cluster { " + cluster + " }\nseeds: 4\n";
  const bool job = draw.of({"job", "step"}) == "job";
  if (job)
    text += std::string(R"(job { model: "llama3_8b" model_override { layers: 2 } precision: bf16
  stack: )") +
            (tpu ? "\"maxtext_2025\"" : "\"megatron_bridge_2025\"") +
            R"( mesh { name: "data" size: 64 } sharding: "data" sharding: "zero1"
  global_batch_sequences: 64 microbatch_sequences: 1 sequence_tokens: 4096 )" +
            draw.of({"", "adapters { rank: 16 matmul: \"qkv\" } ", "",
                     "lengths: \"long_tail_32k\" shapes { bucket_tokens: [1024, 2048] } "}) +
            "}\n";
  text += "reliability { checkpoint { " +
          draw.of({"save_s: 30", "mode: asynchronous pause_s: 2 save_s: 60", "interval_s: 1800 save_s: 20"}) +
          " }\n";
  text += job ? draw.of({" days: 5", " target_tokens: 2e11"})
              : std::string(" days: 9 step_time_s: 4 tokens_per_step: 1e6");
  text += draw.of({"", " spares { nodes: 2 }", " spares { nodes: 1 kind: warm ready { mean_s: 60 } }"});
  text += draw.of({"", " repair { time { mean_s: 40000 } }"});
  text += draw.of({"", " elastic { replicas: 8 least_replicas: 6 reconfigure { mean_s: 30 } }"});
  text += draw.of({"", " lemons { share: 0.1 factor: 20 }", " hazard { diurnal_swing: 0.5 }"});
  text += draw.of({"", " redundant_share: 0.1"});
  text += draw.of({"", " egress { gb: 500 gb_per_day: 10 gb_per_checkpoint: 1 usd_per_gb: 0.08 }"});
  text += "\n failure { component: host per_1000_node_days: 40 }";
  text += draw.of(
      {"", " failure { component: preemption per_1000_node_days: 80 notice_s: 30 repair { mean_s: 7200 } }",
       " failure { component: preemption per_1000_node_days: 80 repair { mean_s: 7200 } }"});
  text += draw.of(
      {"", " failure { component: cable per_day: 2 slows_to: 0.8 repair { mean_s: 3600 } }",
       " failure { component: gpu per_1000_node_days: 20 slows_to: 0.7 swapped_after { mean_s: 900 } }"});
  return text + "\n}\n";
}

// Nothing where the round draws fields that do not go together.
std::optional<ReliabilityReport> weeks_of(const std::string& text,
                                          const std::vector<Override>& overrides = {}) {
  static const Catalog catalog;
  const LoadReliabilityResult loaded = load_reliability("weeks", text, catalog, overrides);
  if (!loaded.question) return std::nullopt;
  return predict_weeks(*loaded.question, {});
}

double usd_of(const ReliabilityReport& report, const std::string& item) {
  const auto line = std::ranges::find(report.bill, item, &BillLine::item);
  return line == report.bill.end() ? 0 : line->usd;
}

double of_chips(const ReliabilityReport& report) {
  return report.figures.cost_usd.mean - usd_of(report, "egress") - usd_of(report, "energy");
}

void expect_close(double a, double b, const std::string& what, const std::string& text) {
  EXPECT_NEAR(a, b, kExact * std::max({std::abs(a), std::abs(b), 1.0})) << what << "\n" << text;
}

// Each chip-hour is in one bucket, and in one line of the bill or unpaid.
void expect_whole(const ReliabilityReport& report, const std::string& text) {
  double buckets = 0, lines = report.unpaid_chip_hours, usd = 0;
  for (const BucketReport& bucket : report.buckets) buckets += bucket.chip_hours;
  for (const BillLine& line : report.bill) {
    usd += line.usd;
    if (line.item != "rest of the term") lines += line.chip_hours;
    if (line.item != "egress" && line.item != "energy")
      expect_close(line.usd, line.chip_hours * std::round(report.usd_per_chip_hour * 1e6) / 1e6, line.item,
                   text);
  }
  const double held = (report.job_chips + report.spare_chips) * report.figures.days.mean * 24;
  expect_close(buckets, held, "buckets", text);
  expect_close(lines, held, "lines", text);
  expect_close(usd, report.figures.cost_usd.mean, "dollars", text);
}

TEST(WeeksLaw, fields_together_pay_each_chip_hour_once_and_change_what_they_say) {
  int tried = 0, with_term = 0, unpaid = 0;
  for (int round = 0; round < testing::rounds(300, 30); ++round) {
    const std::string text = random_weeks(static_cast<std::uint64_t>(round));
    const auto base = weeks_of(text);
    if (!base) continue;
    ++tried;
    expect_whole(*base, text);
    unpaid += base->unpaid_chip_hours > 0;
    with_term += usd_of(*base, "rest of the term") > 0;
    // An hour of owned chips is also of the power that they draw idle, which has a price of its own.
    const Override free_power{"cluster.usd_per_kwh", "0"};
    const auto once = weeks_of(text, {free_power}),
               twice = weeks_of(text, {free_power, {"cluster.hypothetical.price", "2"}});
    ASSERT_EQ(once.has_value(), twice.has_value()) << text;
    if (once && twice) {
      constexpr double kMicroDollars = 1e-5;  // prices are whole ones
      EXPECT_NEAR(of_chips(*twice), 2 * of_chips(*once), kMicroDollars * of_chips(*once)) << text;
      expect_close(twice->figures.days.mean, base->figures.days.mean, "days", text);
    }
    if (const auto moved = weeks_of(text, {{"reliability.egress.usd_per_gb", "0.16"}});
        moved && base->egress_gb > 0) {
      expect_close(moved->figures.cost_usd.mean - usd_of(*moved, "egress"),
                   base->figures.cost_usd.mean - usd_of(*base, "egress"), "egress", text);
      expect_close(usd_of(*moved, "egress"), 2 * usd_of(*base, "egress"), "twice the egress", text);
    }
    if (const auto held = weeks_of(
            text, {{"cluster.contract.kind", "reservation"}, {"cluster.contract.minimum_days", "0"}})) {
      EXPECT_EQ(held->unpaid_chip_hours, 0) << text;
      expect_close(
          of_chips(*held) + usd_of(*base, "rest of the term"),
          of_chips(*base) + base->unpaid_chip_hours * std::round(base->usd_per_chip_hour * 1e6) / 1e6,
          "held instead", text);
    }
  }
  EXPECT_GT(tried, testing::rounds(300, 30) / 2);
  EXPECT_GT(with_term, 0);
  EXPECT_GT(unpaid, 0);
}

}  // namespace
}  // namespace podsim::weeks_laws_test
