// What choices come to by chance: what errs alike does not decide between them, and ties are where closed
// forms have them.
#include "planner/plan/outcomes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "planner/plan/choice_course.h"
#include "proto/scenario/load_plan.h"

namespace podsim::outcomes_test {
namespace {

StepError error_of(double low, double high) {
  return {StepTimeBand{Time::seconds(low), Time::seconds(high), "", 0}, 1};
}

// 100 days on 1,000 chips at `usd` an hour.
ChoiceFacts choice(const std::string& name, const std::string& speed, double usd) {
  ChoiceFacts facts;
  facts.name = name;
  facts.speed = speed;
  facts.contract = "price of " + name;
  facts.step = error_of(0.9, 1.2);
  facts.days = 100;
  facts.paid_chips = 1000;
  facts.price.usd_per_chip_hour = facts.price.low_usd_per_chip_hour = facts.price.high_usd_per_chip_hour =
      usd;
  facts.mwh = 50;
  return facts;
}

TEST(Objectives, each_has_a_figure_of_its_own_and_regret_counts_where_it_is_named_first) {
  const ChoiceCourse course = course_with(1, 2, 3, 4, 5);
  EXPECT_EQ(course.of(PlanObjective::kDays), 1);
  EXPECT_EQ(course.of(PlanObjective::kUsd), 2);
  EXPECT_EQ(course.of(PlanObjective::kEnergy), 3);
  EXPECT_EQ(course.of(PlanObjective::kChips), 4);
  EXPECT_EQ(course.of(PlanObjective::kCarbon), 5);
  EXPECT_TRUE(std::isinf(course_with(1, 2, 3, 4, {}).of(PlanObjective::kCarbon)));
  const auto named = [](const std::vector<std::string>& names) {
    PlanObjectives objectives;
    for (const std::string& name : names) EXPECT_TRUE(add_objective(name, objectives)) << name;
    return objectives;
  };
  EXPECT_TRUE(named({"regret"}).by_regret);
  EXPECT_TRUE(named({"regret", "days"}).by_regret);
  EXPECT_FALSE(named({"days", "regret"}).by_regret);
  EXPECT_EQ(named({"regret", "carbon", "usd"}).least,
            (std::vector{PlanObjective::kCarbon, PlanObjective::kUsd}));
  EXPECT_EQ(named(objective_names()).least.size() + 1, objective_names().size());
  PlanObjectives none;
  EXPECT_FALSE(add_objective("NAME_UNSPECIFIED", none) || add_objective("euros", none));
}

TEST(Outcomes, of_a_run_that_only_the_step_is_unsure_of_are_the_run_times_its_band) {
  const ChoiceOutcome outcome = outcomes_of({.draws = 20000}, {choice("a", "x", 2)}).front();
  const double usd = 1000 * 24 * 100 * 2.0;
  EXPECT_NEAR(outcome.days.p10 / 100, 0.9, 0.01);
  EXPECT_NEAR(outcome.days.p90 / 100, 1.2, 0.012);
  EXPECT_NEAR(outcome.usd.p10 / usd, 0.9, 0.01);
  EXPECT_NEAR(outcome.mwh.p90 / 50, 1.2, 0.012);
}

TEST(Outcomes, of_two_choices_on_one_chip_and_stack_the_cheaper_one_is_sure_to_win) {
  const OutcomeQuestion question;
  const auto alike = outcomes_of(question, {choice("a", "x", 2), choice("b", "x", 2.02)});
  EXPECT_DOUBLE_EQ(alike[0].best, 1);
  EXPECT_EQ(alike[0].regret, 0);
  const auto unlike = outcomes_of(question, {choice("a", "x", 2), choice("b", "y", 2.02)});
  EXPECT_GT(unlike[0].best, 0.45);
  EXPECT_LT(unlike[0].best, 0.6) << "what errs independently may turn out either way";
  EXPECT_GT(unlike[0].regret, 0);
  EXPECT_NEAR(unlike[0].best + unlike[1].best, 1, 1e-9);
}

TEST(Outcomes, of_a_choice_do_not_change_where_another_is_added) {
  const OutcomeQuestion question{.most_days = 105};
  const auto alone = outcomes_of(question, {choice("a", "x", 2)});
  const auto beside = outcomes_of(question, {choice("c", "z", 9), choice("a", "x", 2)});
  EXPECT_EQ(alone[0].days.p10, beside[1].days.p10);
  EXPECT_EQ(alone[0].usd.p90, beside[1].usd.p90);
  EXPECT_EQ(alone[0].in_time, beside[1].in_time);
}

TEST(Outcomes, days_of_a_probability_are_within_the_deadline_that_is_met_with_it) {
  for (const double probability : {0.1, 0.5, 0.9}) {
    for (const double most : {92.0, 104.0, 118.0}) {
      const OutcomeQuestion question{.most_days = most, .days_probability = probability};
      const ChoiceOutcome outcome = outcomes_of(question, {choice("a", "x", 2)}).front();
      EXPECT_EQ(outcome.in_time >= probability, outcome.likely_days <= most) << probability << " " << most;
    }
  }
}

TEST(Outcomes, price_is_drawn_from_the_range_of_offers_and_failures_from_their_runs) {
  ChoiceFacts priced = choice("a", "x", 2);
  priced.step = {};
  priced.price.low_usd_per_chip_hour = 1;
  priced.price.high_usd_per_chip_hour = 4;
  const double usd = 1000 * 24 * 100;
  const OutcomeRange range = outcomes_of({.draws = 20000}, {priced}).front().usd;
  EXPECT_NEAR(range.p10 / usd, 1.2, 0.02);
  EXPECT_NEAR(range.p50 / usd, 2, 0.02);
  EXPECT_NEAR(range.p90 / usd, 3.6, 0.04);
  ChoiceFacts failing = choice("a", "x", 2);
  failing.step = {};
  failing.run_low = 0.95;
  failing.run_high = 1.1;
  const OutcomeRange days = outcomes_of({.draws = 20000}, {failing}).front().days;
  EXPECT_NEAR(days.p10, 95, 0.3);
  EXPECT_NEAR(days.p50, 100, 0.3);
  EXPECT_NEAR(days.p90, 110, 0.6);
}

TEST(Outcomes, none_of_a_choice_over_budget_is_the_best) {
  const auto outcomes =
      outcomes_of({.most_usd = 1000 * 24 * 100 * 2.5}, {choice("a", "x", 2), choice("b", "y", 9)});
  EXPECT_EQ(outcomes[1].best, 0);
  EXPECT_EQ(outcomes[1].in_budget, 0);
  EXPECT_NEAR(outcomes[0].best, outcomes[0].in_budget, 1e-9);
}

// The same chips under two contracts are done on the same day in every draw.
TEST(Outcomes, of_choices_that_are_equal_in_the_objective_the_next_decides_whatever_their_order) {
  const ChoiceFacts dear = choice("a", "x", 3), cheap = choice("b", "x", 2), other = choice("c", "y", 9);
  const OutcomeQuestion question{.objective = PlanObjective::kDays, .ties = {PlanObjective::kUsd}};
  const auto outcomes = outcomes_of(question, {dear, cheap, other});
  EXPECT_EQ(outcomes[0].best, 0) << "it is dearer in every draw";
  EXPECT_GT(outcomes[1].best, 0.4);
  const auto reversed = outcomes_of(question, {other, cheap, dear});
  for (std::size_t i = 0; i < outcomes.size(); ++i) EXPECT_EQ(outcomes[i].best, reversed[2 - i].best);
}

TEST(Outcomes, of_choices_that_are_equal_in_all_share_the_probability_to_be_best) {
  const ChoiceFacts one = choice("a", "x", 2), same = choice("b", "x", 2), dear = choice("c", "x", 3);
  const auto outcomes = outcomes_of({.ties = {PlanObjective::kDays}}, {one, dear, same});
  EXPECT_EQ(outcomes[0].best, 0.5);
  EXPECT_EQ(outcomes[1].best, 0);
  EXPECT_EQ(outcomes[2].best, 0.5);
}

const AssumptionSwing& swing_of(const std::vector<AssumptionSwing>& swings, const std::string& what) {
  return *std::ranges::find_if(swings,
                               [&](const AssumptionSwing& swing) { return swing.what.find(what) == 0; });
}

TEST(Swings, tie_where_the_prices_make_the_bills_equal) {
  const ChoiceFacts a = choice("a", "x", 2), b = choice("b", "y", 3);
  const auto swings = swings_of({.most_usd = 1000 * 24 * 100 * 4.0}, a, &b);
  ASSERT_EQ(swings.size(), 4U) << "two steps and two prices";
  EXPECT_NEAR(*swing_of(swings, "USD per chip-hour of price of a").flips_at, 3, 0.003);
  EXPECT_NEAR(*swing_of(swings, "USD per chip-hour of price of b").flips_at, 2, 0.002);
  const double median = a.step.median();
  EXPECT_NEAR(*swing_of(swings, "step of x").flips_at, 1.5 * median, 0.002);
  EXPECT_NEAR(*swing_of(swings, "step of x").misses_at, 2, 0.002);
  EXPECT_TRUE(std::ranges::is_sorted(swings, std::greater<>(), &AssumptionSwing::width));
}

TEST(Swings, of_a_speed_that_both_have_never_tie) {
  const ChoiceFacts a = choice("a", "x", 2), b = choice("b", "x", 3);
  const auto swings = swings_of({}, a, &b);
  EXPECT_FALSE(swing_of(swings, "step of x").flips_at);
  EXPECT_EQ(std::ranges::count_if(swings, [](const auto& each) { return each.what.find("step") == 0; }), 1);
}

TEST(Swings, of_failures_go_through_half_and_twice_as_many) {
  ChoiceFacts a = choice("a", "x", 2);
  a.calm = 0.9;
  a.rough = 1.3;
  const auto swings = swings_of({.objective = PlanObjective::kDays}, a, nullptr);
  const AssumptionSwing& failures = swing_of(swings, "failures");
  EXPECT_NEAR(failures.first_from, 90 * a.step.median(), 1e-9);
  EXPECT_NEAR(*failures.first_to, 130 * a.step.median(), 1e-9);
}

TEST(Swings, of_failures_say_whose_run_does_not_end_with_twice_as_many) {
  ChoiceFacts a = choice("a", "x", 2), b = choice("b", "y", 3);
  a.calm = 0.9;
  a.rough = std::nullopt;
  b.rough = 1.1;
  const auto swings = swings_of({.objective = PlanObjective::kDays}, a, &b);
  const AssumptionSwing& failures = swings.front();
  EXPECT_EQ(failures.what, "failures over those of the scenario") << "nothing moves the answer more";
  EXPECT_EQ(failures.to, 2);
  EXPECT_NEAR(failures.first_from, 90 * a.step.median(), 1e-9);
  EXPECT_FALSE(failures.first_to);
  EXPECT_FALSE(failures.margin_to);
  EXPECT_EQ(failures.note, "with twice the failures a run of a does not end");
  const auto other_way = swings_of({.objective = PlanObjective::kDays}, b, &a);
  const AssumptionSwing& of_second = swing_of(other_way, "failures");
  EXPECT_NEAR(*of_second.first_to, 110 * b.step.median(), 1e-9);
  EXPECT_FALSE(of_second.margin_to);
  EXPECT_EQ(of_second.note, "with twice the failures a run of a does not end");
}

TEST(Swings, knowing_a_speed_is_worth_at_most_the_regret_of_not_knowing_anything) {
  for (const double usd : {1.6, 2.0, 2.02, 2.3, 4.0}) {
    const std::vector<ChoiceFacts> choices = {choice("a", "x", 2), choice("b", "y", usd),
                                              choice("c", "y", 2.5)};
    const auto outcomes = outcomes_of({}, choices);
    const double regret = std::ranges::min_element(outcomes, {}, &ChoiceOutcome::regret)->regret;
    for (const WorthOfKnowing& worth : worth_of_speeds({}, choices)) {
      EXPECT_GE(worth.saves, 0);
      EXPECT_LE(worth.saves, regret * 1.15) << usd << ": two samples of the same distribution";
    }
  }
  const auto sure = worth_of_speeds({}, {choice("a", "x", 2), choice("b", "x", 2.5)});
  EXPECT_EQ(sure.front().saves, 0) << "nothing that is measured changes the choice";
}

// A number of the scenario, of which a choice has these facts at its lower end, its middle and its upper end.
void vary(ChoiceFacts& facts, const VariedNumber& number, double RunInputs::*input, double at_low,
          double at_high) {
  VariedInputs& varied = facts.varied.emplace_back().emplace();
  varied.at = {number.low, number.median(), number.high};
  varied.inputs = {facts.inputs(), facts.inputs(), facts.inputs()};
  varied.inputs[0].*input = at_low;
  varied.inputs[1].*input =
      at_low + (at_high - at_low) * (number.median() - number.low) / (number.high - number.low);
  varied.inputs[2].*input = at_high;
}

ChoiceFacts sure(const std::string& name, double usd) {
  ChoiceFacts facts = choice(name, name, usd);
  facts.step = {};
  return facts;
}

TEST(VariedNumbers, are_below_their_low_and_above_their_high_end_one_time_in_ten) {
  for (const VariedShape shape : {VariedShape::kLognormal, VariedShape::kUniform, VariedShape::kTriangular}) {
    const VariedNumber price{.path = "price", .low = 1.5, .high = 4, .shape = shape};
    ChoiceFacts facts = sure("a", 2);
    vary(facts, price, &RunInputs::usd_per_chip_hour, 1.5, 4);
    const OutcomeRange range = outcomes_of({.draws = 40000, .vary = {price}}, {facts}).front().usd;
    const double usd = 1000 * 24 * 100;
    EXPECT_NEAR(range.p10 / usd, 1.5, 0.02);
    EXPECT_NEAR(range.p50 / usd, price.median(), 0.02);
    EXPECT_NEAR(range.p90 / usd, 4, 0.04);
  }
}

TEST(VariedNumbers, of_all_choices_have_one_draw_so_that_they_decide_nothing_between_equals) {
  const VariedNumber days{.path = "days", .low = 0.5, .high = 2};
  ChoiceFacts a = sure("a", 2), b = sure("b", 2.001);
  vary(a, days, &RunInputs::days, 50, 200);
  vary(b, days, &RunInputs::days, 50, 200);
  const auto outcomes = outcomes_of({.vary = {days}}, {a, b});
  EXPECT_EQ(outcomes[0].best, 1);
  EXPECT_EQ(outcomes[0].regret, 0);
  b.varied.front() = std::nullopt;
  const auto unlike = outcomes_of({.vary = {days}}, {a, b});
  EXPECT_LT(unlike[0].best, 0.7) << "the other choice does not have that number";
}

TEST(VariedNumbers, of_one_choice_more_change_nothing_about_the_other_draws) {
  ChoiceFacts a = choice("a", "x", 2);
  const auto plain = outcomes_of({}, {a});
  const VariedNumber other{.path = "other", .low = 1, .high = 2};
  a.varied.emplace_back();
  const auto beside = outcomes_of({.vary = {other}}, {a});
  EXPECT_EQ(plain.front().usd.p90, beside.front().usd.p90);
}

TEST(VariedNumbers, move_what_is_nothing_without_them_by_a_sum) {
  const VariedNumber power{.path = "usd_per_kwh", .low = 0.1, .high = 0.3, .shape = VariedShape::kUniform};
  ChoiceFacts facts = sure("a", 2);
  vary(facts, power, &RunInputs::usd_per_kwh, 0.1, 0.3);
  const auto swings = swings_of({.vary = {power}}, facts, nullptr);
  ASSERT_FALSE(swings.empty());
  const auto at = std::ranges::find(swings, "usd_per_kwh", &AssumptionSwing::what);
  ASSERT_NE(at, swings.end());
  EXPECT_NEAR(*at->first_to - at->first_from, 0.2 * 50 * 1000, 1e-6) << "50 MWh";
}

TEST(VariedNumbers, tie_where_the_lines_between_their_ends_cross) {
  const VariedNumber price{.path = "price", .low = -1, .high = 5, .shape = VariedShape::kUniform};
  ChoiceFacts a = sure("a", 2), b = sure("b", 3.5);
  vary(a, price, &RunInputs::usd_per_chip_hour, 0.5, 6.5);
  b.varied.emplace_back();
  const auto swings = swings_of({.most_usd = 1000 * 24 * 100 * 5.5, .vary = {price}}, a, &b);
  const AssumptionSwing& swing = swing_of(swings, "price");
  EXPECT_EQ(swing.from, -1);
  EXPECT_EQ(swing.to, 5);
  ASSERT_TRUE(swing.flips_at);
  EXPECT_NEAR(*swing.flips_at, 2, 0.005) << "there a costs 3.5";
  EXPECT_NEAR(*swing.misses_at, 4, 0.005);
}

TEST(Outcomes, of_carbon_are_that_of_power_and_of_making_the_chips) {
  ChoiceFacts a = sure("a", 2), b = sure("b", 1);
  a.kg_per_kwh = 0.1;
  b.kg_per_kwh = 0.4;
  a.making_t_per_day = b.making_t_per_day = 0.01;
  const OutcomeQuestion question{.objective = PlanObjective::kCarbon};
  const auto outcomes = outcomes_of(question, {a, b});
  EXPECT_EQ(outcomes[0].best, 1);
  EXPECT_NEAR(outcomes[1].regret, 50 * 0.3, 1e-9) << "t of 50 MWh";
}

}  // namespace
}  // namespace podsim::outcomes_test
