// Follows the stream of JSON's parts and keeps what a device did, its launches and the steps.
#include "ingest/kineto/read_profile.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/number_text.h"
#include "ingest/kineto/exact_time.h"
#include "ingest/kineto/profile_builder.h"

namespace podsim::kineto {
namespace {

using nlohmann::json;

// Where in the document a value stands.
enum class In : std::uint8_t {
  kNothing,
  kDocument,
  kEvents,
  kEvent,
  kArguments,
  kRankList,  // of an event's group
  kRun,       // distributedInfo
  kGroups,
  kGroup,
  kGroupRanks,
  kDevices,
  kDevice,
  kPassedOver
};

// A value of JSON that is no object and no list. Numbers with decimals keep their text.
struct Scalar {
  enum class Kind : std::uint8_t { kNull, kBool, kInteger, kDecimal, kText } kind = Kind::kNull;
  std::int64_t integer = 0;
  const std::string* text = nullptr;
};

std::optional<std::int64_t> integer_of(const Scalar& value) {
  if (value.kind == Scalar::Kind::kInteger) return value.integer;
  return value.kind == Scalar::Kind::kText ? whole_text_as<std::int64_t>(*value.text) : std::nullopt;
}

std::optional<std::string> text_of(const Scalar& value) {
  if (value.kind == Scalar::Kind::kText) return *value.text;
  if (value.kind == Scalar::Kind::kInteger) return std::to_string(value.integer);
  return std::nullopt;
}

std::optional<ExactTime> time_of(const Scalar& value) {
  if (value.kind == Scalar::Kind::kInteger) return from_microseconds(value.integer);
  if (value.kind == Scalar::Kind::kDecimal || value.kind == Scalar::Kind::kText)
    return from_microseconds(*value.text);
  return std::nullopt;
}

// Lists of groups that stand as text, with the quotes of JSON or of Python.
std::optional<std::vector<ListedGroup>> groups_in_text(std::string text) {
  json list = json::parse(text, nullptr, false);
  if (list.is_discarded()) {
    std::ranges::replace(text, '\'', '"');
    list = json::parse(text, nullptr, false);
  }
  if (!list.is_array()) return std::nullopt;
  std::vector<ListedGroup> groups;
  for (const json& each : list) {
    if (!each.is_object()) return std::nullopt;
    ListedGroup group;
    const auto name = each.find("pg_name");
    if (name != each.end()) group.name = name->is_string() ? name->get<std::string>() : name->dump();
    const auto description = each.find("pg_desc");
    if (description != each.end() && description->is_string())
      group.description = description->get<std::string>();
    const auto size = each.find("pg_size"), ranks = each.find("ranks");
    if (size != each.end() && size->is_number_integer()) group.size = size->get<std::int64_t>();
    if (ranks != each.end() && ranks->is_array())
      for (const json& rank : *ranks)
        if (rank.is_number_integer()) group.ranks.push_back(rank.get<std::int64_t>());
    groups.push_back(std::move(group));
  }
  return groups;
}

// Makes a profile of the parts of a document as they come.
class Reader : public nlohmann::json_sax<json> {
 public:
  explicit Reader(ProfileBuilder& builder) : builder_(builder), profile_(builder.profile) {}

  std::string wrong;  // with an event; empty: the JSON itself
  bool inside_events() const { return std::ranges::find(stack_, In::kEvents) != stack_.end(); }
  bool saw_events() const { return saw_events_; }
  std::size_t wrong_byte = 0;
  std::string wrong_json;

  bool null() override { return value({}); }
  bool boolean(bool flag) override { return value({Scalar::Kind::kBool, flag ? 1 : 0, nullptr}); }
  bool number_integer(number_integer_t number) override {
    return value({Scalar::Kind::kInteger, number, nullptr});
  }
  bool number_unsigned(number_unsigned_t number) override {
    constexpr auto kMostSigned = static_cast<number_unsigned_t>(INT64_MAX);
    if (number > kMostSigned) return value({});  // a mark of 64 bits, such as that of a communicator
    return value({Scalar::Kind::kInteger, static_cast<std::int64_t>(number), nullptr});
  }
  bool number_float(number_float_t, const string_t& text) override {
    return value({Scalar::Kind::kDecimal, 0, &text});
  }
  bool string(string_t& text) override { return value({Scalar::Kind::kText, 0, &text}); }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& key) override {
    key_.swap(key);
    return true;
  }
  bool start_object(std::size_t) override {
    const In in = object_in(top());
    if (in == In::kEvent) {
      event_ = {};
      rank_list_.clear();
    }
    if (in == In::kRun) profile_.run.emplace();
    if (in == In::kGroup) profile_.run->groups->emplace_back();
    if (in == In::kDevice) device_ = {};
    stack_.push_back(in);
    return true;
  }
  bool end_object() override {
    const In in = top();
    stack_.pop_back();
    if (in == In::kDevice && std::ranges::count(profile_.devices, device_.name, &Device::name) == 0)
      profile_.devices.push_back(device_);
    if (in != In::kEvent) return true;
    const std::string why = builder_.add(event_);
    return why.empty() || wrong_event(why);
  }
  bool start_array(std::size_t) override {
    const In in = list_in(top());
    if (top() == In::kEvents) return wrong_event("is a list, not an object");
    if (in == In::kEvents) saw_events_ = true;
    if (in == In::kGroups) profile_.run->groups.emplace();
    stack_.push_back(in);
    return true;
  }
  bool end_array() override {
    if (top() == In::kRankList) event_.ranks = list_text(rank_list_);
    stack_.pop_back();
    return true;
  }
  bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception& error) override {
    wrong_byte = byte;
    wrong_json = error.what();
    return false;
  }

 private:
  In top() const { return stack_.empty() ? In::kNothing : stack_.back(); }

  In object_in(In parent) const {
    if (parent == In::kNothing) return In::kDocument;
    if (parent == In::kEvents) return In::kEvent;
    if (parent == In::kEvent && key_ == "args") return In::kArguments;
    if (parent == In::kDocument && key_ == "distributedInfo") return In::kRun;
    if (parent == In::kGroups) return In::kGroup;
    if (parent == In::kDevices) return In::kDevice;
    return In::kPassedOver;
  }

  In list_in(In parent) const {
    if (parent == In::kNothing || (parent == In::kDocument && key_ == "traceEvents")) return In::kEvents;
    if (parent == In::kArguments && key_ == "Process Group Ranks") return In::kRankList;
    if (parent == In::kRun && key_ == "pg_config") return In::kGroups;
    if (parent == In::kGroup && key_ == "ranks") return In::kGroupRanks;
    if (parent == In::kDocument && key_ == "deviceProperties") return In::kDevices;
    return In::kPassedOver;
  }

  bool value(const Scalar& scalar) {
    switch (top()) {
      case In::kDocument:
        if (key_ == "baseTimeNanoseconds") profile_.base_ns = integer_of(scalar).value_or(0);
        return true;
      case In::kEvents:
        return wrong_event("is no object");
      case In::kEvent:
        return event_value(scalar);
      case In::kArguments:
        return argument(scalar), true;
      case In::kRankList:
        if (const auto rank = integer_of(scalar)) rank_list_.push_back(*rank);
        return true;
      case In::kRun:
        return run_value(scalar), true;
      case In::kGroup:
        return group_value(scalar), true;
      case In::kGroupRanks:
        if (const auto rank = integer_of(scalar)) profile_.run->groups->back().ranks.push_back(*rank);
        return true;
      case In::kDevice:
        if (key_ == "name") device_.name = text_of(scalar).value_or("");
        if (key_ == "totalGlobalMem") device_.memory_bytes = integer_of(scalar).value_or(0);
        return true;
      default:
        return true;
    }
  }

  bool event_value(const Scalar& scalar) {
    if (key_ == "ph" && scalar.kind == Scalar::Kind::kText) {
      event_.phase = *scalar.text;
    } else if (key_ == "cat" && scalar.kind == Scalar::Kind::kText) {
      event_.category = *scalar.text;
    } else if (key_ == "name") {
      event_.name = text_of(scalar);
    } else if (key_ == "ts") {
      event_.begin = time_of(scalar);
      event_.bad_time = event_.bad_time || !event_.begin;
    } else if (key_ == "dur") {
      event_.duration = time_of(scalar);
      event_.bad_time = event_.bad_time || !event_.duration;
    } else if (key_ == "tid") {
      event_.thread = text_of(scalar);
    }
    return true;
  }

  void argument(const Scalar& scalar) {
    if (key_ == "stream") event_.stream = text_of(scalar);
    if (key_ == "device") event_.device = integer_of(scalar);
    if (key_ == "correlation") event_.correlation = integer_of(scalar);
    if (key_ == "Collective name") event_.collective = text_of(scalar);
    if (key_ == "In msg nelems") event_.in_elements = integer_of(scalar);
    if (key_ == "Out msg nelems") event_.out_elements = integer_of(scalar);
    if (key_ == "Group size") event_.group_size = integer_of(scalar);
    if (key_ == "dtype") event_.type = text_of(scalar);
    if (key_ == "Process Group Name") event_.group = text_of(scalar);
    if (key_ == "Process Group Ranks") event_.ranks = text_of(scalar);
  }

  void run_value(const Scalar& scalar) {
    RunInfo& run = *profile_.run;
    if (key_ == "rank") run.rank = integer_of(scalar);
    if (key_ == "world_size") run.world_size = integer_of(scalar);
    if (key_ == "backend") run.backend = text_of(scalar);
    if (key_ == "pg_config" && scalar.kind == Scalar::Kind::kText) run.groups = groups_in_text(*scalar.text);
  }

  void group_value(const Scalar& scalar) {
    ListedGroup& group = profile_.run->groups->back();
    if (key_ == "pg_name") group.name = text_of(scalar).value_or("");
    if (key_ == "pg_desc") group.description = text_of(scalar).value_or("");
    if (key_ == "pg_size") group.size = integer_of(scalar);
  }

  bool wrong_event(const std::string& why) {
    wrong = "event " + std::to_string(profile_.events) +
            (event_.name ? " (" + event_.name->substr(0, 60) + ")" : "") + " " + why;
    return false;
  }

  ProfileBuilder& builder_;
  Profile& profile_;
  std::vector<In> stack_;
  std::string key_;
  RawEvent event_;
  std::vector<std::int64_t> rank_list_;  // of its group
  Device device_;
  bool saw_events_ = false;
};

// Where a byte lies, counted from 1.
std::pair<int, int> line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
  const auto lines = std::ranges::count(before, '\n');
  const std::size_t begin = before.rfind('\n') + 1;  // of the line: npos + 1 is 0
  return {static_cast<int>(lines) + 1, static_cast<int>(before.size() - begin) + 1};
}

}  // namespace

std::optional<Profile> read_profile(const std::string& file, std::string_view text,
                                    std::vector<Problem>& problems) {
  ProfileBuilder builder;
  Reader reader(builder);
  const bool whole = json::sax_parse(text.begin(), text.end(), &reader);
  if (!whole && !reader.wrong.empty()) {
    problems.push_back({file, 0, 0, reader.wrong, "", "complete events with ph, name, ts and dur"});
    return std::nullopt;
  }
  if (!whole) {
    const auto [line, column] = line_and_column(text, reader.wrong_byte);
    const bool ends = reader.wrong_byte > text.size();
    const std::string where = reader.inside_events() ? " inside traceEvents, after " +
                                                           std::to_string(builder.profile.events) + " events"
                                                     : "";
    problems.push_back({file, line, column, (ends ? "the JSON ends" : "this is no JSON") + where, "",
                        ends ? "the whole file: it may have been cut" : ""});
    return std::nullopt;
  }
  if (!reader.saw_events()) {
    problems.push_back({file, 0, 0, "the JSON has no list of events", "", "\"traceEvents\": [...]"});
    return std::nullopt;
  }
  return builder.finish();
}

}  // namespace podsim::kineto
