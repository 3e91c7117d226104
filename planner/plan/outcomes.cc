// Draws what is not known, with the same luck for all choices that share it.
#include "planner/plan/outcomes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "economics/bill.h"
#include "engine/order_statistics.h"
#include "engine/random.h"
#include "engine/unit_factors.h"
#include "planner/plan/tie.h"

namespace podsim {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Factors of what is not known.
struct Luck {
  double step = 1, run = 1, power = 1;
  double usd_per_chip_hour = 0;
  std::vector<double> varied;  // [number of the question]
};

struct Course {
  double days = 0, usd = 0, mwh = 0, carbon_t = 0, chips = 0;
  double of(PlanObjective objective) const {
    switch (objective) {
      case PlanObjective::kDays:
        return days;
      case PlanObjective::kEnergy:
        return mwh;
      case PlanObjective::kCarbon:
        return carbon_t;
      case PlanObjective::kChips:
        return chips;
      case PlanObjective::kUsd:
      case PlanObjective::kRegret:
        break;
    }
    return usd;
  }
};

// On the line through the two of the three points that are next to it, and never below 0.
double between(const VariedInputs& varied, double RunInputs::*input, double value) {
  const std::size_t below = value < varied.at[1] ? 0 : 1;
  const double from = varied.inputs[below].*input, to = varied.inputs[below + 1].*input;
  const double share = (value - varied.at[below]) / (varied.at[below + 1] - varied.at[below]);
  return std::max(0.0, from + (to - from) * share);
}

// Each number moves what it moves by a factor, whatever the others do; what is nothing without it is added.
RunInputs inputs_at(const ChoiceFacts& choice, const Luck& luck) {
  RunInputs inputs = choice.inputs();
  const RunInputs as_it_is = inputs;
  inputs.usd_per_chip_hour = luck.usd_per_chip_hour;
  for (std::size_t i = 0; i < choice.varied.size(); ++i) {
    if (!choice.varied[i]) continue;
    for (double RunInputs::*const input : RunInputs::kAll) {
      const double moved = between(*choice.varied[i], input, luck.varied[i]);
      if (as_it_is.*input != 0)
        inputs.*input *= moved / (as_it_is.*input);
      else
        inputs.*input += moved;
    }
  }
  return inputs;
}

Course course_of(const ChoiceFacts& choice, const Luck& luck) {
  const RunInputs inputs = inputs_at(choice, luck);
  const double longer = luck.step * luck.run;
  const double run_days = inputs.days * longer;
  Course course{choice.start_day + run_days, 0, inputs.mwh * longer * luck.power, 0,
                static_cast<double>(choice.chips)};
  Price price = choice.price;
  price.usd_per_chip_hour = inputs.usd_per_chip_hour;
  course.usd = usd_of_run(inputs.paid_chips, run_days, price) + course.mwh * kKwhPerMwh * inputs.usd_per_kwh +
               inputs.one_off_usd;
  course.carbon_t = course.mwh * inputs.kg_per_kwh + run_days * inputs.making_t_per_day;
  return course;
}

// One draw of a number: where `u` is even between 0 and 1, and `z` standard normal. A number that is nowhere
// below 0 between its percentiles is nowhere below 0.
double drawn(const VariedNumber& number, double u, double z) {
  const double middle = number.median();
  if (number.shape == VariedShape::kLognormal)
    return middle * portable_exp(z / kNormalP90 * portable_log(number.high / middle));
  double half_width = (number.high - number.low) / 2;
  double from_middle = 0;
  if (number.shape == VariedShape::kUniform) {
    half_width /= 0.8;  // of all lie between the percentiles
    from_middle = 2 * u - 1;
  } else {
    // A tenth of a triangle of equal sides lies below the root of a fifth of the way from its end to its
    // middle.
    half_width /= 1 - std::sqrt(0.2);
    from_middle = u < 0.5 ? std::sqrt(2 * u) - 1 : 1 - std::sqrt(2 * (1 - u));
  }
  const double value = middle + half_width * from_middle;
  return number.low >= 0 ? std::max(0.0, value) : value;
}

std::uint64_t entity_of(const std::string& name) {
  std::uint64_t hash = name.size();
  for (const char c : name) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}

// Half of the offers lie below the price, evenly from the lowest on, and half above.
double offer_at(const Price& price, double share) {
  const double end = share < 0.5 ? price.low_usd_per_chip_hour : price.high_usd_per_chip_hour;
  return price.usd_per_chip_hour + (end - price.usd_per_chip_hour) * std::abs(2 * share - 1);
}

// The luck of one choice, draw by draw.
class LuckOf {
 public:
  LuckOf(const OutcomeQuestion& question, const ChoiceFacts& choice)
      : question_(question),
        choice_(choice),
        seed_(question.seed),
        speed_(entity_of(choice.speed)),
        price_(seed_, RandomPurpose::kPrice, entity_of(choice.contract)),
        run_(seed_, RandomPurpose::kRunOverFailures, entity_of(choice.name)),
        power_(seed_, RandomPurpose::kPower, entity_of(choice.chip)),
        log_low_(portable_log(choice.run_low)),
        log_high_(portable_log(choice.run_high)) {
    for (const VariedNumber& number : question.vary)
      varied_.emplace_back(seed_, RandomPurpose::kVaried, entity_of(number.name()));
  }

  double step(std::uint64_t draw) const { return choice_.step(seed_ + draw, speed_); }
  Luck at(std::uint64_t draw) const {
    const double z = run_.normal(draw) / kNormalP90;
    Luck luck{step(draw),
              portable_exp(z < 0 ? -z * log_low_ : z * log_high_),
              1 + choice_.power_range * (2 * power_.uniform(draw) - 1),
              offer_at(choice_.price, price_.uniform(draw)),
              {}};
    for (std::size_t i = 0; i < varied_.size(); ++i)
      luck.varied.push_back(drawn(question_.vary[i], varied_[i].uniform(draw), varied_[i].normal(draw)));
    return luck;
  }

 private:
  const OutcomeQuestion& question_;
  const ChoiceFacts& choice_;
  const std::uint64_t seed_, speed_;
  const RandomStream price_, run_, power_;
  std::vector<RandomStream> varied_;  // [number of the question]
  const double log_low_, log_high_;
};

double quantile(const std::vector<double>& ascending, double share) {
  return ascending[nearest_rank(ascending.size(), share)];
}

OutcomeRange range_of(const std::vector<double>& ascending) {
  return {quantile(ascending, 0.1), quantile(ascending, 0.5), quantile(ascending, 0.9)};
}

struct Draws {
  std::vector<std::vector<Course>> courses;  // [choice][draw]
  std::vector<ChoiceOutcome> outcomes;       // without best and regret
};

Draws draw_all(const OutcomeQuestion& question, const std::vector<ChoiceFacts>& choices) {
  Draws drawn;
  const auto draws = static_cast<std::size_t>(question.draws);
  for (const ChoiceFacts& choice : choices) {
    const LuckOf luck(question, choice);
    std::vector<Course>& courses = drawn.courses.emplace_back();
    for (std::size_t k = 0; k < draws; ++k) courses.push_back(course_of(choice, luck.at(k)));
    const auto ascending = [&](double Course::*figure) {
      std::vector<double> values;
      for (const Course& course : courses) values.push_back(course.*figure);
      std::ranges::sort(values);
      return values;
    };
    const std::vector<double> days = ascending(&Course::days), usd = ascending(&Course::usd);
    const auto share_within = [](const std::vector<double>& values, std::optional<double> most) {
      if (!most) return 1.0;
      const auto within = std::ranges::upper_bound(values, *most) - values.begin();
      return static_cast<double>(within) / static_cast<double>(values.size());
    };
    ChoiceOutcome& outcome = drawn.outcomes.emplace_back();
    outcome.days = range_of(days);
    outcome.usd = range_of(usd);
    outcome.mwh = range_of(ascending(&Course::mwh));
    outcome.in_time = share_within(days, question.most_days);
    outcome.in_budget = share_within(usd, question.most_usd);
    outcome.likely_days = quantile(days, question.days_probability);
    outcome.likely_usd = quantile(usd, question.usd_probability);
  }
  return drawn;
}

bool within(const OutcomeQuestion& question, double days, double usd) {
  return (!question.most_days || days <= *question.most_days) &&
         (!question.most_usd || usd <= *question.most_usd);
}

// Choices that meet the limits with the probability that is asked for; all, where none does.
std::vector<std::size_t> eligible(const OutcomeQuestion& question, const std::vector<ChoiceFacts>& choices,
                                  const std::vector<ChoiceOutcome>& outcomes) {
  std::vector<std::size_t> some, all;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    all.push_back(i);
    if (choices[i].within_limits && within(question, outcomes[i].likely_days, outcomes[i].likely_usd))
      some.push_back(i);
  }
  return some.empty() ? all : some;
}

Luck usual(const OutcomeQuestion& question, const ChoiceFacts& choice) {
  Luck luck{choice.step.median(), 1, 1, choice.price.usd_per_chip_hour, {}};
  for (const VariedNumber& number : question.vary) luck.varied.push_back(number.median());
  return luck;
}

}  // namespace

std::vector<ChoiceOutcome> outcomes_of(const OutcomeQuestion& question,
                                       const std::vector<ChoiceFacts>& choices) {
  Draws drawn = draw_all(question, choices);
  std::vector<ChoiceOutcome>& outcomes = drawn.outcomes;
  const std::vector<std::size_t> meant = eligible(question, choices, outcomes);
  std::vector<int> wins(outcomes.size());
  for (std::size_t k = 0; k < static_cast<std::size_t>(question.draws); ++k) {
    const auto value = [&](std::size_t i) { return drawn.courses[i][k].of(question.objective); };
    double least = kInfinite, least_within = kInfinite;
    std::size_t winner = outcomes.size();
    for (const std::size_t i : meant) least = std::min(least, value(i));
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      const Course& course = drawn.courses[i][k];
      if (!choices[i].within_limits || !within(question, course.days, course.usd) || value(i) >= least_within)
        continue;
      least_within = value(i);
      winner = i;
    }
    if (winner < outcomes.size()) ++wins[winner];
    for (std::size_t i = 0; i < outcomes.size(); ++i) outcomes[i].regret += value(i) - least;
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    outcomes[i].best = static_cast<double>(wins[i]) / question.draws;
    outcomes[i].regret /= question.draws;
  }
  return outcomes;
}

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
    std::erase_if(swings_, [](const AssumptionSwing& of) { return of.width() == 0 && !of.flips_at; });
    std::ranges::stable_sort(swings_, std::greater<>(), &AssumptionSwing::width);
    return std::move(swings_);
  }

 private:
  // Puts a value of the assumption into the luck of a choice.
  using Move = std::function<void(const ChoiceFacts&, Luck&, double)>;

  Course course(const ChoiceFacts& choice, double value, const Move& move) const {
    Luck luck = usual(question_, choice);
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
    AssumptionSwing swing{what,          from, to, first_at(from), first_at(to), margin_at(from),
                          margin_at(to), {},   {}};
    const auto tie = [&](const std::function<double(double)>& difference) -> std::optional<double> {
      const auto found = find_tie(difference, low, high, false);
      return found ? std::optional((found->below + found->above) / 2) : std::nullopt;
    };
    if (second_ != nullptr) swing.flips_at = tie(margin_at);
    swing.misses_at = tie([&](double value) {
      const Course at = course(first_, value, move);
      return within(question_, at.days, at.usd) ? -1.0 : 1.0;
    });
    return swings_.emplace_back(std::move(swing));
  }

  // What the second has in common with the first is there already.
  void add_speed_and_price(const ChoiceFacts& of) {
    const bool again = second_ != nullptr && &of == second_;
    if ((!again || of.speed != first_.speed) && of.step.quantile90() > of.step.quantile10())
      add("step of " + of.speed + " over the predicted one", of.step.quantile10(), of.step.quantile90(), 0.2,
          5, [&](const ChoiceFacts& choice, Luck& luck, double value) {
            if (choice.speed == of.speed) luck.step = value;
          });
    const Price& price = of.price;
    if ((!again || of.contract != first_.contract) && price.usd_per_chip_hour > 0)
      add("USD per chip-hour of " + of.contract, offer_at(price, 0.1), offer_at(price, 0.9),
          price.usd_per_chip_hour / 20, price.usd_per_chip_hour * 20,
          [&](const ChoiceFacts& choice, Luck& luck, double value) {
            if (choice.contract == of.contract) luck.usd_per_chip_hour = value;
          });
  }

  void add_failures() {
    if (!(first_.rough > 1 || (second_ != nullptr && second_->rough > 1))) return;
    add("failures over those of the scenario", 0.5, 2, 0.5, 2,
        [](const ChoiceFacts& choice, Luck& luck, double value) {
          luck.run = value < 1 ? choice.calm + (1 - choice.calm) * (2 * value - 1)
                               : 1 + (choice.rough - 1) * (value - 1);
        });
  }

  // By the place between both ends, from 1 to 2, since a number may be 0 or less.
  void add_varied(std::size_t i) {
    const VariedNumber& number = question_.vary[i];
    const auto value_at = [&](double place) { return number.low + (number.high - number.low) * (place - 1); };
    AssumptionSwing& swing =
        add(number.name(), 1, 2, 1, 2, [&, i](const ChoiceFacts& choice, Luck& luck, double place) {
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

std::vector<AssumptionSwing> swings_of(const OutcomeQuestion& question, const ChoiceFacts& first,
                                       const ChoiceFacts* second) {
  return SwingFinder(question, first, second).run();
}

std::vector<WorthOfKnowing> worth_of_speeds(const OutcomeQuestion& question,
                                            const std::vector<ChoiceFacts>& choices) {
  constexpr std::size_t kSpeeds = 256, kLuck = 32;  // draws of a speed, and of all else at each of them
  const std::vector<std::size_t> meant = eligible(question, choices, draw_all(question, choices).outcomes);
  std::vector<std::vector<double>> at_speed(choices.size());  // [choice][speed] mean over all else
  for (const std::size_t i : meant) {
    const LuckOf luck(question, choices[i]);
    for (std::size_t k = 0; k < kSpeeds; ++k) {
      double sum = 0;
      for (std::size_t j = 0; j < kLuck; ++j) {
        Luck drawn = luck.at(kSpeeds + j);
        drawn.step = luck.step(k);
        sum += course_of(choices[i], drawn).of(question.objective);
      }
      at_speed[i].push_back(sum / kLuck);
    }
  }
  const auto mean = [&](std::size_t i) {
    return std::accumulate(at_speed[i].begin(), at_speed[i].end(), 0.0) / kSpeeds;
  };
  double least = kInfinite;  // of the choice that is made without knowing more
  for (const std::size_t i : meant) least = std::min(least, mean(i));
  std::vector<WorthOfKnowing> worths;
  for (const std::size_t of : meant) {
    const std::string& speed = choices[of].speed;
    if (std::ranges::count(worths, speed, &WorthOfKnowing::what) > 0) continue;
    double known = 0;  // mean of the choice that is made at each speed
    for (std::size_t k = 0; k < kSpeeds; ++k) {
      double best = kInfinite;
      for (const std::size_t i : meant)
        best = std::min(best, choices[i].speed == speed ? at_speed[i][k] : mean(i));
      known += best / kSpeeds;
    }
    const bool matters = least - known > least * 1e-9;  // else it is rounding
    worths.push_back({speed, matters ? least - known : 0});
  }
  std::ranges::stable_sort(worths, std::greater<>(), &WorthOfKnowing::saves);
  return worths;
}

}  // namespace podsim
