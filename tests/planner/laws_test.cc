// Laws of the planner over random jobs on all chips of the catalogue: bounds are bounds, a search finds what
// simulating everything finds, whoever shares it, and its proof holds. PODSIM_LAYOUTS, PODSIM_SPACES,
// PODSIM_FRONTS and PODSIM_PROOFS say how many; then the tests tell how near the bounds came.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "planner/bounds/lighter_stems.h"
#include "planner/bounds/pass_tables.h"
#include "planner/bounds/stem_bounds.h"
#include "planner/search/certificate.h"
#include "planner/search/search.h"
#include "prediction/evaluator.h"
#include "scheduler/lowering/interleave_passes.h"
#include "tests/planner/layout_scenario.h"
#include "tests/rounds.h"

namespace podsim::planner_laws_test {
namespace {

using Random = std::mt19937;

template <class Values>
const auto& one_of(const Values& values, Random& random) {
  return values[random() % std::size(values)];
}

// "[2, 4]": some of the values, in their order, at least one.
std::string some_of(const std::vector<std::string>& values, Random& random) {
  std::string text;
  while (text.empty())
    for (const std::string& value : values)
      if (random() % 2 == 0) text += (text.empty() ? "" : ", ") + value;
  return "[" + text + "]";
}

// A model on chips of some kind, with a stack that has kernels for it.
testing::LayoutQuestion random_question(const std::string& space, Random& random) {
  const Catalog& catalog = testing::built_in();
  static const std::vector<std::string> chips = catalog.names(Catalog::Section::kChips);
  static const std::vector<std::string> models = {"model: \"llama3_8b\" model_override { layers: 4 }",
                                                  "model: \"llama3_8b\" model_override { layers: 6 }",
                                                  "model: \"gpt3_5b\" model_override { layers: 4 }",
                                                  "model: \"mixtral_8x7b\" model_override { layers: 2 }"};
  static const std::vector<std::string> stacks = {"megatron_bridge_2025", "megatron_2021",    "maxtext_2025",
                                                  "torchtitan",           "generic_megatron", "generic_eager",
                                                  "generic_xla"};
  static const std::vector<int> counts = {4, 8, 16, 24, 32, 64};
  for (;;) {
    const std::string& chip = one_of(chips, random);
    const std::vector<std::string> fabrics = catalog.fabrics_of(chip);
    if (fabrics.empty()) continue;
    const int count = one_of(counts, random);
    const std::string cluster = "chip: \"" + chip + "\" chips: " + std::to_string(count) + " fabric: \"" +
                                one_of(fabrics, random) + "\"";
    const std::string job =
        one_of(models, random) + " stack: \"" + one_of(stacks, random) +
        "\" global_batch_sequences: " + std::to_string(count * (1 + random() % 3)) +
        " microbatch_sequences: 1 sequence_tokens: " + std::to_string(1024 << random() % 3);
    try {
      return testing::layout_question(cluster, job, space);
    } catch (const std::runtime_error&) {  // no such slice, no such kernels: another
    }
  }
}

PredictOptions step_alone() {
  PredictOptions options;
  options.memory_advice = false;
  return options;
}

void tell(const std::string& level, std::vector<double>& shares) {
  std::ranges::sort(shares);
  const auto at = [&](double quantile) {
    return shares[static_cast<std::size_t>(quantile * static_cast<double>(shares.size() - 1))];
  };
  std::printf(
      "%s: %zu layouts, bound over step %.3f at the tenth percentile, %.3f at the median, %.6f at most\n",
      level.c_str(), shares.size(), at(0.1), at(0.5), at(1));
}

// What the bounds of passes and of lighter layouts rest on (docs/theory/search.md): of no layout does a pass
// over any piece take less than the table says, but for what is rounded to whole picoseconds.
void expect_no_piece_faster(const StageTimes& own, const StageTimes& table, double rounding,
                            const std::string& what) {
  ASSERT_LE(own.pieces.size(), table.pieces.size()) << what;
  EXPECT_EQ(own.skew, table.skew) << what;
  for (std::size_t p = 0; p < own.pieces.size(); ++p)
    for (std::size_t pass = 0; pass < std::size(own.pieces[p].of_pass); ++pass) {
      const PieceSeconds::OfPass &mine = own.pieces[p].of_pass[pass], &least = table.pieces[p].of_pass[pass];
      const auto hold = [&](const char* part, double takes, double at_least) {
        EXPECT_GE(takes, at_least * (1 - rounding)) << part << " of piece " << p << ", pass " << pass << "\n"
                                                    << what;
      };
      hold("computation", mine.compute, least.compute);
      hold("what waits", mine.blocked, least.blocked);
      hold("activations inside servers", mine.activations.scale_up, least.activations.scale_up);
      hold("activations between servers", mine.activations.scale_out, least.activations.scale_out);
      hold("the host", mine.host, least.host);
      hold("all", mine.chip, least.chip);
    }
  const auto in_turns = [](const PieceSeconds& piece) {
    std::vector<LoneOp> turns;
    interleave({piece.forward, piece.backward_beside}, turns);
    return lone_seconds(turns);
  };
  for (std::size_t p = 0; p < own.pieces.size(); ++p)
    EXPECT_GE(in_turns(own.pieces[p]), in_turns(table.pieces[p]) * (1 - rounding)) << "piece " << p << what;
}

using Tightness = std::map<std::string, std::vector<double>>;  // [level] bound / step, or / memory

// The bounds of one stem, by its own pieces and by the tables of all.
struct BoundsOfStem {
  const testing::LayoutQuestion& asked;
  const JobLayout& stem;
  const MeshContext& context;
  const StemBounds& own;
  PassTables& tables;
  LighterTables& lighter;
};

void expect_no_bound_above(const BoundsOfStem& bounds, const JobLayout& layout, const Report& report,
                           Tightness& tightness) {
  const Spec spec = with_layout(bounds.asked.question.spec, layout);
  const auto hold = [&](const char* level, double bound_s) {
    EXPECT_LE(rounded_down(bound_s), report.step_time) << level << ": " << to_string(layout) << "\n"
                                                       << testing::text_of(bounds.asked, layout);
    tightness[level].push_back(bound_s / report.step_time.in_seconds());
  };
  hold("arithmetic", arithmetic_bound_s(spec));
  const double stages_s = bounds.own.stage_bound_s(layout);
  hold("stages", stages_s);
  const double passes_s = bounds.tables.bound_s(bounds.stem, {layout});
  EXPECT_LE(passes_s, stages_s * (1 + 1e-12)) << to_string(layout);
  hold("passes", passes_s);
  const double lighter_s = bounds.lighter.bound(bounds.stem, {layout}).in_seconds();
  EXPECT_LE(lighter_s, passes_s) << to_string(layout) << "\n" << testing::text_of(bounds.asked, layout);
  hold("lighter", lighter_s);
  const double relaxed_s = relaxed_bound_s(spec, bounds.context);
  hold("relaxed", relaxed_s);
  EXPECT_EQ(StemBounds(spec, bounds.context).relaxed_bound_s(layout), relaxed_s) << to_string(layout);
  const Bytes all = bounds.own.memory(layout, false);
  const auto hold_bytes = [&](const char* level, Bytes least) {
    EXPECT_LE(least, all) << level << ": " << to_string(layout) << "\n"
                          << testing::text_of(bounds.asked, layout);
    tightness[level].push_back(least.value / all.value);
  };
  hold_bytes("memory of the state", least_state(spec.job, layout, report.parameters));
  hold_bytes("memory of the ends", bounds.own.memory(layout, true));
  hold_bytes("memory of passes", bounds.tables.memory(bounds.stem, layout));
}

TEST(PlannerLaws, no_bound_of_a_random_layout_on_any_chip_is_above_its_step) {
  const int wanted = testing::asked_for("PODSIM_LAYOUTS", 24);
  Random random(static_cast<Random::result_type>(testing::asked_for("PODSIM_SEED", 11)));
  Tightness tightness;
  std::set<std::string> chips;
  int seen = 0;
  while (seen < wanted) {
    const testing::LayoutQuestion asked = random_question(
        "schedule: [gpipe, one_f_one_b, interleaved, shifting, zero_bubble_h1, zero_bubble_v, dualpipe] "
        "sharding: [ddp, zero1, zero2, fsdp, hsdp] recompute_layers: [0, 1]",
        random);
    const Spec& base = asked.question.spec;
    const Space space(base, asked.question.space);
    const LighterStems lighter(space);
    const Fabric fabric = build_fabric(base.cluster.fabric);
    Evaluator evaluator;
    for (int i = 0; i < 6 && !space.stems().empty(); ++i) {
      const JobLayout& stem = one_of(space.stems(), random);
      std::vector<JobLayout> leaves = space.leaves(stem);
      std::ranges::shuffle(leaves, random);
      leaves.resize(std::min<std::size_t>(leaves.size(), 4));
      if (leaves.empty()) continue;
      const Spec of_stem = with_layout(base, stem);
      const MeshContext context(fabric, of_stem);
      const StemBounds bounds(of_stem, context);
      MeshContexts contexts(fabric);
      PassTables tables(space, contexts);
      LighterTables lighter_tables(space, lighter, contexts);
      expect_no_piece_faster(bounds.times(), tables.times(stem), 1e-12, testing::text_of(asked, stem));
      if (lighter.of(stem))
        expect_no_piece_faster(bounds.times(), lighter_tables.times(stem), 1e-5,
                               testing::text_of(asked, stem));
      for (const JobLayout& layout : leaves) {
        const Report report = evaluator.predict(with_layout(base, layout), step_alone()).report;
        ++seen;
        expect_no_bound_above({asked, stem, context, bounds, tables, lighter_tables}, layout, report,
                              tightness);
        chips.insert(base.cluster.chip.name);
      }
    }
  }
  if (std::getenv("PODSIM_LAYOUTS") == nullptr) return;
  std::printf("%zu kinds of chips\n", chips.size());
  for (auto& [level, shares] : tightness) tell(level, shares);
}

// All that fit in what a search may use, fastest first.
std::vector<FoundLayout> all_simulated(const Space& space) {
  const Spec& base = space.spec();
  const Bytes room = (1 - space.values().memory_headroom_share) * base.cluster.chip.hbm_capacity;
  Evaluator evaluator;
  std::vector<FoundLayout> all;
  for (const JobLayout& layout : testing::all_layouts(space)) {
    const Spec spec = with_layout(base, layout);
    const Appraisal appraisal = evaluator.evaluate(spec);
    if (!appraisal.fits() || appraisal.needed > room) continue;
    FoundLayout found{layout, {}, appraisal.needed};
    found.figures.step_time = appraisal.step_time;
    all.push_back(found);
  }
  std::ranges::sort(all, [](const FoundLayout& a, const FoundLayout& b) {
    return std::pair(a.figures.step_time, a.layout) < std::pair(b.figures.step_time, b.layout);
  });
  return all;
}

// Of these, fastest first, all that no other beats in both step and memory.
std::vector<FoundLayout> front_of(const std::vector<FoundLayout>& all) {
  std::vector<FoundLayout> front;
  for (const FoundLayout& each : all)
    if (front.empty() || each.memory < front.back().memory) front.push_back(each);
  return front;
}

void expect_same(const std::vector<FoundLayout>& found, const std::vector<FoundLayout>& expected,
                 const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].layout, expected[i].layout) << what << " " << i;
    EXPECT_EQ(found[i].figures.step_time, expected[i].figures.step_time) << what << " " << i;
  }
}

std::string random_space(Random& random) {
  return "tensor: " + some_of({"1", "2", "4", "8"}, random) + " context: " + some_of({"1", "2"}, random) +
         " pipeline: " + some_of({"1", "2", "4"}, random) + " microbatch: " + some_of({"1", "2"}, random) +
         " schedule: " + some_of({"gpipe", "one_f_one_b", "interleaved", "zero_bubble_h1"}, random) +
         " sharding: " + some_of({"ddp", "zero1", "zero2", "fsdp"}, random) +
         " recompute: " + some_of({"none", "selective", "full"}, random);
}

// The best of all parts, as merged stores have them.
std::vector<FoundLayout> found_in_parts(const Space& space, SearchOptions options, int shards) {
  std::vector<FoundLayout> found;
  options.shards = shards;
  for (options.shard = 1; options.shard <= shards; ++options.shard)
    std::ranges::copy(search(space, options).best, std::back_inserter(found));
  std::ranges::sort(found, [](const FoundLayout& a, const FoundLayout& b) {
    return std::pair(a.figures.step_time, a.layout) < std::pair(b.figures.step_time, b.layout);
  });
  if (!options.pareto) {
    found.resize(std::min<std::size_t>(static_cast<std::size_t>(options.top), found.size()));
    return found;
  }
  return front_of(found);
}

TEST(PlannerLaws, search_of_a_random_space_finds_the_ten_best_and_the_front_of_all_in_one_part_or_eight) {
  const int wanted = testing::asked_for("PODSIM_SPACES", 2);
  const std::size_t most = std::getenv("PODSIM_SPACES") == nullptr ? 60 : 3000;
  Random random(5);
  for (int seen = 0; seen < wanted;) {
    const testing::LayoutQuestion asked = random_question(random_space(random), random);
    const Space space(asked.question.spec, asked.question.space);
    const std::size_t layouts = testing::all_layouts(space).size();
    if (layouts < 8 || layouts > most) continue;
    const std::vector<FoundLayout> all = all_simulated(space);
    if (all.empty()) continue;
    ++seen;
    const std::vector<FoundLayout> front = front_of(all);
    std::vector<FoundLayout> best = all;
    best.resize(std::min<std::size_t>(10, all.size()));
    SearchOptions options;
    options.threads = 1 + static_cast<int>(random() % 4);
    const SearchAnswer answer = search(space, options);
    EXPECT_TRUE(answer.proven);
    expect_same(answer.best, best, asked.text);
    options.pareto = true;
    expect_same(search(space, options).best, front, asked.text);
    const bool all_counts = std::getenv("PODSIM_SPACES") != nullptr;
    const int some = 2 + static_cast<int>(random() % 7);
    for (int shards = all_counts ? 1 : some; shards <= (all_counts ? 8 : some); ++shards) {
      options.pareto = false;
      expect_same(found_in_parts(space, options, shards), best, asked.text);
      options.pareto = true;
      expect_same(found_in_parts(space, options, shards), front, asked.text);
    }
    if (all_counts)
      std::printf("%zu layouts, %zu fit, %lld simulated\n", layouts, all.size(),
                  static_cast<long long>(answer.counts.simulated));
  }
}

// No number of layouts that is asked for is a limit to a front.
TEST(PlannerLaws, front_of_a_random_space_is_that_of_all_layouts) {
  const int wanted = testing::asked_for("PODSIM_FRONTS", 6);
  Random random(static_cast<Random::result_type>(testing::asked_for("PODSIM_SEED", 17)));
  for (int seen = 0; seen < wanted;) {
    const testing::LayoutQuestion asked = random_question(random_space(random), random);
    const Space space(asked.question.spec, asked.question.space);
    const std::size_t layouts = testing::all_layouts(space).size();
    if (layouts < 16 || layouts > 150) continue;
    const std::vector<FoundLayout> front = front_of(all_simulated(space));
    if (front.empty()) continue;
    ++seen;
    SearchOptions options;
    options.pareto = true;
    options.threads = 1 + static_cast<int>(random() % 3);
    for (const int top : {1, 2, 10}) {
      options.top = top;
      const SearchAnswer answer = search(space, options);
      EXPECT_TRUE(answer.proven);
      EXPECT_EQ(answer.counts.open, 0);
      expect_same(answer.best, front, asked.text);
    }
  }
}

TEST(PlannerLaws, proof_of_a_search_of_a_random_space_holds) {
  const int wanted = testing::asked_for("PODSIM_PROOFS", 1);
  Random random(3);
  for (int seen = 0; seen < wanted;) {
    const testing::LayoutQuestion asked = random_question(random_space(random), random);
    const Space space(asked.question.spec, asked.question.space);
    const std::size_t layouts = testing::all_layouts(space).size();
    if (layouts < 8 || layouts > 100) continue;
    SearchOptions options;
    options.top = 1 + static_cast<int>(random() % 5);
    options.within = random() % 2 == 0 ? 0.05 : 0;
    options.gap = random() % 2 == 0 ? 0.02 : 0;
    options.record = true;
    const SearchAnswer answer = search(space, options);
    if (answer.best.empty()) continue;
    ++seen;
    const CertificateHeader header{"1",         asked.text,     asked.question.spec.sha256,
                                   options.top, options.within, options.gap};
    const CertificateVerdict verdict =
        check_certificate(certificate_text(header, answer), "1", testing::built_in(), 10, 1);
    EXPECT_TRUE(verdict.holds()) << verdict.faults.front() << "\n" << asked.text;
  }
}

}  // namespace
}  // namespace podsim::planner_laws_test
