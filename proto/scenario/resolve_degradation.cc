// Selectors, speeds and seasons as the text has them, and entries that meet on one chip or link.
#include "proto/scenario/resolve_degradation.h"

#include <algorithm>
#include <cstdint>

#include "engine/spelling.h"
#include "proto/scenario.pb.h"
#include "proto/text/assign.h"
#include "proto/text/ranges.h"
#include "report/text/text.h"
#include "scheduler/folding/drawn_degradations.h"
#include "workload/job/job.h"

namespace podsim {
namespace {

// Every entry is held against every chip.
constexpr std::int64_t kMostEntryChips = 10'000'000;

std::string numbered(const std::string& path, std::string_view field, int i) {
  return join_path(path, field) + "[" + std::to_string(i) + "]";
}

class Reader {
 public:
  Reader(const Fabric& fabric, const Parts& parts, const ChipRoles& roles, bool one_job, Document& document)
      : fabric_(fabric), parts_(parts), roles_(roles), one_job_(one_job), document_(document) {}

  void read(const schema::SlowParts& text, const std::string& at) {
    Degradation& entry = begin(text.which(), at, Degradation::Cause::kSlow);
    read_speed(text, at, entry.factor);
    read_season(text.when(), join_path(at, "when"), entry.season);
    entry.multiply = text.compose() == schema::multiply;
    entry.draw = text.draw();
  }

  void read(const schema::BackgroundLoad& text, const std::string& at) {
    Degradation& entry = begin(text.which(), at, Degradation::Cause::kBackground);
    entry.factor.mean = 1 - text.taken_fraction();
    read_season(text.when(), join_path(at, "when"), entry.season);
    entry.multiply = text.compose() == schema::multiply;
    entry.draw = text.draw();
  }

  void read(const schema::NicFlap& text, const std::string& at) {
    Degradation& entry = begin(text.which(), at, Degradation::Cause::kFlap);
    entry.factor.mean = 0;
    const Time down = Time::seconds(text.at_s());
    entry.season.windows = {{down, down + Time::seconds(text.down_s())}};
    entry.library_timeout = Time::seconds(text.library_timeout_s());
    entry.multiply = true;  // what is down has no other speed
  }

  // Reports entries that meet on one chip or link though neither lets speeds multiply.
  void check_overlaps();
  // Warns of entries that hit nothing.
  void check_hits(std::uint64_t seed);

  std::vector<Degradation> entries;

 private:
  Degradation& begin(const schema::PartSelector& which, const std::string& at, Degradation::Cause cause) {
    Degradation& entry = entries.emplace_back();
    entry.cause = cause;
    paths_.push_back(at);
    good_.push_back(true);
    read_selector(which, join_path(at, "which"), entry);
    return entry;
  }

  void report(const std::string& path, const std::string& message, const std::string& hint = "") {
    document_.report(path, message, hint);
    good_.back() = false;
  }

  void read_selector(const schema::PartSelector& text, const std::string& at, Degradation& entry);
  bool read_kind(const schema::PartSelector& text, const std::string& at, Degradation& entry);
  void read_together(const std::string& name, const std::string& at, Selector& which);
  void add_numbers(int first, int last, const std::string& first_path, const std::string& last_path,
                   Selector& which);
  void read_roles(const google::protobuf::RepeatedField<int>& text, const std::string& at,
                  const std::string& what, const std::vector<int>& role, const Selector& which,
                  std::vector<int>& wanted);
  void read_speed(const schema::SlowParts& text, const std::string& at, SpeedFactor& factor);
  void read_season(const schema::Season& text, const std::string& at, Season& season);
  void check_windows(const std::string& at, Season& season);

  const Fabric& fabric_;
  const Parts& parts_;
  const ChipRoles& roles_;
  const bool one_job_;
  Document& document_;
  std::vector<std::string> paths_;  // [entry]
  std::vector<bool> good_;          // [entry] without problems
};

void Reader::read_selector(const schema::PartSelector& text, const std::string& at, Degradation& entry) {
  if (!read_kind(text, at, entry)) return;
  Selector& which = entry.which;
  for (int i = 0; i < text.index_size(); ++i) {
    const std::string path = numbered(at, "index", i);
    add_numbers(text.index(i), text.index(i), path, path, which);
  }
  for (int i = 0; i < text.indices_size(); ++i) {
    const std::string path = numbered(at, "indices", i);
    add_numbers(text.indices(i).first(), text.indices(i).last(), join_path(path, "first"),
                join_path(path, "last"), which);
  }
  read_roles(text.stage(), join_path(at, "stage"), "pipeline stages", roles_.stage, which, which.stages);
  read_roles(text.data_rank(), join_path(at, "data_rank"), "data ranks", roles_.data_rank, which,
             which.data_ranks);
  if (text.has_random_fraction()) which.random_fraction = text.random_fraction();
  if (text.has_together()) read_together(text.together(), join_path(at, "together"), which);
}

bool Reader::read_kind(const schema::PartSelector& text, const std::string& at, Degradation& entry) {
  std::vector<std::string> names;
  for (int k = 0; k < kPartKinds; ++k) {
    const auto kind = static_cast<PartKind>(k);
    if (parts_.count(kind) == 0 || (entry.cause != Degradation::Cause::kSlow && computes(kind))) continue;
    names.emplace_back(to_string(kind));
    if (names.back() == text.kind()) entry.which.kind = kind;
  }
  if (std::find(names.begin(), names.end(), text.kind()) != names.end()) return true;
  if (!text.has_kind()) {
    good_.back() = false;  // told as a missing field
    return false;
  }
  const std::string what = entry.cause == Degradation::Cause::kSlow ? "parts" : "links";
  report(join_path(at, "kind"), fabric_.name + " has no " + what + " of kind \"" + text.kind() + "\"",
         suggest(text.kind(), names, "it has"));
  return false;
}

void Reader::add_numbers(int first, int last, const std::string& first_path, const std::string& last_path,
                         Selector& which) {
  const int count = parts_.count(which.kind);
  for (const auto& [number, path] : {std::pair(first, first_path), std::pair(last, last_path)}) {
    if (number < count) continue;
    report(path,
           path + " must be below the " + std::to_string(count) + " parts of kind \"" +
               std::string(to_string(which.kind)) + "\", not " + std::to_string(number),
           "they count from 0");
    return;
  }
  if (first > last)
    report(last_path, last_path + " must not be below first, " + std::to_string(first) + ", but is " +
                          std::to_string(last));
  which.numbers.emplace_back(first, last);
}

void Reader::read_together(const std::string& name, const std::string& at, Selector& which) {
  std::vector<std::string> names;
  for (int d = 1; d < kDomains; ++d) {
    const auto domain = static_cast<Domain>(d);
    if (!parts_.has(domain) || (is_switch(which.kind) && domain != Domain::kAll)) continue;
    names.emplace_back(to_string(domain));
    if (names.back() == name) which.together = domain;
  }
  if (which.together == Domain::kNone)
    report(at,
           "parts of kind \"" + std::string(to_string(which.kind)) + "\" of " + fabric_.name +
               " are in no domain \"" + name + "\"",
           suggest(name, names, "there is"));
}

void Reader::read_roles(const google::protobuf::RepeatedField<int>& text, const std::string& at,
                        const std::string& what, const std::vector<int>& role, const Selector& which,
                        std::vector<int>& wanted) {
  if (text.empty()) return;
  if (is_switch(which.kind)) {
    report(at, at + " chooses among chips, not switches");
    return;
  }
  if (!one_job_) {
    if (document_.clean())
      report(at, at + " needs a scenario with one job", "choose by index: each job has its own " + what);
    return;
  }
  const int count = role_count(role);
  for (int i = 0; i < text.size(); ++i) {
    const std::string path = at + "[" + std::to_string(i) + "]";
    if (text[i] >= count)
      report(path,
             path + " must be below the " + std::to_string(count) + " " + what + ", not " +
                 std::to_string(text[i]),
             "they count from 0");
    wanted.push_back(text[i]);
  }
}

void Reader::read_speed(const schema::SlowParts& text, const std::string& at, SpeedFactor& factor) {
  if (text.has_speed_fraction() == text.has_speed()) {
    if (text.has_speed()) {
      report(join_path(at, "speed"), "speed and speed_fraction say the same thing: write one of them");
    } else if (!text.when().has_swing()) {
      report_missing(join_path(at, "speed_fraction"), "0.8", document_);
      good_.back() = false;
    }
    return;
  }
  factor.mean = text.speed_fraction();
  if (!text.has_speed()) return;
  const schema::SpeedDistribution& speed = text.speed();
  const std::string path = join_path(at, "speed");
  const bool uniform = speed.shape() == schema::SpeedDistribution::uniform;
  factor.shape = uniform                                              ? SpeedFactor::Shape::kUniform
                 : speed.shape() == schema::SpeedDistribution::normal ? SpeedFactor::Shape::kNormal
                                                                      : SpeedFactor::Shape::kLognormal;
  factor.mean = speed.mean();
  factor.coefficient_of_variation = speed.coefficient_of_variation();
  factor.low = speed.has_low() ? speed.low() : 1e-4;
  factor.high = speed.has_high() ? speed.high() : 1;
  if (uniform && !speed.has_low()) report_missing(join_path(path, "low"), "0.7", document_);
  if (!uniform && !speed.has_mean()) report_missing(join_path(path, "mean"), "0.9", document_);
  if (factor.low > factor.high)
    report(join_path(path, "high"),
           "high must not be below low, " + shortest(factor.low) + ", but is " + shortest(factor.high));
}

void Reader::read_season(const schema::Season& text, const std::string& at, Season& season) {
  for (const schema::TimeWindow& window : text.window())
    season.windows.emplace_back(Time::seconds(window.from_s()), Time::seconds(window.to_s()));
  season.repeat = Time::seconds(text.repeat_every_s());
  check_windows(at, season);
  if (text.has_repeat_every_s() && season.windows.empty())
    report(join_path(at, "repeat_every_s"), "no window is there to come again",
           "write, for example, window { from_s: 0 to_s: 60 }");
  if (text.has_swing()) {
    season.swing_amplitude = text.swing().amplitude();
    season.swing_period = Time::seconds(text.swing().period_s());
    if (text.swing().has_levels()) season.swing_levels = text.swing().levels();
    if (!season.windows.empty())
      report(join_path(at, "swing"), "a swing goes on all the time, without windows",
             "write two entries with compose: multiply");
  }
  if (text.has_on_off()) {
    season.chance_share = text.on_off().share();
    season.chance_slot = Time::seconds(text.on_off().slot_s());
  }
}

void Reader::check_windows(const std::string& at, Season& season) {
  for (std::size_t i = 0; i < season.windows.size(); ++i) {
    const auto& [from, to] = season.windows[i];
    const std::string path = numbered(at, "window", static_cast<int>(i));
    if (to <= from) {
      report(join_path(path, "to_s"), "a window ends after it began: to_s must be above from_s");
    } else if (i > 0 && from < season.windows[i - 1].second) {
      report(join_path(path, "from_s"),
             "windows come one after another: this one begins before the last ended");
    } else if (season.repeat.ps > 0 && to > season.repeat) {
      report(join_path(path, "to_s"), "the window must end before it comes again: to_s must not be above " +
                                          shortest(season.repeat.in_seconds()) + " s, repeat_every_s");
    }
  }
}

// Whether both can be there at one instant.
bool may_meet(const Season& a, const Season& b) {
  if (a.windows.empty() || b.windows.empty() || a.repeat.ps > 0 || b.repeat.ps > 0) return true;
  for (const auto& x : a.windows)
    for (const auto& y : b.windows)
      if (x.first < y.second && y.first < x.second) return true;
  return false;
}

void Reader::check_overlaps() {
  std::vector<std::vector<std::size_t>> entries_on(fabric_.chips +
                                                   fabric_.links.size());  // chips, then links
  for (std::size_t e = 0; e < entries.size(); ++e) {
    if (!good_[e]) continue;
    const Degradation& entry = entries[e];
    const bool chips = computes(entry.which.kind);
    bool clash = false;
    for (const int number : candidates(entry.which, parts_, roles_)) {
      for (const std::int32_t thing :
           chips ? parts_.chips(entry.which.kind, number) : parts_.links(entry.which.kind, number)) {
        std::vector<std::size_t>& on = entries_on[chips ? thing : fabric_.chips + thing];
        const auto other = std::find_if(on.begin(), on.end(), [&](std::size_t o) {
          return o != e && !entry.multiply && !entries[o].multiply &&
                 may_meet(entry.season, entries[o].season);
        });
        if (!clash && other != on.end()) {
          clash = true;
          const int line = document_.line_of(paths_[*other]);
          document_.report(paths_[e],
                           paths_[e] + " and " + paths_[*other] +
                               (line > 0 ? " (line " + std::to_string(line) + ")" : "") + " both choose " +
                               std::string(to_string(entry.which.kind)) + " " + std::to_string(number),
                           "compose: multiply in one of them lets their speeds multiply");
        }
        if (on.empty() || on.back() != e) on.push_back(e);
      }
      if (clash) break;
    }
  }
}

void Reader::check_hits(std::uint64_t seed) {
  const DrawnDegradations conditions = draw_degradations(fabric_, parts_, roles_, entries, seed);
  for (std::size_t e = 0; e < entries.size(); ++e) {
    if (conditions.hits[e].parts > 0) continue;
    const Selector& which = entries[e].which;
    const std::size_t count = candidates(which, parts_, roles_).size();
    const std::string kind(to_string(which.kind));
    document_.warn(join_path(paths_[e], "which"),
                   paths_[e] + " has no effect: " +
                       (count == 0 ? "no " + kind + " meets all that it asks for"
                                   : "none of " + std::to_string(count) + " of kind \"" + kind +
                                         "\" is drawn with seed " + std::to_string(seed)),
                   count == 0 ? "a part must have one of the numbers, stages and data ranks" : "");
  }
}

}  // namespace

std::vector<Degradation> resolve_degradations(const schema::Adversity& adversity, const FabricSpec& spec,
                                              JobOnFabric job, std::uint64_t seed, const std::string& path,
                                              Document& document) {
  const std::int64_t count = adversity.slow_size() + adversity.background_size() + adversity.nic_flap_size();
  if (count == 0) return {};
  if (count * spec.chips > kMostEntryChips) {
    document.report(path,
                    std::to_string(count) + " entries of slow, background and nic_flap are too many for " +
                        std::to_string(spec.chips) + " chips: their product is at most 10,000,000",
                    "an entry takes lists and ranges of numbers");
    return {};
  }
  const Fabric fabric = build_fabric(spec);
  const Parts parts(fabric, spec.chips_per_host);
  const std::vector<int> none(fabric.chips, -1);
  const ChipRoles roles = job.job ? roles_of(fabric, *job.job, *job.placement) : ChipRoles{none, none};
  Reader reader(fabric, parts, roles, job.job != nullptr, document);
  for (int i = 0; i < adversity.slow_size(); ++i) reader.read(adversity.slow(i), numbered(path, "slow", i));
  for (int i = 0; i < adversity.background_size(); ++i)
    reader.read(adversity.background(i), numbered(path, "background", i));
  for (int i = 0; i < adversity.nic_flap_size(); ++i)
    reader.read(adversity.nic_flap(i), numbered(path, "nic_flap", i));
  reader.check_overlaps();
  if (document.clean()) reader.check_hits(seed);
  return std::move(reader.entries);
}

}  // namespace podsim
