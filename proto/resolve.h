// Scenario blocks to what the stages take: names looked up, overrides applied, arithmetic checked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/catalog_entries.h"
#include "proto/document.h"
#include "scheduler/spec.h"

namespace podsim {

namespace schema {
class Adversity;
class ClusterChoice;
class JobChoice;
}  // namespace schema

// Each reports what is wrong under `path` and gives nothing then. REQUIRES: check_ranges has seen the block.
std::optional<FabricSpec> resolve_fabric(const schema::ClusterChoice& choice, const Catalog::Entries& entries,
                                         const std::string& path, Document& document);
// Nothing only when chip or fabric are unknown; a missing price alone is reported.
std::optional<Cluster> resolve_cluster(const schema::ClusterChoice& choice, const Catalog::Entries& entries,
                                       const std::string& path, Document& document);

// `cluster` is null when it has problems of its own; checks that need it are left out then.
std::optional<Job> resolve_job(const schema::JobChoice& choice, const Catalog::Entries& entries, const Cluster* cluster,
                               const std::string& path, Document& document);
std::vector<AxisPlacement> resolve_placement(const schema::JobChoice& choice, const Cluster& cluster,
                                             const std::string& path, Document& document);

Adversities resolve_adversities(const schema::Adversity& adversity, const Cluster& cluster, const std::string& path,
                                Document& document);

}  // namespace podsim
