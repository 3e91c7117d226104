// Shortest ways to one chip round missing links, found from the chip backwards: breadth first over the ICI of
// a slice, by Dijkstra's algorithm over switches.
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/dijkstra_shortest_paths_no_color_map.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/iterator/filter_iterator.hpp>
#include <functional>
#include <utility>

#include "topology/fabric_graph.h"
#include "topology/route_parts.h"

namespace podsim {
namespace {

bool is_ici(const Link& link) { return link.kind == LinkKind::kIci || link.kind == LinkKind::kIciOptical; }

struct IsIci {
  const Fabric* fabric = nullptr;
  bool operator()(LinkId link) const { return is_ici(fabric->links[link]); }
};

// The queue of a breadth-first search. What has left it stays where it is: all places in the order in which
// they were reached. Empty, too, once `last` is next.
class ReachedPlaces {
 public:
  ReachedPlaces(std::vector<Place>& order, Place last) : order_(order), last_(last) {}

  void push(Place place) { order_.push_back(place); }
  void pop() { ++next_; }
  Place top() const { return order_[next_]; }
  bool empty() const { return next_ == order_.size() || order_[next_] == last_; }

 private:
  std::vector<Place>& order_;
  Place last_;
  std::size_t next_ = 0;
};

// A chip is white until it has a cost.
struct ColourByCost {
  using key_type = NodeId;
  using value_type = boost::default_color_type;
  using reference = value_type;
  using category = boost::read_write_property_map_tag;

  const std::vector<std::int64_t>* cost;
  std::int64_t unreached;

  friend value_type get(const ColourByCost& colour, NodeId chip) {
    return (*colour.cost)[chip] == colour.unreached ? boost::white_color : boost::black_color;
  }
  friend void put(const ColourByCost&, NodeId, value_type) {}
};

}  // namespace

// The places, each with edges to those from which one link leads there.
struct Ways::Backwards {
  // A link out of the node of a place, twice: back to the node at its end, and to that node on the way down.
  using edge_descriptor = std::int64_t;
  using vertex_descriptor = Place;
  using directed_category = boost::directed_tag;
  using edge_parallel_category = boost::allow_parallel_edge_tag;
  using traversal_category = boost::incidence_graph_tag;
  using degree_size_type = std::int64_t;
  struct LeadsHere {
    const Backwards* graph = nullptr;
    Place place = 0;
    bool operator()(edge_descriptor edge) const { return graph->leads_to(place, edge); }
  };
  using out_edge_iterator = boost::filter_iterator<LeadsHere, boost::counting_iterator<edge_descriptor>>;

  const Ways* ways;

  Link onward(edge_descriptor edge) const { return ways->fabric_->links[edge / 2]; }
  Link back(edge_descriptor edge) const {  // each link has its reverse
    return {onward(edge).to, onward(edge).from, onward(edge).kind, {}, {}};
  }
  Place before(edge_descriptor edge) const { return onward(edge).to + (edge % 2 == 0 ? 0 : ways->nodes_); }
  bool leads_to(Place place, edge_descriptor edge) const {
    const NodeId end = onward(edge).to;
    return after(edge) == place && (edge % 2 == 0 || end >= ways->fabric_->chips) &&
           ways->may_take(before(edge), back(edge));
  }

  Place after(edge_descriptor edge) const { return ways->landing(onward(edge).to, onward(edge).from); }
  std::pair<out_edge_iterator, out_edge_iterator> edges_from(Place place) const {
    const LinkId first = ways->fabric_->out_first[ways->node(place)];
    const LinkId last = ways->fabric_->out_first[ways->node(place) + 1];
    const boost::counting_iterator<edge_descriptor> begin(edge_descriptor{2} * first);
    const boost::counting_iterator<edge_descriptor> end(edge_descriptor{2} * last);
    const LeadsHere leads_here{this, place};
    return {out_edge_iterator(leads_here, begin, end), out_edge_iterator(leads_here, end, end)};
  }
  std::size_t places() const { return ways->cost_.size(); }

  friend Place source(edge_descriptor edge, const Backwards& graph) { return graph.after(edge); }
  friend Place target(edge_descriptor edge, const Backwards& graph) { return graph.before(edge); }
  friend auto out_edges(Place place, const Backwards& graph) { return graph.edges_from(place); }
  friend std::size_t num_vertices(const Backwards& graph) { return graph.places(); }
};

Ways::Ways(const Fabric& fabric, ChipId to, bool within_slice)
    : fabric_(&fabric),
      to_(to),
      nodes_(static_cast<NodeId>(fabric.nodes.size())),
      within_slice_(within_slice),
      cost_(within_slice ? fabric.chips : 2 * fabric.nodes.size(), kUnreached) {
  cost_[to] = 0;
}

Ways Ways::in_slice(const Fabric& fabric, ChipId to, ChipId until) {
  Ways ways(fabric, to, true);
  ways.search_slice(until);
  return ways;
}

Ways Ways::anywhere(const Fabric& fabric, ChipId to, ChipId until) {
  Ways ways(fabric, to, false);
  ways.search_all(until);
  return ways;
}

int Ways::hops_from(ChipId chip) const { return static_cast<int>(cost_[chip] % kRelay / kHop); }

// Where a link leads to: a switch that is reached from above can only go on downwards.
Place Ways::landing(NodeId from, NodeId to) const {
  const bool down = to >= fabric_->chips && fabric_->nodes[from].tier > fabric_->nodes[to].tier;
  return down ? to + nodes_ : to;
}

std::int64_t Ways::cost(const Link& link) const {
  const bool relayed = !within_slice_ && link.to < fabric_->chips && link.to != to_;
  return kHop + (relayed ? kRelay : 0) + (link.kind == LinkKind::kNic ? kNic : 0);
}

bool Ways::may_take(Place place, const Link& link) const {
  if (within_slice_) return is_ici(link);
  return place < nodes_ || fabric_->nodes[link.to].tier < fabric_->nodes[link.from].tier;
}

// All links cost the same, so chips are reached in the order of their distance.
void Ways::search_slice(ChipId until) {
  const boost::filtered_graph<Fabric, IsIci> ici(*fabric_, IsIci{fabric_});
  struct AddHops : boost::default_bfs_visitor {
    std::vector<std::int64_t>* cost;
    void tree_edge(LinkId link, const boost::filtered_graph<Fabric, IsIci>& graph) const {
      (*cost)[target(link, graph)] = (*cost)[source(link, graph)] + kHop;
    }
  } add_hops;
  add_hops.cost = &cost_;
  ReachedPlaces queue(order_, until);
  boost::breadth_first_visit(ici, to_, queue, add_hops, ColourByCost{&cost_, kUnreached});
}

void Ways::search_all(ChipId until) {
  struct Found {};
  struct Record : boost::dijkstra_visitor<> {
    std::vector<Place>* order;
    Place until;
    void examine_vertex(Place place, const Backwards&) const {
      order->push_back(place);
      if (place == until) throw Found{};  // how a search of the library is ended
    }
  } record;
  record.order = &order_;
  record.until = until;
  const Backwards graph{this};
  const auto cost = boost::make_function_property_map<std::int64_t>(
      [&](std::int64_t edge) { return this->cost(graph.back(edge)); });
  try {
    boost::dijkstra_shortest_paths_no_color_map_no_init(graph, to_, boost::dummy_property_map(), cost_.data(),
                                                        cost, boost::typed_identity_property_map<Place>(),
                                                        std::less<>(), std::plus<>(), kUnreached,
                                                        std::int64_t{0}, record);
  } catch (const Found&) {
  }
}

void Ways::next(Place place, std::vector<NextHop>& hops) const {
  if (place == to_) return;
  for (LinkId id = fabric_->out_first[node(place)]; id < fabric_->out_first[node(place) + 1]; ++id) {
    const Link& link = fabric_->links[id];
    if (!may_take(place, link)) continue;
    const Place there = within_slice_ ? link.to : landing(link.from, link.to);
    if (cost_[there] < kUnreached && cost_[there] + cost(link) == cost_[place]) hops.push_back({id, there});
  }
}

}  // namespace podsim
