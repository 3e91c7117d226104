// Events one by one as the stream of JSON comes; processes and threads have their names from events too.
#include "ingest/xplane/read_trace_json.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "ingest/kineto/exact_time.h"

namespace podsim::xplane {
namespace {

using kineto::ExactTime;
using nlohmann::json;

constexpr std::int64_t kBillionthsPerPicosecond = 1'000'000;

std::optional<std::int64_t> ps_of(const ExactTime& time) {
  if (time.ns >= INT64_MAX / kPicosecondsPerNanosecond) return std::nullopt;
  return time.ns * kPicosecondsPerNanosecond + time.billionths / kBillionthsPerPicosecond;
}

// What one event says.
struct TraceEvent {
  std::string phase, name, process, thread, named;  // named: by an event that names one of these
  std::optional<ExactTime> begin, duration;
  bool bad_time = false, moves_memory = false, empty = true;
  std::int64_t correlation = -1, step = -1;
};

class TraceReader : public nlohmann::json_sax<json> {
 public:
  std::string wrong;  // with an event; empty: the JSON itself
  std::size_t events = 0, wrong_byte = 0;

  bool null() override { return value("", nullptr); }
  bool boolean(bool) override { return value("", nullptr); }
  bool number_integer(number_integer_t number) override { return value(std::to_string(number), &number); }
  bool number_unsigned(number_unsigned_t number) override {
    const auto whole = static_cast<std::int64_t>(number);  // of larger numbers the text alone counts
    return value(std::to_string(number), number <= INT64_MAX ? &whole : nullptr);
  }
  bool number_float(number_float_t, const string_t& text) override { return value(text, nullptr); }
  bool string(string_t& text) override { return value(text, nullptr); }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& key) override {
    key_.swap(key);
    return true;
  }
  bool start_object(std::size_t) override {
    if (in_events_ && depth_ == kOfEvents) event_ = {};
    arguments_ = in_events_ && depth_ == kOfEvents + 1 && key_ == "args";
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    arguments_ = false;
    return !in_events_ || depth_ != kOfEvents || add();
  }
  bool start_array(std::size_t) override {
    if (depth_ == 1 && key_ == "traceEvents") in_events_ = true;
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    if (depth_ == 1) in_events_ = false;
    return true;
  }
  bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception&) override {
    wrong_byte = byte;
    return false;
  }

  // Lines of a plane in the order in which the file has their events.
  Space finish() {
    Space space;
    for (auto& [process, plane] : planes_) {
      const auto name = process_names_.find(process);
      plane.name = name == process_names_.end() ? process : name->second;
      for (const auto& [thread, line] : lines_of_[process]) {
        const auto line_name = thread_names_.find({process, thread});
        plane.lines[line].name = line_name == thread_names_.end() ? thread : line_name->second;
      }
      space.planes.push_back(std::move(plane));
    }
    return space;
  }

 private:
  static constexpr int kOfEvents = 2;  // how deep the list of events lies

  bool value(const std::string& text, const std::int64_t* whole) {
    if (!in_events_) return true;
    if (depth_ == kOfEvents) return refuse("is no object");
    if (arguments_ && depth_ == kOfEvents + 2) {
      if (key_ == "name") event_.named = text;
      if (key_ == "memcpy_details" || key_ == "memset_details") event_.moves_memory = true;
      if (key_ == "correlation_id") event_.correlation = number_in(text, whole);
      if (key_ == "step_num") event_.step = number_in(text, whole);
    }
    if (depth_ != kOfEvents + 1) return true;
    event_.empty = false;
    if (key_ == "ph") event_.phase = text;
    if (key_ == "name") event_.name = text;
    if (key_ == "pid") event_.process = text;
    if (key_ == "tid") event_.thread = text;
    if (key_ == "ts" || key_ == "dur") {
      auto& time = key_ == "ts" ? event_.begin : event_.duration;
      time = whole != nullptr ? kineto::from_microseconds(*whole) : kineto::from_microseconds(text);
      event_.bad_time = event_.bad_time || !time;
    }
    return true;
  }

  // Numbers of arguments stand as text.
  static std::int64_t number_in(const std::string& text, const std::int64_t* whole) {
    constexpr std::size_t kMostDigits = 18;
    if (whole != nullptr) return std::max<std::int64_t>(-1, *whole);
    const bool digits = !text.empty() && text.size() <= kMostDigits &&
                        text.find_first_not_of("0123456789") == std::string::npos;
    return digits ? std::stoll(text) : -1;
  }

  bool refuse(const std::string& why) {
    wrong = "event " + std::to_string(events) +
            (event_.name.empty() ? "" : " (" + event_.name.substr(0, 60) + ")") + " " + why;
    return false;
  }

  bool add() {
    if (event_.empty) return true;  // behind the last comma
    ++events;
    if (event_.phase.empty()) return refuse("has no phase, \"ph\"");
    if (event_.phase == "M") {
      if (event_.name == "process_name") process_names_[event_.process] = event_.named;
      if (event_.name == "thread_name") thread_names_[{event_.process, event_.thread}] = event_.named;
      return true;
    }
    if (event_.phase != "X") {
      ++planes_[event_.process].timeless;
      return true;
    }
    if (event_.bad_time) return refuse("has a time that is no number");
    if (!event_.begin || !event_.duration) return refuse("has no ts or no dur");
    const auto sum = kineto::sum(*event_.begin, *event_.duration);
    const auto begin = ps_of(*event_.begin), end = sum ? ps_of(*sum) : std::nullopt;
    if (!begin || !end || *begin < 0 || *end < *begin)
      return refuse("lies beyond 106 days, or ends before it begins");
    Plane& plane = planes_[event_.process];
    line_of(plane).events.push_back(
        {*begin, *end, name_in(plane), event_.correlation, event_.step, event_.moves_memory});
    return true;
  }

  Line& line_of(Plane& plane) {
    auto& lines = lines_of_[event_.process];
    const auto [found, added] = lines.try_emplace(event_.thread, plane.lines.size());
    if (added) plane.lines.emplace_back();
    return plane.lines[found->second];
  }

  std::int64_t name_in(Plane& plane) {
    const auto [found, added] =
        names_of_[event_.process].try_emplace(event_.name, static_cast<std::int64_t>(plane.names.size()));
    if (added) plane.names[found->second] = event_.name;
    return found->second;
  }

  std::string key_;
  TraceEvent event_;
  int depth_ = 0;
  bool in_events_ = false, arguments_ = false;
  std::map<std::string, Plane> planes_;                                  // [process]
  std::map<std::string, std::map<std::string, std::size_t>> lines_of_;   // [process][thread] in its plane
  std::map<std::string, std::map<std::string, std::int64_t>> names_of_;  // [process][name] in its plane
  std::map<std::string, std::string> process_names_;
  std::map<std::pair<std::string, std::string>, std::string> thread_names_;  // [process, thread]
};

}  // namespace

bool is_trace_json(std::string_view text) {
  const auto has = [&](std::string_view words) { return text.find(words) != std::string_view::npos; };
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '{' && has("\"traceEvents\"") &&
         has("\"/device:") && has("\"thread_name\"") && (has("\"XLA Ops\"") || has("\"Stream #"));
}

std::optional<Space> read_trace_json(const std::string& file, std::string_view text,
                                     std::vector<Problem>& problems) {
  TraceReader reader;
  if (json::sax_parse(text.begin(), text.end(), &reader)) return reader.finish();
  if (!reader.wrong.empty()) {
    problems.push_back({file, 0, 0, reader.wrong, "", "complete events with ph, pid, tid, name, ts and dur"});
    return std::nullopt;
  }
  const auto before =
      text.substr(0, std::min(reader.wrong_byte > 0 ? reader.wrong_byte - 1 : 0, text.size()));
  const std::size_t begin = before.rfind('\n') + 1;  // of the line: npos + 1 is 0
  const bool ends = reader.wrong_byte > text.size();
  problems.push_back({file, static_cast<int>(std::ranges::count(before, '\n')) + 1,
                      static_cast<int>(before.size() - begin) + 1,
                      std::string(ends ? "the JSON ends" : "this is no JSON") + " after " +
                          std::to_string(reader.events) + " events",
                      "", ends ? "the whole file: it may have been cut" : ""});
  return std::nullopt;
}

}  // namespace podsim::xplane
