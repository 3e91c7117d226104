// Sorts what chips did by class and stream, and puts passes around what belongs to them.
#include "report/tracks/step_tracks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "engine/check.h"
#include "report/summary/pass_work.h"
#include "workload/pipeline/pipeline.h"

namespace podsim {
namespace {

constexpr std::string_view kCompute = "compute", kWaitForPeers = "wait for peers";

std::string pass_name(const PipelineTask& task, bool chunks) {
  const std::string pass = task.pass == Pass::kForward          ? "forward "
                           : task.pass == Pass::kWeightGradient ? "weight gradient "
                                                                : "backward ";
  return pass + std::to_string(task.microbatch) + (chunks ? ", chunk " + std::to_string(task.chunk) : "");
}

// Whoever waits for a collective is told so: the collective itself is on another track.
std::string compute_name(std::string_view what) {
  const bool of_others = what == "collective" || what == "earlier collectives";
  return (of_others ? "wait for " : "") + std::string(what);
}

std::string group_name(const ChipTotals& chip) {
  std::string name = "stage " + std::to_string(chip.stage) + ", chip " + std::to_string(chip.representative);
  if (chip.speed < 1) name += " (slow)";
  return chip.chips > 1 ? name + " and " + std::to_string(chip.chips - 1) + " alike" : name;
}

// The tracks of one chip.
class ChipTracks {
 public:
  ChipTracks(const System& system, const ChipTotals& chip, int job, const StepProgram& work)
      : system_(system), chip_(chip) {
    for (const StageProgram& stage : system.step.stages)
      if (stage.job == job && stage.stage == chip.stage) program_ = &stage;
    PODSIM_CHECK(program_, "every chip runs the program of a stage");
    for (const PipelineTask& task : program_->tasks) {
      chunks_ = chunks_ || task.chunk > 0;
      const auto [known, fresh] = work_.try_emplace({task.pass, task.chunk});
      if (fresh) known->second = pass_work(work, program_->pipeline, chip.stage, task);
    }
  }

  // `transfer` = its number, of one between stages.
  void add(const Interval& interval, int transfer, bool receives) {
    if (interval.stream == kCompute) return compute_.push_back(&interval);
    TrackSlice slice{interval.begin, interval.end, std::string(interval.what)};
    if (interval.message >= 0) {
      const auto message = static_cast<std::size_t>(interval.message);
      const auto pattern = static_cast<std::size_t>(system_.pattern_of[message]);
      slice.algorithm = to_string(system_.patterns[pattern].algorithm);
      slice.bytes = std::llround(system_.step.messages[message].bytes.value);
    }
    const char* const side = transfer < 0 ? "" : receives ? ", received" : ", sent";
    if (transfer >= 0 && receives) slice.receives = transfer;
    if (transfer >= 0 && !receives) slice.sends = {transfer};
    streams_[std::string(interval.stream) + side].push_back(std::move(slice));
  }

  // REQUIRES: `names` has those of all groups, by chip.
  TrackGroup group(const std::map<ChipId, std::string>& names) {
    TrackGroup group{
        names.at(chip_.representative), {{std::string(kCompute), compute_slices(names)}}, chip_.stage};
    for (auto& [name, slices] : streams_) group.tracks.push_back({name, std::move(slices)});
    for (StepTrack& track : group.tracks) sort_and_check(track);
    return group;
  }

 private:
  std::vector<TrackSlice> compute_slices(const std::map<ChipId, std::string>& names) const {
    std::vector<TrackSlice> slices;
    for (std::size_t i = 0; i < compute_.size();) {
      std::size_t end = i;
      while (end < compute_.size() && compute_[end]->position == compute_[i]->position) ++end;
      if (auto pass = pass_of(*compute_[i], compute_[end - 1]->end)) slices.push_back(*std::move(pass));
      const std::size_t first = slices.size();
      for (; i < end; ++i) {
        const Interval& next = *compute_[i];
        const bool goes_on = slices.size() > first && next.what == kCompute &&
                             slices.back().name == kCompute && slices.back().end == next.begin;
        if (goes_on) {
          slices.back().end = next.end;
        } else {
          slices.push_back({next.begin, next.end, compute_name(next.what)});
          if (next.awaited >= 0) slices.back().awaited = names.at(next.awaited);
        }
      }
    }
    return slices;
  }

  // None before the first and after the last pass of a step.
  std::optional<TrackSlice> pass_of(const Interval& first, Time end) const {
    if (first.position < 0) return std::nullopt;
    const std::span<const PipelineTask> tasks = program_->tasks_at(first.position);
    if (tasks.empty()) return std::nullopt;
    TrackSlice slice{first.begin, end, ""};
    for (const PipelineTask& task : tasks)
      slice.name += (slice.name.empty() ? "" : " + ") + pass_name(task, chunks_);
    if (tasks.size() == 1) {
      const PassWork& work = work_.at({tasks.front().pass, tasks.front().chunk});
      slice.microbatch = tasks.front().microbatch;
      slice.chunk = tasks.front().chunk;
      slice.layers = work.layers;
      slice.flops = work.flops;
      slice.shape = work.shape;
    }
    return slice;
  }

  // Viewers drop slices that cross, without a word.
  static void sort_and_check(StepTrack& track) {
    std::ranges::stable_sort(track.slices, [](const TrackSlice& a, const TrackSlice& b) {
      return a.begin < b.begin || (a.begin == b.begin && a.end > b.end);
    });
    std::vector<Time> open;
    for (const TrackSlice& slice : track.slices) {
      while (!open.empty() && open.back() <= slice.begin) open.pop_back();
      PODSIM_CHECK(open.empty() || slice.end <= open.back(), "slices of a track nest: " + track.name);
      open.push_back(slice.end);
    }
  }

  const System& system_;
  const ChipTotals& chip_;
  const StageProgram* program_ = nullptr;
  bool chunks_ = false;                            // several per stage
  std::map<std::pair<Pass, int>, PassWork> work_;  // [pass, chunk]
  std::vector<const Interval*> compute_;
  std::map<std::string, std::vector<TrackSlice>> streams_;
};

// What a chip does just before and from the end of a wait on: its slices have no gaps, and what is within
// another comes after it.
struct AroundTime {
  TrackSlice* before;
  TrackSlice* from;
};

std::optional<AroundTime> around(StepTrack& compute, Time time) {
  const auto begun = std::ranges::lower_bound(compute.slices, time, {}, &TrackSlice::begin);
  const auto after = std::ranges::upper_bound(begun, compute.slices.end(), time, {}, &TrackSlice::begin);
  if (begun == compute.slices.begin()) return std::nullopt;
  return AroundTime{&*std::prev(begun), after == begun ? nullptr : &*std::prev(after)};
}

// From the last to come to a collective to those who waited for it. A transfer has a flow of its own.
void add_arrivals(StepTracks& step, const Timeline& timeline, const std::map<ChipId, std::size_t>& place) {
  for (const Interval& wait : timeline.intervals) {
    if (wait.awaited < 0 || wait.what != kWaitForPeers || wait.end >= timeline.step_end.front()) continue;
    const auto last = around(step.groups[place.at(wait.awaited)].tracks.front(), wait.end);
    const auto waiting = around(step.groups[place.at(wait.chip)].tracks.front(), wait.end);
    if (!last || !waiting || !waiting->from) continue;
    const int flow = step.transfers + step.arrivals++;
    last->before->sends.push_back(flow);
    waiting->from->receives = flow;
  }
}

}  // namespace

StepTracks step_tracks(const System& system, int job, const StepProgram& program, const std::string& name,
                       const Timeline& timeline) {
  std::vector<const ChipTotals*> chips;
  for (const ChipTotals& chip : timeline.chips) chips.push_back(&chip);
  std::ranges::sort(chips, [](const ChipTotals* a, const ChipTotals* b) {
    return a->stage != b->stage ? a->stage < b->stage : a->representative < b->representative;
  });
  std::vector<ChipTracks> tracks;
  std::map<ChipId, std::size_t> place;
  std::map<ChipId, std::string> names;
  for (const ChipTotals* chip : chips) {
    names[chip->representative] = group_name(*chip);
    place[chip->representative] = tracks.size();
    tracks.emplace_back(system, *chip, job, program);
  }
  StepTracks step{.name = name, .groups = {}};
  bool receives = false;
  for (const Interval& interval : timeline.intervals) {
    const bool transfer =
        interval.message >= 0 &&
        system.step.messages[static_cast<std::size_t>(interval.message)].scope.point_to_point();
    if (interval.begin < timeline.step_end.front())
      tracks[place.at(interval.chip)].add(interval, transfer ? step.transfers : -1, receives);
    if (!transfer) continue;
    if (receives && interval.begin < timeline.step_end.front()) ++step.transfers;
    receives = !receives;
  }
  for (ChipTracks& each : tracks) step.groups.push_back(each.group(names));
  add_arrivals(step, timeline, place);
  return step;
}

}  // namespace podsim
