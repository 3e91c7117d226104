// Adds up buckets, exposed communication and link bytes.
#include "scheduler/simulation/state/accounts.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "engine/sharing.h"

namespace podsim {

Accounts::Accounts(const System& system, const StreamOperations& lists, bool keep_intervals, int keep_passes)
    : system_(system),
      lists_(lists),
      keep_intervals_(keep_intervals),
      keep_passes_(keep_passes),
      started_(lists.all_rendezvous().size(), 0),
      passes_(keep_passes > 0 ? system.chips.size() : 0),
      jobs_(system.meshes.size()) {
  const std::size_t chips = system.chips.size();
  now_.chips.resize(chips);
  now_.exposed.resize(chips * system.patterns.size());
  for (std::size_t c = 0; c < chips; ++c) {
    now_.chips[c].chips = system.chips[c].chips;
    now_.chips[c].skew = program_of(static_cast<std::int32_t>(c)).skew;
  }
  counted_ = now_;
  for (std::size_t c = 0; c < chips; ++c)
    jobs_[program_of(static_cast<std::int32_t>(c)).job].chips.push_back(static_cast<std::int32_t>(c));
  std::vector<int> job_of_pattern(system.patterns.size(), 0);
  for (std::size_t m = 0; m < system.pattern_of.size(); ++m)
    job_of_pattern[system.pattern_of[m]] = system.step.messages[m].scope.job;
  for (std::size_t p = 0; p < job_of_pattern.size(); ++p)
    jobs_[job_of_pattern[p]].patterns.push_back(static_cast<std::int32_t>(p));
}

void Accounts::keep(std::int32_t chip, Bucket bucket, Time begin, Time end, const char* what) {
  if (!passes_.empty()) keep_pass(chip, bucket, begin, end);
  if (keep_intervals_)
    jobs_[job_of(chip)].intervals.push_back(
        {system_.chips[chip].representative, "compute", begin, end, what, now_.chips[chip].position});
}

void Accounts::show(std::int32_t chip, Stream stream, std::int32_t message, Time begin, Time end) {
  if (!keep_intervals_) return;
  std::string what = "copy";
  if (message >= 0) {
    const CollectiveCall& shown = system_.step.messages[message];
    what = std::string(to_string(shown.kind)) + " over " +
           axis_names(system_.meshes[shown.scope.job], shown.scope.axes);
  }
  jobs_[job_of(chip)].intervals.push_back({system_.chips[chip].representative, std::string(to_string(stream)),
                                           begin, end, what, now_.chips[chip].position});
}

void Accounts::wait(std::int32_t chip, std::int32_t pattern, const Wait& wait, std::int32_t last_member) {
  Time peers_begin = std::max(wait.begin, wait.reached);
  Time peers_end = std::max(peers_begin, wait.started);
  Time peers = peers_end - peers_begin;
  spend(chip, Bucket::kCommunication, wait.begin, peers_begin, "earlier collectives");
  spend(chip, Bucket::kPeerWait, peers_begin, peers_end, "wait for peers");
  spend(chip, Bucket::kCommunication, peers_end, wait.end, "collective");
  exposed_of(chip, pattern) += (wait.end - wait.begin) - peers;
  now_.chips[chip].waited += peers;
  now_.chips[last_member].caused_ps += Int128{now_.chips[chip].chips} * peers.ps;
}

void Accounts::sent(std::int32_t chip, Stream stream, const SentTransfer& transfer) {
  if (passes_.empty()) return;
  const bool forward = stream == Stream::kForwardNext || stream == Stream::kForwardPrevious;
  (forward ? passes_[chip].activations : passes_[chip].gradients).push_back(transfer);
}

PassTime& Accounts::pass_of(std::int32_t chip) {
  std::vector<PassTime>& passes = passes_[chip].passes;
  if (passes.empty()) passes.resize(program_of(chip).order.size());
  return passes[now_.chips[chip].position];
}

void Accounts::keep_pass(std::int32_t chip, Bucket bucket, Time begin, Time end) {
  if (bucket == Bucket::kPeerWait || bucket == Bucket::kBubble) return;
  PassTime& pass = pass_of(chip);
  if (pass.end.ps == 0) pass.begin = begin;
  pass.own += end - begin;
  pass.end = end;
  if (bucket == Bucket::kOptimizer) passes_[chip].optimizer += end - begin;
}

void Accounts::waited_before(std::int32_t chip, Time begin, Time end) {
  if (!passes_.empty() && end > begin) pass_of(chip).own -= end - begin;
}

void Accounts::end_passes(JobAccounts& job, Time time) {
  StepPasses& step = job.passes.emplace_back();
  step.begin = job.step_end.empty() ? Time{} : job.step_end.back();
  step.end = time;
  for (const std::int32_t chip : job.chips) step.chips.push_back(std::exchange(passes_[chip], {}));
  if (static_cast<int>(job.passes.size()) == keep_passes_) passes_.clear();
}

void Accounts::end_step(int job, Time time) {
  JobAccounts& accounts = jobs_[job];
  if (!passes_.empty()) end_passes(accounts, time);
  accounts.step_end.push_back(time);
  accounts.started = started_;
  const std::size_t patterns = system_.patterns.size();
  for (const std::int32_t chip : accounts.chips) {
    counted_.chips[chip] = now_.chips[chip];
    std::copy_n(&now_.exposed[chip * patterns], patterns, &counted_.exposed[chip * patterns]);
  }
}

void Accounts::repeat_steps(int job, std::int64_t count, Time length) {
  if (count == 0) return;
  std::vector<Time>& end = jobs_[job].step_end;
  for (; count > 1; --count) end.push_back(end.back() + length);
  end_step(job, end.back() + length);
}

CommunicationClass Accounts::describe(std::int32_t pattern) const {
  CommunicationClass result;
  for (std::size_t m = 0; m < system_.step.messages.size(); ++m) {
    const CollectiveCall& message = system_.step.messages[m];
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
  const ChipClass& of = system_.chips[chip];
  ChipTotals result;
  result.representative = of.representative;
  result.chips = of.chips;
  result.stage = program_of(chip).stage;
  result.speed = of.speed;
  result.chance = of.chance;
  const Chip& counted = counted_.chips[chip];
  result.bucket.assign(counted.bucket.begin(), counted.bucket.end());
  for (const std::int32_t pattern : patterns)
    result.exposed.push_back(counted_.exposed[chip * system_.patterns.size() + pattern]);
  result.busy =
      result.bucket[static_cast<int>(Bucket::kCompute)] + result.bucket[static_cast<int>(Bucket::kOptimizer)];
  result.caused_ps = counted.caused_ps;
  result.waited = counted.waited;
  return result;
}

// [link class] what the job's operations have put on one link of it: added up once, in an order that does not
// depend on when they ran.
std::vector<double> Accounts::link_bytes(int job) const {
  std::vector<double> bytes(system_.links.size(), 0);
  const std::vector<std::int64_t>& started = jobs_[job].started;
  const std::vector<StreamOperations::Rendezvous>& all_rendezvous = lists_.all_rendezvous();
  std::vector<std::int64_t> times(system_.step.messages.size(), 0);  // of the group's messages
  for (std::size_t m = 0; m < started.size(); ++m) {
    const std::int32_t group = all_rendezvous[m].group;
    const std::span<const std::int32_t> in_step = lists_.messages_of(all_rendezvous[m]);
    const auto operations = static_cast<std::int64_t>(in_step.size());
    for (std::int64_t i = 0; i < operations; ++i)
      times[in_step[i]] += (started[m] + operations - 1 - i) / operations;
    if (m + 1 < started.size() && all_rendezvous[m + 1].group == group) continue;
    for (std::size_t message = 0; message < times.size(); ++message)
      if (const std::int64_t count = std::exchange(times[message], 0);
          count > 0 && system_.step.messages[message].scope.job == job)
        add_bytes(group, message, count, bytes);
  }
  return bytes;
}

void Accounts::add_bytes(std::int32_t group, std::int32_t message, std::int64_t times,
                         std::vector<double>& bytes) const {
  for (const ClassPhase& phase : system_.groups[group].patterns[system_.pattern_of[message]])
    for (const std::vector<Use>* uses : {&phase.uses, &phase.nonbinding_uses})
      for (const Use& use : *uses)
        bytes[use.resource] += static_cast<double>(times) *
                               (phase.work_per_byte * system_.step.messages[message].bytes.value) *
                               (static_cast<double>(use.usage) / static_cast<double>(kUsageUnit));
}

std::vector<Timeline> Accounts::timelines(std::int64_t events, std::int64_t periods_skipped,
                                          const std::vector<Standstill>& standstills) {
  std::vector<Timeline> timelines;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    JobAccounts& job = jobs_[j];
    const std::vector<double> bytes = link_bytes(static_cast<int>(j));
    Timeline& timeline = timelines.emplace_back();
    timeline.step_end = std::move(job.step_end);
    for (const std::int32_t chip : job.chips) timeline.chips.push_back(totals(chip, job.patterns));
    for (const std::int32_t pattern : job.patterns) timeline.communication.push_back(describe(pattern));
    for (std::size_t l = 0; l < system_.links.size(); ++l) {
      const LinkClass& link = system_.links[l];
      timeline.links.push_back({link.kind, link.links, link.bandwidth, {bytes[l]}});
    }
    timeline.intervals = std::move(job.intervals);
    timeline.passes = std::move(job.passes);
    timeline.group_classes = static_cast<int>(system_.groups.size());
    timeline.events = events;
    timeline.periods_skipped = periods_skipped;
    timeline.standstills = standstills;
  }
  return timelines;
}

}  // namespace podsim
