// Improves chips and links one by one.
#include "tests/swarm/better_hardware.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "prediction/predict.h"
#include "proto/scenario/load.h"
#include "tests/swarm/random_scenario.h"

namespace podsim::testing {
namespace {

void speed_up(LinkSpec& link) { link.bandwidth = link.bandwidth * 1.5; }
void shorten(LinkSpec& link) { link.latency = Time{}; }

}  // namespace

std::optional<Spec> drawn_job(const Catalog& catalog, std::uint64_t seed) {
  LoadResult loaded = load_scenario("drawn.textproto", random_scenario(seed), catalog, {});
  if (!loaded.spec || !loaded.spec->jobs.empty()) return std::nullopt;
  loaded.spec->adversities = {};
  loaded.spec->steps = loaded.spec->seeds = 1;
  return std::move(loaded.spec);
}

std::optional<Spec> kept_job(const Catalog& catalog, int number) {
  const std::string name = "drawn_" + std::to_string(number) + ".textproto";
  std::ifstream in(PODSIM_SOURCE_DIR "/tests/swarm/jobs/" + name);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return load_scenario(name, text, catalog, {}).spec;
}

std::vector<Improvement> improvements_of(const Cluster& cluster) {
  std::vector<Improvement> all = {
      {"matrix units 1.3 times as fast",
       [](Cluster& of) {
         for (auto& [dtype, rate] : of.chip.matmul) rate.peak = rate.peak * 1.3;
       }},
      {"HBM 1.3 times as fast", [](Cluster& of) { of.chip.hbm = of.chip.hbm * 1.3; }},
      {"collectives launched at once", [](Cluster& of) { of.fabric.collective_launch = Time{}; }}};
  if (cluster.fabric.gpu) {
    all.push_back({"NIC bandwidth", [](Cluster& of) { speed_up(of.fabric.gpu->nic); }});
    all.push_back({"NIC latency", [](Cluster& of) { shorten(of.fabric.gpu->nic); }});
    all.push_back({"NVLink bandwidth", [](Cluster& of) { speed_up(of.fabric.gpu->nvlink); }});
    all.push_back({"NVLink latency", [](Cluster& of) { shorten(of.fabric.gpu->nvlink); }});
  } else {
    all.push_back({"ICI bandwidth", [](Cluster& of) { speed_up(of.fabric.torus->ici); }});
    all.push_back({"ICI latency", [](Cluster& of) { shorten(of.fabric.torus->ici); }});
  }
  if (cluster.fabric.slices > 1) {
    all.push_back({"DCN bandwidth", [](Cluster& of) { speed_up(of.fabric.dcn); }});
    all.push_back({"DCN latency", [](Cluster& of) { shorten(of.fabric.dcn); }});
  }
  return all;
}

double step_s(const Spec& spec) { return predict_step(spec, {}).report.step_time.in_seconds(); }

double step_s(const Spec& spec, const Improvement& improvement) {
  Spec better = spec;
  improvement.make(better.cluster);
  return step_s(better);
}

double step_as_chosen_before_s(const Spec& spec, const Improvement& improvement) {
  Spec better = spec;
  improvement.make(better.cluster);
  PredictOptions options;
  options.chosen_on = spec.cluster;
  return predict_step(better, options).report.step_time.in_seconds();
}

}  // namespace podsim::testing
