// Joins legs to spans, and goes through those beside which something new drains.
#include "scheduler/simulation/longest_path/solo_spans.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/check.h"

namespace podsim {
namespace {

// Outcomes of a system that are kept: some 300 B each.
constexpr std::size_t kMostKept = std::size_t{1} << 15;

bool same(std::span<const DrainBeside> a, std::span<const DrainBeside> b) {
  return std::ranges::equal(a, b, [](const DrainBeside& x, const DrainBeside& y) {
    return x.begin == y.begin && x.end == y.end && x.pattern == y.pattern;
  });
}

void add_launches(std::vector<LegLaunches>& launched, const LegLaunches& more) {
  const auto known = std::ranges::find_if(launched, [&](const LegLaunches& each) {
    return each.stream == more.stream && each.communicator == more.communicator;
  });
  if (known == launched.end()) {
    launched.push_back(more);
  } else {
    known->count += more.count;
  }
}

bool updates(const Leg& leg) {
  return std::ranges::any_of(leg.steps, [](const LegStep& step) {
    return step.kind == LegStep::Kind::kCompute && step.bucket == Bucket::kOptimizer;
  });
}

// What comes after `before`, as one outcome. Lengths are picoseconds, and the host is at a maximum of sums.
void append(LegOutcome& before, const LegOutcome& next) {
  const auto sum = [](Time a, Time b) { return b == LegOutcome::kNever ? b : LegOutcome::later(a, b); };
  before.host_floor =
      std::max(sum(before.host_floor, next.host_add), LegOutcome::later(next.host_floor, before.length));
  before.host_add = sum(before.host_add, next.host_add);
  before.length += next.length;
  for (std::size_t b = 0; b < kBuckets; ++b) before.bucket[b] += next.bucket[b];
  for (const std::pair<std::int32_t, Time>& more : next.exposed) {
    const auto known = std::ranges::find(before.exposed, more.first, &std::pair<std::int32_t, Time>::first);
    if (known == before.exposed.end()) {
      before.exposed.push_back(more);
    } else {
      known->second += more.second;
    }
  }
}

}  // namespace

// ---- Outcomes by what drains

std::uint64_t SpanOutcomes::hash(std::span<const DrainBeside> drains) {
  std::uint64_t hash = 0x9e3779b97f4a7c15;
  const auto mix = [&](std::int64_t number) {
    hash = (hash ^ static_cast<std::uint64_t>(number)) * 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
  };
  for (const DrainBeside& each : drains) {
    mix(each.begin.ps);
    mix(each.end.ps);
    mix(each.pattern);
  }
  return hash;
}

LegOutcome* SpanOutcomes::find(std::span<const DrainBeside> drains, std::uint64_t hash) {
  if (table_.empty()) return nullptr;
  const std::size_t mask = table_.size() - 1;
  for (std::size_t at = hash & mask; table_[at].known != nullptr; at = (at + 1) & mask)
    if (table_[at].hash == hash && same(table_[at].known->drains, drains)) return &table_[at].known->outcome;
  return nullptr;
}

LegOutcome& SpanOutcomes::add(std::span<const DrainBeside> drains, std::uint64_t hash, Room& room) {
  Known& known = room.emplace_back(Known{{drains.begin(), drains.end()}, {}});
  if (2 * ++count_ > table_.size()) {
    const std::vector<Place> before =
        std::exchange(table_, std::vector<Place>(std::max<std::size_t>(4, 2 * table_.size())));
    for (const Place& each : before)
      if (each.known != nullptr) place(each);
  }
  place({hash, &known});
  return known.outcome;
}

void SpanOutcomes::place(const Place& place) {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = place.hash & mask;
  while (table_[at].known != nullptr) at = (at + 1) & mask;
  table_[at] = place;
}

// ---- Spans

SoloSpans::SoloSpans(const System& system, SoloLegs& legs)
    : system_(system), legs_(legs), places_(system.chips.size()) {}

SoloSpans::Places& SoloSpans::find_places(std::int32_t c, std::int32_t segment) {
  places_[c].resize(program_of(c).segments.size());
  return *(places_[c][segment] = &places_with(legs_.of(c, segment)));
}

SoloSpans::Places& SoloSpans::places_with(SegmentLegs& legs) {
  Places*& places = places_by_legs_[&legs];
  if (places == nullptr) {
    const std::size_t instructions = legs.starts.size();
    places = &all_.emplace_back(Places{&legs, std::vector<std::int32_t>(instructions, kNotLooked),
                                       std::vector<SoloSpan*>(instructions, nullptr)});
  }
  return *places;
}

SoloSpan* SoloSpans::with_peers(std::int32_t c, std::int32_t segment, std::size_t instruction) {
  SegmentLegs* legs = legs_.with_peers(c, segment);
  if (legs == nullptr) return nullptr;
  Places& places = places_with(*legs);
  const std::int32_t known = places.joined[instruction];
  SoloSpan* span = known >= 0 ? &spans_[static_cast<std::size_t>(known)] : look(c, places, instruction);
  return span != nullptr && span->met ? span : nullptr;
}

SoloSpan* SoloSpans::look(std::int32_t c, Places& places, std::size_t instruction) {
  std::int32_t& number = places.joined[instruction];
  if (number == kNothing) return nullptr;
  number = kNothing;
  const std::int32_t first = places.legs->starts[instruction];
  if (first < 0) return nullptr;
  SoloSpan span =
      join(c, std::span<const PlacedLeg>(places.legs->legs).subspan(static_cast<std::size_t>(first)));
  if (span.legs.empty()) return nullptr;
  if (!span.launched.empty()) span.guests = places.legs->guests;
  span.met = std::ranges::any_of(span.launched, [&](const LegLaunches& each) {
    return system_.groups[system_.chips[c].group_class[each.communicator]].members.size() > 1;
  });
  number = static_cast<std::int32_t>(spans_.size());
  return &spans_.emplace_back(std::move(span));
}

SoloSpan& SoloSpans::find_computation(std::int32_t c, std::int32_t segment, std::size_t instruction) {
  Leg& leg = legs_.computation(c, segment, static_cast<std::int32_t>(instruction));
  SoloSpan*& found = span_of_computation_[&leg];
  if (found == nullptr) {
    computations_.push_back({&leg, 0, 1});
    found = &spans_.emplace_back();
    found->legs = {&computations_.back(), 1};
    found->instructions = 1;
    found->events = leg.events;
    found->updates = updates(leg);
    found->alone = leg.alone;
  }
  return *(places_of(c, segment).computation[instruction] = found);
}

// What launches nothing may go on beyond it.
SoloSpan* SoloSpans::within(std::int32_t c, SoloSpan& span, Time time) {
  std::size_t legs = 0;
  for (Time longest; legs < span.legs.size(); ++legs) {
    const Leg& leg = *span.legs[legs].leg;
    longest += leg.longest;
    if (leg.launches > 0 && longest > time) break;
  }
  if (legs == span.legs.size()) return &span;
  if (legs == 0) return nullptr;
  span.shorter.resize(span.legs.size());
  SoloSpan*& shorter = span.shorter[legs - 1];
  if (shorter == nullptr) {
    shorter = &spans_.emplace_back(join(c, span.legs.first(legs)));
    PODSIM_CHECK(shorter->legs.size() == legs, "the host is in time for as many as for all of them");
  }
  return shorter;
}

// The host launches in time for all of them if it is not later than this when the first one begins.
SoloSpan SoloSpans::join(std::int32_t c, std::span<const PlacedLeg> legs) const {
  SoloSpan span;
  span.latest_host = Time::max();
  HostAhead host(program_of(c).host_lead);
  const std::int32_t begin = legs.front().first;
  std::size_t last = 0;
  for (; last < legs.size(); ++last) {
    const PlacedLeg& placed = legs[last];
    const Leg& leg = *placed.leg;
    if (placed.first - begin != span.instructions) break;
    if (!host.in_time(leg.host, span.alone.length, span.latest_host)) break;
    if (last == 0) {
      span.alone = leg.alone;
    } else {
      append(span.alone, leg.alone);
    }
    span.instructions = placed.after - begin;
    span.longest += leg.longest;
    span.idle |= leg.streams;
    span.events += leg.events;
    span.updates = span.updates || updates(leg);
    for (const LegLaunches& each : leg.launched) add_launches(span.launched, each);
  }
  span.legs = legs.first(last);
  return span;
}

void SoloSpans::follow(std::int32_t c, SoloSpan& span, Time begin, std::span<const DrainBeside> beside,
                       SpanCourse& course) {
  const auto take = [&](const LegOutcome& outcome) {
    course.outcome = &outcome;
    course.length = outcome.length;
    course.host_floor = outcome.host_floor;
    course.delays.clear();
  };
  while (!beside.empty() && beside.front().end <= begin) beside = beside.subspan(1);
  if (beside.empty()) return take(span.alone);
  // What was no sum the last time is looked up first.
  const bool tried = span.sums;
  if (tried && (span.sums = add_up(c, span, begin, beside, course))) return;
  relative_.clear();
  for (const DrainBeside& each : beside)
    if (each.end > begin)
      relative_.push_back({std::max(Time{}, each.begin - begin),
                           each.end == Time::max() ? each.end : each.end - begin, each.pattern});
  const std::uint64_t hash = SpanOutcomes::hash(relative_);
  if (const LegOutcome* known = span.beside.find(relative_, hash)) return take(*known);
  if (!tried && (span.sums = add_up(c, span, begin, beside, course))) return;
  LegOutcome& found = kept_.size() < kMostKept ? span.beside.add(relative_, hash, kept_) : course.own;
  rehearse_span(c, span, relative_, found);
  take(found);
}

bool SoloSpans::add_up(std::int32_t c, SoloSpan& span, Time begin, std::span<const DrainBeside> beside,
                       SpanCourse& course) {
  const StageProgram& program = program_of(c);
  if (!span.stretches) span.stretches.emplace(program, span.legs);
  if (!span.stretches->known()) return false;
  SpanStretches::Slowed slowed;
  if (!span.stretches->slow(program, begin, beside, slowed, course.delays)) return false;
  ++sums_;
  course.outcome = &span.alone;
  course.length = slowed.length;
  course.host_floor = slowed.host_floor;
  return true;
}

void SoloSpans::rehearse_span(std::int32_t c, SoloSpan& span, std::span<const DrainBeside> drains,
                              LegOutcome& total) {
  total = outcome_of(c, *span.legs.front().leg, {}, drains);
  for (std::size_t leg = 1; leg < span.legs.size(); ++leg)
    append(total, outcome_of(c, *span.legs[leg].leg, total.length, drains));
}

const LegOutcome& SoloSpans::outcome_of(std::int32_t c, Leg& leg, Time begin,
                                        std::span<const DrainBeside> drains) {
  const Time most = begin + leg.longest;
  std::int32_t pattern = std::numeric_limits<std::int32_t>::max();
  bool any = false, throughout = true;
  for (const DrainBeside& each : drains) {
    if (each.end <= begin || each.begin >= most) continue;
    any = true;
    throughout = throughout && each.begin <= begin && each.end >= most;
    pattern = std::min(pattern, each.pattern);
  }
  if (!any) return leg.alone;
  if (throughout)
    for (const auto& [known, outcome] : leg.slowed)
      if (known == pattern) return outcome;
  LegOutcome& outcome = throughout ? leg.slowed.emplace_back(pattern, LegOutcome{}).second : rehearsed_;
  near_.clear();
  if (throughout) near_.push_back({Time{}, Time::max(), pattern});
  for (const DrainBeside& each : drains)
    if (!throughout && each.end > begin)
      near_.push_back(
          {each.begin - begin, each.end == Time::max() ? each.end : each.end - begin, each.pattern});
  rehearse(system_, program_of(c), leg, near_, buffers_, outcome);
  return outcome;
}

}  // namespace podsim
