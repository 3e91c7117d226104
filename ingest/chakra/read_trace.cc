// Reads records one by one, then finds the nodes that others wait for.
#include "ingest/chakra/read_trace.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "ingest/chakra/execution_trace.pb.h"

namespace podsim::chakra {
namespace {

using google::protobuf::io::CodedInputStream;

constexpr std::size_t kMostProblems = 20;
constexpr int kMostLengthBytes = 5;
constexpr std::uint64_t kMostMicroseconds = 1'000'000'000'000'000;  // 31 years: sums stay far from 2^63

// A record and where it begins, 0 being the metadata.
struct Record {
  std::int64_t number = 0, byte = 0;
  std::string_view bytes;
};

std::string place(const Record& record) {
  return "record " + std::to_string(record.number) + " (byte " + std::to_string(record.byte) + ")";
}

enum class Next { kRecord, kEnd, kDamaged };

// The records of a file one after the other.
class Records {
 public:
  explicit Records(std::string_view bytes) : bytes_(bytes) {}

  // Says in `why` what is wrong where the rest is no record.
  Next next(Record& record, std::string& why) {
    if (at_ == bytes_.size()) return Next::kEnd;
    record = {number_++, static_cast<std::int64_t>(at_), {}};
    const std::string_view rest = bytes_.substr(at_);
    const auto most = static_cast<int>(std::min<std::size_t>(rest.size(), kMostLengthBytes));
    CodedInputStream in(reinterpret_cast<const std::uint8_t*>(rest.data()), most);
    std::uint32_t length = 0;
    if (!in.ReadVarint32(&length)) {
      why = most < kMostLengthBytes ? "the file ends inside its length" : "its length is not a number";
      return Next::kDamaged;
    }
    const auto begin = static_cast<std::size_t>(in.CurrentPosition());
    if (length > rest.size() - begin) {
      why = "the file ends inside it: of " + std::to_string(length) + " bytes it has " +
            std::to_string(rest.size() - begin);
      return Next::kDamaged;
    }
    record.bytes = rest.substr(begin, length);
    at_ += begin + length;
    return Next::kRecord;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::int64_t number_ = 0;
};

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
    Next next = records.next(record, why);
    if (next == Next::kEnd) return refuse("the file is empty", "a record of metadata, then nodes");
    if (next == Next::kRecord) read_metadata(record);
    while (problems_.empty() && (next = records.next(record, why)) == Next::kRecord) read_node(record);
    if (problems_.empty() && next == Next::kDamaged) return refuse(place(record) + ": " + why, "");
    if (problems_.empty() && trace_.nodes.empty())
      return refuse("the file ends behind " + place(record) + ", its metadata: there is no node",
                    "metadata, then nodes; the file may have been cut");
    if (problems_.empty()) join();
    if (!problems_.empty()) return std::nullopt;
    return std::move(trace_);
  }

 private:
  std::nullopt_t refuse(const std::string& message, const std::string& hint) {
    if (problems_.size() < kMostProblems) problems_.push_back({file_, 0, 0, message, "", hint});
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
    message_.Clear();
    if (!parses(message_, record.bytes)) {
      refuse(place(record) + " is no node of a Chakra trace", "");
      return;
    }
    if (has_unknown_fields(message_)) {
      refuse(place(record) + " has a field that no node has", "fields 1 to 10 of schema 0.0.4");
      return;
    }
    Node node;
    node.id = message_.id();
    record_ = record;
    if (message_.type() >= kNodeTypes) {
      refuse(node_text() + " is of type " + std::to_string(message_.type()), "a type from 0 to 7");
      return;
    }
    if (message_.duration_micros() > kMostMicroseconds) {
      refuse(node_text() + " takes " + std::to_string(message_.duration_micros()) + " us", "at most 10^15");
      return;
    }
    node.type = static_cast<NodeType>(message_.type());
    node.name = name_index(message_.name());
    node.start_us = static_cast<std::int64_t>(message_.start_time_micros());
    node.duration_us = static_cast<std::int64_t>(message_.duration_micros());
    for (const wire::Attribute& attribute : message_.attr()) read_attribute(attribute, node);
    if (node.type == NodeType::kMetadata) read_groups();
    add_ids(message_.ctrl_deps(), control_);
    add_ids(message_.data_deps(), data_);
    if (!index_.emplace(node.id, static_cast<std::int32_t>(trace_.nodes.size())).second)
      refuse(node_text() + ": id " + std::to_string(node.id) + " occurs twice", "");
    trace_.nodes.push_back(node);
  }

  // Of the node at hand.
  std::string node_text() const { return place(record_) + ", node " + std::to_string(message_.id()); }

  void read_attribute(const wire::Attribute& attribute, Node& node) {
    const std::string& name = attribute.name();
    if (name.empty() || attribute.value_case() == wire::Attribute::VALUE_NOT_SET ||
        has_unknown_fields(attribute)) {
      refuse(node_text() + " has an attribute \"" + name + "\" without a value", "");
      return;
    }
    ++attributes_[name];
    const auto number = [&](std::int64_t least, std::int64_t most, auto& field) {
      const auto value = whole_number(attribute);
      if (value && *value >= least && *value <= most)
        field = static_cast<std::decay_t<decltype(field)>>(*value);
      else
        refuse(node_text() + ": " + name + " is no whole number that can be",
               "from " + std::to_string(least) + " to " + std::to_string(most));
    };
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t kMostRank = std::numeric_limits<std::int32_t>::max();
    if (name == "is_cpu_op")
      number(0, 1, node.on_host);
    else if (name == "num_ops")
      number(0, kMost, node.operations);
    else if (name == "tensor_size")
      number(0, kMost, node.tensor_bytes);
    else if (name == "comm_type")
      number(0, kCollectiveTypes - 1, node.collective);
    else if (name == "comm_size")
      number(0, kMost, node.bytes);
    else if (name == "comm_src")
      number(0, kMostRank, node.source);
    else if (name == "comm_dst")
      number(0, kMostRank, node.target);
    else if (name == "comm_tag")
      number(-kMost, kMost, node.tag);
    else if (name == "pg_name") {
      const auto number_or_text = value_of(attribute);
      const auto* text = number_or_text ? std::get_if<std::string>(&*number_or_text) : nullptr;
      const auto whole = whole_number(attribute);
      if (text == nullptr && !whole) refuse(node_text() + ": pg_name is no name of a group", "text");
      node.group = name_index(text != nullptr ? *text : std::to_string(whole.value_or(0)));
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

  std::int32_t name_index(const std::string& name) {
    const auto [found, added] = name_index_.try_emplace(name, static_cast<std::int32_t>(trace_.names.size()));
    if (added) trace_.names.push_back(name);
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
  void join() {
    trace_.attributes.insert(attributes_.begin(), attributes_.end());
    trace_.control_dependencies = static_cast<std::int64_t>(control_.ids.size());
    trace_.data_dependencies = static_cast<std::int64_t>(data_.ids.size());
    std::vector<Dangling> dangling_data;
    resolve(control_, trace_.control, trace_.dangling_control);
    resolve(data_, trace_.data, dangling_data);
    for (const Dangling& each : dangling_data)
      refuse("node " + std::to_string(each.node) + " waits for " + std::to_string(each.other) +
                 ", which the file lacks (data)",
             "the whole file: it may have been cut");
  }

  void resolve(IdLists& written, Lists& lists, std::vector<Dangling>& dangling) {
    lists.values.reserve(written.ids.size());
    for (std::size_t node = 0; node < trace_.nodes.size(); ++node) {
      for (std::size_t i = written.first[node]; i < written.first[node + 1]; ++i) {
        const auto found = index_.find(written.ids[i]);
        if (found == index_.end())
          dangling.push_back({trace_.nodes[node].id, written.ids[i]});
        else
          lists.values.push_back(found->second);
      }
      lists.first.push_back(lists.values.size());
    }
    written = {};
  }

  const std::string& file_;
  std::vector<Problem>& problems_;
  Trace trace_;
  wire::Node message_;
  Record record_;  // of the node at hand
  IdLists control_, data_;
  std::unordered_map<std::uint64_t, std::int32_t> index_;
  std::unordered_map<std::string, std::int32_t> name_index_;
  std::unordered_map<std::string, std::int64_t> attributes_;
};

}  // namespace

bool is_chakra_trace(std::string_view bytes) {
  const google::protobuf::LogSilencer silence;
  Records records(bytes);
  Record record;
  std::string why;
  if (records.next(record, why) != Next::kRecord) return false;
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
