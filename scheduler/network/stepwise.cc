// Ranks walk through their steps; a transfer begins when both ends have come to it.
#include "scheduler/network/stepwise.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "collectives/load_sum.h"
#include "engine/check.h"
#include "engine/event_queue.h"
#include "scheduler/network/transport_model.h"

namespace podsim {
namespace {

// Uses of all routes of a plan, one after another.
struct RouteUses {
  std::vector<Use> uses;
  std::vector<std::size_t> first;  // routes + 1 entries

  explicit RouteUses(const StepPlan& plan) : first{0} {
    for (const StepRoute& route : plan.routes) {
      for (const RouteHop& hop : route.hops) uses.push_back({hop.link, fixed_usage(hop.share)});
      first.push_back(uses.size());
    }
  }
  std::span<const Use> of(std::int32_t route) const {
    return {uses.data() + first[route], uses.data() + first[route + 1]};
  }
};

// A step of one channel: which of its transfers each rank takes part in.
struct StepTable {
  std::int32_t first_transfer;  // of the simulation's transfers
  int repeat;
  std::vector<std::int32_t> first;    // [rank], ranks + 1 entries
  std::vector<std::int32_t> entries;  // transfers of the simulation
};

StepTable table_of(const Step& step, int ranks, std::int32_t first_transfer) {
  StepTable table{first_transfer, step.repeat, {}, {}};
  table.first.assign(static_cast<std::size_t>(ranks) + 1, 0);
  for (const StepTransfer& transfer : step.transfers) {
    ++table.first[transfer.from + 1];
    ++table.first[transfer.to + 1];
  }
  for (int rank = 0; rank < ranks; ++rank) table.first[rank + 1] += table.first[rank];
  std::vector<std::int32_t> next(table.first.begin(), table.first.end() - 1);
  table.entries.resize(2 * step.transfers.size());
  for (std::size_t t = 0; t < step.transfers.size(); ++t)
    for (const std::int32_t rank : {step.transfers[t].from, step.transfers[t].to})
      table.entries[next[rank]++] = first_transfer + static_cast<std::int32_t>(t);
  return table;
}

struct RunningTransfer {
  std::span<const Use> uses;
  double bytes;
  ChipId from, to;
  Tick latency;
  std::int32_t ends[2];  // walkers: sender and receiver
  std::int32_t next_arriving = -1;
  int ready = 0;  // of its ends
};

// One rank in one channel.
struct Walker {
  std::int32_t channel, rank;
  std::int32_t step = -1;
  int repeats_left = 0;
  int outstanding = 0;  // transfers of the present step
};

struct RunningChannel {
  std::vector<StepTable> steps;
  std::int32_t plan;
  std::int32_t first_walker;
  std::int32_t walkers;
};

// An instant and the chain of what arrives then, or the plan that starts.
struct StepEvent {
  std::int32_t first_transfer;  // -1: a plan starts
  std::int32_t plan;
};

class Stepwise {
 public:
  Stepwise(const Fabric& fabric, std::span<const StartedPlan> plans, double ticks_per_second,
           const ShareTold& told)
      : told_(told),
        ticks_per_second_(ticks_per_second),
        transport_model_(capacities(fabric), ticks_per_second,
                         {flows_collide(fabric) ? fabric.transport : Transport{}, fabric.routing_seed}) {
    result_.finish.resize(plans.size());
    finish_.assign(plans.size(), 0);
    uses_.reserve(plans.size());
    for (std::size_t p = 0; p < plans.size(); ++p) add_plan(plans[p], static_cast<std::int32_t>(p));
    count_bytes(fabric, plans);
  }

  StepwiseResult run() {
    while (!queue_.empty() || !transport_model_.idle()) {
      const Tick due = queue_.empty() ? kNever : queue_.next_time().ps;
      const Tick drained = transport_model_.next();
      now_ = std::min(due, drained);
      PODSIM_CHECK(now_ != kNever, "a transfer has no way: its links carry nothing");
      if (drained == now_) end_transfers();
      while (!queue_.empty() && queue_.next_time().ps == now_) handle(queue_.pop());
      if (arrived_ >= tell_at_) tell();
    }
    for (std::size_t p = 0; p < finish_.size(); ++p)
      result_.finish[p] = {std::llround(static_cast<double>(finish_[p]) / (ticks_per_second_ * 1e-12))};
    if (told_) told_(1);
    return std::move(result_);
  }

 private:
  static std::vector<double> capacities(const Fabric& fabric) {
    std::vector<double> capacity;
    for (const Link& link : fabric.links) capacity.push_back(link.bandwidth.value);
    return capacity;
  }

  Tick ticks(Time time) const {
    return std::llround(static_cast<double>(time.ps) * (ticks_per_second_ * 1e-12));
  }

  void add_plan(const StartedPlan& started, std::int32_t p) {
    const StepPlan& plan = *started.plan;
    uses_.emplace_back(plan);
    std::vector<Tick> latency;
    for (const StepRoute& route : plan.routes) latency.push_back(ticks(route.latency));
    for (const RingChannel& channel : plan.channels) {
      const auto first_walker = static_cast<std::int32_t>(walkers_.size());
      const auto ranks = static_cast<std::int32_t>(plan.group.size());
      for (std::int32_t rank = 0; rank < ranks; ++rank)
        walkers_.push_back({static_cast<std::int32_t>(channels_.size()), rank});
      RunningChannel& running = channels_.emplace_back(RunningChannel{{}, p, first_walker, ranks});
      for (const Step& step : channel) {
        running.steps.push_back(table_of(step, ranks, static_cast<std::int32_t>(transfers_.size())));
        for (const StepTransfer& t : step.transfers)
          transfers_.push_back({uses_.back().of(t.route),
                                t.bytes,
                                plan.group[t.from],
                                plan.group[t.to],
                                latency[t.route],
                                {first_walker + t.from, first_walker + t.to}});
      }
    }
    finish_[p] = ticks(started.start + plan.start_up);
    queue_.push({finish_[p]}, {-1, p});
  }

  void count_bytes(const Fabric& fabric, std::span<const StartedPlan> plans) {
    result_.link_bytes.assign(fabric.links.size(), 0);
    for (const StartedPlan& started : plans) {
      result_.transfers += started.plan->transfers();
      for (const RingChannel& channel : started.plan->channels)
        for (const Step& step : channel)
          for (const StepTransfer& t : step.transfers)
            for (const RouteHop& hop : started.plan->routes[t.route].hops)
              result_.link_bytes[hop.link] += hop.share * t.bytes * step.repeat;
    }
  }

  void handle(const StepEvent& event) {
    if (event.first_transfer < 0) {
      for (const RunningChannel& channel : channels_)
        if (channel.plan == event.plan)
          for (std::int32_t w = channel.first_walker; w < channel.first_walker + channel.walkers; ++w)
            go_on(w);
      return;
    }
    for (std::int32_t t = event.first_transfer; t >= 0;) {
      const std::int32_t next = transfers_[t].next_arriving;
      arrive(t);
      t = next;
    }
  }

  // The walker enters its next step, or the same one again. It passes through steps that do not need it.
  void go_on(std::int32_t w) {
    Walker& walker = walkers_[w];
    const std::vector<StepTable>& steps = channels_[walker.channel].steps;
    for (;;) {
      if (walker.repeats_left == 0) {
        if (++walker.step == static_cast<std::int32_t>(steps.size())) return;
        walker.repeats_left = steps[walker.step].repeat;
      }
      const StepTable& table = steps[walker.step];
      const std::int32_t first = table.first[walker.rank], end = table.first[walker.rank + 1];
      if (first == end) {
        walker.repeats_left = 0;
        continue;
      }
      --walker.repeats_left;
      walker.outstanding = end - first;
      for (std::int32_t i = first; i < end; ++i)
        if (++transfers_[table.entries[i]].ready == 2) begin(table.entries[i]);
      return;
    }
  }

  void begin(std::int32_t t) {
    RunningTransfer& transfer = transfers_[t];
    transfer.ready = 0;
    if (transfer.bytes > 0) {
      transport_model_.begin(now_, transfer.from, transfer.to, transfer.uses, transfer.bytes, t);
    } else {
      send_to_arrive(t);
      flush_arrivals();
    }
  }

  void end_transfers() {
    drained_.clear();
    transport_model_.end(now_, drained_);
    for (const std::int32_t t : drained_) send_to_arrive(t);
    flush_arrivals();
  }

  // Transfers that arrive at one instant share an event: most differ in none or in few latencies.
  struct Arrivals {
    Tick latency;
    std::int32_t first, last;
  };

  void send_to_arrive(std::int32_t t) {
    RunningTransfer& transfer = transfers_[t];
    transfer.next_arriving = -1;
    for (std::size_t i = 0; i < open_; ++i) {
      if (arrivals_[i].latency != transfer.latency) continue;
      transfers_[arrivals_[i].last].next_arriving = t;
      arrivals_[i].last = t;
      return;
    }
    if (open_ == arrivals_.size()) flush_arrivals();
    arrivals_[open_++] = {transfer.latency, t, t};
  }

  void flush_arrivals() {
    for (std::size_t i = 0; i < open_; ++i)
      queue_.push({now_ + arrivals_[i].latency}, {arrivals_[i].first, -1});
    open_ = 0;
  }

  void tell() {
    constexpr std::int64_t kBetween = 1 << 16;
    tell_at_ = arrived_ + kBetween;
    if (told_ && result_.transfers > 0)
      told_(static_cast<double>(arrived_) / static_cast<double>(result_.transfers));
  }

  void arrive(std::int32_t t) {
    ++arrived_;
    for (const std::int32_t w : transfers_[t].ends) {
      if (--walkers_[w].outstanding > 0) continue;
      Tick& finish = finish_[channels_[walkers_[w].channel].plan];
      finish = std::max(finish, now_);
      go_on(w);
    }
  }

  const ShareTold& told_;
  std::int64_t arrived_ = 0, tell_at_ = 0;
  double ticks_per_second_;
  TransportModel transport_model_;
  EventQueue<StepEvent> queue_;  // its times count ticks
  Tick now_ = 0;
  std::vector<RouteUses> uses_;  // [plan]
  std::vector<RunningChannel> channels_;
  std::vector<Walker> walkers_;
  std::vector<RunningTransfer> transfers_;
  std::vector<Tick> finish_;  // [plan]
  std::vector<std::int32_t> drained_;
  std::array<Arrivals, 8> arrivals_;
  std::size_t open_ = 0;
  StepwiseResult result_;
};

// About how long a plan takes: its steps one after another, each with its busiest link.
double estimate_s(const Fabric& fabric, const StepPlan& plan) {
  double sum = plan.start_up.in_seconds();
  std::vector<double> busy(fabric.links.size(), 0);
  for (const RingChannel& channel : plan.channels)
    for (const Step& step : channel) {
      double longest = 0, latency = 0;
      for (const StepTransfer& t : step.transfers) {
        latency = std::max(latency, plan.routes[t.route].latency.in_seconds());
        for (const RouteHop& hop : plan.routes[t.route].hops)
          busy[hop.link] += hop.share * t.bytes / fabric.links[hop.link].bandwidth.value;
      }
      for (const StepTransfer& t : step.transfers)
        for (const RouteHop& hop : plan.routes[t.route].hops) {
          longest = std::max(longest, busy[hop.link]);
          busy[hop.link] = 0;
        }
      sum += step.repeat * (longest + latency);
    }
  return sum;
}

// The finest ticks in which the run surely fits 63 bits, so that thousands of rounded steps sum to less than
// half a picosecond.
double finest_ticks(double seconds) {
  constexpr double kMargin = 8;
  for (const double ticks_per_second : {1e18, 1e17, 1e16, 1e15, 1e14, 1e13})
    if (seconds * kMargin * ticks_per_second < 0x1p63) return ticks_per_second;
  return 1e12;
}

}  // namespace

StepwiseResult simulate_steps(const Fabric& fabric, std::span<const StartedPlan> plans,
                              const ShareTold& told) {
  double seconds = 0;
  for (const StartedPlan& started : plans)
    seconds += started.start.in_seconds() + estimate_s(fabric, *started.plan);
  return Stepwise(fabric, plans, finest_ticks(seconds), told).run();
}

Time simulate_steps(const Fabric& fabric, const StepPlan& plan, const ShareTold& told) {
  const StartedPlan alone[] = {{&plan, {}}};
  return simulate_steps(fabric, alone, told).finish[0];
}

}  // namespace podsim
