// Goes through the proof of a search with nothing of the search but its bounds.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "engine/parallel_for.h"
#include "engine/time_limits.h"
#include "planner/bounds/lighter_stems.h"
#include "planner/bounds/mesh_contexts.h"
#include "planner/bounds/pass_tables.h"
#include "planner/bounds/stem_bounds.h"
#include "planner/search/certificate.h"
#include "planner/search/certificate_lines.h"
#include "prediction/evaluator.h"
#include "prediction/step_length.h"
#include "proto/scenario/load_space.h"
#include "proto/text/json_text.h"
#include "report/text/text.h"

namespace podsim {
namespace {

using Json = nlohmann::json;

struct Claims {
  CertificateHeader header;
  std::vector<LayoutRecord> records;
  std::int64_t layouts = 0;
  std::vector<std::pair<Time, JobLayout>> best;
};

// Throws std::out_of_range where it is no whole number of `least` or more.
template <class Whole>
Whole whole_number(const Json& json, Whole least) {
  const bool fits = json.is_number_unsigned()
                        ? std::in_range<Whole>(json.get<std::uint64_t>())
                        : json.is_number_integer() && std::in_range<Whole>(json.get<std::int64_t>());
  if (!fits || json.get<Whole>() < least)
    throw std::out_of_range("expected a whole number from " + std::to_string(least) + " to " +
                            std::to_string(std::numeric_limits<Whole>::max()));
  return json.get<Whole>();
}

// Throws std::out_of_range where it is none from 0 to less than 1.
double share_at(const Json& json) {
  const double value = json.get<double>();
  if (!(value >= 0 && value < 1)) throw std::out_of_range("expected a share from 0 to less than 1");
  return value;
}

JobLayout layout_at(const Json& json) {
  std::vector<int> numbers;
  for (const Json& number : json.at("layout")) numbers.push_back(whole_number<int>(number, 0));
  return layout_of_numbers(numbers);
}

LayoutRecord record_of(const Json& json) {
  LayoutRecord record{layout_at(json), LayoutVerdict::kOpen, {}, {}};
  const auto verdict = verdict_named(json.at("verdict").get<std::string>());
  if (!verdict) throw std::out_of_range("a verdict that there is not: " + json.at("verdict").dump());
  record.verdict = *verdict;
  if (json.contains("bytes"))
    record.memory = Bytes{json.at("bytes").get<double>()};
  else
    record.time = Time{whole_number<std::int64_t>(json.at("ps"), 0)};
  if (record.verdict == LayoutVerdict::kSimulated && record.time > kLongestStep)
    throw std::out_of_range("a simulated step is no longer than " + std::to_string(kLongestStepDays) +
                            " days");
  return record;
}

// Throws nlohmann::json::exception and std::out_of_range where a line is none of a certificate; `number` is
// that line, from 1.
Claims read_claims(const std::string& text, int& number) {
  Claims claims;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  number = 1;
  const Json first = Json::parse(line);
  CertificateHeader& header = claims.header;
  header.version = first.at("podsim").get<std::string>();
  header.scenario = first.at("scenario").get<std::string>();
  header.sha256 = first.at("scenario_sha256").get<std::string>();
  header.top = whole_number<int>(first.at("top"), 1);
  header.within = share_at(first.at("within"));
  header.gap = share_at(first.at("gap"));
  bool ended = false;
  while (std::getline(lines, line)) {
    ++number;
    const Json json = Json::parse(line);
    if (json.contains("best")) {
      claims.layouts = whole_number<std::int64_t>(json.at("layouts"), 0);
      for (const Json& each : json.at("best"))
        claims.best.emplace_back(Time{whole_number<std::int64_t>(each.at("ps"), 0)}, layout_at(each));
      ended = true;
      continue;
    }
    claims.records.push_back(record_of(json));
  }
  if (!ended) throw std::out_of_range("its last line is missing");
  return claims;
}

JobLayout stem_of(JobLayout layout) {
  layout.schedule = PipelineSchedule::k1F1B;
  layout.chunks = 1;
  return layout;
}

class CertificateChecker {
 public:
  CertificateChecker(const Claims& claims, const SearchQuestion& asked, int sample, int threads)
      : claims_(claims),
        space_(asked.spec, asked.space),
        fabric_(build_fabric(asked.spec.cluster.fabric)),
        room_((1 - space_.values().memory_headroom_share) * asked.spec.cluster.chip.hbm_capacity),
        parameters_(parameter_count(space_.model())),
        lighter_(space_),
        sample_(sample),
        threads_(threads) {}

  CertificateVerdict run() {
    check_cover();
    check_answer();
    if (!verdict_.holds()) return verdict_;  // what follows takes time
    check_stems();
    check_steps();
    return verdict_;
  }

 private:
  void fault(const std::string& what) {
    constexpr std::size_t kMost = 20;
    const std::lock_guard lock(mutex_);
    if (verdict_.faults.size() < kMost) verdict_.faults.push_back(what);
  }

  // Every layout once, and no other.
  void check_cover() {
    std::map<JobLayout, int> times;
    for (const LayoutRecord& record : claims_.records) ++times[record.layout];
    for (const JobLayout& stem : space_.stems())
      for (const JobLayout& leaf : space_.leaves(stem)) {
        ++verdict_.layouts;
        const auto found = times.find(leaf);
        if (found == times.end())
          fault("nothing is said of " + to_string(leaf));
        else if (found->second != 1)
          fault(to_string(leaf) + " is there more than once");
        if (found != times.end()) times.erase(found);
      }
    for (const auto& [layout, count] : times) fault(to_string(layout) + " is no layout of the space");
    if (verdict_.layouts != claims_.layouts)
      fault("the space has " + std::to_string(verdict_.layouts) + " layouts, and " +
            std::to_string(claims_.layouts) + " are counted");
  }

  // The fastest of the simulated layouts, which set the limit.
  void check_answer() {
    Incumbents incumbents(claims_.header.top, claims_.header.within, false);
    for (const LayoutRecord& record : claims_.records) {
      if (record.verdict != LayoutVerdict::kSimulated) continue;
      FoundLayout found{record.layout, {}, {}};
      found.figures.step_time = record.time;
      incumbents.add(found);
    }
    limit_ = incumbents.limit();
    if (incumbents.any()) best_ = incumbents.best();
    std::vector<std::pair<Time, JobLayout>> fastest;
    for (const FoundLayout& found : incumbents.taken())
      fastest.emplace_back(found.figures.step_time, found.layout);
    if (fastest != claims_.best) fault("the answer is not the fastest of the simulated layouts");
  }

  // No better than the answer, but for the gap that was asked for.
  bool cannot_win(Time time) const {
    if (time > limit_) return true;
    const double gap = claims_.header.gap;
    return gap > 0 && best_ && time.in_seconds() >= best_->in_seconds() * (1 - gap);
  }

  void check_stems() {
    std::map<JobLayout, std::vector<const LayoutRecord*>> of_stem;
    for (const LayoutRecord& record : claims_.records) of_stem[stem_of(record.layout)].push_back(&record);
    const std::vector<std::pair<JobLayout, std::vector<const LayoutRecord*>>> stems(of_stem.begin(),
                                                                                    of_stem.end());
    parallel_for(stems.size(), threads_, [&](std::size_t i) { check_stem(stems[i].first, stems[i].second); });
    for (const LayoutRecord& record : claims_.records)
      verdict_.bounds += record.verdict != LayoutVerdict::kSimulated ? 1 : 0;
  }

  // What is known of the layouts of a stem, once it is asked for.
  class KnownOfStem {
   public:
    KnownOfStem(const CertificateChecker& of, const JobLayout& stem)
        : of_(of),
          stem_(stem),
          spec_(with_layout(of.space_.spec(), stem)),
          contexts_(of.fabric_),
          tables_(of.space_, contexts_) {}

    Time by_lighter() {
      return LighterTables(of_.space_, of_.lighter_, contexts_).bound(stem_, of_.space_.leaves(stem_));
    }
    const StemPasses& passes() {
      if (!passes_) passes_ = passes_of(tables_, stem_, of_.space_.leaves(stem_), of_.room_);
      return *passes_;
    }
    Bytes memory(const JobLayout& layout, bool ends_only) { return bounds().memory(layout, ends_only); }
    Time by_stages(const JobLayout& layout) { return rounded_down(bounds().stage_bound_s(layout)); }
    Time by_relaxed(const JobLayout& layout) {
      const Spec spec = with_layout(of_.space_.spec(), layout);
      return std::max(by_stages(layout), rounded_down(relaxed_bound_s(spec, MeshContext(of_.fabric_, spec))));
    }

   private:
    const StemBounds& bounds() {
      if (!bounds_) bounds_.emplace(spec_, contexts_.of(spec_));
      return *bounds_;
    }

    const CertificateChecker& of_;
    const JobLayout& stem_;
    const Spec spec_;
    MeshContexts contexts_;
    PassTables tables_;
    std::optional<StemBounds> bounds_;
    std::optional<StemPasses> passes_;
  };

  void check_stem(const JobLayout& stem, const std::vector<const LayoutRecord*>& records) {
    KnownOfStem known(*this, stem);
    for (const LayoutRecord* record : records) check_record(*record, stem, known);
  }

  void check_record(const LayoutRecord& record, const JobLayout& stem, KnownOfStem& known) {
    const JobLayout& layout = record.layout;
    switch (record.verdict) {
      case LayoutVerdict::kNoRoomForState:
        return check_full(record, least_state(space_.spec().job, stem, parameters_) == record.memory);
      case LayoutVerdict::kNoRoom:
        return check_full(record,
                          (known.passes().might_fit.empty() && known.passes().memory == record.memory) ||
                              known.memory(layout, true) == record.memory ||
                              known.memory(layout, false) == record.memory);
      case LayoutVerdict::kByLighter:
        return check_bound(record, known.by_lighter());
      case LayoutVerdict::kByPasses:
        return check_bound(record, known.passes().bound);
      case LayoutVerdict::kByStages:
        return check_bound(record, std::max(known.passes().bound, known.by_stages(layout)));
      case LayoutVerdict::kByRelaxed:
        return check_bound(record, std::max(known.passes().bound, known.by_relaxed(layout)));
      case LayoutVerdict::kOpen:
        if (!cannot_win(record.time)) fault(to_string(layout) + " is open, and might be better");
        if (known.passes().bound < record.time && known.by_relaxed(layout) < record.time)
          fault("the bound of " + to_string(layout) + " is lower than it says");
        return;
      case LayoutVerdict::kSimulated:
        if (known.memory(layout, false) > room_) fault(to_string(layout) + " does not fit");
        return;
      case LayoutVerdict::kTooLong:
        if (!is_too_long(layout)) fault(to_string(layout) + " is refused, and its step can be simulated");
        return;
    }
  }

  bool is_too_long(const JobLayout& layout) const {
    try {
      Evaluator().evaluate(with_layout(space_.spec(), layout));
      return false;
    } catch (const StepTooLong&) {
      return true;
    }
  }

  // Dropped by a bound, which is `time`.
  void check_bound(const LayoutRecord& record, Time time) {
    if (record.time != time)
      fault("the bound of " + to_string(record.layout) + " is " + exact_seconds(time) + " s, and not " +
            exact_seconds(record.time));
    else if (!cannot_win(time))
      fault(to_string(record.layout) + " is dropped, and its bound is no longer than what it has to beat");
  }

  // Dropped for what it needs, which `is_so`.
  void check_full(const LayoutRecord& record, bool is_so) {
    if (!is_so || record.memory <= room_)
      fault(to_string(record.layout) + " does not need the " + gib(record.memory) +
            " that it is dropped for");
  }

  // The answer, and others at equal distances.
  void check_steps() {
    std::vector<LayoutRecord> wanted;
    for (const auto& [time, layout] : claims_.best)
      wanted.push_back({layout, LayoutVerdict::kSimulated, time, {}});
    const std::size_t count = claims_.records.size(), sample = static_cast<std::size_t>(sample_);
    for (std::size_t i = 0; i < std::min(sample, count); ++i) {
      const LayoutRecord& record = claims_.records[i * count / std::min(sample, count)];
      const bool full =
          record.verdict == LayoutVerdict::kNoRoom || record.verdict == LayoutVerdict::kNoRoomForState;
      if (!full) wanted.push_back(record);
    }
    parallel_for(wanted.size(), threads_, [&](std::size_t i) {
      const LayoutRecord& record = wanted[i];
      if (record.verdict != LayoutVerdict::kSimulated && is_too_long(record.layout)) return;
      const Appraisal appraisal = Evaluator().evaluate(with_layout(space_.spec(), record.layout));
      const Time step = appraisal.step_time;
      if ((!appraisal.fits() || appraisal.needed > room_) && record.verdict != LayoutVerdict::kSimulated)
        return;  // it was dropped before
      if (record.verdict == LayoutVerdict::kSimulated && step != record.time)
        fault("a step of " + to_string(record.layout) + " takes " + exact_seconds(step) + " s, and not " +
              exact_seconds(record.time));
      if (record.verdict != LayoutVerdict::kSimulated && (step < record.time || !cannot_win(step)))
        fault(to_string(record.layout) + " is dropped, and a step of it takes only " + exact_seconds(step) +
              " s");
    });
    verdict_.simulated = static_cast<std::int64_t>(wanted.size());
  }

  const Claims& claims_;
  const Space space_;
  const Fabric fabric_;
  const Bytes room_;
  const double parameters_;
  const LighterStems lighter_;
  const int sample_, threads_;
  Time limit_ = Time::max();
  std::optional<Time> best_;
  std::mutex mutex_;
  CertificateVerdict verdict_;
};

}  // namespace

CertificateVerdict check_certificate(const std::string& text, const std::string& version,
                                     const Catalog& catalog, int sample, int threads) {
  Claims claims;
  int line = 0;
  try {
    claims = read_claims(text, line);
  } catch (const std::exception& problem) {
    return {{"line " + std::to_string(line) +
             ": this is no certificate that podsim search writes: " + syntax_message(problem.what())},
            line > 1};
  }
  if (claims.header.version != version)
    return {{"it was made by podsim " + claims.header.version + ", and this is " + version +
             ", whose bounds and steps may be others"}};
  const LoadSearchResult loaded = load_search("certificate", claims.header.scenario, catalog, {});
  if (!loaded.question) return {{"its scenario is wrong: " + format_problem(loaded.problems.front())}};
  if (loaded.question->spec.sha256 != claims.header.sha256)
    return {{"its scenario, or an entry of the catalogue that it names, is not the one that was searched"}};
  return CertificateChecker(claims, *loaded.question, sample, threads).run();
}

}  // namespace podsim
