// Takes nodes off that wait for nothing more; what is left is searched for strong components.
#include "ingest/chakra/order.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <functional>
#include <queue>
#include <utility>

#include "engine/check.h"

namespace podsim::chakra {
namespace {

// For each node those that wait for it.
Lists waiters(std::size_t nodes, Waits waits) {
  Lists result;
  result.first.assign(nodes + 1, 0);
  for (const Lists* lists : waits)
    for (const std::int32_t value : lists->values) ++result.first[static_cast<std::size_t>(value) + 1];
  for (std::size_t node = 0; node < nodes; ++node) result.first[node + 1] += result.first[node];
  result.values.resize(result.first.back());
  std::vector<std::uint32_t> next(result.first.begin(), result.first.end() - 1);
  for (const Lists* lists : waits)
    for (std::size_t node = 0; node < nodes; ++node)
      for (const std::int32_t value : lists->of(node))
        result.values[next[static_cast<std::size_t>(value)]++] = static_cast<std::int32_t>(node);
  return result;
}

}  // namespace

std::vector<std::int32_t> order_of(const std::vector<Node>& nodes, Waits waits) {
  using Open = std::pair<std::uint64_t, std::int32_t>;  // id, node
  const Lists after = waiters(nodes.size(), waits);
  std::vector<std::size_t> missing(nodes.size(), 0);
  for (const Lists* lists : waits)
    for (std::size_t node = 0; node < nodes.size(); ++node) missing[node] += lists->of(node).size();
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  for (std::size_t node = 0; node < nodes.size(); ++node)
    if (missing[node] == 0) open.emplace(nodes[node].id, static_cast<std::int32_t>(node));
  std::vector<std::int32_t> order;
  order.reserve(nodes.size());
  while (!open.empty()) {
    const std::int32_t node = open.top().second;
    open.pop();
    order.push_back(node);
    for (const std::int32_t waiter : after.of(static_cast<std::size_t>(node)))
      if (--missing[static_cast<std::size_t>(waiter)] == 0)
        open.emplace(nodes[static_cast<std::size_t>(waiter)].id, waiter);
  }
  return order;
}

std::vector<std::int32_t> nodes_of_a_cycle(const std::vector<Node>& nodes, Waits waits) {
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
  Graph graph(nodes.size());
  for (const Lists* lists : waits)
    for (std::size_t node = 0; node < nodes.size(); ++node)
      for (const std::int32_t other : lists->of(node)) {
        if (other == static_cast<std::int32_t>(node)) return {other};
        boost::add_edge(static_cast<std::size_t>(other), node, graph);
      }
  std::vector<int> component(nodes.size());
  const int components = boost::strong_components(
      graph, boost::make_iterator_property_map(component.begin(), boost::get(boost::vertex_index, graph)));
  std::vector<std::vector<std::int32_t>> members(static_cast<std::size_t>(components));
  for (std::size_t node = 0; node < nodes.size(); ++node)
    members[static_cast<std::size_t>(component[node])].push_back(static_cast<std::int32_t>(node));
  std::vector<std::int32_t> least;
  for (const auto& each : members)
    if (each.size() > 1 && (least.empty() || each.size() < least.size())) least = each;
  PODSIM_CHECK(!least.empty(), "nodes that cannot run lie on or behind a cycle");
  return least;
}

}  // namespace podsim::chakra
