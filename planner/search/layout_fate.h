// What becomes of one layout of a space, and where its time goes.
#pragma once

#include <optional>
#include <string>

#include "planner/space/space.h"
#include "planner/store/main_figures.h"

namespace podsim {

// What becomes of one layout.
struct LayoutFate {
  enum class Kind { kIllegal, kNoRoom, kBounded, kTooLong, kSimulated } kind;
  std::string why;  // of an illegal one, and of one whose step is too long to be simulated
  Bytes needed, room;
  Time bound;                          // of one that is bounded or simulated
  std::optional<MainFigures> figures;  // of one that is simulated
};

// `best` = the step that its bound has to beat.
LayoutFate fate_of(const Space& space, const JobLayout& layout, Time best);

// Where the time goes that a layout takes more than another: the two largest differences, and what is saved.
std::string difference(const MainFigures& slower, const MainFigures& faster);

}  // namespace podsim
