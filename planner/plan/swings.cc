// What the first choice hangs on, assumption by assumption.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "planner/plan/choice_course.h"
#include "planner/plan/outcomes.h"
#include "planner/plan/tie.h"

namespace podsim {
namespace {

// How the choice between the first and the second of the answer moves with each assumption by itself.
class SwingFinder {
 public:
  SwingFinder(const OutcomeQuestion& question, const ChoiceFacts& first, const ChoiceFacts* second)
      : question_(question), first_(first), second_(second) {}

  std::vector<AssumptionSwing> run() {
    add_speed_and_price(first_);
    if (second_ != nullptr) add_speed_and_price(*second_);
    add_failures();
    for (std::size_t i = 0; i < question_.vary.size(); ++i) add_varied(i);
    std::erase_if(swings_, [](const AssumptionSwing& of) {
      return of.width() == 0 && !of.flips_at && of.note.empty();
    });
    std::ranges::stable_sort(swings_, std::greater<>(), &AssumptionSwing::width);
    return std::move(swings_);
  }

 private:
  // Puts a value of the assumption into the luck of a choice.
  using Move = std::function<void(const ChoiceFacts&, ChoiceLuck&, double)>;

  ChoiceCourse course(const ChoiceFacts& choice, double value, const Move& move) const {
    ChoiceLuck luck = usual_luck(question_, choice);
    move(choice, luck, value);
    return course_of(choice, luck);
  }

  // Ties are looked for between `low` and `high`, which are above 0.
  AssumptionSwing& add(const std::string& what, double from, double to, double low, double high,
                       const Move& move) {
    const auto first_at = [&](double value) { return course(first_, value, move).of(question_.objective); };
    const auto margin_at = [&](double value) {
      return second_ == nullptr ? 0 : course(*second_, value, move).of(question_.objective) - first_at(value);
    };
    AssumptionSwing swing;
    swing.what = what;
    swing.from = from;
    swing.to = to;
    swing.first_from = first_at(from);
    swing.first_to = first_at(to);
    swing.margin_from = margin_at(from);
    swing.margin_to = margin_at(to);
    const auto tie = [&](const std::function<double(double)>& difference) -> std::optional<double> {
      const auto found = find_tie(difference, low, high, false);
      return found ? std::optional((found->below + found->above) / 2) : std::nullopt;
    };
    if (second_ != nullptr) swing.flips_at = tie(margin_at);
    swing.misses_at = tie([&](double value) {
      const ChoiceCourse at = course(first_, value, move);
      return within_limits(question_, at.days, at.usd) ? -1.0 : 1.0;
    });
    return swings_.emplace_back(std::move(swing));
  }

  // What the second has in common with the first is there already.
  void add_speed_and_price(const ChoiceFacts& of) {
    const bool again = second_ != nullptr && &of == second_;
    if ((!again || of.speed != first_.speed) && of.step.quantile90() > of.step.quantile10())
      add("step of " + of.speed + " over the predicted one", of.step.quantile10(), of.step.quantile90(), 0.2,
          5, [&](const ChoiceFacts& choice, ChoiceLuck& luck, double value) {
            if (choice.speed == of.speed) luck.step = value;
          });
    const Price& price = of.price;
    if ((!again || of.contract != first_.contract) && price.usd_per_chip_hour > 0)
      add("USD per chip-hour of " + of.contract, offer_at(price, 0.1), offer_at(price, 0.9),
          price.usd_per_chip_hour / 20, price.usd_per_chip_hour * 20,
          [&](const ChoiceFacts& choice, ChoiceLuck& luck, double value) {
            if (choice.contract == of.contract) luck.usd_per_chip_hour = value;
          });
  }

  // Where a run does not end with twice the failures, nothing is known beyond those of the scenario.
  void add_failures() {
    const auto matters = [](const ChoiceFacts& choice) { return !choice.rough || *choice.rough > 1; };
    if (!matters(first_) && (second_ == nullptr || !matters(*second_))) return;
    std::string unended;
    for (const ChoiceFacts* choice : {&first_, second_})
      if (choice != nullptr && !choice->rough)
        unended += (unended.empty() ? "" : " and ") + std::string("of ") + choice->name;
    const Move move = [](const ChoiceFacts& choice, ChoiceLuck& luck, double value) {
      luck.run = value < 1 ? choice.calm + (1 - choice.calm) * (2 * value - 1)
                           : 1 + (choice.rough.value_or(1) - 1) * (value - 1);
    };
    constexpr double kHalf = 0.5, kTwice = 2;
    const double last = unended.empty() ? kTwice : 1;
    AssumptionSwing& swing = add("failures over those of the scenario", kHalf, last, kHalf, last, move);
    if (unended.empty()) return;
    swing.to = kTwice;
    swing.first_to = std::nullopt;
    if (first_.rough) swing.first_to = course(first_, kTwice, move).of(question_.objective);
    swing.margin_to = std::nullopt;
    swing.note = "with twice the failures a run " + unended + " does not end";
  }

  // By the place between both ends, from 1 to 2, since a number may be 0 or less.
  void add_varied(std::size_t i) {
    const VariedNumber& number = question_.vary[i];
    const auto value_at = [&](double place) { return number.low + (number.high - number.low) * (place - 1); };
    AssumptionSwing& swing =
        add(number.name(), 1, 2, 1, 2, [&, i](const ChoiceFacts& choice, ChoiceLuck& luck, double place) {
          if (i < choice.varied.size() && choice.varied[i]) luck.varied[i] = value_at(place);
        });
    swing.from = number.low;
    swing.to = number.high;
    if (swing.flips_at) swing.flips_at = value_at(*swing.flips_at);
    if (swing.misses_at) swing.misses_at = value_at(*swing.misses_at);
  }

  const OutcomeQuestion& question_;
  const ChoiceFacts& first_;
  const ChoiceFacts* const second_;
  std::vector<AssumptionSwing> swings_;
};

}  // namespace

double AssumptionSwing::width() const {
  return first_to ? std::abs(*first_to - first_from) : std::numeric_limits<double>::infinity();
}

std::vector<AssumptionSwing> swings_of(const OutcomeQuestion& question, const ChoiceFacts& first,
                                       const ChoiceFacts* second) {
  return SwingFinder(question, first, second).run();
}

}  // namespace podsim
