// Adversities that hit nothing, or change nothing of what they hit.
#include "proto/scenario/idle_adversities.h"

#include <algorithm>
#include <string>

#include "proto/scenario.pb.h"
#include "scheduler/question/spec.h"
#include "workload/job/job.h"
#include "workload/partition/measured_part.h"
#include "workload/sharding/sharding.h"

namespace podsim {
namespace {

class IdleAdversities {
 public:
  IdleAdversities(const schema::Scenario& scenario, const Spec& spec, Document& document)
      : adversity_(scenario.adversity()), spec_(spec), document_(document) {}

  void warn() {
    numbered_faults();
    for (int i = 0; i < adversity_.slow_size(); ++i) slow(adversity_.slow(i), at("slow", i));
    for (int i = 0; i < adversity_.background_size(); ++i) {
      const schema::BackgroundLoad& load = adversity_.background(i);
      const std::string path = at("background", i);
      if (load.taken_fraction() == 0) document_.warn_idle(path + ".taken_fraction", "nothing is taken");
      selector(load.which(), path, load.has_draw(), load.when().has_on_off());
    }
    for (int i = 0; i < adversity_.nic_flap_size(); ++i)
      selector(adversity_.nic_flap(i).which(), at("nic_flap", i), false, false);
    chance();
  }

 private:
  static std::string at(const std::string& field, int i) {
    return "adversity." + field + "[" + std::to_string(i) + "]";
  }

  static std::string no_job_has(ChipId chip) { return "no job has chip " + std::to_string(chip); }

  // The job that has the chip; of several jobs that may be none.
  const Job* job_of(ChipId chip) const {
    if (spec_.jobs.empty()) return &spec_.job;
    for (const PlacedJob& placed : spec_.jobs)
      if (chip >= placed.first_chip && chip < placed.first_chip + placed.chips) return &placed.job;
    return nullptr;
  }

  // Links of GPUs carry what GPUs of the same NVLink domain send; links of tori, what passes by.
  bool link_idles(ChipId chip) const {
    if (!spec_.cluster.fabric.gpu) return false;
    const int domain = spec_.cluster.fabric.gpu->gpus_per_domain, first = chip - chip % domain;
    for (ChipId of_domain = first; of_domain < first + domain; ++of_domain)
      if (job_of(of_domain)) return false;
    return true;
  }

  void numbered_faults() {
    for (int i = 0; i < adversity_.slow_chip_size(); ++i) {
      const schema::SlowChipFault& fault = adversity_.slow_chip(i);
      if (fault.speed_fraction() == 1)
        document_.warn_idle(at("slow_chip", i) + ".speed_fraction", "1 is the whole speed");
      if (!job_of(fault.chip())) document_.warn_idle(at("slow_chip", i), no_job_has(fault.chip()));
    }
    for (int i = 0; i < adversity_.slow_link_size(); ++i) {
      const schema::SlowLinkFault& fault = adversity_.slow_link(i);
      if (fault.speed_fraction() == 1)
        document_.warn_idle(at("slow_link", i) + ".speed_fraction", "1 is the whole bandwidth");
      if (link_idles(fault.chip())) document_.warn_idle(at("slow_link", i), no_job_has(fault.chip()));
    }
    for (int i = 0; i < adversity_.late_launch_size(); ++i)
      late_launch(adversity_.late_launch(i), at("late_launch", i));
  }

  static bool reduces_gradients(const Job& job) {
    if (!job.measured) return batch_shards(job) > 1;
    return std::ranges::any_of(job.measured->layers, [&](const MeasuredLayer& layer) {
      const LayerCollective& reduced = layer.weight_gradient_collective;
      return reduced.bytes.value > 0 && axes_of(job, reduced) != 0;
    });
  }

  void late_launch(const schema::LateLaunch& late, const std::string& path) {
    const Job* job = job_of(late.chip());
    if (!job)
      document_.warn_idle(path, no_job_has(late.chip()));
    else if (!reduces_gradients(*job))
      document_.warn_idle(path, job->measured ? "no layer has a weight_gradient_collective of several devices"
                                              : "there is one batch shard, and gradients are not reduced");
    else if (late.more_each_step_ms() > 0 && spec_.steps == 1)
      document_.warn_idle(path + ".more_each_step_ms",
                          "it comes with every further step, and one is simulated",
                          "steps: 100 simulates a hundred");
  }

  // Whether all numbers are of chips without a job, of hosts without, or of their links.
  bool parts_idle(const schema::PartSelector& which) const {
    if (which.index_size() + which.indices_size() == 0) return false;
    const auto idles = [&](int number) { return part_idles(which.kind(), number); };
    for (const schema::NumberRange& range : which.indices())
      for (int number = range.first(); number <= range.last(); ++number)
        if (!idles(number)) return false;
    return std::ranges::all_of(which.index(), idles);
  }

  bool part_idles(const std::string& kind, int number) const {
    if (kind == "chip") return !job_of(number);
    if (kind == "nic" || kind == "nvlink") return link_idles(number);
    if (kind != "host" || !spec_.cluster.fabric.gpu) return false;
    const int chips = spec_.cluster.fabric.chips_per_host;
    for (ChipId chip = number * chips; chip < (number + 1) * chips; ++chip)
      if (job_of(chip)) return false;
    return true;
  }

  void slow(const schema::SlowParts& entry, const std::string& path) {
    if (entry.speed_fraction() == 1 && !entry.when().has_swing())
      document_.warn_idle(path + ".speed_fraction", "1 is the whole speed");
    if (entry.has_speed() && entry.speed().shape() == schema::SpeedDistribution::uniform) {
      if (entry.speed().has_mean())
        document_.warn_idle(path + ".speed.mean", "uniform speeds lie between low and high");
      if (entry.speed().has_coefficient_of_variation())
        document_.warn_idle(path + ".speed.coefficient_of_variation",
                            "uniform speeds lie between low and high");
    }
    selector(entry.which(), path, entry.has_draw(), entry.has_speed() || entry.when().has_on_off());
  }

  // `more_drawn`: beside who is hit, the speed or the time is drawn.
  void selector(const schema::PartSelector& which, const std::string& path, bool has_draw, bool more_drawn) {
    const bool drawn = more_drawn || (which.has_random_fraction() && which.random_fraction() < 1);
    const std::string hint = "random_fraction, speed and on_off are drawn";
    if (which.has_together() && !drawn)
      document_.warn_idle(path + ".which.together", "nothing of the entry is drawn", hint);
    if (has_draw && !drawn) document_.warn_idle(path + ".draw", "nothing of the entry is drawn", hint);
    if (parts_idle(which)) document_.warn_idle(path, "no job has a chip of these parts");
  }

  void chance() {
    if (adversity_.has_jitter_coefficient_of_variation() && adversity_.jitter_override().has_of_operation())
      document_.warn_idle("adversity.jitter_override.of_operation", "jitter_coefficient_of_variation counts");
    for (int i = 0; i < adversity_.jitter_override().hiccup_size(); ++i) {
      const schema::Hiccup& hiccup = adversity_.jitter_override().hiccup(i);
      const std::string path = "adversity.jitter_override.hiccup[" + std::to_string(i) + "]";
      if (hiccup.probability() == 0 || hiccup.mean_share() == 0)
        document_.warn_idle(path, "it never costs anything");
    }
    if (adversity_.has_input_stall() && adversity_.input_stall().probability() == 0)
      document_.warn_idle("adversity.input_stall.probability", "no load ever stalls");
  }

  const schema::Adversity& adversity_;
  const Spec& spec_;
  Document& document_;
};

}  // namespace

void warn_of_idle_adversities(const schema::Scenario& scenario, const Spec& spec, Document& document) {
  IdleAdversities(scenario, spec, document).warn();
}

}  // namespace podsim
