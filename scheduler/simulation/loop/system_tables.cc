// Lists what streams carry.
#include "scheduler/simulation/loop/system_tables.h"

namespace podsim {
namespace {

constexpr double kPicosecondsPerSecond = 1e12;

}  // namespace

SystemTables::SystemTables(const System& of)
    : system(of),
      lists(system),
      links(link_capacities(system), kPicosecondsPerSecond),
      uncontended(system, links),
      users(system, uncontended),
      legs(system, lists, uncontended, users) {}

}  // namespace podsim
