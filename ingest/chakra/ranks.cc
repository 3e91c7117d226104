// Matches calls and messages by their order on each rank.
#include "ingest/chakra/ranks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "ingest/hlo/fields.h"

namespace podsim::chakra {
namespace {

using Calls = std::map<std::size_t, std::vector<std::int32_t>>;  // [rank] nodes in the order of their calls

const Node& node_of(const std::vector<RankTrace>& ranks, const Meeting::End& end) {
  return ranks[end.rank].trace->nodes[static_cast<std::size_t>(end.node)];
}

std::string ordinal(std::size_t number) {
  const bool teen = number % 100 / 10 == 1;
  const char* end = number % 10 == 1 && !teen   ? "st"
                    : number % 10 == 2 && !teen ? "nd"
                    : number % 10 == 3 && !teen ? "rd"
                                                : "th";
  return std::to_string(number) + end;
}

std::string call_text(const std::vector<RankTrace>& ranks, const Meeting::End& end) {
  const Node& node = node_of(ranks, end);
  return "rank " + std::to_string(ranks[end.rank].rank) + " node " + std::to_string(node.id) + " " +
         (node.collective < 0 ? "no comm_type" : collective_name(node.collective)) +
         (node.bytes < 0 ? "" : " of " + std::to_string(node.bytes) + " bytes");
}

// [group] its calls on each rank.
std::map<std::string, Calls> collectives_of(const std::vector<RankTrace>& ranks) {
  std::map<std::string, Calls> calls;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    for (const std::int32_t index : ranks[rank].summary->order) {
      const Node& node = ranks[rank].trace->nodes[static_cast<std::size_t>(index)];
      if (node.type != NodeType::kCollective || !node.moves_data()) continue;
      const std::string group = ranks[rank].trace->group_of(node).value_or("");
      calls[group == "0" ? "" : group][rank].push_back(index);
    }
  return calls;
}

// Ranks that are there and belong to the group, or call it.
std::set<std::size_t> members_of(const std::vector<RankTrace>& ranks, const Groups& groups,
                                 const std::string& name, const Calls& calls) {
  std::set<std::size_t> members;
  for (const auto& [rank, nodes] : calls) members.insert(rank);
  const auto stated = groups.find(name.empty() ? "0" : name);
  const bool all = stated == groups.end() ? name.empty() : stated->second.empty();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    if (all || (stated != groups.end() && std::ranges::count(stated->second, ranks[rank].rank) > 0))
      members.insert(rank);
  return members;
}

void meet_collectives(const std::vector<RankTrace>& ranks, const Groups& groups, const std::string& name,
                      const Calls& calls, std::vector<Meeting>& meetings, std::vector<Problem>& problems) {
  const std::set<std::size_t> members = members_of(ranks, groups, name, calls);
  std::size_t most = 0;
  for (const auto& [rank, nodes] : calls) most = std::max(most, nodes.size());
  for (std::size_t k = 0; k < most; ++k) {
    Meeting meeting;
    std::optional<std::size_t> absent;
    for (const std::size_t rank : members) {
      const auto own = calls.find(rank);
      if (own == calls.end() || k >= own->second.size())
        absent = absent.value_or(rank);
      else
        meeting.ends.push_back({rank, own->second[k]});
    }
    const std::string group = name.empty() ? "all ranks" : "group " + name;
    const Meeting::End& first = meeting.ends.front();
    for (const Meeting::End& end : meeting.ends) {
      const Node &one = node_of(ranks, first), &other = node_of(ranks, end);
      if (one.collective == other.collective && one.bytes == other.bytes) continue;
      problems.push_back({ranks[end.rank].file, 0, 0,
                          "members of one group (" + group + ") call different collectives as their " +
                              ordinal(k + 1) + ": " + call_text(ranks, first) + ", " + call_text(ranks, end),
                          "", "one kind and as many bytes"});
      return;
    }
    if (absent) {
      problems.push_back({ranks[*absent].file, 0, 0,
                          "rank " + std::to_string(ranks[*absent].rank) + " never makes the " +
                              ordinal(k + 1) + " call of " + group + ", which is " + call_text(ranks, first),
                          "", ""});
      return;
    }
    meetings.push_back(std::move(meeting));
  }
}

// Messages that may meet: sender, receiver, tag.
using Route = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
using Messages = std::array<std::vector<Meeting::End>, 2>;  // sends, receives

std::map<Route, Messages> messages_of(const std::vector<RankTrace>& ranks) {
  std::map<Route, Messages> messages;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    for (const std::int32_t index : ranks[rank].summary->order) {
      const Node& node = ranks[rank].trace->nodes[static_cast<std::size_t>(index)];
      const bool sends = node.type == NodeType::kSend;
      if (!sends && node.type != NodeType::kReceive) continue;
      const std::int64_t own = ranks[rank].rank;
      const Route route{sends ? own : node.source, sends ? node.target : own, node.tag};
      messages[route][sends ? 0 : 1].push_back({rank, index});
    }
  return messages;
}

std::string message_text(const std::vector<RankTrace>& ranks, const Meeting::End& end, const Route& route) {
  const Node& node = node_of(ranks, end);
  const bool sends = node.type == NodeType::kSend;
  return "rank " + std::to_string(ranks[end.rank].rank) + " node " + std::to_string(node.id) +
         (sends ? " sends " : " waits for ") + std::to_string(std::max<std::int64_t>(node.bytes, 0)) +
         " bytes with tag " + std::to_string(node.tag) + (sends ? " to rank " : " from rank ") +
         std::to_string(sends ? std::get<1>(route) : std::get<0>(route));
}

void meet_messages(const std::vector<RankTrace>& ranks, const Route& route, const Messages& messages,
                   std::vector<Meeting>& meetings, std::vector<Problem>& problems) {
  const auto& [source, target, tag] = route;
  const auto there = [&](std::int64_t rank) {
    return std::ranges::any_of(ranks, [&](const RankTrace& each) { return each.rank == rank; });
  };
  const auto& [sends, receives] = messages;
  for (std::size_t k = 0; k < std::max(sends.size(), receives.size()); ++k) {
    const bool sent = k < sends.size(), received = k < receives.size();
    if (sent && received) {
      if (node_of(ranks, sends[k]).bytes == node_of(ranks, receives[k]).bytes) {
        meetings.push_back({{sends[k], receives[k]}});
        continue;
      }
      problems.push_back(
          {ranks[sends[k].rank].file, 0, 0,
           message_text(ranks, sends[k], route) + ", but " + message_text(ranks, receives[k], route), "",
           "as many bytes"});
    } else if (there(sent ? target : source)) {
      const Meeting::End& end = sent ? sends[k] : receives[k];
      problems.push_back({ranks[end.rank].file, 0, 0,
                          message_text(ranks, end, route) +
                              (sent ? ", which receives none such" : ", which sends none such"),
                          "", "as many sends as receives of each tag"});
    }
  }
}

std::string words(const std::optional<std::int64_t>& number) { return number ? std::to_string(*number) : ""; }

}  // namespace

std::vector<Meeting> meetings_of(const std::vector<RankTrace>& ranks, const Groups& groups,
                                 std::vector<Problem>& problems) {
  std::vector<Meeting> meetings;
  for (const auto& [name, calls] : collectives_of(ranks))
    meet_collectives(ranks, groups, name, calls, meetings, problems);
  for (const auto& [route, messages] : messages_of(ranks))
    meet_messages(ranks, route, messages, meetings, problems);
  return meetings;
}

Summary sum_of(const std::vector<RankTrace>& ranks) {
  Summary sum;
  std::map<std::tuple<std::string, std::string, std::string>, Communication> rows;
  for (const RankTrace& each : ranks) {
    const Summary& of = *each.summary;
    sum.nodes += of.nodes;
    for (std::size_t type = 0; type < of.by_type.size(); ++type) sum.by_type[type] += of.by_type[type];
    sum.host_operations += of.host_operations;
    sum.device_operations += of.device_operations;
    sum.host_compute_us = hlo::saturating_add(sum.host_compute_us, of.host_compute_us);
    sum.device_compute_us = hlo::saturating_add(sum.device_compute_us, of.device_compute_us);
    sum.operations = hlo::saturating_add(sum.operations, of.operations);
    sum.tensor_bytes = hlo::saturating_add(sum.tensor_bytes, of.tensor_bytes);
    sum.host_untimed += of.host_untimed;
    sum.device_untimed += of.device_untimed;
    sum.communication_bytes = hlo::saturating_add(sum.communication_bytes, of.communication_bytes);
    for (const Communication& row : of.communication) {
      Communication& total = rows[{row.kind, words(row.bytes), row.group.value_or("")}];
      total.kind = row.kind;
      total.bytes = row.bytes;
      total.group = row.group;
      total.count += row.count;
      total.recorded_us = hlo::saturating_add(total.recorded_us, row.recorded_us);
    }
  }
  for (const auto& [key, row] : rows) sum.communication.push_back(row);
  return sum;
}

}  // namespace podsim::chakra
