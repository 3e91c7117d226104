// The jobs blocks: several jobs on one cluster, each with chips of its own.
#include <algorithm>
#include <map>
#include <numeric>

#include "proto/scenario.pb.h"
#include "proto/scenario/resolve.h"
#include "scheduler/placement/subcluster.h"

namespace podsim {
namespace {

constexpr int kMostJobs = 1000;

std::string job_path_of(int job) { return "jobs[" + std::to_string(job) + "]"; }

// Results are named by the jobs.
void names_differ(const schema::Scenario& scenario, Document& document) {
  std::map<std::string, int> known;
  for (int i = 0; i < scenario.jobs_size(); ++i) {
    const auto& job = scenario.jobs(i);
    if (!job.has_name()) continue;
    const std::string field = join_path(job_path_of(i), "name");
    if (job.name().empty()) document.report(field, field + " must not be empty");
    if (!known.emplace(job.name(), i).second)
      document.report(field, "there are two jobs of the name \"" + job.name() + "\"");
  }
}

// The job's own fabric, where its chips exist and nothing is cut that cannot be.
std::optional<FabricSpec> subcluster_of(const schema::PlacedJob& job, const FabricSpec& fabric,
                                        const std::string& path, Document& document) {
  if (!job.has_first_chip() || !job.has_chips()) return std::nullopt;
  const std::string why = explain_invalid_subcluster(fabric, job.first_chip(), job.chips());
  if (why.empty()) return subcluster(fabric, job.chips());
  const bool begins = explain_invalid_subcluster(fabric, job.first_chip(), 1).empty();
  document.report(join_path(path, fabric.torus || begins ? "chips" : "first_chip"), why);
  return std::nullopt;
}

void chips_differ(const std::vector<PlacedJob>& jobs, const std::vector<int>& index, Document& document) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return jobs[a].first_chip < jobs[b].first_chip; });
  const PlacedJob* last = nullptr;  // of those before, the one with the highest chip
  for (const std::size_t i : order) {
    const PlacedJob& job = jobs[i];
    if (last && job.first_chip < last->first_chip + last->chips)
      document.report(join_path(job_path_of(index[i]), "first_chip"),
                      "jobs \"" + last->name + "\" and \"" + job.name + "\" both have chip " +
                          std::to_string(job.first_chip),
                      "\"" + last->name + "\" has chips " + std::to_string(last->first_chip) + " to " +
                          std::to_string(last->first_chip + last->chips - 1));
    if (!last || job.first_chip + job.chips > last->first_chip + last->chips) last = &job;
  }
}

}  // namespace

std::vector<PlacedJob> resolve_jobs(const schema::Scenario& scenario, const Catalog::Entries& entries,
                                    ClusterParts cluster, Document& document) {
  if (scenario.jobs_size() > kMostJobs) {
    document.report(job_path_of(kMostJobs), "a cluster has at most " + std::to_string(kMostJobs) +
                                                " jobs, not " + std::to_string(scenario.jobs_size()));
    return {};
  }
  names_differ(scenario, document);
  std::vector<PlacedJob> placed;  // with chips of their own, whether or not their job is valid
  std::vector<int> index;         // of those in the scenario
  for (int i = 0; i < scenario.jobs_size(); ++i) {
    const auto& choice = scenario.jobs(i);
    const std::string path = job_path_of(i), job_path = join_path(path, "job");
    std::optional<FabricSpec> own;
    if (cluster.fabric) own = subcluster_of(choice, *cluster.fabric, path, document);
    std::optional<Job> job;
    if (choice.has_job() && choice.job().has_shapes())
      document.report(join_path(job_path, "shapes"), "several jobs repeat one step each, whose shape is one",
                      "ask of the job alone");
    if (choice.has_job())
      job = resolve_job(choice.job(), entries, {cluster.chip, own ? &*own : nullptr, false}, job_path,
                        document);
    if (!own) continue;
    placed.push_back({choice.name(), choice.first_chip(), choice.chips(), {}, {}});
    index.push_back(i);
    if (!job) continue;
    placed.back().placement = resolve_placement(choice.job(), job->mesh, *own, job_path, document);
    placed.back().job = *std::move(job);
  }
  chips_differ(placed, index, document);
  return placed;
}

}  // namespace podsim
