// What one rank did in a step, as Chakra records it: nodes, and which waits for which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace podsim::chakra {

// By the number that a trace has for it.
enum class NodeType : std::uint8_t {
  kInvalid,
  kMetadata,
  kMemoryLoad,
  kMemoryStore,
  kCompute,
  kSend,
  kReceive,
  kCollective
};
inline constexpr int kNodeTypes = 8;
inline constexpr int kCollectiveTypes = 10;

// The words of the schema: "COMP", "ALL_REDUCE". REQUIRES: 0 <= type < kCollectiveTypes.
const char* to_string(NodeType type);
const char* collective_name(int type);

struct Node {
  std::uint64_t id = 0;
  std::int64_t start_us = 0, duration_us = 0;
  std::int64_t bytes = -1;  // that this rank puts in (comm_size); -1: not said
  std::int64_t operations = 0, tensor_bytes = 0;
  std::int64_t tag = 0;
  std::int32_t group = -1;                // in Trace::group_names; -1: not said
  std::int32_t source = -1, target = -1;  // ranks; -1: not said
  NodeType type = NodeType::kInvalid;
  std::int8_t collective = -1;  // its number; -1: not said
  bool on_host = false;

  // A launch of a collective costs its time and moves nothing.
  bool moves_data() const {
    return type == NodeType::kSend || type == NodeType::kReceive ||
           (type == NodeType::kCollective && !on_host);
  }
};

// Of several lists, one for each node, that stand in one array.
struct Lists {
  std::vector<std::uint32_t> first = {0};  // [node], and the end
  std::vector<std::int32_t> values;        // nodes, by their index

  std::span<const std::int32_t> of(std::size_t node) const {
    return {values.data() + first[node], values.data() + first[node + 1]};
  }
};

// A dependency on a node that the file lacks.
struct Dangling {
  std::uint64_t node = 0, other = 0;
};

using AttributeValue = std::variant<std::int64_t, std::uint64_t, double, bool, std::string>;

// Ranks of a process group that the trace itself lists.
struct ProcessGroup {
  std::string name;
  std::vector<std::int64_t> ranks;  // empty: all
};

// Names of nodes are not kept: nothing asks for them.
// INVARIANT: there is a node; ids are unique; lists name nodes of the trace.
struct Trace {
  std::string version;  // as written; may be empty
  std::vector<std::pair<std::string, AttributeValue>> metadata;
  std::vector<Node> nodes;  // in the order of the file
  std::vector<std::string> group_names;
  Lists control, data;                                           // what a node waits for
  std::vector<Dangling> dangling_control;                        // the caller of a node that was dropped
  std::int64_t control_dependencies = 0, data_dependencies = 0;  // as written
  std::map<std::string, std::int64_t> attributes;                // [name] nodes that have it
  std::vector<ProcessGroup> groups;

  std::optional<std::string> group_of(const Node& node) const {
    if (node.group < 0) return std::nullopt;
    return group_names[static_cast<std::size_t>(node.group)];
  }
};

}  // namespace podsim::chakra
