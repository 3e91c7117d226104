// Draws what is not known, with the same luck for all choices that share it.
#include "planner/plan/outcomes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/order_statistics.h"
#include "engine/random.h"
#include "planner/plan/choice_course.h"

namespace podsim {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

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
  ChoiceLuck at(std::uint64_t draw) const {
    const double z = run_.normal(draw) / kNormalP90;
    ChoiceLuck luck{step(draw),
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
  std::vector<std::vector<ChoiceCourse>> courses;  // [choice][draw]
  std::vector<ChoiceOutcome> outcomes;             // without best and regret
};

Draws draw_all(const OutcomeQuestion& question, const std::vector<ChoiceFacts>& choices) {
  Draws drawn;
  const auto draws = static_cast<std::size_t>(question.draws);
  for (const ChoiceFacts& choice : choices) {
    const LuckOf luck(question, choice);
    std::vector<ChoiceCourse>& courses = drawn.courses.emplace_back();
    for (std::size_t k = 0; k < draws; ++k) courses.push_back(course_of(choice, luck.at(k)));
    const auto ascending = [&](double ChoiceCourse::*figure) {
      std::vector<double> values;
      for (const ChoiceCourse& course : courses) values.push_back(course.*figure);
      std::ranges::sort(values);
      return values;
    };
    const std::vector<double> days = ascending(&ChoiceCourse::days), usd = ascending(&ChoiceCourse::usd);
    const auto share_within = [](const std::vector<double>& values, std::optional<double> most) {
      if (!most) return 1.0;
      const auto within = std::ranges::upper_bound(values, *most) - values.begin();
      return static_cast<double>(within) / static_cast<double>(values.size());
    };
    ChoiceOutcome& outcome = drawn.outcomes.emplace_back();
    outcome.days = range_of(days);
    outcome.usd = range_of(usd);
    outcome.mwh = range_of(ascending(&ChoiceCourse::mwh));
    outcome.in_time = share_within(days, question.most_days);
    outcome.in_budget = share_within(usd, question.most_usd);
    outcome.likely_days = quantile(days, question.days_probability);
    outcome.likely_usd = quantile(usd, question.usd_probability);
  }
  return drawn;
}

// Choices that meet the limits with the probability that is asked for; all, where none does.
std::vector<std::size_t> eligible(const OutcomeQuestion& question, const std::vector<ChoiceFacts>& choices,
                                  const std::vector<ChoiceOutcome>& outcomes) {
  std::vector<std::size_t> some, all;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    all.push_back(i);
    if (choices[i].within_limits && within_limits(question, outcomes[i].likely_days, outcomes[i].likely_usd))
      some.push_back(i);
  }
  return some.empty() ? all : some;
}

// Below 0 where the first of two has less of what decides first, above 0 where the second has; 0 where they
// are equal in all.
int compare(const OutcomeQuestion& question, const ChoiceCourse& a, const ChoiceCourse& b) {
  const auto by = [&](PlanObjective objective) {
    const double of_a = a.of(objective), of_b = b.of(objective);
    return of_a < of_b ? -1 : of_a > of_b ? 1 : 0;
  };
  int order = by(question.objective);
  for (std::size_t i = 0; order == 0 && i < question.ties.size(); ++i) order = by(question.ties[i]);
  return order;
}

// Choices that meet the limits in a draw and have the least there, all that are equal; none where none meets
// them.
std::vector<std::size_t> winners_of(const OutcomeQuestion& question, const std::vector<ChoiceFacts>& choices,
                                    const Draws& drawn, std::size_t draw) {
  std::vector<std::size_t> winners;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const ChoiceCourse& course = drawn.courses[i][draw];
    if (!choices[i].within_limits || !within_limits(question, course.days, course.usd)) continue;
    const int order = winners.empty() ? 0 : compare(question, course, drawn.courses[winners.front()][draw]);
    if (order < 0) winners.clear();
    if (order <= 0) winners.push_back(i);
  }
  return winners;
}

}  // namespace

std::vector<ChoiceOutcome> outcomes_of(const OutcomeQuestion& question,
                                       const std::vector<ChoiceFacts>& choices) {
  Draws drawn = draw_all(question, choices);
  std::vector<ChoiceOutcome>& outcomes = drawn.outcomes;
  const std::vector<std::size_t> meant = eligible(question, choices, outcomes);
  std::vector<double> wins(outcomes.size());
  for (std::size_t k = 0; k < static_cast<std::size_t>(question.draws); ++k) {
    const auto value = [&](std::size_t i) { return drawn.courses[i][k].of(question.objective); };
    double least = kInfinite;
    for (const std::size_t i : meant) least = std::min(least, value(i));
    const std::vector<std::size_t> winners = winners_of(question, choices, drawn, k);
    for (const std::size_t i : winners) wins[i] += 1.0 / static_cast<double>(winners.size());
    for (std::size_t i = 0; i < outcomes.size(); ++i) outcomes[i].regret += value(i) - least;
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    outcomes[i].best = wins[i] / question.draws;
    outcomes[i].regret /= question.draws;
  }
  return outcomes;
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
        ChoiceLuck drawn = luck.at(kSpeeds + j);
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
