// Finds legs, and what they come to alone.
#include "scheduler/simulation/loop/solo_legs.h"

#include <algorithm>
#include <set>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr bool between_stages(Stream stream) { return stream >= Stream::kForwardNext && !copies(stream); }

template <class List, class Same>
std::size_t place_in(List& list, const typename List::value_type& value, Same&& same) {
  const auto found =
      std::ranges::find_if(list, [&](const typename List::value_type& each) { return same(each, value); });
  if (found != list.end()) return static_cast<std::size_t>(found - list.begin());
  list.push_back(value);
  return list.size() - 1;
}

std::size_t place_of(std::vector<std::int32_t>& patterns, std::int32_t pattern) {
  return place_in(patterns, pattern, [](std::int32_t a, std::int32_t b) { return a == b; });
}

std::size_t place_of(std::vector<LegLaunches>& launches, const LegLaunches& launch) {
  return place_in(launches, launch, [](const LegLaunches& a, const LegLaunches& b) {
    return a.stream == b.stream && a.communicator == b.communicator;
  });
}

using Launched = std::pair<std::int32_t, Stream>;  // message

// Each once, in the order of the program.
std::vector<Launched> launched_by(const StageProgram& program) {
  std::vector<Launched> all;
  std::set<Launched> known;
  for (const std::vector<Instruction>& segment : program.segments)
    for (const Instruction& each : segment)
      if (each.kind == Instruction::Kind::kLaunch && known.emplace(each.message, each.stream).second)
        all.emplace_back(each.message, each.stream);
  return all;
}

// Of a leg's chip and its first instructions.
std::uint64_t hash_of_begin(std::int32_t chip, std::span<const Instruction> instructions) {
  constexpr std::size_t kEnough = 4;
  auto hash = static_cast<std::uint64_t>(chip);
  for (const Instruction& each : instructions.first(std::min(kEnough, instructions.size())))
    for (const std::int64_t number :
         {static_cast<std::int64_t>(each.kind), std::int64_t{each.message}, each.duration.ps}) {
      hash = (hash ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 32;
    }
  return hash;
}

}  // namespace

LegSums::LegSums(std::span<const PlacedLeg> legs) : length(1), longest(1), bucket(1), events(1) {
  for (const PlacedLeg& each : legs) {
    for (const auto& [pattern, time] : each.leg->alone.exposed) place_of(patterns, pattern);
    for (const LegLaunches& launch : each.leg->launched) place_of(launches, launch);
  }
  exposed.resize(patterns.size());
  launched.resize(launches.size());
  for (const PlacedLeg& placed : legs) {
    const Leg& leg = *placed.leg;
    length.push_back(length.back() + leg.alone.length);
    longest.push_back(longest.back() + leg.longest);
    events.push_back(events.back() + leg.events);
    bucket.push_back(bucket.back());
    for (std::size_t b = 0; b < kBuckets; ++b) bucket.back()[b] += leg.alone.bucket[b];
    const std::size_t before_exposed = exposed.size(), before_launched = launched.size();
    for (std::size_t p = 0; p < patterns.size(); ++p)
      exposed.push_back(Time{exposed[before_exposed - patterns.size() + p]});
    for (std::size_t l = 0; l < launches.size(); ++l)
      launched.push_back(std::int32_t{launched[before_launched - launches.size() + l]});
    for (const auto& [pattern, time] : leg.alone.exposed)
      exposed[before_exposed + place_of(patterns, pattern)] += time;
    for (const LegLaunches& each : leg.launched)
      launched[before_launched + place_of(launches, each)] += each.count;
  }
}

SoloLegs::SoloLegs(const System& system, const StreamOperations& lists, UncontendedCollectives& uncontended)
    : system_(system), lists_(lists), uncontended_(uncontended) {}

void SoloLegs::make_room() {
  of_chip_.resize(system_.chips.size());
  for (std::size_t c = 0; c < of_chip_.size(); ++c)
    of_chip_[c].resize(program_of(static_cast<std::int32_t>(c)).segments.size());
  rendezvous_of_.assign(system_.groups.size() * kNetworkStreams, -1);
  for (std::size_t m = 0; m < lists_.all_rendezvous().size(); ++m) {
    const StreamOperations::Rendezvous& each = lists_.all_rendezvous()[m];
    rendezvous_of_[static_cast<std::size_t>(each.group) * kNetworkStreams +
                   static_cast<std::size_t>(each.stream)] = static_cast<std::int32_t>(m);
  }
}

bool SoloLegs::Signature::operator==(const Signature& other) const {
  return scale == other.scale && interference == other.interference && skew == other.skew &&
         host_lead == other.host_lead && launches == other.launches &&
         std::ranges::equal(segment, other.segment);
}

// Nothing where there are guests.
std::optional<SoloLegs::Signature> SoloLegs::signature_of(std::int32_t c,
                                                          std::span<const Instruction> segment) {
  const StageProgram& program = program_of(c);
  Signature signature{scale_of(c), program.interference, program.skew, program.host_lead, segment, {}};
  for (const Instruction& each : segment) {
    if (each.kind != Instruction::Kind::kLaunch) continue;
    Signature::Launch& launch = signature.launches.emplace_back();
    if (!own(c, each, launch.streams)) {
      launch = {};
      continue;
    }
    const std::int32_t group = system_.chips[c].group_class[system_.communicator_of[each.message]];
    const std::int32_t run = uncontended_.find(group, each.message);
    for (const std::int32_t link : uncontended_.links(run))
      for (const User& user : users_[static_cast<std::size_t>(link)])
        if (between_stages(user.stream)) return std::nullopt;
    launch.times = uncontended_.times_of(run);
  }
  return signature;
}

// As short as they may be, so that few are beside a begin or an end of a transfer.
SegmentLegs* SoloLegs::find(std::int32_t c, std::int32_t number) {
  const StageProgram& program = program_of(c);
  const std::vector<Instruction>& segment = program.segments[number];
  std::optional<Signature> signature = signature_of(c, segment);
  if (signature)
    for (const auto& [known, legs] : known_)
      if (known == *signature) return legs;
  SegmentLegs* found = &all_.emplace_back();
  found->at.assign(segment.size(), -1);
  found->starts = found->at;
  const std::span<const Instruction> all = segment;
  for (std::int32_t first = 0; first < std::ssize(segment);) {
    Leg* leg = leg_from(c, all.subspan(static_cast<std::size_t>(first)));
    if (leg == nullptr) {
      ++first;
      continue;
    }
    found->starts[static_cast<std::size_t>(first)] = static_cast<std::int32_t>(found->legs.size());
    const Instruction::Kind kind = segment[static_cast<std::size_t>(first)].kind;
    if (kind == Instruction::Kind::kCompute || kind == Instruction::Kind::kLaunch)
      found->at[static_cast<std::size_t>(first)] = static_cast<std::int32_t>(found->legs.size());
    found->legs.push_back({leg, first, first + leg->instructions});
    first += leg->instructions;
  }
  if (signature) {
    known_.emplace_back(*std::move(signature), found);
  } else {
    find_guests(c, segment, *found);
  }
  return found;
}

void SoloLegs::rehearse_alone(std::int32_t c, Leg& leg) {
  const StageProgram& program = program_of(c);
  rehearse(system_, program, leg, {}, buffers_, leg.alone, &leg.host);
  leg.longest = LegOutcome::scaled(leg.alone.length, 1 + program.interference) +
                Time{1000 + 8 * static_cast<std::int64_t>(leg.steps.size())};
}

Leg& SoloLegs::computation(std::int32_t c, std::int32_t number, std::int32_t instruction) {
  const StageProgram& program = program_of(c);
  const Instruction& what = program.segments[number][static_cast<std::size_t>(instruction)];
  PODSIM_CHECK(what.kind == Instruction::Kind::kCompute, "it computes");
  const Time length = LegOutcome::scaled(what.duration, scale_of(c));
  Leg*& known = computations_[{length, what.bucket, program.interference, program.skew}];
  if (known == nullptr) {
    LegWriter writer;
    writer.add({.kind = LegStep::Kind::kCompute, .bucket = what.bucket, .length = length}, 0);
    known = &legs_.emplace_back(writer.take());
    rehearse_alone(c, *known);
  }
  return *known;
}

bool SoloLegs::any_guests() {
  for (std::size_t c = 0; c < system_.chips.size(); ++c)
    for (std::size_t s = 0; s < program_of(static_cast<std::int32_t>(c)).segments.size(); ++s)
      if (!of(static_cast<std::int32_t>(c), static_cast<std::int32_t>(s)).guests.empty()) return true;
  return false;
}

const TimesToLaunch& SoloLegs::times_to_launch(std::int32_t c, std::int32_t number, Stream stream) {
  TimesToLaunch& times = of(c, number).to_launch[static_cast<std::size_t>(stream)];
  const std::span<const Instruction> segment = program_of(c).segments[number];
  if (!times.empty()) return times;
  times.resize(segment.size() + 1);
  for (std::size_t i = segment.size(); i-- > 0;) {
    const bool launches = segment[i].kind == Instruction::Kind::kLaunch && segment[i].stream == stream;
    if (!launches) times[i] = times[i + 1];
    if (segment[i].kind == Instruction::Kind::kCompute)
      times[i] += LegOutcome::scaled(segment[i].duration, scale_of(c));
  }
  return times;
}

void SoloLegs::find_guests(std::int32_t c, std::span<const Instruction> segment, SegmentLegs& found) {
  const ChipClass& chip = system_.chips[c];
  std::vector<std::int32_t> known;  // messages
  for (const PlacedLeg& leg : found.legs) {
    if (leg.leg->launches == 0) continue;
    for (std::int32_t i = leg.first; i < leg.after; ++i) {
      const Instruction& each = segment[static_cast<std::size_t>(i)];
      if (each.kind != Instruction::Kind::kLaunch || std::ranges::find(known, each.message) != known.end())
        continue;
      known.push_back(each.message);
      const std::int32_t group = chip.group_class[system_.communicator_of[each.message]];
      for (const std::int32_t link : uncontended_.links(uncontended_.find(group, each.message)))
        for (const User& user : users_[static_cast<std::size_t>(link)])
          if (between_stages(user.stream))
            place_of(found.guests, rendezvous_of_group(user.group, user.stream));
    }
  }
}

// What has launched something ends where that has been waited for, whatever comes then.
Leg* SoloLegs::leg_from(std::int32_t c, std::span<const Instruction> instructions) {
  const std::uint64_t begin = hash_of_begin(c, instructions);
  const auto [known, end] = known_legs_.equal_range(begin);
  for (auto each = known; each != end; ++each) {
    const KnownLeg& leg = each->second;
    if (leg.chip == c && leg.instructions.size() <= instructions.size() &&
        std::ranges::equal(leg.instructions, instructions.first(leg.instructions.size())))
      return leg.leg;
  }
  std::optional<Leg> written = write_leg(c, instructions);
  if (!written || written->events == 0) return nullptr;
  rehearse_alone(c, *written);
  Leg* leg = &legs_.emplace_back(*std::move(written));
  if (leg->launches > 0)
    known_legs_.emplace(begin,
                        KnownLeg{c, instructions.first(static_cast<std::size_t>(leg->instructions)), leg});
  return leg;
}

// To the first instruction at which all that was launched has been waited for, or the last one before what
// concerns others.
std::optional<Leg> SoloLegs::write_leg(std::int32_t c, std::span<const Instruction> instructions) {
  const ChipClass& chip = system_.chips[c];
  const double scale = scale_of(c);
  LegWriter writer;
  bool marked = false;
  const auto closed = [&] { return marked ? std::optional(writer.take_marked()) : std::nullopt; };
  for (const Instruction& each : instructions) {
    switch (each.kind) {
      case Instruction::Kind::kCompute:
        writer.add({.kind = LegStep::Kind::kCompute,
                    .bucket = each.bucket,
                    .length = LegOutcome::scaled(each.duration, scale)},
                   0);
        break;
      case Instruction::Kind::kPause:
        writer.add({.kind = LegStep::Kind::kPause, .bucket = each.bucket, .length = each.duration}, 0);
        break;
      case Instruction::Kind::kHost:
        writer.add({.kind = LegStep::Kind::kHost, .length = each.duration}, 0);
        break;
      case Instruction::Kind::kSynchronise:
        writer.add({.kind = LegStep::Kind::kSynchronise, .length = {}}, 0);
        break;
      case Instruction::Kind::kWait:
        if (each.stream >= Stream::kForwardNext) return closed();
        writer.wait(each.stream, each.pending);
        break;
      case Instruction::Kind::kLaunch: {
        std::uint32_t beside = 0;
        if (!own(c, each, beside) || !writer.alone(each.stream, beside)) return closed();
        const std::int32_t group = chip.group_class[system_.communicator_of[each.message]];
        const UncontendedCollective& alone = uncontended_[uncontended_.find(group, each.message)];
        writer.launch({.kind = LegStep::Kind::kLaunch,
                       .pattern = system_.pattern_of[each.message],
                       .length = alone.arrival,
                       .edges = alone.edges},
                      each.stream, system_.communicator_of[each.message], beside);
        break;
      }
      case Instruction::Kind::kReceive:
      case Instruction::Kind::kInput:
      case Instruction::Kind::kCopy:
        return closed();
    }
    if (writer.closed()) {
      if (writer.leg().launches > 0) return writer.take();
      writer.mark();
      marked = true;
    }
  }
  return closed();
}

// Whether the chip alone decides how the operation goes, while no transfer between stages is on its links; on
// which other streams of its nothing may be under way.
bool SoloLegs::own(std::int32_t c, const Instruction& launch, std::uint32_t& streams) {
  const std::int32_t group = system_.chips[c].group_class[system_.communicator_of[launch.message]];
  if (launch.stream >= Stream::kForwardNext || system_.step.messages[launch.message].scope.neighbour != 0 ||
      system_.groups[group].members.size() != 1)
    return false;
  if (users_.empty()) list_users();
  const std::int32_t run = uncontended_.find(group, launch.message);
  if (!uncontended_[run].ends) return false;
  bool wider = false;
  for (const std::int32_t link : uncontended_.links(run))
    for (const User& user : users_[static_cast<std::size_t>(link)]) {
      if (between_stages(user.stream)) continue;  // a guest
      // A group begins nothing before the chip comes, where it is one of those that have to.
      const std::vector<std::int32_t>& members = system_.groups[user.group].members;
      if (user.from_source || !std::ranges::binary_search(members, c)) return false;
      streams |= Leg::bit(user.stream);
      wider = wider || members.size() > 1;
    }
  beside_wider_groups_ += wider;
  return true;
}

bool SoloLegs::exclusive(std::int32_t group, Stream stream, std::int32_t message) {
  if (users_.empty()) list_users();
  const std::span<const std::int32_t> links = uncontended_.links(uncontended_.find(group, message));
  return std::ranges::all_of(links, [&](std::int32_t link) {
    return std::ranges::all_of(users_[static_cast<std::size_t>(link)], [&](const User& user) {
      return user.group == group && user.stream == stream;
    });
  });
}

// Of members any has to come before the operation starts, of transfers the source.
std::vector<SoloLegs::Launcher> SoloLegs::others(std::int32_t group, Stream stream, std::int32_t message,
                                                 std::size_t most) {
  if (users_.empty()) list_users();
  std::vector<Launcher> found;
  for (const std::int32_t link : uncontended_.links(uncontended_.find(group, message)))
    for (const User& user : users_[static_cast<std::size_t>(link)]) {
      if (user.group == group && user.stream == stream) continue;
      const Launcher other{system_.groups[user.group].members.front(), user.stream};
      if (std::ranges::find(found, other) != found.end()) continue;
      found.push_back(other);
      if (found.size() > most) return found;
    }
  return found;
}

std::int32_t SoloLegs::rendezvous_of(std::int32_t c, Stream stream, std::int32_t communicator) {
  if (of_chip_.empty()) make_room();
  return rendezvous_of_group(system_.chips[c].group_class[communicator], stream);
}

std::int32_t SoloLegs::rendezvous_of_group(std::int32_t group, Stream stream) const {
  const std::int32_t rendezvous =
      rendezvous_of_[static_cast<std::size_t>(group) * kNetworkStreams + static_cast<std::size_t>(stream)];
  PODSIM_CHECK(rendezvous >= 0, "what is launched has a rendezvous");
  return rendezvous;
}

// A program launches a few messages again and again.
void SoloLegs::list_users() {
  users_.resize(system_.links.size());
  std::vector<std::vector<Launched>> launched;
  for (const StageProgram& program : system_.step.stages) launched.push_back(launched_by(program));
  for (const ChipClass& chip : system_.chips)
    for (const auto& [message, stream] : launched[static_cast<std::size_t>(chip.program)]) {
      const User user{chip.group_class[system_.communicator_of[message]], stream,
                      system_.step.messages[message].scope.neighbour != 0};
      for (const std::int32_t link : uncontended_.links(uncontended_.find(user.group, message))) {
        std::vector<User>& users = users_[static_cast<std::size_t>(link)];
        if (std::ranges::find(users, user) == users.end()) users.push_back(user);
      }
    }
}

// The host launches in time for all of them if it is not later than this when the first one begins: whatever
// drains beside them, the chip comes to nothing sooner.
void SoloLegs::join(std::int32_t c, std::vector<PlacedLeg>& legs, std::int32_t first) const {
  HostAhead host(program_of(c).host_lead);
  PlacedLeg& begin = legs[static_cast<std::size_t>(first)];
  begin.last = first;
  begin.latest_host = Time::max();
  Time now;
  std::int32_t events = 0;
  for (auto l = static_cast<std::size_t>(first); l < legs.size(); ++l) {
    if (l > static_cast<std::size_t>(first) && legs[l].first != legs[l - 1].after) break;
    const Leg& leg = *legs[l].leg;
    if (!host.in_time(leg.host, now, begin.latest_host)) break;
    begin.idle |= leg.streams;
    begin.last = static_cast<std::int32_t>(l) + 1;
    now += leg.alone.length;
    events += leg.events;
  }
  if (events < 2) begin.last = first;
}

}  // namespace podsim
