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

void expose(LegOutcome& outcome, std::int32_t pattern, Time time) {
  const auto known = std::ranges::find(outcome.exposed, pattern, &std::pair<std::int32_t, Time>::first);
  if (known == outcome.exposed.end()) {
    outcome.exposed.emplace_back(pattern, time);
  } else {
    known->second += time;
  }
}

// What comes after `before`, of the host: it is at a maximum of sums.
void append_host(LegOutcome& before, const LegOutcome& next) {
  const auto sum = [](Time a, Time b) { return b == LegOutcome::kNever ? b : LegOutcome::later(a, b); };
  before.host_floor =
      std::max(sum(before.host_floor, next.host_add), LegOutcome::later(next.host_floor, before.length));
  before.host_add = sum(before.host_add, next.host_add);
}

// What comes after `before`, as one outcome.
void append(LegOutcome& before, const LegOutcome& next) {
  append_host(before, next);
  before.length += next.length;
  for (std::size_t b = 0; b < kBuckets; ++b) before.bucket[b] += next.bucket[b];
  for (const auto& [pattern, time] : next.exposed) expose(before, pattern, time);
}

// The same of these legs of the segment, which go alone: differences of its sums, but for the host.
void append_alone(LegOutcome& before, SegmentLegs& segment, std::span<const PlacedLeg> legs) {
  const LegSums& sums = segment.sums();
  const auto first = static_cast<std::size_t>(legs.data() - segment.legs.data()), end = first + legs.size();
  const Time begin = before.length;
  for (std::size_t l = 0; l < legs.size(); ++l) {
    if (legs[l].leg->host.empty()) continue;
    before.length = begin + (sums.length[first + l] - sums.length[first]);
    append_host(before, legs[l].leg->alone);
  }
  before.length = begin + (sums.length[end] - sums.length[first]);
  for (std::size_t b = 0; b < kBuckets; ++b) before.bucket[b] += sums.bucket[end][b] - sums.bucket[first][b];
  const std::size_t patterns = sums.patterns.size();
  before.exposed.reserve(patterns);
  for (std::size_t p = 0; p < patterns; ++p) {
    const Time time = sums.exposed[end * patterns + p] - sums.exposed[first * patterns + p];
    if (time > Time{}) expose(before, sums.patterns[p], time);
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
  const std::span<const PlacedLeg> legs = places.legs->legs;
  SoloSpan span = join(c, *places.legs, legs.subspan(static_cast<std::size_t>(first)));
  if (span.legs.empty()) return nullptr;
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
    found->updates = leg.updates;
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
    shorter = &spans_.emplace_back(join(c, *span.segment, span.legs.first(legs)));
    PODSIM_CHECK(shorter->legs.size() == legs, "the host is in time for as many as for all of them");
  }
  return shorter;
}

// The host launches in time for all of them if it is not later than this when the first one begins.
SoloSpan SoloSpans::join(std::int32_t c, SegmentLegs& segment, std::span<const PlacedLeg> legs) const {
  const LegSums& sums = segment.sums();
  const auto first = static_cast<std::size_t>(legs.data() - segment.legs.data());
  SoloSpan span;
  span.segment = &segment;
  span.latest_host = Time::max();
  HostAhead host(program_of(c).host_lead);
  const std::int32_t begin = legs.front().first;
  std::size_t last = 0;
  for (; last < legs.size(); ++last) {
    const PlacedLeg& placed = legs[last];
    const Leg& leg = *placed.leg;
    if (placed.first - begin != span.instructions) break;
    if (!leg.host.empty() &&
        !host.in_time(leg.host, sums.length[first + last] - sums.length[first], span.latest_host))
      break;
    span.instructions = placed.after - begin;
    span.idle |= leg.streams;
    span.updates = span.updates || leg.updates;
  }
  span.legs = legs.first(last);
  const std::size_t end = first + last;
  append_alone(span.alone, segment, span.legs);
  span.longest = sums.longest[end] - sums.longest[first];
  span.events = sums.events[end] - sums.events[first];
  const std::size_t launches = sums.launches.size();
  span.launched.reserve(launches);
  for (std::size_t l = 0; l < launches; ++l) {
    const std::int32_t count = sums.launched[end * launches + l] - sums.launched[first * launches + l];
    if (count > 0) span.launched.push_back({sums.launches[l].stream, sums.launches[l].communicator, count});
  }
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
  total.clear();
  for (std::size_t leg = 0; leg < span.legs.size();) {
    const std::size_t alone = first_disturbed(span, leg, total, drains) - leg;
    if (alone > 0) append_alone(total, *span.segment, span.legs.subspan(leg, alone));
    leg += alone;
    if (leg == span.legs.size()) break;
    append(total, outcome_of(c, *span.legs[leg++].leg, total.length, drains));
  }
}

std::size_t SoloSpans::first_disturbed(const SoloSpan& span, std::size_t leg, const LegOutcome& total,
                                       std::span<const DrainBeside> drains) {
  if (span.segment == nullptr) return leg;
  Time at = total.length, next = Time::max();
  for (const DrainBeside& each : drains)
    if (each.end > at) next = std::min(next, each.begin);
  for (; leg < span.legs.size() && at + span.legs[leg].leg->longest <= next; ++leg)
    at += span.legs[leg].leg->alone.length;
  return leg;
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
