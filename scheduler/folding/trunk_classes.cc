// Follows each way of each rail from switch to switch.
#include "scheduler/folding/trunk_classes.h"

#include <unordered_map>

#include "engine/random.h"
#include "scheduler/folding/first_members.h"

namespace podsim {

void TrunkClasses::add(const TrunkRun& run, Colour carried) {
  const std::int32_t begin = trunk(run.way, run.first), end = begin + run.switches * step_of(run.way);
  more_[static_cast<std::size_t>(begin)] += carried;
  if (end < end_of_tier(tier_of_way(run.way))) more_[static_cast<std::size_t>(end)] -= carried;
}

void TrunkClasses::find_runs(std::size_t t) {
  const RegularTree::Tier& tier = tree_.tier(t);
  const std::int32_t step = 2 * tier.in_set, begin = end_of_tier(t) - 2 * tier.switches;
  std::vector<std::size_t> run_of(static_cast<std::size_t>(step));  // that is under way
  for (std::int32_t set = 0; set < tier.switches / tier.in_set; ++set)
    for (std::int32_t own = 0; own < step; ++own) {
      const std::int32_t here = begin + set * step + own;
      std::size_t& run = run_of[static_cast<std::size_t>(own)];
      const Colour more = more_[static_cast<std::size_t>(here)];
      if (set == 0 || more != 0) {
        const Colour before = set == 0 ? 0 : carried_[run];
        run = runs_.size();
        runs_.push_back({here, 0, step, -1});
        carried_.push_back(before + more);
      }
      ++runs_[run].count;
    }
}

std::vector<TrunkClasses::Class> TrunkClasses::number() {
  for (std::size_t t = 0; t < tree_.tiers() && tree_.tier(t).leads_up; ++t) find_runs(t);
  FirstMembers members;
  std::unordered_map<Colour, std::int32_t> known;
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    Alike& alike = runs_[run];
    const LinkId link = trunks_.link(alike.trunk);
    const Colour colour = mix(colour_of(tree_.cable(link)), carried_[run]);
    alike.number = known.try_emplace(colour, static_cast<std::int32_t>(known.size())).first->second;
    members.add(alike.number, link, alike.count, alike.trunk);
  }
  std::vector<Class> classes;
  std::vector<std::int32_t> number_of;
  for (const FirstMembers::Class& of : members.number(number_of)) {
    firsts_.push_back({of.where, static_cast<std::int32_t>(classes.size())});
    classes.push_back({static_cast<LinkId>(of.first), of.count});
  }
  std::ranges::sort(firsts_, {}, &First::trunk);
  for (Alike& alike : runs_) alike.number = number_of[static_cast<std::size_t>(alike.number)];
  return classes;
}

}  // namespace podsim
