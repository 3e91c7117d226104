// Where the time of every chip class goes, and what each job puts on every link class, step after step.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/cache.h"
#include "engine/rounding.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/recording.h"
#include "scheduler/simulation/state/stream_operations.h"
#include "scheduler/simulation/state/timeline.h"
#include "scheduler/simulation/state/timeline_parts.h"

namespace podsim {

class Accounts {
 public:
  // REQUIRES: both outlive this object.
  Accounts(const System& system, const StreamOperations& lists, bool keep_intervals, int keep_passes);

  // What follows of a chip class is of this position in its program's order.
  void enter_segment(std::int32_t chip, std::size_t position) {
    now_.chips[chip].position = static_cast<std::int32_t>(position);
  }

  // A chip class spent [begin, end) in a bucket; of a wait for another `awaited` says which.
  void spend(std::int32_t chip, Bucket bucket, Time begin, Time end, const char* what,
             std::int32_t awaited = -1) {
    if (end <= begin) return;
    bucket_of(chip, bucket) += end - begin;
    if (recording_.any()) recording_.keep(at(chip), bucket, begin, end, what, awaited);
  }

  // A chip class computed in [begin, end): its bucket, except for what `slow_down` has booked of it, and the
  // share of the time that is waiting for slower hosts.
  void compute(std::int32_t chip, Bucket bucket, Time begin, Time end, Time booked) {
    if (end <= begin) return;
    const Time computed = end - begin - booked;
    bucket_of(chip, bucket) += computed;
    if (recording_.any()) recording_.keep(at(chip), bucket, begin, end, "compute");
    const double skew = now_.chips[chip].skew;
    if (skew == 0 || (bucket != Bucket::kCompute && bucket != Bucket::kOptimizer)) return;
    const Time waited = nearest(static_cast<double>(computed.ps) * skew / (1 + skew));
    bucket_of(chip, bucket) -= waited;
    bucket_of(chip, Bucket::kSkew) += waited;
  }

  // As Recording.
  void show(std::int32_t chip, Stream stream, std::int32_t message, Time begin, Time end) {
    recording_.show(chip, stream, message, begin, end);
  }
  void sent(std::int32_t chip, Stream stream, const SentTransfer& transfer) {
    recording_.sent(chip, stream, transfer);
  }
  void waited_before(std::int32_t chip, Time begin, Time end) {
    recording_.waited_before(at(chip), begin, end);
  }

  // A chip waited from `begin` to `end` for a collective that was its turn at `reached` and started at
  // `started`.
  struct Wait {
    Time begin, reached, started, end;
  };
  // Before its turn (the stream's earlier operations) and after the start it is communication; from its turn
  // until the last member came it is waiting for peers, caused by that member.
  void wait(std::int32_t chip, std::int32_t pattern, const Wait& wait, std::int32_t last_member);

  // A chip's computation lost this much to a transfer of the pattern that ran beside it: exposed
  // communication, or bubble for a transfer between stages.
  void slow_down(std::int32_t chip, std::int32_t pattern, Time lost) {
    if (system_.patterns[pattern].kind == CollectiveKind::kSendReceive) {
      bucket_of(chip, Bucket::kBubble) += lost;
    } else {
      bucket_of(chip, Bucket::kCommunication) += lost;
      exposed_of(chip, pattern) += lost;
    }
  }

  // What a chip class did by itself: by bucket, and by pattern what of it was exposed.
  void add(std::int32_t chip, const std::array<Time, kBuckets>& bucket,
           std::span<const std::pair<std::int32_t, Time>> exposed) {
    for (std::size_t b = 0; b < kBuckets; ++b) now_.chips[chip].bucket[b] += bucket[b];
    for (const auto& [pattern, time] : exposed) exposed_of(chip, pattern) += time;
  }

  // Of what it did together with its peers: so long of it, it waited for that one.
  void add_wait(std::int32_t chip, Time time, std::int32_t last_member) {
    now_.chips[chip].waited += time;
    now_.chips[last_member].caused_ps += Int128{now_.chips[chip].chips} * time.ps;
  }

  // The same, for who records passes: it went on from `begin` to `end` with computations of the bucket, but
  // for so long that it stood still for others.
  void record(std::int32_t chip, Bucket bucket, Time begin, Time end, Time stood) {
    if (!recording_.any() || end <= begin) return;
    recording_.keep(at(chip), bucket, begin, end, "by itself");
    recording_.waited_before(at(chip), {}, stood);
  }

  // Loads what the chip class's next event needs.
  void fetch_chip(std::int32_t chip) const {
    fetch(now_.chips[chip]);
    fetch(now_.exposed.data() + chip * system_.patterns.size(), system_.patterns.size() * sizeof(Time));
  }

  // Loads what `start` needs.
  void fetch_start(std::int32_t rendezvous) const { fetch(started_[rendezvous]); }

  // The rendezvous has started its next message, or so many. They count whole in the step of its job that is
  // under way.
  void start(std::int32_t rendezvous, std::int32_t count = 1) { started_[rendezvous] += count; }

  // All chips of the job have ended a step, and its hosts had the batch of the one to come at `next_batch`;
  // what has been booked of them so far counts. Throws StepTooLong.
  void end_step(int job, Time time, Time next_batch);
  // So many steps more, as long as the last one and with the totals as they are now.
  void repeat_steps(int job, std::int64_t count, Time length);
  int steps(int job) const { return static_cast<int>(jobs_[job].step_end.size()); }

  // [job], of the steps that have ended; hands everything over.
  std::vector<Timeline> timelines(std::int64_t events, std::int64_t periods_skipped,
                                  const std::vector<Standstill>& standstills);

  // Of state_capture.h.
  template <class Visitor>
  void visit(Visitor& state) {
    for (Chip& chip : now_.chips) {
      for (std::size_t b = 0; b < kBuckets; ++b)
        if (b != static_cast<std::size_t>(Bucket::kPause)) state.total(chip.bucket[b]);  // none in loops
      state.total(chip.caused_ps);
      state.total(chip.waited);
    }
    for (Time& time : now_.exposed) state.total(time);
    for (std::int64_t& times : started_) state.total(times);
  }

 private:
  // Of one chip class. It is written to at every event, and so beside what is read of the class then.
  struct alignas(kCacheLine) Chip {
    std::array<Time, kBuckets> bucket;
    Time waited;
    Int128 caused_ps = 0;
    std::int64_t chips = 0;
    double skew = 0;            // of its program
    std::int32_t position = 0;  // in the program's order
  };
  // What has been booked, in flat tables.
  struct Tables {
    std::vector<Chip> chips;
    std::vector<Time> exposed;  // [chip * patterns + pattern]
  };
  struct JobAccounts {
    JobParts parts;
    std::vector<std::int64_t> started;  // [rendezvous], at the last step end
    std::vector<Time> step_end;
  };

  Time& bucket_of(std::int32_t chip, Bucket bucket) {
    return now_.chips[chip].bucket[static_cast<std::size_t>(bucket)];
  }
  Time& exposed_of(std::int32_t chip, std::int32_t pattern) {
    return now_.exposed[chip * system_.patterns.size() + pattern];
  }
  Whereabouts at(std::int32_t chip) const { return {chip, now_.chips[chip].position}; }
  void tell(std::int32_t chip, const std::vector<std::int32_t>& patterns, ChipTotals& totals) const;
  std::vector<double> link_bytes(int job) const;
  const StageProgram& program_of(std::int32_t chip) const {
    return system_.step.stages[system_.chips[chip].program];
  }

  const System& system_;
  const StreamOperations& lists_;
  Recording recording_;
  Tables now_, counted_;               // so far, and at the last step end of each chip's job
  std::vector<std::int64_t> started_;  // [rendezvous] operations, one message after another
  std::vector<JobAccounts> jobs_;
};

}  // namespace podsim
