// Writes intervals and passes down.
#include "scheduler/simulation/state/recording.h"

#include <algorithm>
#include <string>
#include <utility>

namespace podsim {

Recording::Recording(const System& system, bool keep_intervals, int keep_passes)
    : system_(system),
      keep_intervals_(keep_intervals),
      keep_passes_(keep_passes),
      passes_(keep_passes > 0 ? system.chips.size() : 0) {
  for (JobParts& parts : parts_of_jobs(system)) jobs_.push_back({std::move(parts.chips), {}, {}});
  if (!keep_intervals) return;
  names_ = std::make_shared<std::deque<std::string>>();
  name_of_message_.resize(system.step.messages.size(), nullptr);
}

void Recording::keep(Whereabouts at, Bucket bucket, Time begin, Time end, const char* what,
                     std::int32_t awaited) {
  if (keeps_passes()) keep_pass(at, bucket, begin, end);
  if (!keep_intervals_) return;
  Interval interval{system_.chips[at.chip].representative, "compute", begin, end, what, at.position};
  if (awaited >= 0) interval.awaited = system_.chips[awaited].representative;
  job_of(at.chip).intervals.push_back(std::move(interval));
}

void Recording::show(std::int32_t chip, Stream stream, std::int32_t message, Time begin, Time end) {
  if (!keep_intervals_) return;
  job_of(chip).intervals.push_back({system_.chips[chip].representative, to_string(stream), begin, end,
                                    message < 0 ? "copy" : name_of(message), -1, message});
}

std::string_view Recording::name_of(std::int32_t message) {
  const std::string*& name = name_of_message_[message];
  if (name == nullptr) {
    const CollectiveCall& shown = system_.step.messages[message];
    name = &names_->emplace_back(std::string(to_string(shown.kind)) + " over " +
                                 axis_names(system_.meshes[shown.scope.job], shown.scope.axes));
  }
  return *name;
}

void Recording::sent(std::int32_t chip, Stream stream, const SentTransfer& transfer) {
  if (!keeps_passes()) return;
  const bool forward = stream == Stream::kForwardNext || stream == Stream::kForwardPrevious;
  (forward ? passes_[chip].activations : passes_[chip].gradients).push_back(transfer);
}

PassTime& Recording::pass_of(Whereabouts at) {
  std::vector<PassTime>& passes = passes_[at.chip].passes;
  if (passes.empty()) passes.resize(program_of(at.chip).order.size());
  return passes[at.position];
}

void Recording::keep_pass(Whereabouts at, Bucket bucket, Time begin, Time end) {
  if (bucket == Bucket::kPeerWait || bucket == Bucket::kBubble || bucket == Bucket::kInput) return;
  PassTime& pass = pass_of(at);
  if (pass.end.ps == 0) pass.begin = begin;
  pass.own += end - begin;
  pass.end = end;
  if (bucket == Bucket::kOptimizer) passes_[at.chip].optimizer += end - begin;
}

void Recording::waited_before(Whereabouts at, Time begin, Time end) {
  if (keeps_passes() && end > begin) pass_of(at).own -= end - begin;
}

void Recording::end_step(int job, Time begin, Time end, Time next_batch) {
  if (!keeps_passes()) return;
  JobRecord& record = jobs_[job];
  StepPasses& step = record.passes.emplace_back();
  step.begin = begin;
  step.end = end;
  step.next_batch = next_batch;
  for (const std::int32_t chip : record.chips) {
    ChipPasses& passes = step.chips.emplace_back(std::exchange(passes_[chip], {}));
    for (std::vector<SentTransfer>* sent : {&passes.activations, &passes.gradients})
      std::ranges::sort(*sent, {}, [](const SentTransfer& each) { return std::pair(each.end, each.begin); });
  }
  if (static_cast<int>(record.passes.size()) == keep_passes_) passes_.clear();
}

void Recording::tell(int job, Timeline& timeline) {
  timeline.intervals = std::move(jobs_[job].intervals);
  timeline.names = names_;
  timeline.passes = std::move(jobs_[job].passes);
}

}  // namespace podsim
