// Draws a row of characters per stage, and tells of each stage.
#include "prediction/dump_schedule.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <vector>

#include "engine/check.h"
#include "engine/words.h"
#include "workload/pipeline/pipeline.h"

namespace podsim {
namespace {

constexpr int kWidth = 160;         // columns of a picture
constexpr int kColumnsPerTask = 6;  // room for a label such as "F12.1"
constexpr char kIdle = '.', kBusy = '-', kUpdating = 'o';

std::string label(const PipelineTask& task, bool chunks) {
  const char* const pass = task.pass == Pass::kForward ? "F" : task.pass == Pass::kWeightGradient ? "W" : "B";
  return pass + std::to_string(task.microbatch) + (chunks ? "." + std::to_string(task.chunk) : "");
}

std::string label(std::span<const PipelineTask> tasks, bool chunks) {
  return separated(tasks, "+", [&](const PipelineTask& task) { return label(task, chunks); });
}

// What a stage computes, of one position in its order.
struct Stretch {
  Time begin, end;
  std::int32_t position;
};

class StagePicture {
 public:
  StagePicture(const System& system, const ChipTotals& chip, int job, const Timeline& timeline)
      : chip_(chip), step_(timeline.step_end.front()), all_steps_(timeline.step_end.back()) {
    for (const StageProgram& stage : system.step.stages)
      if (stage.job == job && stage.stage == chip.stage) program_ = &stage;
    PODSIM_CHECK(program_, "every chip runs the program of a stage");
    for (const PipelineTask& task : program_->tasks) chunks_ = chunks_ || task.chunk > 0;
    for (const Interval& interval : timeline.intervals) {
      if (interval.chip != chip.representative || interval.what != "compute" || interval.end > step_)
        continue;
      stretches_.push_back({interval.begin, interval.end, interval.position});
    }
  }

  int stage() const { return chip_.stage; }

  // Appends how long each run of tasks takes from its first computation to its last.
  void append_durations(std::vector<Time>& durations) const {
    each_run([&](std::int32_t position, Time begin, Time end) {
      if (!tasks_at(position).empty()) durations.push_back(end - begin);
    });
  }

  // Columns `first` to `end`, each as wide as `column`.
  std::string draw(std::int64_t first, std::int64_t end, Time column) const {
    std::string row(static_cast<std::size_t>(end - first), kIdle);
    const auto put = [&](std::int64_t at, char character) {
      if (at >= first && at < end) row[static_cast<std::size_t>(at - first)] = character;
    };
    for (const Stretch& stretch : stretches_) {
      const char busy = tasks_at(stretch.position).empty() ? kUpdating : kBusy;
      for (auto at = rounded(stretch.begin, column); at < rounded(stretch.end, column); ++at) put(at, busy);
    }
    each_run([&](std::int32_t position, Time begin, Time last) {
      std::int64_t at = rounded(begin, column);
      for (const char letter : label(tasks_at(position), chunks_))
        if (at < rounded(last, column)) put(at++, letter);
    });
    return row;
  }

  std::string tell() const {
    const auto share = [&](Bucket bucket) {
      return 100 * chip_.bucket[static_cast<std::size_t>(bucket)].in_seconds() / all_steps_.in_seconds();
    };
    int chunks = 1;
    for (const PipelineTask& task : program_->tasks) chunks = std::max(chunks, task.chunk + 1);
    const double held = most_held(program_->tasks, std::vector<double>(static_cast<std::size_t>(chunks), 1));
    char text[160];
    std::snprintf(
        text, sizeof text,
        "stage %3d: computes %.2f %%, waits for stages %.2f %%, holds %.0f forward passes at most\n ",
        chip_.stage, share(Bucket::kCompute), share(Bucket::kBubble), held);
    std::string out = text;
    for (std::size_t p = 0; p < program_->order.size(); ++p) {
      const std::span<const PipelineTask> tasks = tasks_at(static_cast<std::int32_t>(p));
      if (!tasks.empty()) out += " " + label(tasks, chunks_);
    }
    return out + "\n";
  }

 private:
  // Calls visit(position, begin, end) for the stretches of each position together.
  template <typename Visit>
  void each_run(Visit&& visit) const {
    for (std::size_t i = 0; i < stretches_.size();) {
      const std::size_t first = i;
      while (i < stretches_.size() && stretches_[i].position == stretches_[first].position) ++i;
      visit(stretches_[first].position, stretches_[first].begin, stretches_[i - 1].end);
    }
  }

  static std::int64_t rounded(Time time, Time column) { return (time.ps + column.ps / 2) / column.ps; }

  std::span<const PipelineTask> tasks_at(std::int32_t position) const { return program_->tasks_at(position); }

  const ChipTotals& chip_;
  const Time step_, all_steps_;
  const StageProgram* program_ = nullptr;
  bool chunks_ = false;  // several per stage
  std::vector<Stretch> stretches_;
};

// One class of chips for each stage, in order.
std::vector<StagePicture> pictures(const System& system, int job, const Timeline& timeline) {
  std::vector<StagePicture> result;
  std::vector<const ChipTotals*> chips;
  for (const ChipTotals& chip : timeline.chips) chips.push_back(&chip);
  std::stable_sort(chips.begin(), chips.end(), [](auto* a, auto* b) { return a->stage < b->stage; });
  for (const ChipTotals* chip : chips)
    if (result.empty() || result.back().stage() != chip->stage)
      result.emplace_back(system, *chip, job, timeline);
  return result;
}

// So wide that three in four tasks have room for their labels, or that the whole step fits.
Time column_width(const std::vector<StagePicture>& stages, Time step) {
  std::vector<Time> durations;
  for (const StagePicture& stage : stages) stage.append_durations(durations);
  Time width{step.ps / kWidth + 1};
  if (durations.empty()) return width;
  const auto short_one = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 4);
  std::nth_element(durations.begin(), short_one, durations.end());
  return std::min(width, Time{short_one->ps / kColumnsPerTask + 1});
}

}  // namespace

std::string dump_schedule(const System& system, int job, const Timeline& timeline) {
  const std::vector<StagePicture> stages = pictures(system, job, timeline);
  const Time step = timeline.step_end.front(), column = column_width(stages, step);
  const std::int64_t columns = (step.ps + column.ps - 1) / column.ps;
  const bool cut = columns > kWidth;
  char head[160];
  std::snprintf(head, sizeof head, "# %.6f s, a column is %.3f us%s\n", step.in_seconds(),
                column.in_seconds() * 1e6, cut ? ", the middle of the step is left out" : "");
  std::string out = head;
  for (const StagePicture& stage : stages) {
    std::snprintf(head, sizeof head, "%3d |", stage.stage());
    out += head + stage.draw(0, cut ? kWidth / 2 : columns, column);
    if (cut) out += " ~ " + stage.draw(columns - kWidth / 2, columns, column);
    out += "|\n";
  }
  for (const StagePicture& stage : stages) out += stage.tell();
  return out;
}

}  // namespace podsim
