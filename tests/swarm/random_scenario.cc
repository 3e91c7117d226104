// A scenario as a whole: one job or several, steps, seeds, and what goes wrong.
#include "tests/swarm/random_scenario.h"

#include <google/protobuf/text_format.h>

#include <algorithm>

#include "proto/scenario.pb.h"

namespace podsim::testing {
namespace {

// Jobs side by side: parts of one NVLink domain, or whole domains and slices.
void draw_jobs(Draw& draw, const DrawnCluster& cluster, schema::Scenario& scenario) {
  const bool within = cluster.gpu && cluster.chips <= cluster.unit;
  const int grain = within ? std::max(cluster.chips / 4, 1) : cluster.unit;
  int free = 0;
  for (const char* name : {"a", "b", "c"}) {
    const int grains = (cluster.chips - free) / grain;
    if (grains < 1) break;
    schema::PlacedJob& placed = *scenario.add_jobs();
    placed.set_name(name);
    placed.set_first_chip(free);
    placed.set_chips(grain * draw.between(1, std::max(grains / 2, 1)));
    draw_job(draw, cluster, placed.chips(), *placed.mutable_job());
    free += placed.chips();
    if (draw.chance(0.2)) free += grain;
  }
}

void draw_counts(Draw& draw, schema::Scenario& scenario) {
  if (draw.chance(0.4)) scenario.set_steps(draw.between(1, 5));
  if (draw.chance(0.05)) scenario.set_steps(40);
  if (draw.chance(0.15)) scenario.set_seeds(draw.between(1, 4));
  if (draw.chance(0.3)) scenario.set_seed(draw.chance(0.1) ? draw.bits() : draw.below(1000));
  if (draw.chance(0.1)) scenario.set_question("What, \"exactly\", does it cost?");
}

}  // namespace

std::string random_scenario(std::uint64_t seed) {
  Draw draw(seed);
  schema::Scenario scenario;
  scenario.set_name("drawn_" + std::to_string(seed));
  draw_counts(draw, scenario);
  const DrawnCluster cluster = draw_cluster(draw, *scenario.mutable_cluster());
  if (cluster.chips > 1 && draw.chance(0.12)) {
    draw_jobs(draw, cluster, scenario);
  } else {
    draw_job(draw, cluster, cluster.chips, *scenario.mutable_job());
  }
  if (draw.chance(0.6)) draw_adversity(draw, cluster, *scenario.mutable_adversity());
  draw_terms(draw, cluster.gpu, *scenario.mutable_cluster());
  std::string text;
  google::protobuf::TextFormat::PrintToString(scenario, &text);
  return text;
}

std::string swarm_scenario(std::uint64_t seed) {
  return seed % 5 == 4 ? spoiled_scenario(seed) : random_scenario(seed);
}

}  // namespace podsim::testing
