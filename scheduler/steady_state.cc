// Brent's search for a cycle, at the instants where the program of one chip class repeats.
#include "scheduler/steady_state.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr int kFreeCaptures = 8;

}  // namespace

bool StateCapture::repeats(const StateCapture& before) const {
  const std::int64_t period = now_.ps - before.now_.ps;
  if (period <= 0 || fixed_ != before.fixed_ || past_.size() != before.past_.size()) return false;
  for (std::size_t i = 0; i < past_.size(); ++i) {
    const std::int64_t change = past_[i] - before.past_[i];
    if (change != 0 && change != period) return false;
  }
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    const std::int64_t change = hosts_[i] - before.hosts_[i];
    if (change != period && (change > period || met_[i] >= before.now_.ps)) return false;
  }
  return true;
}

SteadyState::SteadyState(const System& system, bool on) : system_(system) {
  if (!on) return;
  const auto order_of = [&](std::int32_t c) -> const std::vector<std::int32_t>& {
    return system.step.stages[system.chips[c].program].order;
  };
  std::int32_t longest = 0;
  for (std::size_t c = 1; c < system.chips.size(); ++c)
    if (order_of(static_cast<std::int32_t>(c)).size() > order_of(longest).size())
      longest = static_cast<std::int32_t>(c);
  repetitions_ = repetitions(order_of(longest));
  if (repetitions_.empty()) return;
  watched_ = longest;
  repetition_at_.assign(order_of(longest).size(), -1);
  for (std::size_t r = 0; r < repetitions_.size(); ++r) {
    const Repetition& found = repetitions_[r];
    for (std::size_t k = found.begin; k + found.period < found.end; ++k) {
      std::int32_t& best = repetition_at_[k];
      if (best < 0 || repetitions_[best].end < found.end) best = static_cast<std::int32_t>(r);
    }
  }
}

void SteadyState::watch(std::size_t position) {
  position_ = position;
  const std::int32_t now = position < repetition_at_.size() ? repetition_at_[position] : -1;
  if (reference_ && now != reference_repetition_) reference_.reset();
  if (now < 0) {
    due_ = false;
  } else if (!reference_) {
    due_ = position + 2 * repetitions_[now].period < repetitions_[now].end;
    compared_ = 0;
    patience_ = 1;
  } else {
    due_ = (position - reference_position_) % repetitions_[now].period == 0;
  }
}

bool SteadyState::affordable(std::int64_t events) const {
  return captured_ < events + kFreeCaptures * static_cast<std::int64_t>(size_);
}

std::optional<StateJump> SteadyState::look(StateCapture state) {
  size_ = state.size();
  captured_ += static_cast<std::int64_t>(size_);
  std::optional<StateJump> jump;
  if (reference_ && state.repeats(*reference_)) {
    const std::int64_t periods = periods_ahead(*reference_, state);
    if (periods > 0) {
      jump = StateJump(*std::move(reference_), std::move(state), periods);
      reference_.reset();
      return jump;
    }
  }
  if (!reference_ || ++compared_ == patience_) {
    if (reference_) patience_ *= 2;
    compared_ = 0;
    reference_ = std::move(state);
    reference_position_ = position_;
    reference_repetition_ = repetition_at_[position_];
  }
  return jump;
}

// Chip classes of one program at the same place repeat alike.
std::int64_t SteadyState::periods_ahead(const StateCapture& before, const StateCapture& now) const {
  std::map<std::tuple<int, std::size_t, std::size_t>, std::int64_t> known;
  std::int64_t periods = INT64_MAX;
  for (std::size_t c = 0; c < now.positions_.size() && periods > 0; ++c) {
    const std::size_t from = now.positions_[c], advance = from - before.positions_[c];
    if (advance == 0) continue;
    const int program = system_.chips[c].program;
    const auto [it, added] = known.try_emplace({program, from, advance});
    if (added) {
      const std::vector<std::int32_t>& order = system_.step.stages[program].order;
      it->second = static_cast<std::int64_t>(repeated(order, from + 1, advance, order.size()) / advance);
    }
    periods = std::min(periods, it->second);
  }
  PODSIM_CHECK(periods < INT64_MAX, "a period takes the watched chip further");
  return periods;
}

}  // namespace podsim
