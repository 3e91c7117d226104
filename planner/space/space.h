// Which layouts there are: the values of every axis, and which of their products a job can have.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "planner/space/layout.h"
#include "scheduler/question/spec.h"
#include "workload/model/model_program.h"

namespace podsim {

// What the search tree fixes last: a layout without its schedule and chunks is a stem.
//
// Automatic values. tensor: divisors of the chips up to eight NVLink domains, or 64 chips of a torus;
// context: 1, 2, 4, 8, 16; pipeline: divisors of the chips up to the layers, at most 64; expert: divisors of
// the experts; expert_tensor: 1; microbatch: divisors of a rank's sequences up to 16; schedule: 1F1B,
// interleaved and the job's own; chunks: those that give all chunks as many layers, embedding and head
// counted or not; sharding: ddp, zero1, and fsdp without a pipeline; recompute: none, selective, full and the
// job's own policy; recompute_layers: all. What is listed in a LayoutSpace replaces them. The job's own
// layout is there whatever these rules say, where no list leaves it out.
//
// Legal is what the loader accepts, and beyond that: sequences are cut into an even number of pieces per
// chip of the context axis; on a torus every axis takes whole dimensions of the slice.
class Space {
 public:
  // REQUIRES: `spec` has one job, of a model.
  Space(const Spec& spec, LayoutSpace wanted);

  // Legal stems in ascending order, with the schedule and chunks of 1F1B.
  const std::vector<JobLayout>& stems() const { return stems_; }
  // Legal layouts of a stem, in ascending order.
  std::vector<JobLayout> leaves(const JobLayout& stem) const;

  // Why a job cannot have a layout, or empty. The words are those of the loader where it refuses.
  std::string why_illegal(const JobLayout& layout) const;

  // Products of values of the axes, legal or not: counted, not listed.
  std::int64_t products() const { return products_; }

  // Of each axis those that are tried: what is listed, and automatic ones where nothing is.
  const LayoutSpace& values() const { return values_; }
  const Spec& spec() const { return spec_; }
  // Its job with layers dealt out evenly, as in every layout of the space.
  const Job& even_job() const { return even_job_; }
  const ModelProgram& model() const { return model_; }

 private:
  void fill_values();
  void add_meshes();
  void add_stems(JobLayout mesh);
  void add_own_layout();
  bool legal_mesh(const JobLayout& mesh) const;
  bool legal_sharding(const JobLayout& mesh, StateSharding sharding) const;
  bool legal_pipeline(const JobLayout& layout) const;
  bool whole_dimensions(const JobLayout& layout) const;
  std::vector<int> chunk_choices(PipelineSchedule schedule, int pipeline) const;
  void measure_chunks();
  bool in_one_number(const JobLayout& layout) const;

  const Spec& spec_;
  Job even_job_;
  const LayoutSpace wanted_;
  LayoutSpace values_;
  ModelProgram model_;
  bool automatic_sharding_ = false, automatic_chunks_ = false, automatic_microbatch_ = false;
  std::map<int, int> longest_chunk_;  // [chunks of the whole model] layers of the longest
  std::vector<JobLayout> stems_;
  std::optional<JobLayout> own_;
  std::int64_t products_ = 0;
};

}  // namespace podsim
