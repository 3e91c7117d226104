// Adds up buckets, exposed communication and link bytes.
#include "scheduler/accounts.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace podsim {

Accounts::Accounts(const System& system, bool keep_intervals)
    : system_(system),
      keep_intervals_(keep_intervals),
      totals_(system.chips.size()),
      position_(system.chips.size(), 0),
      jobs_(system.meshes.size()) {
  for (std::size_t c = 0; c < totals_.size(); ++c) {
    const StageProgram& program = system.step.stages[system.chips[c].program];
    totals_[c].representative = system.chips[c].representative;
    totals_[c].chips = system.chips[c].chips;
    totals_[c].stage = program.stage;
    totals_[c].speed = system.chips[c].speed;
    totals_[c].bucket.resize(kBuckets);
    totals_[c].exposed.resize(system.patterns.size());
    jobs_[program.job].chips.push_back(static_cast<std::int32_t>(c));
  }
  counted_ = totals_;
  std::vector<int> job_of_pattern(system.patterns.size(), 0);
  for (std::size_t m = 0; m < system.pattern_of.size(); ++m)
    job_of_pattern[system.pattern_of[m]] = system.step.messages[m].scope.job;
  for (std::size_t p = 0; p < job_of_pattern.size(); ++p)
    jobs_[job_of_pattern[p]].patterns.push_back(static_cast<std::int32_t>(p));
  for (JobAccounts& job : jobs_) job.link_bytes.resize(system.links.size(), 0);
}

void Accounts::spend(std::int32_t chip, Bucket bucket, Time begin, Time end, const char* what, Time booked) {
  if (end <= begin) return;
  totals_[chip].bucket[static_cast<int>(bucket)] += end - begin - booked;
  if (keep_intervals_)
    jobs_[job_of(chip)].intervals.push_back(
        {system_.chips[chip].representative, "compute", begin, end, what, position_[chip]});
}

void Accounts::compute(std::int32_t chip, Bucket bucket, Time begin, Time end, Time booked) {
  spend(chip, bucket, begin, end, "compute", booked);
  const double skew = program_of(chip).skew;
  if (skew == 0 || (bucket != Bucket::kCompute && bucket != Bucket::kOptimizer)) return;
  const Time waited{std::llround(static_cast<double>((end - begin - booked).ps) * skew / (1 + skew))};
  totals_[chip].bucket[static_cast<int>(bucket)] -= waited;
  totals_[chip].bucket[static_cast<int>(Bucket::kSkew)] += waited;
}

void Accounts::show(std::int32_t chip, Stream stream, std::int32_t message, Time begin, Time end) {
  if (!keep_intervals_) return;
  std::string what = "copy";
  if (message >= 0) {
    const Message& shown = system_.step.messages[message];
    what = std::string(to_string(shown.kind)) + " over " +
           axis_names(system_.meshes[shown.scope.job], shown.scope.axes);
  }
  jobs_[job_of(chip)].intervals.push_back({system_.chips[chip].representative, std::string(to_string(stream)),
                                           begin, end, what, position_[chip]});
}

void Accounts::wait(std::int32_t chip, std::int32_t pattern, const Wait& wait, std::int32_t last_member) {
  Time peers_begin = std::max(wait.begin, wait.reached);
  Time peers_end = std::max(peers_begin, wait.started);
  Time peers = peers_end - peers_begin;
  spend(chip, Bucket::kCommunication, wait.begin, peers_begin, "earlier collectives");
  spend(chip, Bucket::kPeerWait, peers_begin, peers_end, "wait for peers");
  spend(chip, Bucket::kCommunication, peers_end, wait.end, "collective");
  totals_[chip].exposed[pattern] += (wait.end - wait.begin) - peers;
  totals_[chip].waited += peers;
  totals_[last_member].caused += system_.chips[chip].chips * peers;
}

void Accounts::slow_down(std::int32_t chip, std::int32_t pattern, Time lost) {
  if (system_.patterns[pattern].kind == CollectiveKind::kSendReceive) {
    totals_[chip].bucket[static_cast<int>(Bucket::kBubble)] += lost;
  } else {
    totals_[chip].bucket[static_cast<int>(Bucket::kCommunication)] += lost;
    totals_[chip].exposed[pattern] += lost;
  }
}

void Accounts::carry(int job, std::span<const Use> uses, double work) {
  for (const Use& use : uses)
    jobs_[job].link_bytes[use.resource] +=
        work * (static_cast<double>(use.usage) / static_cast<double>(kUsageUnit));
}

void Accounts::end_step(int job, Time time) {
  JobAccounts& accounts = jobs_[job];
  accounts.step_end.push_back(time);
  accounts.counted_bytes = accounts.link_bytes;
  for (const std::int32_t chip : accounts.chips) counted_[chip] = totals_[chip];
}

CommunicationClass Accounts::describe(std::int32_t pattern) const {
  CommunicationClass result;
  for (std::size_t m = 0; m < system_.step.messages.size(); ++m) {
    const Message& message = system_.step.messages[m];
    if (system_.pattern_of[m] != pattern) continue;
    result.axes = axis_names(system_.meshes[message.scope.job], message.scope.axes);
    result.bytes.value = std::max(result.bytes.value, message.bytes.value);
  }
  result.kind = to_string(system_.patterns[pattern].kind);
  result.algorithm = to_string(system_.patterns[pattern].algorithm);
  return result;
}

// What has counted of a chip class, with the exposed time of its own job's patterns only.
ChipTotals Accounts::totals(std::int32_t chip, const std::vector<std::int32_t>& patterns) const {
  ChipTotals result = counted_[chip];
  result.exposed.clear();
  for (const std::int32_t pattern : patterns) result.exposed.push_back(counted_[chip].exposed[pattern]);
  result.busy =
      result.bucket[static_cast<int>(Bucket::kCompute)] + result.bucket[static_cast<int>(Bucket::kOptimizer)];
  return result;
}

std::vector<Timeline> Accounts::timelines(std::int64_t events, std::int64_t periods_skipped) {
  std::vector<Timeline> timelines;
  for (JobAccounts& job : jobs_) {
    Timeline& timeline = timelines.emplace_back();
    timeline.step_end = std::move(job.step_end);
    for (const std::int32_t chip : job.chips) timeline.chips.push_back(totals(chip, job.patterns));
    for (const std::int32_t pattern : job.patterns) timeline.communication.push_back(describe(pattern));
    for (std::size_t l = 0; l < system_.links.size(); ++l) {
      const LinkClass& link = system_.links[l];
      timeline.links.push_back({link.kind, link.links, link.bandwidth, {job.counted_bytes[l]}});
    }
    timeline.intervals = std::move(job.intervals);
    timeline.group_classes = static_cast<int>(system_.groups.size());
    timeline.events = events;
    timeline.periods_skipped = periods_skipped;
  }
  return timelines;
}

}  // namespace podsim
