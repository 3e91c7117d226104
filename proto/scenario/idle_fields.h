// Fields that stand in a scenario where nothing reads them.
#pragma once

#include "proto/text/document.h"

namespace podsim {

struct Cluster;
struct Spec;

namespace schema {
class ClusterChoice;
class Scenario;
}  // namespace schema

// Warns of each field that the text sets and that cannot change a figure beside the others: "retry_stall"
// where "retry_free_share" is missing. What the catalogue's entries set is not looked at. REQUIRES: `spec` is
// what the scenario says.
void warn_of_idle_fields(const schema::Scenario& scenario, const Spec& spec, Document& document);

// The same of the fields of a cluster that say what it costs and which carbon it is, which a scenario without
// a job has too.
void warn_of_idle_prices(const schema::ClusterChoice& choice, const Cluster& cluster, Document& document);

}  // namespace podsim
