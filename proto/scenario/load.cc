// A scenario from its bytes to a Spec: parse, override, check each field, then look names up and check what
// hangs together.
#include "proto/scenario/load.h"

#include <algorithm>

#include "proto/scenario.pb.h"
#include "proto/scenario/idle_adversities.h"
#include "proto/scenario/idle_fields.h"
#include "proto/scenario/idle_questions.h"
#include "proto/scenario/read_scenario.h"
#include "proto/scenario/resolve.h"
#include "proto/scenario/resolve_degradation.h"
#include "report/text/text.h"

namespace podsim {
namespace {

// A scenario has either one job on the whole cluster or jobs that share it.
void check_job_or_jobs(const schema::Scenario& scenario, Document& document) {
  if (scenario.has_job() && scenario.jobs_size() > 0)
    document.report("jobs[0]", "the scenario has both job and jobs",
                    "write job for one on the whole cluster, or jobs for several that share it");
  if (!scenario.has_job() && scenario.jobs_size() == 0)
    document.report(
        "job", "job is missing",
        scenario.has_reliability()
            ? "podsim reliability answers what the scenario asks; to run a step, add a job"
        : scenario.has_availability()
            ? "podsim availability answers what the scenario asks; to run a job, add one"
            : "write, for example, job { model: \"llama3_70b\" ... }, or jobs { name: \"a\" ... } for "
              "several that share the cluster");
}

constexpr std::int64_t kMostStepsOfSeeds = 10'000'000;  // their times are kept: 80 MB

void resolve_seeds(const schema::Scenario& scenario, Spec& spec, Document& document) {
  if (scenario.has_steps()) spec.steps = scenario.steps();
  if (scenario.has_seeds()) spec.seeds = scenario.seeds();
  spec.asks_weeks = scenario.has_reliability();
  const std::int64_t steps = std::int64_t{spec.steps} * spec.seeds;
  if (steps > kMostStepsOfSeeds)
    document.report("seeds", "seeds x steps must be at most 10,000,000, not " + significant(steps, 1));
}

// What is asked for but cannot be told.
void warn_of_idle_counts(const schema::Scenario& scenario, const Spec& spec, Document& document) {
  const Adversities& adversities = spec.adversities;
  if (scenario.has_seed() && !scenario.has_reliability() && !adversities.random() &&
      std::ranges::none_of(adversities.degradations, &Degradation::drawn))
    document.warn("seed", "seed has no effect: nothing is random",
                  "routing_seed is that of ecmp; adversity { jitter: \"typical\" } is random");
  if (spec.steps > 1 && spec.jobs.empty() && !adversities.random() && !adversities.changing())
    document.warn("steps", "steps has no effect: all steps are the same",
                  "they differ by chance, at changing speeds or beside other jobs");
  if (spec.seeds > 1 && !scenario.has_reliability() && !spec.adversities.random())
    document.warn("seeds", "seeds has no effect: nothing is random, so that all draws are the same",
                  "adversity { jitter: \"typical\" } is random");
  if (spec.adversities.changing() && !scenario.has_steps() && spec.jobs.empty())
    document.warn("adversity", "speeds change over time, but only one step is simulated",
                  "steps: 1000 simulates a thousand");
}

constexpr int kManyRoutedGpus = 1024;  // a step with more takes a minute and, twice as many, four

// Where each flow has a path of its own, no two GPUs have the same place.
void warn_of_long_planning(const schema::Scenario& scenario, const FabricSpec& fabric, Document& document) {
  const bool single_paths = fabric.routing == Routing::kEcmp || fabric.routing == Routing::kStatic;
  if (!fabric.gpu || !single_paths || fabric.chips <= kManyRoutedGpus) return;
  document.warn(
      scenario.cluster().has_routing() ? "cluster.routing" : "cluster.fabric",
      "the routes of " + significant(fabric.chips, 1) + " GPUs are planned one by one, which takes minutes",
      "routing: adaptive, where flows do not collide, takes a moment");
}

// Of more chips than can be listed one healthy job is simulated. False where something else is asked for.
bool asks_of_listable_chips(const schema::Scenario& scenario, const FabricSpec& fabric, Document& document) {
  if (fabric.chips <= kMaxChips) return true;
  const auto refuse = [&](bool there, const char* path) {
    if (there)
      document.report(path, std::string(path) + " is of a cluster of at most " + std::to_string(kMaxChips) +
                                " chips, not " + std::to_string(fabric.chips));
    return there;
  };
  const bool adversity = refuse(scenario.has_adversity(), "adversity");
  const bool jobs = refuse(scenario.jobs_size() > 0, "jobs");
  return !refuse(scenario.job().has_lengths(), "job.lengths") && !adversity && !jobs;
}

}  // namespace

std::optional<Spec> resolve_spec(const schema::Scenario& scenario, const Catalog::Entries& entries,
                                 Document& document) {
  Spec spec;
  set_heading(scenario, document, spec);
  resolve_seeds(scenario, spec, document);

  const auto& cluster = scenario.cluster();
  std::optional<Chip> chip;
  std::optional<FabricSpec> fabric;
  std::optional<Price> price;
  std::optional<Carbon> carbon;
  if (scenario.has_cluster()) {
    chip = resolve_chip(cluster, entries, "cluster", document);
    fabric = resolve_fabric(cluster, entries, "cluster", document);
    if (fabric && !asks_of_listable_chips(scenario, *fabric, document)) fabric.reset();
    if (fabric) resolve_failed_cubes(scenario.adversity(), *fabric, "adversity", document);
    if (chip && fabric)
      price = resolve_price(cluster, *chip, fabric->chips_per_host, entries, "cluster", document);
    if (chip) carbon = resolve_carbon(cluster, entries, "cluster", document);
  }
  const ClusterParts parts{chip ? &*chip : nullptr, fabric ? &*fabric : nullptr};
  check_job_or_jobs(scenario, document);
  std::optional<Job> job;
  if (scenario.has_job()) job = resolve_job(scenario.job(), entries, parts, "job", document);
  if (job && fabric) spec.placement = resolve_placement(scenario.job(), job->mesh, *fabric, "job", document);
  spec.jobs = resolve_jobs(scenario, entries, parts, document);
  if (fabric) {
    spec.adversities = resolve_adversities(scenario.adversity(), entries, *fabric, "adversity", document);
    const JobOnFabric one = job && document.clean() ? JobOnFabric{&*job, &spec.placement} : JobOnFabric{};
    for (const Degradation& slow :
         resolve_degradations(scenario.adversity(), *fabric, one, spec.seed, "adversity", document))
      spec.adversities.add(slow);
    spec.adversities.seed = spec.seed;
  }
  const auto has_lengths = [](const Job& each) { return each.lengths.any(); };
  spec.adversities.variation.uneven_lengths =
      (job && has_lengths(*job)) || std::any_of(spec.jobs.begin(), spec.jobs.end(),
                                                [&](const PlacedJob& each) { return has_lengths(each.job); });
  warn_of_idle_counts(scenario, spec, document);
  if (!document.clean() || !chip || !fabric || !price) return std::nullopt;
  spec.cluster = {*chip, *fabric, *price, carbon};
  if (job) spec.job = *std::move(job);
  warn_of_long_planning(scenario, *fabric, document);
  warn_of_idle_fields(scenario, spec, document);
  warn_of_idle_adversities(scenario, spec, document);
  return spec;
}

LoadResult load_scenario(const std::string& file_name, const std::string& text, const Catalog& catalog,
                         const std::vector<Override>& overrides) {
  return loaded(file_name, text, overrides, &LoadResult::spec,
                [&](const schema::Scenario& scenario, Document& document) {
                  auto spec = resolve_spec(scenario, catalog.entries(), document);
                  warn_of_other_questions(AskedOf::kStep, scenario, document);
                  return spec;
                });
}

LoadResult load_scenario_file(const std::string& path, const Catalog& catalog,
                              const std::vector<Override>& overrides) {
  return loaded_file(path, catalog, overrides, load_scenario);
}

}  // namespace podsim
