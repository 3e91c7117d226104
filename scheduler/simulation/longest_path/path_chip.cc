// What a chip takes up, and how long that is beside its transfers.
#include "scheduler/simulation/longest_path/path_chip.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "engine/check.h"
#include "engine/rounding.h"

namespace podsim::longest_path {
namespace {

constexpr std::size_t kMostVariants = 64;  // kept of a stretch

// [stream] how many operations may be unfinished behind a wait, at most.
std::array<int, kNetworkStreams> most_pending(const StageProgram& stage) {
  std::array<int, kNetworkStreams> most{};
  for (const std::vector<Instruction>& segment : stage.segments)
    for (const Instruction& each : segment)
      if (each.kind == Instruction::Kind::kWait && !copies(each.stream))
        most[static_cast<std::size_t>(each.stream)] =
            std::max(most[static_cast<std::size_t>(each.stream)], each.pending);
  return most;
}

}  // namespace

void PathAccounts::add(const Outcome& outcome, std::int64_t times) {
  for (std::size_t b = 0; b < kBuckets; ++b) bucket[b] += times * outcome.bucket[b];
  for (const auto& [pattern, time] : outcome.exposed) exposed[pattern] += times * time;
  for (const auto& [index, launches] : outcome.started) started[index] += times * launches;
}

PathChip::PathChip(const System& system, const SharedSlots& slots, const Program& program,
                   const StageProgram& stage)
    : input(stage.input.load),
      system_(system),
      slots_(slots),
      program_(program),
      order_(stage.order),
      known_(program.stretches.size()) {
  accounts.exposed.resize(system.patterns.size());
  accounts.started.resize(slots.size());
  const std::array<int, kNetworkStreams> pending = most_pending(stage);
  for (std::size_t l = 0; l < pending.size(); ++l)
    lanes[l].ended.resize(std::bit_ceil(static_cast<unsigned>(pending[l]) + 1));
}

bool PathChip::next_segment() {
  if (resume_ != nullptr) {
    at = std::exchange(resume_, nullptr);
    after = resume_end_;
    return true;
  }
  if (position_ == order_.size()) return false;
  const auto [first, end] = program_.segments[order_[position_++]];
  at = program_.moves.data() + first;
  after = program_.moves.data() + end;
  return true;
}

bool PathChip::begin_stretch(std::int32_t number) {
  const Stretch& stretch = program_.stretches[number];
  stretch_ = number;
  moves_ = {program_.spelled.data() + stretch.first, static_cast<std::size_t>(stretch.count)};
  begin_ = now;
  const bool idle = std::ranges::all_of(
      stretch.alone.lanes, [&](const Outcome::Lane& each) { return lane(each.stream).idle(now); });
  working_ = idle;
  if (!idle) spell_out();
  return idle && foresee();
}

void PathChip::begin_work(const Move& move) {
  stretch_ = -1;
  moves_ = {&move, 1};
  begin_ = now;
  working_ = true;
  foresee();
}

bool PathChip::foresee() {
  look_beside();
  if (outcome().holds && host - begin_ <= outcome().latest_host) {
    end_ = begin_ + outcome().length;
    return true;
  }
  working_ = false;
  spell_out();
  return false;
}

// Goes on with its moves one by one.
void PathChip::spell_out() {
  resume_ = at;
  resume_end_ = after;
  at = moves_.data();
  after = at + moves_.size();
}

void PathChip::look_beside() {
  beside_.clear();
  times_ = nullptr;
  const Outcome* alone = stretch_ >= 0 ? &program_.stretches[stretch_].alone : nullptr;
  if (program_.interference > 0) {
    std::erase_if(drains_, [&](const SlotDrain& each) { return each.drain.end <= begin_; });
    const Time least = alone ? alone->length : moves_.front().length;
    PODSIM_CHECK(least <= Time::max() - begin_, "a stretch ends");
    const Time most = nearest(static_cast<double>(least.ps) * (1 + program_.interference)) +
                      Time{1000 + 8 * static_cast<std::int64_t>(moves_.size())};
    for (const auto& [drain, slot] : drains_) {
      const Time begin = std::max(drain.begin - begin_, Time{});
      if (begin >= most) continue;
      const bool open = drain.end == Time::max() || drain.end - begin_ >= most;
      beside_.push_back({begin, open ? Time::max() : drain.end - begin_, drain.pattern});
    }
  }
  if (alone && beside_.empty()) {
    outcome_ = alone;
    times_ = &known_[stretch_].alone;
    return;
  }
  std::ranges::sort(beside_, {},
                    [](const Drain& each) { return std::tie(each.begin, each.end, each.pattern); });
  if (stretch_ >= 0) {
    std::vector<Variant>& variants = known_[stretch_].beside;
    const auto same = std::ranges::find(variants, beside_, &Variant::beside);
    if (same != variants.end() || variants.size() < kMostVariants) {
      Variant& variant = same != variants.end()
                             ? *same
                             : variants.emplace_back(
                                   Variant{beside_, outcome_of(system_, slots_, program_, moves_, beside_)});
      outcome_ = &variant.outcome;
      times_ = &variant.times;
      return;
    }
  }
  lone_ = outcome_of(system_, slots_, program_, moves_, beside_);
  outcome_ = &lone_;
}

void PathChip::end_work() {
  PODSIM_CHECK(working_ && now <= end_, "what ends was taken up");
  working_ = false;
  if (times_ != nullptr) {
    ++*times_;
  } else {
    accounts.add(outcome(), 1);
  }
  for (const Outcome::Lane& each : outcome().lanes) {
    if (each.launches == 0) continue;
    Lane& of = lane(each.stream);
    of.launched += each.launches;
    of.known = of.passed = of.launched;
    of.last_end = begin_ + each.last_end;
  }
  host = std::max(later(outcome().host_add, host), later(outcome().host_floor, begin_));
  now = end_;
}

void PathChip::end_drain(std::int32_t slot, Time end) {
  for (SlotDrain& each : drains_)
    if (each.slot == slot && each.drain.end == Time::max()) each.drain.end = end;
}

PathAccounts PathChip::totals() const {
  PathAccounts all = accounts;
  for (std::size_t s = 0; s < known_.size(); ++s) {
    all.add(program_.stretches[s].alone, known_[s].alone);
    for (const Variant& variant : known_[s].beside) all.add(variant.outcome, variant.times);
  }
  return all;
}

}  // namespace podsim::longest_path
