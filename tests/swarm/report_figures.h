// Every figure of a report by its path in the JSON form, whichever format it was read from.
#pragma once

#include <map>
#include <string>

namespace podsim::testing {

// "jobs[0].alone.memory_per_chip_gib.total" -> "71.25". What is null, empty or 0 is left out: formats may
// pass it over.
using Figures = std::map<std::string, std::string>;

Figures figures_of_json(const std::string& json);
Figures figures_of_textproto(const std::string& textproto);
// Of one report, or a line for each of several jobs.
Figures figures_of_csv(const std::string& csv, bool jobs);

// What one has and the other has not, or has otherwise; empty if they are the same.
std::string first_difference(const Figures& a, const Figures& b);
// The same of what `part` has.
std::string first_missing(const Figures& part, const Figures& whole);

}  // namespace podsim::testing
