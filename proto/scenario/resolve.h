// Scenario blocks to what the stages take: names looked up, overrides applied, arithmetic checked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/catalog/catalog.h"
#include "proto/catalog/catalog_entries.h"
#include "proto/text/document.h"
#include "scheduler/question/spec.h"

namespace podsim {

struct Delay;
struct ReliabilityQuestion;

namespace schema {
class Adversity;
class ClusterChoice;
class Delay;
class JobChoice;
class Reliability;
class Scenario;
}  // namespace schema

// Each reports what is wrong below `path` and gives nothing then. REQUIRES: check_ranges has seen the block.

std::optional<FabricSpec> resolve_fabric(const schema::ClusterChoice& choice, const Catalog::Entries& entries,
                                         const std::string& path, Document& document);

std::optional<Chip> resolve_chip(const schema::ClusterChoice& choice, const Catalog::Entries& entries,
                                 const std::string& path, Document& document);

// Price lists go by the catalogue's names of chips, by that of a chip which the cluster brings.
std::optional<Price> resolve_price(const schema::ClusterChoice& choice, const Chip& chip, int chips_per_host,
                                   const Catalog::Entries& entries, const std::string& path,
                                   Document& document);

// Nothing where the cluster names neither grid nor carbon of its power.
std::optional<Carbon> resolve_carbon(const schema::ClusterChoice& choice, const Catalog::Entries& entries,
                                     const std::string& path, Document& document);

// Chip and fabric may be missing after problems of their own: the checks that need them are left out.
struct ClusterParts {
  const Chip* chip = nullptr;
  const FabricSpec* fabric = nullptr;
  bool whole = true;  // else the fabric is the subcluster of one of several jobs
};
std::optional<Job> resolve_job(const schema::JobChoice& choice, const Catalog::Entries& entries,
                               ClusterParts cluster, const std::string& path, Document& document);

// REQUIRES: `mesh` is that of the resolved job.
std::vector<AxisPlacement> resolve_placement(const schema::JobChoice& choice, const Mesh& mesh,
                                             const FabricSpec& fabric, const std::string& path,
                                             Document& document);

// The jobs blocks, in their order; all their chips are checked against each other.
std::vector<PlacedJob> resolve_jobs(const schema::Scenario& scenario, const Catalog::Entries& entries,
                                    ClusterParts cluster, Document& document);

// The cubes that the fabric's slices cannot be made of.
void resolve_failed_cubes(const schema::Adversity& adversity, FabricSpec& fabric, const std::string& path,
                          Document& document);

// Links and switches that are missing. Builds the fabric when there are any.
std::vector<Failure> resolve_failures(const schema::Adversity& adversity, const FabricSpec& fabric,
                                      const std::string& path, Document& document);

Adversities resolve_adversities(const schema::Adversity& adversity, const Catalog::Entries& entries,
                                const FabricSpec& fabric, const std::string& path, Document& document);

// Jitter, pauses, stalls of input and late launches go to `result`.
void resolve_variation(const schema::Adversity& adversity, const Catalog::Entries& entries,
                       const FabricSpec& fabric, const std::string& path, Document& document,
                       Adversities& result);

// A scenario whose step is simulated.
std::optional<Spec> resolve_spec(const schema::Scenario& scenario, const Catalog::Entries& entries,
                                 Document& document);

// What a search does not choose layouts for (load_space.h).
void refuse_unsearchable(const schema::Scenario& scenario, Document& document);

// What stands beside a block of reliability. A job that has problems of its own is there, but not in the
// question.
struct BesideWeeks {
  bool job = false, cluster_known = false;
};

// What the block says is added to the question. Counts of nodes are left out where the cluster is not known.
void resolve_reliability(const schema::Reliability& block, const Catalog::Entries& entries,
                         BesideWeeks beside, const std::string& path, ReliabilityQuestion& question,
                         Document& document);

// The failures of the block, its hazard and its lemons. REQUIRES: the question has the nodes of the cluster.
void resolve_failures_of_weeks(const schema::Reliability& block, const Catalog::Entries& entries,
                               const std::string& path, ReliabilityQuestion& question, Document& document);

Delay to_delay(const schema::Delay& delay);

}  // namespace podsim
