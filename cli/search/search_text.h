// What podsim search found, as tables and words.
#pragma once

#include <optional>
#include <string>

#include "planner/search/layout_fate.h"
#include "planner/search/search.h"

namespace podsim {

std::string search_table(const Space& space, const SearchAnswer& answer, bool verbose);
std::string search_csv(const SearchAnswer& answer);
std::string search_json(const Space& space, const SearchAnswer& answer);

// No layout is legal, and what the nearest one lacks.
std::string empty_space_text(const Space& space);

// Nothing fits: the nearest miss, and the single change that helps most.
std::string infeasible_text(const Space& space, const SearchAnswer& answer);

// A layout that has the values of "tensor=8,pipeline=4": the best layout found, with these instead; what they
// leave of the chips is data.
struct AskedLayout {
  JobLayout layout;
  std::string problem;  // why there is none
};
AskedLayout asked_layout(const Space& space, const std::string& words, const SearchAnswer& answer);

// Why not another layout, whose step was simulated, in one sentence.
std::string against_best_text(const JobLayout& layout, const MainFigures& figures, const FoundLayout& best);

// What keeps a layout from being the best one.
struct WhyNot {
  JobLayout layout;
  std::string fate;                   // fastest, illegal, no_room, too_long, bounded or simulated
  std::optional<double> step_time_s;  // of one that is bounded at least so much
  std::string text;                   // a sentence
};
WhyNot why_not(const Space& space, const JobLayout& layout, const SearchAnswer& answer);
std::string why_not_json(const Space& space, const WhyNot& why, const SearchAnswer& answer);
std::string why_not_csv(const WhyNot& why);

}  // namespace podsim
