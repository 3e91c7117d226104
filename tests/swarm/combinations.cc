// The factors, and how each of their values is written.
#include "tests/swarm/combinations.h"

#include <google/protobuf/text_format.h>

#include <algorithm>

#include "engine/check.h"
#include "proto/scenario.pb.h"

namespace podsim::testing {
namespace {

enum Factor {
  kSchedule,
  kAdversity,
  kFabric,
  kLengths,
  kSharding,
  kRecompute,
  kPrecision,
  kJobs,
  kSteps,
  kSeeds
};

// What one row says, by name.
class Writer {
 public:
  explicit Writer(const ChoiceRow& row) : row_(row) {}

  std::string write() {
    scenario_.set_name("combination");
    if (value(kSteps) != "1") scenario_.set_steps(3);
    if (value(kSeeds) != "1") scenario_.set_seeds(2);
    cluster();
    if (two_jobs()) {
      for (const char* name : {"a", "b"}) {
        schema::PlacedJob& placed = *scenario_.add_jobs();
        placed.set_name(name);
        placed.set_first_chip(name[0] == 'b' ? chips_ : 0);
        placed.set_chips(chips_);
        job(*placed.mutable_job());
      }
    } else {
      job(*scenario_.mutable_job());
    }
    adversity();
    std::string text;
    google::protobuf::TextFormat::PrintToString(scenario_, &text);
    return text;
  }

 private:
  const std::string& value(Factor factor) const { return choice_factors()[factor].values[row_[factor]]; }
  bool two_jobs() const { return value(kJobs) == "two"; }
  bool gpu() const { return value(kFabric) == "fat_tree" || value(kFabric) == "nvl72"; }

  void cluster();
  void gpu_cluster(schema::ClusterChoice& cluster);
  void torus(schema::ClusterChoice& cluster);
  void job(schema::JobChoice& job);
  void mesh(schema::JobChoice& job);
  void schedule(schema::JobChoice& job);
  void recompute(schema::JobChoice& job);
  void adversity();
  void adversity_by_selector(schema::Adversity& adversity);
  void adversity_by_chance(schema::Adversity& adversity);

  const ChoiceRow& row_;
  schema::Scenario scenario_;
  int chips_ = 8;  // of a job
};

void Writer::cluster() {
  schema::ClusterChoice& cluster = *scenario_.mutable_cluster();
  if (gpu()) return gpu_cluster(cluster);
  torus(cluster);
}

// Domains of four, each below a leaf of its own, and spines between the leaves.
void Writer::gpu_cluster(schema::ClusterChoice& cluster) {
  const bool rack = value(kFabric) == "nvl72";
  cluster.set_chip(rack ? "gb200" : "h100");
  cluster.set_fabric(rack ? "nvl72_gb200" : "dgx_h100");
  cluster.set_chips(two_jobs() ? 2 * chips_ : chips_);
  schema::GpuCluster& gpus = *cluster.mutable_fabric_override()->mutable_gpu_cluster();
  gpus.set_gpus_per_domain(4);
  gpus.set_rail_optimised(false);
  for (const int down : {4, 4, 4}) gpus.add_tier()->set_down(down);
}

// A torus of 4 x 4 with cables all round, two cubes of 2 x 2 x 2 joined by optical switches, two slices of 2
// x 2.
void Writer::torus(schema::ClusterChoice& cluster) {
  const std::string& fabric = value(kFabric);
  const bool slices = fabric == "multislice", pod = fabric == "ocs";
  cluster.set_chip(pod ? "tpu_v5p" : "tpu_v5e");
  cluster.set_fabric(pod ? "v5p_pod" : "v5e_pod");
  for (const int side : pod ? std::vector{2, 2, 4} : slices ? std::vector{2, 2} : std::vector{4, 4})
    cluster.add_slice_shape(side);
  if (pod) cluster.mutable_fabric_override()->mutable_torus()->set_cube(2);
  if (fabric == "torus") cluster.mutable_fabric_override()->mutable_torus()->add_wrap_length(4);
  if (!slices) chips_ = 16;
  cluster.set_slices((two_jobs() ? 2 : 1) * (slices ? 2 : 1));
}

void Writer::job(schema::JobChoice& job) {
  job.set_model(value(kSharding) == "expert" ? "mixtral_8x7b" : "llama3_8b");
  job.set_stack(gpu() ? "torchtitan" : "maxtext_2025");
  job.set_sequence_tokens(2048);
  schema::Model& small = *job.mutable_model_override();  // so that it fits, and nothing has to be advised
  small.set_d_model(512);
  small.set_heads(8);
  small.set_kv_heads(4);
  small.set_ffn(1024);
  small.set_vocabulary(1024);
  if (value(kSharding) == "expert") small.mutable_experts()->set_expert_ffn(1024);
  mesh(job);
  schedule(job);
  recompute(job);
  if (value(kPrecision) == "low")
    job.set_precision(gpu() ? schema::PrecisionRecipe::fp8 : schema::PrecisionRecipe::int8);
  if (value(kLengths) == "even") return;
  job.set_lengths("long_tail_32k");
  schema::JobChoice::LengthBalance balance = schema::JobChoice::as_drawn;
  PODSIM_CHECK(schema::JobChoice::LengthBalance_Parse(value(kLengths), &balance), value(kLengths));
  job.set_length_balance(balance);
}

void Writer::mesh(schema::JobChoice& job) {
  const std::string& sharding = value(kSharding);
  int rest = chips_;
  const auto axis = [&](const char* name, int size) {
    schema::MeshAxis& added = *job.add_mesh();
    added.set_name(name);
    added.set_size(schema::MeshAxis::Size(size));
    rest /= size;
  };
  int sequences = chips_;  // a microbatch of all batch shards
  if (value(kSchedule) != "none") {
    axis("pipeline", 2);
    sequences /= 2;
  }
  if (sharding == "two_dimensional") {
    axis("y", 2);
    axis("x", rest);
    job.add_sharding("2d_finalized");
    sequences /= 2;
  } else if (sharding == "hsdp") {
    axis("data", 2);
    axis("fsdp", rest);
    job.add_sharding("hsdp");
  } else if (sharding == "fsdp") {
    axis("fsdp", rest);
    job.add_sharding("fsdp");
  } else {
    const char* inner = sharding == "megatron_sp"      ? "tensor"
                        : sharding.find("context") + 1 ? "context"
                                                       : "expert";
    const bool plain = sharding == "data" || sharding == "zero1";
    axis("data", plain ? rest : rest / 2);
    if (!plain) axis(inner, 2);
    job.add_sharding("data");
    if (sharding != "data") job.add_sharding(sharding);
    if (!plain && sharding != "expert") sequences /= 2;
  }
  job.set_microbatch_sequences(1);
  job.set_global_batch_sequences(sequences * (value(kSchedule) == "none" ? 2 : 4));
}

void Writer::schedule(schema::JobChoice& job) {
  const std::string& name = value(kSchedule);
  int pieces = name == "none" ? 1 : 2;
  if (name != "none") {
    schema::Pipeline::Schedule schedule = schema::Pipeline::gpipe;
    PODSIM_CHECK(schema::Pipeline::Schedule_Parse(name, &schedule), name);
    job.mutable_pipeline()->set_schedule(schedule);
    if (name == "interleaved" || name == "shifting") job.mutable_pipeline()->set_chunks_per_stage(2);
    if (name == "interleaved" || name == "shifting" || name == "zero_bubble_v") pieces = 4;
  }
  job.mutable_model_override()->set_layers(std::max(pieces, 2));
}

void Writer::recompute(schema::JobChoice& job) {
  const std::string& name = value(kRecompute);
  if (name == "selective") job.set_recompute(schema::JobChoice::selective);
  if (name == "full") job.set_recompute(schema::JobChoice::full);
  if (name == "policy") job.set_recompute_policy("minimal");
  if (name == "offload") job.set_recompute_policy("minimal_offloaded");
}

void Writer::adversity() {
  const std::string& name = value(kAdversity);
  if (name == "none") return;
  schema::Adversity& adversity = *scenario_.mutable_adversity();
  if (name == "slow_chip") {
    adversity.add_slow_chip()->set_chip(1);
    adversity.mutable_slow_chip(0)->set_speed_fraction(0.8);
  } else if (name == "slow_link") {
    schema::SlowLinkFault& link = *adversity.add_slow_link();
    link.set_chip(1);
    link.set_kind(gpu() ? "nic" : "ici");
    link.set_speed_fraction(0.5);
  } else if (name == "failure") {
    if (gpu()) {
      adversity.add_failed_switch()->set_kind("spine");
      adversity.mutable_failed_switch(0)->set_index(0);
    } else {
      adversity.add_failed_link()->set_chip(0);
      adversity.mutable_failed_link(0)->set_to_chip(1);
    }
  }
  adversity_by_selector(adversity);
  adversity_by_chance(adversity);
}

void Writer::adversity_by_selector(schema::Adversity& adversity) {
  const std::string& name = value(kAdversity);
  const char* link = gpu() ? "nic" : value(kFabric) == "multislice" ? "dcn" : "ici";
  if (name == "slow") {
    schema::SlowParts& slow = *adversity.add_slow();
    slow.mutable_which()->set_kind("chip");
    slow.mutable_which()->set_random_fraction(0.3);
    slow.set_speed_fraction(0.7);
    slow.mutable_when()->mutable_on_off()->set_share(0.5);
    slow.mutable_when()->mutable_on_off()->set_slot_s(0.05);
  } else if (name == "background") {
    schema::BackgroundLoad& load = *adversity.add_background();
    load.mutable_which()->set_kind(link);
    load.mutable_which()->add_index(0);
    load.set_taken_fraction(0.4);
  } else if (name == "nic_flap") {
    schema::NicFlap& flap = *adversity.add_nic_flap();
    flap.mutable_which()->set_kind(link);
    flap.mutable_which()->add_index(1);
    flap.set_at_s(0.01);
    flap.set_down_s(0.2);
    flap.set_library_timeout_s(60);
  }
}

void Writer::adversity_by_chance(schema::Adversity& adversity) {
  const std::string& name = value(kAdversity);
  if (name == "jitter") {
    adversity.set_jitter("typical");
    adversity.mutable_jitter_override()->set_of_operation(0.02);
    adversity.mutable_jitter_override()->set_of_chip_step(0.02);
  } else if (name == "garbage_collection") {
    adversity.mutable_garbage_collection()->set_every_steps(2);
    adversity.mutable_garbage_collection()->set_pause_ms(20);
  } else if (name == "input_stall") {
    adversity.mutable_input_stall()->set_probability(0.3);
    adversity.mutable_input_stall()->set_mean_ms(20);
  } else if (name == "late_launch") {
    adversity.add_late_launch()->set_chip(3);
    adversity.mutable_late_launch(0)->set_late_ms(5);
    adversity.mutable_late_launch(0)->set_random_ms(1);
  }
}

}  // namespace

const std::vector<ChoiceFactor>& choice_factors() {
  static const std::vector<ChoiceFactor> all = {
      {"schedule",
       {"none", "gpipe", "one_f_one_b", "interleaved", "shifting", "zero_bubble_h1", "zero_bubble_v",
        "dualpipe"}},
      {"adversity",
       {"none", "slow_chip", "slow_link", "failure", "slow", "background", "nic_flap", "jitter",
        "garbage_collection", "input_stall", "late_launch"}},
      {"fabric", {"fat_tree", "nvl72", "torus", "ocs", "multislice"}},
      {"lengths", {"even", "as_drawn", "sorted", "squares"}},
      {"sharding",
       {"data", "zero1", "fsdp", "hsdp", "megatron_sp", "context", "ring_context", "expert",
        "two_dimensional"}},
      {"recompute", {"none", "selective", "full", "policy", "offload"}},
      {"precision", {"bf16", "low"}},
      {"jobs", {"one", "two"}},
      {"steps", {"1", "3"}},
      {"seeds", {"1", "2"}}};
  return all;
}

std::string why_impossible(const ChoicePair&) { return ""; }

std::vector<ChoiceRow> combination_rows() {
  std::vector<int> values;
  for (const ChoiceFactor& factor : choice_factors())
    values.push_back(static_cast<int>(factor.values.size()));
  return covering_rows(values, [](const ChoicePair& pair) { return why_impossible(pair).empty(); });
}

std::string combination_scenario(const ChoiceRow& row) { return Writer(row).write(); }

std::string words_of(const ChoiceRow& row) {
  std::string words;
  for (std::size_t f = 0; f < row.size(); ++f)
    words += (f == 0 ? "" : ", ") + choice_factors()[f].name + " " + choice_factors()[f].values[row[f]];
  return words;
}

}  // namespace podsim::testing
