// Books by the rules of simulate.h, and adds up once for each step.
#include "scheduler/simulation/reference_accounts.h"

#include <algorithm>

#include "engine/rounding.h"
#include "engine/time_limits.h"

namespace podsim::reference {

Accounts::Accounts(const System& system, bool keep_intervals, int keep_passes)
    : system_(system), chips_(system.chips.size()), recording_(system, keep_intervals, keep_passes) {
  for (const JobParts& parts : parts_of_jobs(system)) {
    const int j = static_cast<int>(jobs_.size());
    const Job& job = jobs_.emplace_back(Job{parts, blank_timeline(system, parts), {}});
    for (std::size_t i = 0; i < parts.chips.size(); ++i)
      chips_[parts.chips[i]] = {j, 0, job.timeline.chips[i]};
  }
}

void Accounts::book(std::int32_t chip, Bucket bucket, Time begin, Time end, const char* what,
                    std::int32_t awaited) {
  if (end <= begin) return;
  of(chip, bucket) += end - begin;
  recording_.keep(at(chip), bucket, begin, end, what, awaited);
}

void Accounts::book_computation(std::int32_t chip, Bucket bucket, Time begin, Time end, Time lost) {
  if (end <= begin) return;
  recording_.keep(at(chip), bucket, begin, end, "compute");
  const Time computed = end - begin - lost;
  const bool skewed = bucket == Bucket::kCompute || bucket == Bucket::kOptimizer;
  const double skew = skewed ? system_.step.stages[system_.chips[chip].program].skew : 0;
  const Time waited = nearest(static_cast<double>(computed.ps) * skew / (1 + skew));
  of(chip, bucket) += computed - waited;
  of(chip, Bucket::kSkew) += waited;
}

void Accounts::book_loss(std::int32_t chip, std::int32_t pattern, Time lost) {
  const bool transfer = system_.patterns[pattern].kind == CollectiveKind::kSendReceive;
  of(chip, transfer ? Bucket::kBubble : Bucket::kCommunication) += lost;
  if (!transfer) exposed(chip, pattern) += lost;
}

void Accounts::book_wait(std::int32_t chip, std::int32_t pattern, const Wait& wait) {
  const Time turn = std::max(wait.begin, wait.turn), started = std::max(turn, wait.started);
  book(chip, Bucket::kCommunication, wait.begin, turn, "earlier collectives");
  book(chip, Bucket::kPeerWait, turn, started, "wait for peers", wait.last);
  book(chip, Bucket::kCommunication, started, wait.end, "collective");
  exposed(chip, pattern) += (turn - wait.begin) + (wait.end - started);
  chips_[chip].totals.waited += started - turn;
  chips_[wait.last].totals.caused_ps += Int128{system_.chips[chip].chips} * (started - turn).ps;
}

// A timeline tells of the patterns of its job.
Time& Accounts::exposed(std::int32_t chip, std::int32_t pattern) {
  const std::vector<std::int32_t>& patterns = jobs_[chips_[chip].job].parts.patterns;
  return chips_[chip].totals.exposed[std::ranges::lower_bound(patterns, pattern) - patterns.begin()];
}

void Accounts::end_step(int j, Time now, Time next_batch) {
  Job& job = jobs_[j];
  std::vector<Time>& ends = job.timeline.step_end;
  const Time begin = ends.empty() ? Time{} : ends.back();
  check_step(static_cast<int>(ends.size()) + 1, begin, now);
  recording_.end_step(j, begin, now, next_batch);
  ends.push_back(now);
  job.started = started_;
  for (std::size_t i = 0; i < job.parts.chips.size(); ++i)
    job.timeline.chips[i] = chips_[job.parts.chips[i]].totals;
}

int Accounts::fewest_steps() const {
  int fewest = steps(0);
  for (std::size_t j = 1; j < jobs_.size(); ++j) fewest = std::min(fewest, steps(static_cast<int>(j)));
  return fewest;
}

std::vector<Timeline> Accounts::timelines(std::int64_t events) {
  std::vector<Timeline> timelines;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    const Job& job = jobs_[j];
    Timeline& timeline = timelines.emplace_back(job.timeline);
    for (ChipTotals& chip : timeline.chips)
      chip.busy = chip.bucket[static_cast<std::size_t>(Bucket::kCompute)] +
                  chip.bucket[static_cast<std::size_t>(Bucket::kOptimizer)];
    std::vector<double> bytes(system_.links.size(), 0);
    for (const auto& [what, times] : job.started)
      if (system_.step.messages[what.second].scope.job == static_cast<int>(j))
        add_link_bytes(system_, what.first, what.second, times, bytes);
    for (std::size_t l = 0; l < bytes.size(); ++l) timeline.links[l].bytes = {bytes[l]};
    timeline.events = events;
    timeline.standstills = standstills_;
    recording_.tell(static_cast<int>(j), timeline);
  }
  return timelines;
}

}  // namespace podsim::reference
