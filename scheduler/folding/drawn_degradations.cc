// Selectors to parts, parts to chips and links, seasons to profiles.
#include "scheduler/folding/drawn_degradations.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "workload/job/job.h"

namespace podsim {
namespace {

bool lists(const std::vector<std::pair<int, int>>& ranges, int number) {
  return ranges.empty() || std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
           return range.first <= number && number <= range.second;
         });
}

bool lists(const std::vector<int>& numbers, int number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

std::uint64_t entity_of(const Selector& which, int domain) {
  const auto kind = which.together == Domain::kNone ? static_cast<std::uint64_t>(which.kind)
                                                    : kPartKinds + static_cast<std::uint64_t>(which.together);
  return mix(kind + 1, static_cast<std::uint64_t>(domain));
}

double draw_factor(const SpeedFactor& factor, std::uint64_t seed, std::uint64_t entity, std::uint64_t draw) {
  const auto normal = [&] { return random_normal(seed, RandomPurpose::kSlowFactor, entity, draw); };
  double value = factor.mean;
  switch (factor.shape) {
    case SpeedFactor::Shape::kFixed:
      return value;
    case SpeedFactor::Shape::kUniform:
      return factor.low +
             (factor.high - factor.low) * random_uniform(seed, RandomPurpose::kSlowFactor, entity, draw);
    case SpeedFactor::Shape::kNormal:
      value *= 1 + factor.coefficient_of_variation * normal();
      break;
    case SpeedFactor::Shape::kLognormal:
      value *= Lognormal(factor.coefficient_of_variation)(normal());
      break;
  }
  return std::clamp(value, factor.low, factor.high);
}

Wave wave_of(const Season& season, double factor, std::uint64_t entity) {
  Wave wave;
  if (!season.windows.empty()) {
    wave.staircase = windows(season.windows, factor, season.repeat);
  } else if (season.swing_amplitude > 0) {
    wave.staircase = swing(factor, season.swing_amplitude, season.swing_period, season.swing_levels);
  } else {
    wave.staircase.steps = {{Time{}, factor}};
  }
  if (season.chance_slot.ps > 0) wave.chance = Chance{season.chance_slot, season.chance_share, entity};
  return wave;
}

// How slow a part is by one entry.
struct DrawnSpeed {
  double factor = 1;
  Wave wave;  // of an entry that is not always there
};

// The links of one entry, each once: one whose ends both were drawn has the slower draw, of equal ones the
// first.
class LinksOfEntry {
 public:
  explicit LinksOfEntry(std::size_t things) : things_(things) {}

  void add(std::span<const LinkId> links, DrawnSpeed draw) {
    draw_of_.resize(things_, -1);
    for (const LinkId link : links) {
      std::int32_t& known = draw_of_[link];
      if (known < 0) links_.push_back(link);
      if (known < 0 || draw.factor < draws_[known].factor) known = static_cast<std::int32_t>(draws_.size());
    }
    draws_.push_back(std::move(draw));
  }

  // put(link, draw) of each; none is left.
  template <typename Put>
  void take(Put&& put) {
    for (const LinkId link : links_) put(link, draws_[draw_of_[link]]), draw_of_[link] = -1;
    links_.clear();
    draws_.clear();
  }

 private:
  std::size_t things_;
  std::vector<std::int32_t> draw_of_;  // [link], -1 = none
  std::vector<LinkId> links_;
  std::vector<DrawnSpeed> draws_;
};

// Factors of one kind of thing, chips or links, with the waves that meet on each.
class Combined {
 public:
  explicit Combined(std::size_t things) : things_(things) {}

  void add(std::int32_t thing, double factor) {
    factor_.resize(things_, 1);
    factor_[thing] *= factor;
  }
  void add(std::int32_t thing, const Wave& wave) { waves_[thing].push_back(wave); }

  // Distinct profiles go to `profiles`, numbered by the first thing that has them.
  void hand_over(std::vector<double>& factor, std::vector<std::int32_t>& profile,
                 std::map<SpeedProfile, std::int32_t>& known, std::vector<SpeedProfile>& profiles) {
    factor = std::move(factor_);
    if (waves_.empty()) return;
    profile.resize(things_, -1);
    for (const auto& [thing, waves] : waves_) {
      const auto [it, is_new] = known.try_emplace(waves, static_cast<std::int32_t>(profiles.size()));
      if (is_new) profiles.push_back(waves);
      profile[thing] = it->second;
    }
  }

 private:
  std::size_t things_;
  std::vector<double> factor_;
  std::map<std::int32_t, SpeedProfile> waves_;
};

}  // namespace

void add_roles(ChipRoles& roles, const Mesh& mesh, int pipeline_axis, std::span<const ShardingRule> rules,
               const Placement& placement) {
  const auto number = [&](AxisSet axes, std::vector<int>& rank) {
    for (const std::span<const ChipId> group : groups_along(mesh, placement, axes))
      for (std::size_t i = 0; i < group.size(); ++i) rank[group[i]] = static_cast<int>(i);
  };
  AxisSet batch = 0;
  for (const ShardingRule& rule : rules)
    for (const std::string& name : rule.axes)
      if (const int axis = mesh.find(name); rule.dimension == "batch" && axis >= 0)
        batch |= AxisSet{1} << axis;
  number(batch, roles.data_rank);
  number(pipeline_axis < 0 ? 0 : AxisSet{1} << pipeline_axis, roles.stage);
}

ChipRoles roles_of(const Fabric& fabric, const Job& job, const std::vector<AxisPlacement>& placement) {
  const std::vector<int> none(fabric.chips, -1);
  ChipRoles roles{none, none};
  const int stages = job.pipeline_axis.empty() ? -1 : job.mesh.find(job.pipeline_axis);
  add_roles(roles, job.mesh, stages, job.rules, place(fabric, job.mesh, placement));
  return roles;
}

int role_count(const std::vector<int>& role) { return 1 + *std::max_element(role.begin(), role.end()); }

std::vector<int> candidates(const Selector& selector, const Parts& parts, const ChipRoles& roles) {
  std::vector<int> found;
  const auto plays = [&](int number, const std::vector<int>& wanted, const std::vector<int>& role) {
    if (wanted.empty()) return true;
    const std::vector<ChipId> chips = parts.chips(selector.kind, number);
    return std::any_of(chips.begin(), chips.end(), [&](ChipId chip) { return lists(wanted, role[chip]); });
  };
  const auto is_left = [&](int number) {
    const auto at = static_cast<std::size_t>(number);
    return selector.drawn_as.empty() || (at < selector.drawn_as.size() && selector.drawn_as[at] >= 0);
  };
  const int count = parts.count(selector.kind);
  for (int number = 0; number < count; ++number)
    if (lists(selector.numbers, number) && is_left(number) && plays(number, selector.stages, roles.stage) &&
        plays(number, selector.data_ranks, roles.data_rank))
      found.push_back(number);
  return found;
}

int drawn_number(const Selector& selector, const Parts& parts, int number) {
  return selector.drawn_as.empty() ? parts.domain_of(selector.together, selector.kind, number)
                                   : selector.drawn_as[static_cast<std::size_t>(number)];
}

std::string explain_missing(const Selector& selector, const Parts& parts, const ChipRoles& roles) {
  const std::string kind(to_string(selector.kind));
  const int count = parts.count(selector.kind);
  if (count == 0) return "the fabric has no " + kind;
  for (const auto& [first, last] : selector.numbers)
    if (last >= count)
      return "the fabric has no " + kind + " " + std::to_string(last) + ", only " + std::to_string(count) +
             " of them";
  const auto missing = [](const std::vector<int>& wanted, const std::vector<int>& role, const char* what) {
    const int known = role_count(role);
    for (const int number : wanted)
      if (number >= known)
        return "the mesh has no " + (what + (" " + std::to_string(number))) + ", only " +
               std::to_string(known) + " of them";
    return std::string();
  };
  const std::string stage = missing(selector.stages, roles.stage, "pipeline stage");
  return stage.empty() ? missing(selector.data_ranks, roles.data_rank, "data rank") : stage;
}

DrawnDegradations draw_degradations(const Fabric& fabric, const Parts& parts, const ChipRoles& roles,
                                    std::span<const Degradation> entries, std::uint64_t seed) {
  DrawnDegradations degradations;
  Combined chips(fabric.chips), links(fabric.links.size());
  LinksOfEntry of_entry(fabric.links.size());
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const Degradation& entry = entries[e];
    Hit& hit = degradations.hits.emplace_back();
    if (!entry.by_selector()) continue;
    const auto put = [&](Combined& combined, std::int32_t thing, const DrawnSpeed& draw) {
      entry.season.always() ? combined.add(thing, draw.factor) : combined.add(thing, draw.wave);
    };
    for (const int number : candidates(entry.which, parts, roles)) {
      const std::uint64_t entity = entity_of(entry.which, drawn_number(entry.which, parts, number));
      if (random_uniform(seed, RandomPurpose::kSlowChoice, entity, entry.draw) >= entry.which.random_fraction)
        continue;
      DrawnSpeed draw{draw_factor(entry.factor, seed, entity, entry.draw), {}};
      if (!entry.season.always()) draw.wave = wave_of(entry.season, draw.factor, mix(entity, entry.draw));
      ++hit.parts;
      if (computes(entry.which.kind)) {
        for (const ChipId chip : parts.chips(entry.which.kind, number)) put(chips, chip, draw), ++hit.chips;
      } else {
        of_entry.add(parts.links(entry.which.kind, number), std::move(draw));
      }
    }
    of_entry.take([&](LinkId link, const DrawnSpeed& draw) {
      put(links, link, draw);
      ++hit.links;
      if (entry.cause != Degradation::Cause::kFlap) return;
      degradations.link_flap.resize(fabric.links.size(), -1);
      degradations.link_flap[link] = static_cast<std::int32_t>(e);
    });
  }
  std::map<SpeedProfile, std::int32_t> known;
  chips.hand_over(degradations.chip_factor, degradations.chip_profile, known, degradations.profiles);
  links.hand_over(degradations.link_factor, degradations.link_profile, known, degradations.profiles);
  return degradations;
}

}  // namespace podsim
