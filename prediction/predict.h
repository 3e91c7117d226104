// The straight line in one call: Spec -> Fabric, StepProgram, Placement, plans, System, Timeline -> Report.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "report/answer/report.h"
#include "report/pictures/step_detail.h"
#include "report/tracks/step_tracks.h"
#include "scheduler/question/cluster.h"
#include "scheduler/replay/recorded_trace.h"
#include "scheduler/simulation/simulate.h"

namespace podsim {

class KnownLayouts;
struct Spec;

struct PredictOptions {
  bool fold = true;
  bool steady = true;               // SimulateOptions::steady
  std::string dump;                 // "", "fabric", "program", "placement", "plan", "system", "schedule",
                                    // "timeline"
  std::string left_out_group = {};  // measured runs that do not count in the band: prediction/error_band.h
  bool trace = false;               // Prediction::trace
  bool tracks = false;              // Prediction::tracks
  bool detail = false;              // Prediction::detail
  Loop loop = Loop::kFast;          // SimulateOptions::loop
  int threads = 1;                  // for draws of several seeds; the result does not depend on them
  bool memory_advice = true;        // tell what would make a job fit that does not
  std::function<void()> draw_done = {};  // called for each of them, from any thread; may be empty
  // Of one job: shardings and algorithms are those that would be chosen on this cluster of as many chips,
  // but for evaluations. REQUIRES: its chip multiplies in the job's precision.
  std::optional<Cluster> chosen_on = {};
  std::int64_t most_events = INT64_MAX;  // SimulateOptions::most_events: predict_step throws EventBudgetSpent
  // Told now and then which share is done of the prediction of one job without draws; may be empty.
  std::function<void(double)> share_done = {};
};

struct Prediction {
  Report report;                   // of a scenario with one job
  std::optional<JobsReport> jobs;  // of a scenario with `jobs`, instead
  std::string dump;                // text of the stage asked for; of several jobs, those together
  // Where asked for, steps of the first draw, every data rank by itself; nothing of several jobs, and where
  // passes have no operations in traces (prediction/attribution.h).
  std::optional<RecordedTrace> trace;
  // Where asked for, the first step of the first draw; nothing of several jobs.
  std::optional<StepTracks> tracks;
  std::optional<StepDetail> detail;  // the same for pictures
};

// A job among several has its place on the whole fabric also when it is predicted alone, so that the
// others are all that differs. Together they are simulated for at least 16 steps each, or the scenario's
// `steps` if more (scheduler/simulation/simulate.h says which steps count). Where steps differ, by chance
// or at speeds that change, a job alone makes as many steps as count together, with the same draws. Of
// several seeds the draws are simulated one by one on the same system; --dump shows the first. REQUIRES:
// the spec is valid (proto::load_scenario found no problem). Throws TooManyChips where more than
// kMaxChips would have to be told apart, StepTooLong (prediction/step_length.h) where simulated time ends
// before the steps. Deterministic: same spec, same result.
Prediction predict_step(const Spec& spec, const PredictOptions& options);

// The same with what is known of layouts from before.
Prediction predict_step(const Spec& spec, const PredictOptions& options, KnownLayouts& known);

// Draws that predict_step simulates for a spec with several seeds, each of which is told by draw_done; 0 for
// others.
std::int64_t draws_told(const Spec& spec);

}  // namespace podsim
