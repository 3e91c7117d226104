// Adds up buckets, exposed communication and link bytes.
#include "scheduler/accounts.h"

#include <algorithm>
#include <string>

namespace podsim {

Accounts::Accounts(const System& system, bool keep_intervals)
    : system_(system),
      keep_intervals_(keep_intervals),
      totals_(system.chips.size()),
      link_bytes_(system.links.size(), 0) {
  for (std::size_t c = 0; c < totals_.size(); ++c) {
    totals_[c].representative = system.chips[c].representative;
    totals_[c].chips = system.chips[c].chips;
    totals_[c].stage = system.chips[c].stage;
    totals_[c].speed = system.chips[c].speed;
    totals_[c].bucket.resize(kBuckets);
    totals_[c].exposed.resize(system.patterns.size());
  }
}

void Accounts::spend(std::int32_t chip, Bucket bucket, Time begin, Time end, const char* what, Time booked) {
  if (end <= begin) return;
  totals_[chip].bucket[static_cast<int>(bucket)] += end - begin - booked;
  if (keep_intervals_) intervals_.push_back({system_.chips[chip].representative, begin, end, what});
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

void Accounts::carry(std::span<const Use> uses, double work) {
  for (const Use& use : uses)
    link_bytes_[use.resource] += work * (static_cast<double>(use.usage) / static_cast<double>(kUsageUnit));
}

CommunicationClass Accounts::describe(std::size_t pattern) const {
  CommunicationClass result;
  for (std::size_t m = 0; m < system_.step.messages.size(); ++m) {
    const Message& message = system_.step.messages[m];
    if (system_.pattern_of[m] != static_cast<std::int32_t>(pattern)) continue;
    result.axes = axis_names(system_.mesh, message.scope.axes);
    result.bytes.value = std::max(result.bytes.value, message.bytes.value);
  }
  result.kind = to_string(system_.patterns[pattern].kind);
  result.algorithm = to_string(system_.patterns[pattern].algorithm);
  return result;
}

Timeline Accounts::timeline(std::int64_t events) {
  Timeline timeline;
  timeline.step_end = std::move(step_end_);
  for (ChipTotals& totals : totals_)
    totals.busy = totals.bucket[static_cast<int>(Bucket::kCompute)] +
                  totals.bucket[static_cast<int>(Bucket::kOptimizer)];
  timeline.chips = std::move(totals_);
  for (std::size_t p = 0; p < system_.patterns.size(); ++p) timeline.communication.push_back(describe(p));
  for (std::size_t l = 0; l < system_.links.size(); ++l) {
    const LinkClass& link = system_.links[l];
    timeline.links.push_back({link.kind, link.links, link.bandwidth, {link_bytes_[l]}});
  }
  timeline.intervals = std::move(intervals_);
  timeline.group_classes = static_cast<int>(system_.groups.size());
  timeline.events = events;
  return timeline;
}

}  // namespace podsim
