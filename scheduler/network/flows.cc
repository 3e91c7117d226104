// An event loop around a carrier of transfers.
#include "scheduler/network/flows.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/check.h"
#include "engine/event_queue.h"
#include "scheduler/network/transport_model.h"

namespace podsim {
namespace {

constexpr double kFinestTicks = 1e18;      // per second
constexpr double kCoarser = 1e3;           // a tick of the next attempt
constexpr Tick kLastTick = Tick{1} << 61;  // later instants need coarser ticks

double share_of(const Use& use) { return static_cast<double>(use.usage) / static_cast<double>(kUsageUnit); }

std::string name_of(const FlowCase& flows, std::int32_t f) {
  const Flow& flow = flows.flows[f];
  return "flow " + std::to_string(f) + " (" + std::to_string(flow.source) + " -> " +
         std::to_string(flow.destination) + ")";
}

// Which flows wait for which.
struct Waiting {
  std::vector<std::int32_t> first,
      followers;                      // of flow f: followers[first[f]] .. followers[first[f + 1] - 1]
  std::vector<std::int32_t> missing;  // [flow] predecessors that have not finished

  explicit Waiting(const FlowCase& flows) : first(flows.flows.size() + 1, 0), missing(flows.flows.size(), 0) {
    if (flows.predecessors.empty()) return;
    for (std::size_t f = 0; f < flows.flows.size(); ++f) {
      missing[f] = flows.flows[f].after.count;
      for (const std::int32_t p : flows.predecessors_of(flows.flows[f])) ++first[p + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    followers.resize(first.back());
    std::vector<std::int32_t> next(first.begin(), first.end() - 1);
    for (std::size_t f = 0; f < flows.flows.size(); ++f)
      for (const std::int32_t p : flows.predecessors_of(flows.flows[f]))
        followers[next[p]++] = static_cast<std::int32_t>(f);
  }

  std::span<const std::int32_t> of(std::int32_t f) const {
    return {followers.data() + first[f], followers.data() + first[f + 1]};
  }
};

// "flow 3 (0 -> 1) waits for flow 5 (1 -> 2), which waits for flow 3", or empty.
std::string find_cycle(const FlowCase& flows) {
  if (flows.predecessors.empty()) return "";
  Waiting waiting(flows);
  std::vector<std::int32_t> ready;
  for (std::size_t f = 0; f < flows.flows.size(); ++f)
    if (waiting.missing[f] == 0) ready.push_back(static_cast<std::int32_t>(f));
  for (std::size_t i = 0; i < ready.size(); ++i)
    for (const std::int32_t f : waiting.of(ready[i]))
      if (--waiting.missing[f] == 0) ready.push_back(f);
  if (ready.size() == flows.flows.size()) return "";
  // Going back from a flow that waits for ever to a predecessor that does, one flow comes up again.
  const auto stuck = [&](std::int32_t f) { return waiting.missing[f] > 0; };
  std::int32_t at = 0;
  while (!stuck(at)) ++at;
  std::vector<std::int32_t> seen_at(flows.flows.size(), -1), chain;
  while (seen_at[at] < 0) {
    seen_at[at] = static_cast<std::int32_t>(chain.size());
    chain.push_back(at);
    const auto predecessors = flows.predecessors_of(flows.flows[at]);
    at = *std::find_if(predecessors.begin(), predecessors.end(), stuck);
  }
  chain.erase(chain.begin(), chain.begin() + seen_at[at]);
  constexpr std::size_t kShown = 8;
  std::string text = name_of(flows, at) + " waits for ";
  for (std::size_t i = 1; i < std::min(chain.size(), kShown); ++i)
    text += name_of(flows, chain[i]) + ", which waits for ";
  if (chain.size() > kShown)
    text += "... (" + std::to_string(chain.size()) + " flows in all), which wait for ";
  return text + "flow " + std::to_string(at);
}

// Usages and amounts as the fluid sees them. With equal weights the routes as they are; otherwise multiplied
// by the weights, and by a power of two that makes the most of fixed point.
struct Shares {
  std::vector<Use> weighted;
  std::vector<ListPart> part;  // [flow] in `weighted`
  std::vector<double> unit;    // [flow] bytes per unit of progress; empty when all are 1

  Shares(const FlowCase& flows, bool weighted_again) {
    if (flows.flows.empty()) return;
    const auto same = [&](const Flow& flow) { return flow.weight == flows.flows.front().weight; };
    if (std::all_of(flows.flows.begin(), flows.flows.end(), same)) return;
    std::vector<double> load(flows.edges.size(), 0);
    double heaviest = 0;  // a weight by itself must fit too
    for (const Flow& flow : flows.flows) {
      heaviest = std::max(heaviest, flow.weight);
      for (const Use& use : flows.route(flow)) load[use.resource] += flow.weight * share_of(use);
    }
    for (const double on_edge : load) heaviest = std::max(heaviest, on_edge);
    const double room = weighted_again ? 0x1p10 : 0x1p21;  // a transport draws weights of up to some hundreds
    int exponent = 0;
    std::frexp(room / heaviest, &exponent);
    const double scale = std::ldexp(1, exponent - 1);
    for (const Flow& flow : flows.flows) {
      // The weight that fixed point can express: bytes must be conserved exactly, weights need not.
      const double weight =
          static_cast<double>(fixed_usage(flow.weight * scale)) / static_cast<double>(kUsageUnit);
      part.push_back({static_cast<std::int32_t>(weighted.size()), flow.uses.count});
      unit.push_back(weight);
      for (const Use& use : flows.route(flow))
        weighted.push_back({use.resource, weighted_usage(use.usage, weight)});
    }
  }

  std::span<const Use> uses(const FlowCase& flows, std::int32_t f) const {
    if (unit.empty()) return flows.route(flows.flows[f]);
    return {weighted.data() + part[f].first, static_cast<std::size_t>(part[f].count)};
  }
  double amount(const FlowCase& flows, std::int32_t f) const {
    return unit.empty() ? flows.flows[f].bytes : flows.flows[f].bytes / unit[f];
  }
};

std::vector<double> capacities(const FlowCase& flows) {
  std::vector<double> capacity;
  for (const FlowEdge& edge : flows.edges) capacity.push_back(edge.bytes_per_s);
  return capacity;
}

class FlowSimulation {
 public:
  FlowSimulation(const FlowCase& flows, const Shares& shares, LatencyConvention convention,
                 const TransportDraw& draw, double ticks_per_second)
      : flows_(flows),
        shares_(shares),
        convention_(convention),
        ticks_per_second_(ticks_per_second),
        transport_model_(capacities(flows), ticks_per_second, draw),
        waiting_(flows),
        finish_(flows.flows.size(), kNever) {
    latency_.reserve(flows.flows.size());
    starts_.reserve(flows.flows.size());
    for (std::size_t f = 0; f < flows.flows.size(); ++f) {
      const Flow& flow = flows.flows[f];
      PODSIM_CHECK(flow.source == flow.destination || flow.uses.count > 0, "a flow has a route");
      PODSIM_CHECK(flow.weight > 0 && flow.bytes >= 0, "a flow has a weight and a size");
      double latency_s = 0;
      for (const Use& use : flows.route(flows.flows[f]))
        latency_s += share_of(use) * flows.edges[use.resource].latency_s;
      latency_.push_back(ticks(latency_s));
      const auto number = static_cast<std::int32_t>(f);
      if (waiting_.missing[f] == 0) starts_.emplace_back(entry(number, 0), number);
    }
    if (!std::is_sorted(starts_.begin(), starts_.end())) std::sort(starts_.begin(), starts_.end());
    transport_model_.reserve(starts_.size());
    steps_ = flows.capacity_steps;
    std::stable_sort(steps_.begin(), steps_.end(),
                     [](const CapacityStep& a, const CapacityStep& b) { return a.time_s < b.time_s; });
  }

  // False when the ticks are too fine to reach the end.
  bool run() {
    while (!transport_model_.idle() || next_event() != kNever || next_start() != kNever) {
      const Tick drained = transport_model_.next();
      const Tick next = std::min({drained, next_event(), next_start(), next_step()});
      if (next > kLastTick) return next == kNever && !transport_model_.stalled().empty();
      now_ = next;
      if (drained == now_) {
        ended_.clear();
        transport_model_.end(now_, ended_);
        for (const std::int32_t f : ended_) drained_at(f);
      }
      while (next_step() == now_) {
        const CapacityStep& step = steps_[stepped_++];
        transport_model_.set_capacity(now_, step.edge, step.bytes_per_s);
      }
      while (next_start() == now_) enter(starts_[started_++].second);
      while (next_event() == now_) happen(queue_.pop());
    }
    return std::all_of(finish_.begin(), finish_.end(), [](Tick finish) { return finish <= kLastTick; });
  }

  FlowsResult result() const {
    FlowsResult result;
    result.solves = transport_model_.solves();
    if (const auto stalled = transport_model_.stalled(); !stalled.empty()) {
      result.problem = explain_stall(stalled.front());
      return result;
    }
    for (const Tick finish : finish_) {
      result.finish_s.push_back(static_cast<double>(finish) / ticks_per_second_);
      result.makespan_s = std::max(result.makespan_s, result.finish_s.back());
      result.mean_finish_s += result.finish_s.back();
    }
    if (!finish_.empty()) result.mean_finish_s /= static_cast<double>(finish_.size());
    result.edges = traffic(result.makespan_s);
    return result;
  }

 private:
  enum class Kind : std::uint8_t { kEnters, kFinishes };
  struct Event {
    Kind kind;
    std::int32_t flow;
  };

  Tick ticks(double seconds) const {
    const double count = seconds * ticks_per_second_;
    return count < static_cast<double>(kLastTick) ? std::llround(count) : kLastTick + 1;
  }

  Tick next_event() const { return queue_.empty() ? kNever : queue_.next_time().ps; }
  Tick next_start() const { return started_ < starts_.size() ? starts_[started_].first : kNever; }
  Tick next_step() const { return stepped_ < steps_.size() ? ticks(steps_[stepped_].time_s) : kNever; }

  // When a flow takes bandwidth that waits for nothing from `ready` on but its start.
  Tick entry(std::int32_t f, Tick ready) const {
    const Tick start = std::max(ready, ticks(flows_.flows[f].start_s));
    return std::min(convention_ == LatencyConvention::kFirst ? start + latency_[f] : start, kLastTick + 1);
  }

  void happen(const Event& event) {
    if (event.kind == Kind::kEnters) {
      enter(event.flow);
    } else {
      finish(event.flow);
    }
  }

  void enter(std::int32_t f) {
    const double amount = shares_.amount(flows_, f);
    if (amount == 0 || flows_.flows[f].uses.count == 0) {
      drained_at(f);
    } else {
      transport_model_.begin(now_, flows_.flows[f].source, flows_.flows[f].destination,
                             shares_.uses(flows_, f), amount, f);
    }
  }

  void drained_at(std::int32_t f) {
    finish_[f] = convention_ == LatencyConvention::kAfter ? now_ + latency_[f] : now_;
    if (waiting_.followers.empty() || waiting_.of(f).empty()) return;
    if (finish_[f] == now_) {
      finish(f);
    } else {
      queue_.push({finish_[f]}, {Kind::kFinishes, f});
    }
  }

  // Its followers may start. The last predecessor to finish decides when.
  void finish(std::int32_t f) {
    for (const std::int32_t follower : waiting_.of(f)) {
      if (--waiting_.missing[follower] > 0) continue;
      queue_.push({entry(follower, now_)}, {Kind::kEnters, follower});
    }
  }

  std::string explain_stall(std::int32_t f) const {
    std::vector<double> capacity = capacities(flows_);
    for (const CapacityStep& step : steps_) capacity[step.edge] = step.bytes_per_s;
    for (const Use& use : flows_.route(flows_.flows[f])) {
      if (capacity[use.resource] > 0) continue;
      const FlowEdge& edge = flows_.edges[use.resource];
      return name_of(flows_, f) + " never finishes: edge " + std::to_string(use.resource) + " (" +
             std::to_string(edge.from) + " -> " + std::to_string(edge.to) + ") has no capacity";
    }
    return name_of(flows_, f) + " never finishes";
  }

  std::vector<EdgeTraffic> traffic(double makespan_s) const {
    std::vector<EdgeTraffic> edges(flows_.edges.size());
    for (const Flow& flow : flows_.flows)
      for (const Use& use : flows_.route(flow)) edges[use.resource].bytes += flow.bytes * share_of(use);
    std::vector<double> capacity = capacities(flows_), room(edges.size(), 0), since(edges.size(), 0);
    const auto pass = [&](std::int32_t e, double until) {
      room[e] += capacity[e] * (until - since[e]);
      since[e] = until;
    };
    for (const CapacityStep& step : steps_) {
      pass(step.edge, std::min(step.time_s, makespan_s));
      capacity[step.edge] = step.bytes_per_s;
    }
    for (std::size_t e = 0; e < edges.size(); ++e) {
      pass(static_cast<std::int32_t>(e), makespan_s);
      if (room[e] > 0) edges[e].utilisation = edges[e].bytes / room[e];
    }
    return edges;
  }

  const FlowCase& flows_;
  const Shares& shares_;
  const LatencyConvention convention_;
  const double ticks_per_second_;
  TransportModel transport_model_;
  Waiting waiting_;
  std::vector<Tick> latency_, finish_;                 // [flow]
  std::vector<std::pair<Tick, std::int32_t>> starts_;  // flows that wait for none, by their entry
  std::vector<CapacityStep> steps_;                    // in the order of time
  std::size_t started_ = 0, stepped_ = 0;
  EventQueue<Event> queue_;
  std::vector<std::int32_t> ended_;
  Tick now_ = 0;
};

}  // namespace

FlowsResult simulate_flows(const FlowCase& flows, LatencyConvention convention, const TransportDraw& draw) {
  FlowsResult result;
  result.problem = find_cycle(flows);
  if (!result.problem.empty()) return result;
  const Shares shares(flows, draw.transport.weight_spread > 0);
  double ticks_per_second = kFinestTicks;
  for (;; ticks_per_second /= kCoarser) {
    FlowSimulation simulation(flows, shares, convention, draw, ticks_per_second);
    if (simulation.run()) return simulation.result();
    if (ticks_per_second < 1) break;
  }
  result.problem = "the flows last for longer than 100 billion years";
  return result;
}

}  // namespace podsim
