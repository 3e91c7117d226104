// Reads records one by one, then finds the nodes that others wait for.
#include "ingest/chakra/read_trace.h"

#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "ingest/chakra/execution_trace.pb.h"
#include "ingest/chakra/nodes_by_id.h"
#include "ingest/chakra/plain_node.h"
#include "ingest/chakra/records.h"

namespace podsim::chakra {
namespace {

constexpr std::size_t kMostTraceProblems = 20;
constexpr std::uint64_t kMostMicroseconds = 1'000'000'000'000'000;  // 31 years: sums stay far from 2^63

template <class Message>
bool parses(Message& message, std::string_view bytes) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

bool has_unknown_fields(const google::protobuf::Message& message) {
  return !message.GetReflection()->GetUnknownFields(message).empty();
}

// Nothing where it is a list, or no value at all.
std::optional<AttributeValue> value_of(const wire::Attribute& attribute) {
  switch (attribute.value_case()) {
    case wire::Attribute::kDoubleValue:
      return attribute.double_value();
    case wire::Attribute::kFloatValue:
      return static_cast<double>(attribute.float_value());
    case wire::Attribute::kInt32Value:
      return std::int64_t{attribute.int32_value()};
    case wire::Attribute::kInt64Value:
      return std::int64_t{attribute.int64_value()};
    case wire::Attribute::kUint32Value:
      return std::int64_t{attribute.uint32_value()};
    case wire::Attribute::kUint64Value:
      return std::uint64_t{attribute.uint64_value()};
    case wire::Attribute::kSint32Value:
      return std::int64_t{attribute.sint32_value()};
    case wire::Attribute::kSint64Value:
      return std::int64_t{attribute.sint64_value()};
    case wire::Attribute::kFixed32Value:
      return std::int64_t{attribute.fixed32_value()};
    case wire::Attribute::kFixed64Value:
      return std::uint64_t{attribute.fixed64_value()};
    case wire::Attribute::kSfixed32Value:
      return std::int64_t{attribute.sfixed32_value()};
    case wire::Attribute::kSfixed64Value:
      return std::int64_t{attribute.sfixed64_value()};
    case wire::Attribute::kBoolValue:
      return attribute.bool_value();
    case wire::Attribute::kStringValue:
      return attribute.string_value();
    case wire::Attribute::kBytesValue:
      return attribute.bytes_value();
    default:
      return std::nullopt;
  }
}

// Of any integer width, and of 0 or 1 for bools.
std::optional<std::int64_t> whole_number(const wire::Attribute& attribute) {
  const auto value = value_of(attribute);
  if (!value) return std::nullopt;
  if (const auto* number = std::get_if<std::int64_t>(&*value)) return *number;
  if (const auto* flag = std::get_if<bool>(&*value)) return *flag ? 1 : 0;
  if (const auto* number = std::get_if<std::uint64_t>(&*value))
    if (*number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return static_cast<std::int64_t>(*number);
  return std::nullopt;
}

// [{"pg_name": "1", "ranks": [0, 1]}] between two more characters at each end.
std::optional<std::vector<ProcessGroup>> process_groups(const std::string& values) {
  using nlohmann::json;
  const std::size_t open = values.find("[{"), close = values.rfind("}]");
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  const json list = json::parse(values.substr(open, close + 2 - open), nullptr, false);
  if (!list.is_array()) return std::nullopt;
  std::vector<ProcessGroup> groups;
  for (const json& each : list) {
    if (!each.is_object() || !each.contains("pg_name")) return std::nullopt;
    ProcessGroup group;
    const json& name = each.at("pg_name");
    group.name = name.is_string() ? name.get<std::string>() : name.dump();
    const json ranks = each.value("ranks", json::array());
    if (!ranks.is_array()) return std::nullopt;
    for (const json& rank : ranks) {
      if (!rank.is_number_integer()) return std::nullopt;
      group.ranks.push_back(rank.get<std::int64_t>());
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

// Makes a trace of records; everything of a record that cannot be right is a problem.
class Reader {
 public:
  Reader(const std::string& file, std::vector<Problem>& problems) : file_(file), problems_(problems) {}

  std::optional<Trace> read(std::string_view bytes) {
    Records records(bytes);
    Record record;
    std::string why;
    NextRecord next = records.next(record, why);
    if (next == NextRecord::kEnd) return refuse("the file is empty", "a record of metadata, then nodes");
    if (next == NextRecord::kRecord) read_metadata(record);
    const std::size_t records_at_most = count_records(bytes);
    trace_.nodes.reserve(records_at_most);
    control_.first.reserve(records_at_most);
    data_.first.reserve(records_at_most);
    while (problems_.empty() && (next = records.next(record, why)) == NextRecord::kRecord) read_node(record);
    if (problems_.empty() && next == NextRecord::kDamaged) return refuse(place(record) + ": " + why, "");
    if (problems_.empty() && trace_.nodes.empty())
      return refuse("the file ends behind " + place(record) + ", its metadata: there is no node",
                    "metadata, then nodes; the file may have been cut");
    if (problems_.empty()) join(bytes);
    if (!problems_.empty()) return std::nullopt;
    return std::move(trace_);
  }

 private:
  std::nullopt_t refuse(const std::string& message, const std::string& hint) {
    if (problems_.size() < kMostTraceProblems) problems_.push_back({file_, 0, 0, message, "", hint});
    return std::nullopt;
  }

  void read_metadata(const Record& record) {
    wire::GlobalMetadata metadata;
    if (!parses(metadata, record.bytes) || has_unknown_fields(metadata)) {
      refuse(place(record) + " is no metadata of a Chakra trace", "version and attributes");
      return;
    }
    trace_.version = metadata.version();
    for (const wire::Attribute& attribute : metadata.attr())
      if (auto value = value_of(attribute)) trace_.metadata.emplace_back(attribute.name(), *std::move(value));
  }

  void read_node(const Record& record) {
    record_ = record;
    if (read_plain_node(record.bytes, plain_) && static_cast<NodeType>(plain_.type) != NodeType::kMetadata) {
      keep_plain_node();
      return;
    }
    message_.Clear();
    if (!parses(message_, record.bytes)) {
      refuse(place(record) + " is no node of a Chakra trace", "");
      return;
    }
    if (has_unknown_fields(message_)) {
      refuse(place(record) + " has a field that no node has", "fields 1 to 10 of schema 0.0.4");
      return;
    }
    id_ = message_.id();
    if (message_.type() >= kNodeTypes) {
      refuse(node_text() + " is of type " + std::to_string(message_.type()), "a type from 0 to 7");
      return;
    }
    Node node = node_at_hand(message_.type(), message_.start_time_micros(), message_.duration_micros());
    for (const wire::Attribute& attribute : message_.attr()) read_attribute(attribute, node);
    if (node.type == NodeType::kMetadata) read_groups();
    add_ids(message_.ctrl_deps(), control_);
    add_ids(message_.data_deps(), data_);
    trace_.nodes.push_back(node);
  }

  void keep_plain_node() {
    id_ = plain_.id;
    Node node = node_at_hand(plain_.type, plain_.start_us, plain_.duration_us);
    for (const PlainAttribute& each : plain_.attributes)
      keep_attribute(each.name, each.is_text ? std::nullopt : std::optional(each.number),
                     each.is_text ? &each.text : nullptr, node);
    add_ids(plain_.control, control_);
    add_ids(plain_.data, data_);
    trace_.nodes.push_back(node);
  }

  // Of the id at hand.
  Node node_at_hand(std::uint64_t type, std::uint64_t start_us, std::uint64_t duration_us) {
    if (duration_us > kMostMicroseconds)
      refuse(node_text() + " takes " + std::to_string(duration_us) + " us", "at most 10^15");
    Node node;
    node.id = id_;
    node.type = static_cast<NodeType>(type);
    node.start_us = static_cast<std::int64_t>(start_us);
    node.duration_us = static_cast<std::int64_t>(duration_us);
    return node;
  }

  // Of the node at hand.
  std::string node_text() const { return place(record_) + ", node " + std::to_string(id_); }

  void read_attribute(const wire::Attribute& attribute, Node& node) {
    const std::string& name = attribute.name();
    if (name.empty() || attribute.value_case() == wire::Attribute::VALUE_NOT_SET ||
        has_unknown_fields(attribute)) {
      refuse(node_text() + " has an attribute \"" + name + "\" without a value", "");
      return;
    }
    const auto value = value_of(attribute);
    const auto* text = value ? std::get_if<std::string>(&*value) : nullptr;
    const std::string_view kept = text != nullptr ? lasting(*text) : std::string_view();
    keep_attribute(name, whole_number(attribute), text != nullptr ? &kept : nullptr, node);
  }

  // Neither a whole number nor text is given where the value is something else. REQUIRES: the text lasts as
  // long as the file.
  void keep_attribute(std::string_view name, std::optional<std::int64_t> whole, const std::string_view* text,
                      Node& node) {
    const auto number = [&](std::int64_t least, std::int64_t most, auto& field) {
      if (whole && *whole >= least && *whole <= most)
        field = static_cast<std::decay_t<decltype(field)>>(*whole);
      else
        refuse(node_text() + ": " + std::string(name) + " is no whole number that can be",
               "from " + std::to_string(least) + " to " + std::to_string(most));
    };
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t kMostRank = std::numeric_limits<std::int32_t>::max();
    const auto known =
        static_cast<std::size_t>(std::ranges::find(kKnownAttributes, name) - kKnownAttributes.begin());
    if (known < kKnownAttributes.size())
      ++known_attributes_[known];
    else
      ++trace_.attributes[std::string(name)];
    switch (static_cast<Known>(known)) {
      case Known::kOnHost:
        return number(0, 1, node.on_host);
      case Known::kOperations:
        return number(0, kMost, node.operations);
      case Known::kTensorBytes:
        return number(0, kMost, node.tensor_bytes);
      case Known::kCollective:
        return number(0, kCollectiveTypes - 1, node.collective);
      case Known::kBytes:
        return number(0, kMost, node.bytes);
      case Known::kSource:
        return number(0, kMostRank, node.source);
      case Known::kTarget:
        return number(0, kMostRank, node.target);
      case Known::kTag:
        return number(-kMost, kMost, node.tag);
      case Known::kGroup:
        if (text == nullptr && !whole) refuse(node_text() + ": pg_name is no name of a group", "text");
        node.group = group_index(text != nullptr ? *text : lasting(std::to_string(whole.value_or(0))));
        return;
      case Known::kOther:
        return;
    }
  }

  void read_groups() {
    if (message_.name().find("process_group") == std::string::npos) return;
    auto groups = process_groups(message_.inputs().values());
    if (!groups)
      refuse(node_text() + " lists process groups that cannot be read",
             R"([{"pg_name": "1", "ranks": [0, 1]}])");
    else
      trace_.groups.insert(trace_.groups.end(), groups->begin(), groups->end());
  }

  // A text of a message, for as long as the trace is read.
  std::string_view lasting(const std::string& text) { return texts_.emplace_back(text); }

  // REQUIRES: the name lasts as long as the file.
  std::int32_t group_index(std::string_view name) {
    const auto [found, added] =
        group_index_.try_emplace(name, static_cast<std::int32_t>(trace_.group_names.size()));
    if (added) trace_.group_names.emplace_back(name);
    return found->second;
  }

  // Ids as they are written; a node may come after one that waits for it.
  struct IdLists {
    std::vector<std::size_t> first = {0};
    std::vector<std::uint64_t> ids;
  };
  template <class Ids>
  static void add_ids(const Ids& ids, IdLists& lists) {
    lists.ids.insert(lists.ids.end(), ids.begin(), ids.end());
    lists.first.push_back(lists.ids.size());
  }

  // Ids become nodes.
  void join(std::string_view bytes) {
    for (std::size_t i = 0; i < kKnownAttributes.size(); ++i)
      if (known_attributes_[i] > 0)
        trace_.attributes[std::string(kKnownAttributes[i])] = known_attributes_[i];
    trace_.control_dependencies = static_cast<std::int64_t>(control_.ids.size());
    trace_.data_dependencies = static_cast<std::int64_t>(data_.ids.size());
    const NodesById by_id(trace_.nodes);
    for (const std::size_t node : by_id.repeated()) {
      id_ = trace_.nodes[node].id;
      record_ = record_at(bytes, node + 1);
      refuse(node_text() + ": id " + std::to_string(id_) + " occurs twice", "");
    }
    std::vector<Dangling> dangling_data;
    resolve(by_id, control_, trace_.control, trace_.dangling_control);
    resolve(by_id, data_, trace_.data, dangling_data);
    for (const Dangling& each : dangling_data)
      refuse("node " + std::to_string(each.node) + " waits for " + std::to_string(each.other) +
                 ", which the file lacks (data)",
             "the whole file: it may have been cut");
  }

  void resolve(const NodesById& by_id, IdLists& written, Lists& lists, std::vector<Dangling>& dangling) {
    lists.values.reserve(written.ids.size());
    lists.first.reserve(trace_.nodes.size() + 1);
    for (std::size_t node = 0; node < trace_.nodes.size(); ++node) {
      for (std::size_t i = written.first[node]; i < written.first[node + 1]; ++i) {
        const std::int32_t found = by_id.at(written.ids[i]);
        if (found < 0)
          dangling.push_back({trace_.nodes[node].id, written.ids[i]});
        else
          lists.values.push_back(found);
      }
      lists.first.push_back(static_cast<std::uint32_t>(lists.values.size()));
    }
    written = {};
  }

  // Attributes that say something of time or bytes.
  enum class Known : std::uint8_t {
    kOnHost,
    kBytes,
    kCollective,
    kOperations,
    kTensorBytes,
    kSource,
    kTarget,
    kTag,
    kGroup,
    kOther
  };
  static constexpr std::array<std::string_view, 9> kKnownAttributes = {
      "is_cpu_op", "comm_size", "comm_type", "num_ops", "tensor_size",
      "comm_src",  "comm_dst",  "comm_tag",  "pg_name"};

  const std::string& file_;
  std::vector<Problem>& problems_;
  Trace trace_;
  wire::Node message_;
  PlainNode plain_;
  Record record_;         // of the node at hand
  std::uint64_t id_ = 0;  // of the node at hand
  IdLists control_, data_;
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::int32_t> group_index_;
  std::array<std::int64_t, kKnownAttributes.size()> known_attributes_{};
};

}  // namespace

bool is_chakra_trace(std::string_view bytes) {
  const google::protobuf::LogSilencer silence;
  Records records(bytes);
  Record record;
  std::string why;
  if (records.next(record, why) != NextRecord::kRecord) return false;
  wire::GlobalMetadata metadata;
  if (!parses(metadata, record.bytes) || has_unknown_fields(metadata)) return false;
  const std::string& version = metadata.version();
  const bool plain = std::ranges::all_of(version, [](unsigned char c) { return c >= ' ' && c < 127; });
  return plain && (!record.bytes.empty() || bytes.size() > 1);
}

std::optional<Trace> read_trace(const std::string& file, std::string_view bytes,
                                std::vector<Problem>& problems) {
  const google::protobuf::LogSilencer silence;  // the library would print about invalid UTF-8 by itself
  std::vector<Problem> own;
  auto trace = Reader(file, own).read(bytes);
  problems.insert(problems.end(), own.begin(), own.end());
  return trace;
}

}  // namespace podsim::chakra
