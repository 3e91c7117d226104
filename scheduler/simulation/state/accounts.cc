// Adds up buckets, exposed communication and link bytes.
#include "scheduler/simulation/state/accounts.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "engine/time_limits.h"

namespace podsim {

Accounts::Accounts(const System& system, const StreamOperations& lists, bool keep_intervals, int keep_passes)
    : system_(system),
      lists_(lists),
      recording_(system, keep_intervals, keep_passes),
      started_(lists.all_rendezvous().size(), 0) {
  const std::size_t chips = system.chips.size();
  now_.chips.resize(chips);
  now_.exposed.resize(chips * system.patterns.size());
  for (std::size_t c = 0; c < chips; ++c) {
    now_.chips[c].chips = system.chips[c].chips;
    now_.chips[c].skew = program_of(static_cast<std::int32_t>(c)).skew;
  }
  counted_ = now_;
  for (const JobParts& parts : parts_of_jobs(system)) jobs_.emplace_back().parts = parts;
}

void Accounts::wait(std::int32_t chip, std::int32_t pattern, const Wait& wait, std::int32_t last_member) {
  Time peers_begin = std::max(wait.begin, wait.reached);
  Time peers_end = std::max(peers_begin, wait.started);
  Time peers = peers_end - peers_begin;
  spend(chip, Bucket::kCommunication, wait.begin, peers_begin, "earlier collectives");
  spend(chip, Bucket::kPeerWait, peers_begin, peers_end, "wait for peers", last_member);
  spend(chip, Bucket::kCommunication, peers_end, wait.end, "collective");
  exposed_of(chip, pattern) += (wait.end - wait.begin) - peers;
  add_wait(chip, peers, last_member);
}

void Accounts::end_step(int job, Time time, Time next_batch) {
  JobAccounts& accounts = jobs_[job];
  const Time begin = accounts.step_end.empty() ? Time{} : accounts.step_end.back();
  check_step(steps(job) + 1, begin, time);
  recording_.end_step(job, begin, time, next_batch);
  accounts.step_end.push_back(time);
  accounts.started = started_;
  const std::size_t patterns = system_.patterns.size();
  for (const std::int32_t chip : accounts.parts.chips) {
    counted_.chips[chip] = now_.chips[chip];
    std::copy_n(&now_.exposed[chip * patterns], patterns, &counted_.exposed[chip * patterns]);
  }
}

void Accounts::repeat_steps(int job, std::int64_t count, Time length) {
  if (count == 0) return;
  std::vector<Time>& end = jobs_[job].step_end;
  for (; count > 1; --count) end.push_back(end.back() + length);
  end_step(job, end.back() + length, {});  // nothing is recorded of what is jumped over
}

// Adds what has counted of a chip class, with the exposed time of its own job's patterns only.
void Accounts::tell(std::int32_t chip, const std::vector<std::int32_t>& patterns, ChipTotals& totals) const {
  const Chip& counted = counted_.chips[chip];
  totals.bucket.assign(counted.bucket.begin(), counted.bucket.end());
  for (std::size_t p = 0; p < patterns.size(); ++p)
    totals.exposed[p] = counted_.exposed[chip * system_.patterns.size() + patterns[p]];
  totals.busy =
      totals.bucket[static_cast<int>(Bucket::kCompute)] + totals.bucket[static_cast<int>(Bucket::kOptimizer)];
  totals.caused_ps = counted.caused_ps;
  totals.waited = counted.waited;
}

// [link class] what the job's operations have put on one link of it: added up once, in an order that does not
// depend on when they ran.
std::vector<double> Accounts::link_bytes(int job) const {
  std::vector<double> bytes(system_.links.size(), 0);
  const std::vector<std::int64_t>& started = jobs_[job].started;
  const std::vector<StreamOperations::Rendezvous>& all_rendezvous = lists_.all_rendezvous();
  std::map<std::int32_t, std::int64_t> times;  // [message] of the group
  for (std::size_t m = 0; m < started.size(); ++m) {
    const std::int32_t group = all_rendezvous[m].group;
    std::int64_t operations = 0;
    for (const auto& [message, count] : lists_.counts_of(all_rendezvous[m])) operations += count;
    for (const auto& [message, count] : lists_.counts_of(all_rendezvous[m]))
      times[message] += started[m] / operations * count;
    if (const std::int64_t more = started[m] % operations; more > 0) {
      const std::vector<std::int32_t> in_step = lists_.messages_of(all_rendezvous[m]);
      for (std::int64_t i = 0; i < more; ++i) ++times[in_step[i]];
    }
    if (m + 1 < started.size() && all_rendezvous[m + 1].group == group) continue;
    for (const auto& [message, count] : times)
      if (count > 0 && system_.step.messages[message].scope.job == job)
        add_link_bytes(system_, group, message, count, bytes);
    times.clear();
  }
  return bytes;
}

std::vector<Timeline> Accounts::timelines(std::int64_t events, std::int64_t periods_skipped,
                                          const std::vector<Standstill>& standstills) {
  std::vector<Timeline> timelines;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    JobAccounts& job = jobs_[j];
    Timeline& timeline = timelines.emplace_back(blank_timeline(system_, job.parts));
    timeline.step_end = std::move(job.step_end);
    for (std::size_t c = 0; c < job.parts.chips.size(); ++c)
      tell(job.parts.chips[c], job.parts.patterns, timeline.chips[c]);
    const std::vector<double> bytes = link_bytes(static_cast<int>(j));
    for (std::size_t l = 0; l < bytes.size(); ++l) timeline.links[l].bytes = {bytes[l]};
    recording_.tell(static_cast<int>(j), timeline);
    timeline.events = events;
    timeline.periods_skipped = periods_skipped;
    timeline.standstills = standstills;
  }
  return timelines;
}

}  // namespace podsim
