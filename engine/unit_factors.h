// How many of one unit are in another: time, energy and mass. A year is one of 365 days, as contracts and
// rates have it.
#pragma once

namespace podsim {

inline constexpr double kSecondsPerHour = 3600, kHoursPerDay = 24,
                        kSecondsPerDay = kHoursPerDay * kSecondsPerHour, kDaysPerYear = 365,
                        kHoursPerYear = kDaysPerYear * kHoursPerDay,
                        kSecondsPerYear = kDaysPerYear * kSecondsPerDay;
inline constexpr double kMsPerHour = 1e3 * kSecondsPerHour, kMsPerDay = 1e3 * kSecondsPerDay;
inline constexpr double kKwhPerMwh = 1e3, kJoulesPerKwh = 1e3 * kSecondsPerHour,
                        kJoulesPerMwh = kKwhPerMwh * kJoulesPerKwh;
inline constexpr double kKgPerTonne = 1e3;

}  // namespace podsim
