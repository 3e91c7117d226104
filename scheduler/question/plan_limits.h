// What may be said of a training run that is to be bought, and what is usual: options of the command line,
// members of the library and fields of scenarios keep to the same.
#pragma once

namespace podsim {

// From `least` to `most`, both included.
struct NumberRange {
  double least, most;
  bool holds(double number) const { return number >= least && number <= most; }
};

// A century is the longest that anything is asked for, held or paid. The share of a probability is of 1.
inline constexpr NumberRange kPlanTokens{1, 1e18}, kPlanDays{0.001, 36500}, kPlanUsd{1, 1e12},
    kPlanProbability{0.01, 0.99}, kPlanSearchSeconds{0.001, 1e7}, kPlanDraws{100, 1'000'000},
    kPlanRows{1, 100'000};

inline constexpr double kUsualPlanGap = 0.01;  // share: a layout is good enough where none is faster by more
inline constexpr int kUsualPlanDraws = 2000;   // of what is not known

}  // namespace podsim
