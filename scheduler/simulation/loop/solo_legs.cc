// Finds legs, and what they come to alone.
#include "scheduler/simulation/loop/solo_legs.h"

#include <algorithm>
#include <bit>

#include "engine/check.h"
#include "engine/random.h"

namespace podsim {
namespace {

constexpr bool between_stages(Stream stream) { return stream >= Stream::kForwardNext && !copies(stream); }

void add_once(std::vector<std::int32_t>& list, std::int32_t number) {
  if (std::ranges::find(list, number) == list.end()) list.push_back(number);
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

SoloLegs::SoloLegs(const System& system, const StreamOperations& lists, UncontendedCollectives& uncontended,
                   LinkUsers& users)
    : system_(system), lists_(lists), uncontended_(uncontended), users_(users) {}

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
         host_lead == other.host_lead && launches == other.launches && peers == other.peers &&
         std::ranges::equal(segment, other.segment);
}

SoloLegs::Signature SoloLegs::signature_of(std::int32_t c, std::span<const Instruction> segment, bool peers) {
  const StageProgram& program = program_of(c);
  Signature signature{scale_of(c), program.interference, program.skew, program.host_lead, segment, {}, peers};
  users_.list();
  const std::int32_t number = system_.chips[c].program;
  std::vector<bool> known(users_.launched(number).size(), false);
  for (const Instruction& each : segment) {
    if (each.kind != Instruction::Kind::kLaunch) continue;
    const auto place = static_cast<std::size_t>(users_.number_of(number, {each.message, each.stream}));
    if (known[place]) continue;
    known[place] = true;
    signature.launches.push_back(launch(c, each, peers));
  }
  return signature;
}

SoloLegs::LaunchAlone SoloLegs::launch(std::int32_t c, const Instruction& launch, bool peers) {
  users_.list();
  if (launches_.empty()) launches_.resize(system_.chips.size());
  const std::int32_t program = system_.chips[c].program;
  std::vector<std::optional<LaunchAlone>>& all = launches_[static_cast<std::size_t>(c)];
  if (all.empty()) all.resize(2 * users_.launched(program).size());
  const auto number = static_cast<std::size_t>(users_.number_of(program, {launch.message, launch.stream}));
  std::optional<LaunchAlone>& known = all[2 * number + (peers ? 1 : 0)];
  if (!known) known = find_launch(c, launch, peers);
  return *known;
}

SoloLegs::LaunchAlone SoloLegs::find_launch(std::int32_t c, const Instruction& launch, bool peers) {
  LaunchAlone found;
  if (!alone(c, launch, peers, found.streams)) return {};
  found.alone = true;
  const std::int32_t group = group_of(c, launch.message);
  found.met = system_.groups[group].members.size() > 1;
  const std::int32_t run = uncontended_.find(group, launch.message);
  found.times = uncontended_.times_of(run);
  return found;
}

std::uint64_t SoloLegs::Signature::hash() const {
  std::uint64_t hash = mix(std::bit_cast<std::uint64_t>(scale), segment.size());
  for (const LaunchAlone& each : launches)
    hash = mix(mix(hash, static_cast<std::uint64_t>(each.times)), each.streams);
  return hash;
}

// As short as they may be, so that few are beside a begin or an end of a transfer.
SegmentLegs* SoloLegs::find(std::int32_t c, std::int32_t number, bool peers) {
  const std::span<const Instruction> segment = program_of(c).segments[static_cast<std::size_t>(number)];
  Signature signature = signature_of(c, segment, peers);
  const std::uint64_t hash = signature.hash();
  const auto [known, end] = known_.equal_range(hash);
  for (auto each = known; each != end; ++each)
    if (each->second.first == signature) return each->second.second;
  SegmentLegs* found = &all_.emplace_back();
  found->at.assign(segment.size(), -1);
  found->starts = found->at;
  for (std::size_t i = 0; i < segment.size(); ++i)
    if (segment[i].kind == Instruction::Kind::kLaunch && !copies(segment[i].stream))
      found->until[static_cast<std::size_t>(segment[i].stream)] = static_cast<std::int32_t>(i) + 1;
  for (std::int32_t first = 0; first < std::ssize(segment);) {
    Leg* leg = leg_from(c, segment.subspan(static_cast<std::size_t>(first)), peers);
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
  list_messages(segment, *found);
  known_.emplace(hash, std::pair(std::move(signature), found));
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

const TimesToLaunch& SoloLegs::times_to_launch(std::int32_t c, std::int32_t number, Stream stream) {
  SegmentLegs& legs = of(c, number);
  const std::span<const Instruction> segment = program_of(c).segments[number];
  if (legs.to_end.empty()) {
    legs.to_end.resize(segment.size() + 1);
    for (std::size_t i = segment.size(); i-- > 0;) {
      legs.to_end[i] = legs.to_end[i + 1];
      if (segment[i].kind == Instruction::Kind::kCompute)
        legs.to_end[i] += LegOutcome::scaled(segment[i].duration, scale_of(c));
    }
  }
  if (legs.until[static_cast<std::size_t>(stream)] == 0) return legs.to_end;
  TimesToLaunch& times = legs.to_launch[static_cast<std::size_t>(stream)];
  if (!times.empty()) return times;
  times.resize(segment.size() + 1);
  Time behind;  // the next launch, to the end
  for (std::size_t i = segment.size(); i-- > 0;) {
    if (segment[i].kind == Instruction::Kind::kLaunch && segment[i].stream == stream) behind = legs.to_end[i];
    times[i] = legs.to_end[i] - behind;
  }
  return times;
}

void SoloLegs::list_messages(std::span<const Instruction> segment, SegmentLegs& found) {
  for (const PlacedLeg& leg : found.legs) {
    if (leg.leg->launches == 0) continue;
    for (std::int32_t i = leg.first; i < leg.after; ++i) {
      const Instruction& each = segment[static_cast<std::size_t>(i)];
      if (each.kind == Instruction::Kind::kLaunch) add_once(found.messages, each.message);
    }
  }
}

void SoloLegs::find_guests(std::int32_t c, ChipSegment& of) {
  for (const std::int32_t message : of.legs->messages) {
    const std::int32_t group = group_of(c, message);
    for (const std::int32_t link : uncontended_.links(uncontended_.find(group, message)))
      for (const LinkUsers::User& user : users_.of(link))
        if (between_stages(user.stream)) add_once(of.guests, rendezvous_of_group(user.group, user.stream));
  }
}

// What has launched something ends where that has been waited for, whatever comes then.
Leg* SoloLegs::leg_from(std::int32_t c, std::span<const Instruction> instructions, bool peers) {
  const std::uint64_t begin = hash_of_begin(c, instructions);
  const auto [known, end] = known_legs_.equal_range(begin);
  for (auto each = known; each != end; ++each) {
    const KnownLeg& leg = each->second;
    if (leg.chip == c && leg.peers == peers && leg.instructions.size() <= instructions.size() &&
        std::ranges::equal(leg.instructions, instructions.first(leg.instructions.size())))
      return leg.leg;
  }
  std::optional<Leg> written = write_leg(c, instructions, peers);
  if (!written || written->events == 0) return nullptr;
  rehearse_alone(c, *written);
  Leg* leg = &legs_.emplace_back(*std::move(written));
  if (leg->launches > 0)
    known_legs_.emplace(
        begin, KnownLeg{c, peers, instructions.first(static_cast<std::size_t>(leg->instructions)), leg});
  return leg;
}

// To the first instruction at which all that was launched has been waited for, or the last one before what
// concerns others.
std::optional<Leg> SoloLegs::write_leg(std::int32_t c, std::span<const Instruction> instructions,
                                       bool peers) {
  const double scale = scale_of(c);
  LegWriter& writer = writer_;
  writer.begin();
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
        const LaunchAlone known = launch(c, each, peers);
        if (!known.alone || !writer.alone(each.stream, known.streams)) return closed();
        const UncontendedCollective& alone =
            uncontended_[uncontended_.find(group_of(c, each.message), each.message)];
        writer.launch({.kind = LegStep::Kind::kLaunch,
                       .pattern = system_.pattern_of[each.message],
                       .communicator = system_.communicator_of[each.message],
                       .length = alone.arrival,
                       .edges = alone.edges},
                      each.stream, system_.communicator_of[each.message], known.streams);
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

bool SoloLegs::alone(std::int32_t c, const Instruction& launch, bool peers, std::uint32_t& streams) {
  if (!peers) return own(c, launch, streams);
  const std::int32_t group = group_of(c, launch.message);
  const std::vector<std::int32_t>& members = system_.groups[group].members;
  // What a chip does by itself while it waits for its peers has to have links of its own.
  if (members.size() == 1)
    return own(c, launch, streams) && users_.exclusive(group, launch.stream, launch.message);
  return members == system_.groups[this->peers(c)].members &&
         of_peers(group, launch.message, launch.stream, streams);
}

bool SoloLegs::own(std::int32_t c, const Instruction& launch, std::uint32_t& streams) {
  const std::int32_t group = group_of(c, launch.message);
  if (launch.stream >= Stream::kForwardNext || system_.step.messages[launch.message].scope.point_to_point() ||
      system_.groups[group].members.size() != 1)
    return false;
  users_.list();
  const std::int32_t run = uncontended_.find(group, launch.message);
  if (!uncontended_[run].ends) return false;
  bool wider = false;
  for (const std::int32_t link : uncontended_.links(run))
    for (const LinkUsers::User& user : users_.of(link)) {
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
