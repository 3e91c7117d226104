// Brent's search for a cycle, at the positions where the order of the watched chip class repeats.
#include "scheduler/simulation/fast_forward/steady_state.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "engine/check.h"

namespace podsim {
namespace {

// Captures that need not be earned by events; after them an event, of some 100 ns, earns two numbers, of some
// 2 ns each. What was captured before a jump has paid.
constexpr std::int64_t kFreeCaptures = 8, kNumbersPerEvent = 2;

std::span<const std::int32_t> order_of(const System& system, std::size_t chip) {
  return system.step.stages[system.chips[chip].program].order;
}

}  // namespace

SteadyState::SteadyState(const System& system, bool on) : system_(system) {
  if (!on || system.chips.empty()) return;
  std::size_t longest = 0;
  for (std::size_t c = 1; c < system.chips.size(); ++c)
    if (order_of(system, c).size() > order_of(system, longest).size()) longest = c;
  repetitions_ = repetitions(order_of(system, longest));
  if (repetitions_.empty()) return;
  watched_ = static_cast<std::int32_t>(longest);
  repetition_at_.assign(order_of(system, longest).size(), kNone);
  for (std::size_t r = 0; r < repetitions_.size(); ++r) {
    const Repetition& repetition = repetitions_[r];
    for (std::size_t k = repetition.begin; k + repetition.period < repetition.end; ++k) {
      std::int32_t& furthest = repetition_at_[k];
      if (furthest == kNone || repetitions_[furthest].end < repetition.end)
        furthest = static_cast<std::int32_t>(r);
    }
  }
}

void SteadyState::watch(std::size_t position) {
  position_ = position;
  const std::int32_t here = repetition_at_[position];
  if (!kept_.empty() && repetition_at_[first_position_] != here) kept_.clear();
  due_ = false;
  if (here == kNone) return;
  const Repetition& repetition = repetitions_[here];
  due_ = kept_.empty() ? position + 2 * repetition.period < repetition.end
                       : (position - first_position_) % repetition.period == 0;
}

bool SteadyState::affordable(std::int64_t events) const {
  return captured_ < kNumbersPerEvent * events + kFreeCaptures * last_size_;
}

std::optional<StateJump> SteadyState::look(StateCapture state, Time edge, std::size_t ahead) {
  last_size_ = static_cast<std::int64_t>(state.size());
  captured_ += last_size_;
  const auto before = std::find_if(kept_.rbegin(), kept_.rend(),
                                   [&](const StateCapture& kept) { return state.repeats(kept); });
  if (before == kept_.rend()) {
    keep(std::move(state));
    return {};
  }
  std::optional<StateJump> jump;
  const std::int64_t periods =
      std::min(periods_ahead(*before, state, ahead), state.periods_before(*before, edge));
  if (periods > 0) {
    jump.emplace(std::move(*before), std::move(state), periods);
    captured_ = 0;
  }
  kept_.clear();
  return jump;
}

void SteadyState::keep(StateCapture state) {
  if (kept_.empty() || ++compared_ == patience_) {
    patience_ = kept_.empty() ? 1 : 2 * patience_;
    compared_ = 0;
    first_position_ = position_;
    if (!kept_.empty()) spare_ = std::move(kept_.back());
    kept_.clear();
  } else if (kept_.size() == 2) {
    spare_ = std::move(kept_.back());
    kept_.pop_back();
  }
  kept_.push_back(std::move(state));
}

// Chip classes at the same place of one program repeat alike.
std::int64_t SteadyState::periods_ahead(const StateCapture& before, const StateCapture& now,
                                        std::size_t ahead) const {
  std::map<std::tuple<int, std::int64_t, std::int64_t>, std::int64_t> known;
  std::int64_t periods = INT64_MAX;
  for (std::size_t c = 0; c < system_.chips.size() && periods > 0; ++c) {
    const std::int64_t from = now.positions()[c], gained = from - before.positions()[c];
    if (gained == 0) continue;
    const auto [it, added] = known.try_emplace({system_.chips[c].program, from, gained});
    if (added) {
      const std::size_t alike = repeated(order_of(system_, c), static_cast<std::size_t>(from + 1),
                                         static_cast<std::size_t>(gained));
      it->second = static_cast<std::int64_t>(alike - std::min(alike, ahead)) / gained;
    }
    periods = std::min(periods, it->second);
  }
  PODSIM_CHECK(periods < INT64_MAX, "the watched chip class comes further");
  return periods;
}

}  // namespace podsim
