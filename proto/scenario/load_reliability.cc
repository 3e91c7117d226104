// Loads scenarios for podsim reliability.
#include "proto/scenario/load_reliability.h"

#include "proto/catalog.pb.h"
#include "proto/catalog/catalog_entries.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/idle_fields.h"
#include "proto/scenario/idle_questions.h"
#include "proto/scenario/read_scenario.h"
#include "proto/scenario/resolve.h"
#include "proto/text/parse.h"
#include "proto/text/ranges.h"

namespace podsim {
namespace {

constexpr int kSeeds = 1000;  // where the scenario does not say

// Empty where the fabric has none.
std::string mix_of_fabric(const schema::Scenario& scenario, const Catalog::Entries& entries) {
  const schema::ClusterChoice& cluster = scenario.cluster();
  if (!cluster.fabric_override().failures().empty()) return cluster.fabric_override().failures();
  const schema::Fabric* fabric = find_fabric(entries, cluster.fabric());
  return fabric ? fabric->failures() : "";
}

// The cluster, and the step where there is a job.
bool resolve_surroundings(const schema::Scenario& scenario, const Catalog::Entries& entries,
                          ReliabilityQuestion& question, Document& document) {
  if (scenario.jobs_size() > 0)
    document.report("jobs[0]", "a run of weeks has one job", "write job { ... } instead of jobs");
  if (scenario.has_job()) {
    question.step = resolve_spec(scenario, entries, document);
    if (!question.step) return false;
    question.step->seeds = 1;
    question.cluster = question.step->cluster;
    return true;
  }
  if (!scenario.has_cluster()) return false;
  const auto& cluster = scenario.cluster();
  const auto chip = resolve_chip(cluster, entries, "cluster", document);
  const auto fabric = resolve_fabric(cluster, entries, "cluster", document);
  if (!chip || !fabric) return false;
  const auto price = resolve_price(cluster, *chip, fabric->chips_per_host, entries, "cluster", document);
  if (!price) return false;
  question.cluster = {*chip, *fabric, *price, resolve_carbon(cluster, entries, "cluster", document)};
  warn_of_idle_prices(cluster, question.cluster, document);
  return true;
}

std::optional<ReliabilityQuestion> resolve(const schema::Scenario& scenario, const Catalog::Entries& entries,
                                           Document& document) {
  ReliabilityQuestion question;
  set_heading(scenario, document, question);
  question.seeds = scenario.has_seeds() ? scenario.seeds() : kSeeds;
  question.failures = mix_of_fabric(scenario, entries);
  if (!scenario.has_reliability())
    report_missing("reliability", "{ checkpoint { save_s: 30 } ... }", document);
  const bool known = resolve_surroundings(scenario, entries, question, document);
  if (scenario.has_reliability())
    resolve_reliability(scenario.reliability(), entries, {scenario.has_job(), known}, "reliability", question,
                        document);
  warn_beside_weeks(scenario, document);
  if (!document.clean()) return std::nullopt;
  return question;
}

}  // namespace

std::string mix_for_lack_of_failures(const std::string& text, const Catalog& catalog) {
  Document document("scenario", text);
  schema::Scenario scenario;
  if (!parse(document, scenario)) return "";
  const schema::Reliability& block = scenario.reliability();
  const bool says = block.has_failures() || block.failure_size() > 0;
  return says ? "" : mix_of_fabric(scenario, catalog.entries());
}

LoadReliabilityResult load_reliability(const std::string& file_name, const std::string& text,
                                       const Catalog& catalog, const std::vector<Override>& overrides) {
  return loaded(file_name, text, overrides, &LoadReliabilityResult::question,
                [&](const schema::Scenario& scenario, Document& document) {
                  warn_of_other_questions(AskedOf::kWeeks, scenario, document);
                  return resolve(scenario, catalog.entries(), document);
                });
}

LoadReliabilityResult load_reliability_file(const std::string& path, const Catalog& catalog,
                                            const std::vector<Override>& overrides) {
  return loaded_file(path, catalog, overrides, load_reliability);
}

}  // namespace podsim
