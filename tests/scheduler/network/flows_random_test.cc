// Random flow cases against a solver as simple as the definition, and what must hold in each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/random.h"
#include "scheduler/network/flows.h"

namespace podsim::flows_random_test {
namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t entity) : entity_(entity) {}
  std::int32_t below(std::uint64_t n) {
    return static_cast<std::int32_t>(random_bits(23, RandomPurpose::kTest, entity_, next_++) % n);
  }
  double uniform() { return random_uniform(23, RandomPurpose::kTest, entity_, next_++); }

 private:
  std::uint64_t entity_, next_ = 0;
};

// A random graph with a ring around it, so that every node reaches every other.
FlowCase random_case(std::uint64_t number, bool weights, bool steps, bool dependencies) {
  Draw draw(number);
  FlowCase flows;
  flows.nodes = 3 + draw.below(8);
  const auto capacity = [&] { return 1e9 * (1 + draw.below(4)); };
  const auto latency = [&] { return 1e-6 * draw.below(3); };
  for (std::int32_t v = 0; v < flows.nodes; ++v)
    flows.edges.push_back({v, (v + 1) % flows.nodes, capacity(), latency()});
  for (int e = draw.below(20); e > 0; --e) {
    const std::int32_t from = draw.below(flows.nodes), to = draw.below(flows.nodes);
    if (from != to) flows.edges.push_back({from, to, capacity(), latency()});
  }
  for (int f = 1 + draw.below(30); f > 0; --f) {
    Flow flow;
    flow.source = draw.below(flows.nodes);
    flow.destination = draw.below(flows.nodes);
    flow.bytes = draw.below(4) == 0 ? 1e6 : 1e6 * draw.uniform();
    flow.start_s = draw.below(2) == 0 ? 0 : 1e-3 * draw.uniform();
    if (weights) flow.weight = 0.25 * (1 + draw.below(8));
    const auto number_of_flow = static_cast<std::int32_t>(flows.flows.size());
    flow.after.first = static_cast<std::int32_t>(flows.predecessors.size());
    if (dependencies && number_of_flow > 0)
      for (int d = draw.below(3); d > 0; --d) flows.predecessors.push_back(draw.below(number_of_flow));
    flow.after.count = static_cast<std::int32_t>(flows.predecessors.size()) - flow.after.first;
    flows.flows.push_back(flow);
  }
  EXPECT_TRUE(route_minimal_ecmp(flows, 1'000'000).unreachable.empty());
  if (steps) {
    for (int s = draw.below(6); s > 0; --s) {
      const std::int32_t edge = draw.below(flows.edges.size());
      flows.capacity_steps.push_back({2e-3 * draw.uniform(), edge, 1e9 * draw.below(3)});
    }
    for (std::size_t e = 0; e < flows.edges.size(); ++e)
      flows.capacity_steps.push_back({3e-3, static_cast<std::int32_t>(e), 2e9});
  }
  return flows;
}

// Event by event with long doubles, everything solved anew each time.
class Simple {
 public:
  Simple(const FlowCase& flows, LatencyConvention convention) : flows_(flows), convention_(convention) {
    for (const FlowEdge& edge : flows.edges) capacity_.push_back(edge.bytes_per_s);
    steps_ = flows.capacity_steps;
    std::stable_sort(steps_.begin(), steps_.end(),
                     [](const CapacityStep& a, const CapacityStep& b) { return a.time_s < b.time_s; });
  }

  std::vector<double> finish() {
    const std::size_t n = flows_.flows.size();
    std::vector<long double> left(n), finish(n, HUGE_VALL);
    std::vector<bool> drained(n, false);
    for (std::size_t f = 0; f < n; ++f) left[f] = flows_.flows[f].bytes;
    std::size_t stepped = 0, done = 0;
    for (long double now = 0; done < n;) {
      std::vector<std::size_t> active;
      long double next =
          stepped < steps_.size() ? static_cast<long double>(steps_[stepped].time_s) : HUGE_VALL;
      for (std::size_t f = 0; f < n; ++f) {
        if (drained[f]) continue;
        const long double entry = entry_of(f, finish);
        if (entry <= now) {
          active.push_back(f);
        } else {
          next = std::min(next, entry);
        }
      }
      const std::vector<long double> rate = rates(active);
      for (std::size_t i = 0; i < active.size(); ++i)
        if (rate[i] > 0) next = std::min(next, now + left[active[i]] / rate[i]);
      for (std::size_t i = 0; i < active.size(); ++i) {
        const std::size_t f = active[i];
        if (std::isfinite(rate[i])) left[f] -= rate[i] * (next - now);
        const bool gone = !std::isfinite(rate[i]) || left[f] <= flows_.flows[f].bytes * 1e-14L;
        if (!gone) continue;
        drained[f] = true;
        ++done;
        finish[f] = (std::isfinite(rate[i]) ? next : now) +
                    (convention_ == LatencyConvention::kAfter ? latency(f) : 0);
      }
      now = next;
      while (stepped < steps_.size() && steps_[stepped].time_s <= now) {
        capacity_[steps_[stepped].edge] = steps_[stepped].bytes_per_s;
        ++stepped;
      }
    }
    return {finish.begin(), finish.end()};
  }

 private:
  static long double share(const Use& use) {
    return static_cast<long double>(use.usage) / static_cast<long double>(kUsageUnit);
  }
  long double latency(std::size_t f) const {
    long double sum = 0;
    for (const Use& use : flows_.route(flows_.flows[f]))
      sum += share(use) * static_cast<long double>(flows_.edges[use.resource].latency_s);
    return sum;
  }
  long double entry_of(std::size_t f, const std::vector<long double>& finish) const {
    long double start = flows_.flows[f].start_s;
    for (const std::int32_t p : flows_.predecessors_of(flows_.flows[f])) start = std::max(start, finish[p]);
    return convention_ == LatencyConvention::kFirst ? start + latency(f) : start;
  }

  // Infinite for flows without edges.
  std::vector<long double> rates(const std::vector<std::size_t>& active) const {
    std::vector<long double> rate(active.size(), -1), room(capacity_.begin(), capacity_.end());
    long double level = 0;
    for (;;) {
      std::vector<long double> load(room.size(), 0);
      bool rising = false;
      for (std::size_t i = 0; i < active.size(); ++i) {
        const Flow& flow = flows_.flows[active[i]];
        if (flow.uses.count == 0) rate[i] = HUGE_VALL;
        if (rate[i] >= 0) continue;
        rising = true;
        for (const Use& use : flows_.route(flow)) load[use.resource] += flow.weight * share(use);
      }
      if (!rising) return rate;
      long double rise = HUGE_VALL;
      for (std::size_t e = 0; e < room.size(); ++e)
        if (load[e] > 0) rise = std::min(rise, room[e] / load[e]);
      level += rise;
      std::vector<bool> full(room.size());
      for (std::size_t e = 0; e < room.size(); ++e) {
        full[e] = load[e] > 0 && room[e] / load[e] <= rise + level * 1e-14L;
        room[e] = full[e] ? 0 : room[e] - rise * load[e];
      }
      for (std::size_t i = 0; i < active.size(); ++i) {
        const Flow& flow = flows_.flows[active[i]];
        const auto route = flows_.route(flow);
        if (rate[i] < 0 &&
            std::any_of(route.begin(), route.end(), [&](const Use& use) { return full[use.resource]; }))
          rate[i] = level * static_cast<long double>(flow.weight);
      }
    }
  }

  const FlowCase& flows_;
  LatencyConvention convention_;
  std::vector<double> capacity_;
  std::vector<CapacityStep> steps_;
};

class RandomFlows : public ::testing::TestWithParam<LatencyConvention> {};
INSTANTIATE_TEST_SUITE_P(Conventions, RandomFlows,
                         ::testing::Values(LatencyConvention::kAfter, LatencyConvention::kFirst));

TEST_P(RandomFlows, finish_when_the_definition_says) {
  for (std::uint64_t number = 0; number < 400; ++number) {
    const FlowCase flows = random_case(number, number % 2, number / 2 % 2, number / 4 % 2);
    const FlowsResult result = simulate_flows(flows, GetParam());
    ASSERT_EQ(result.problem, "");
    const std::vector<double> expected = Simple(flows, GetParam()).finish();
    for (std::size_t f = 0; f < expected.size(); ++f)
      ASSERT_NEAR(result.finish_s[f], expected[f], expected[f] * 1e-9) << "case " << number << ", flow " << f;
  }
}

TEST_P(RandomFlows, edges_carry_all_bytes_and_never_more_than_they_can) {
  for (std::uint64_t number = 500; number < 700; ++number) {
    const FlowCase flows = random_case(number, number % 2, number / 2 % 2, true);
    const FlowsResult result = simulate_flows(flows, GetParam());
    std::vector<double> out(flows.nodes, 0);  // bytes that leave a node less those that reach it
    for (std::size_t e = 0; e < flows.edges.size(); ++e) {
      EXPECT_LE(result.edges[e].utilisation, 1 + 1e-9);
      out[flows.edges[e].from] += result.edges[e].bytes;
      out[flows.edges[e].to] -= result.edges[e].bytes;
    }
    for (const Flow& flow : flows.flows) {
      out[flow.source] -= flow.bytes;
      out[flow.destination] += flow.bytes;
    }
    for (const double rest : out) EXPECT_NEAR(rest, 0, 1e-3);
  }
}

TEST_P(RandomFlows, capacities_times_k_and_latencies_over_k_divide_every_time_by_k) {
  for (std::uint64_t number = 800; number < 900; ++number) {
    FlowCase flows = random_case(number, number % 2, true, true);
    const FlowsResult slow = simulate_flows(flows, GetParam());
    const double k = number % 3 == 0 ? 4 : 3.7;
    for (FlowEdge& edge : flows.edges) {
      edge.bytes_per_s *= k;
      edge.latency_s /= k;
    }
    for (Flow& flow : flows.flows) flow.start_s /= k;
    for (CapacityStep& step : flows.capacity_steps) {
      step.time_s /= k;
      step.bytes_per_s *= k;
    }
    const FlowsResult fast = simulate_flows(flows, GetParam());
    for (std::size_t f = 0; f < flows.flows.size(); ++f)
      ASSERT_NEAR(fast.finish_s[f] * k, slow.finish_s[f], slow.finish_s[f] * 1e-9) << "case " << number;
  }
}

TEST_P(RandomFlows, the_order_of_the_list_does_not_matter) {
  for (std::uint64_t number = 1000; number < 1100; ++number) {
    FlowCase flows = random_case(number, true, true, false);
    const FlowsResult result = simulate_flows(flows, GetParam());
    std::reverse(flows.flows.begin(), flows.flows.end());
    FlowsResult reversed = simulate_flows(flows, GetParam());
    std::reverse(reversed.finish_s.begin(), reversed.finish_s.end());
    ASSERT_EQ(reversed.finish_s, result.finish_s);
  }
}

}  // namespace
}  // namespace podsim::flows_random_test
