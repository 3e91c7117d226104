// Failures of the reliability block: rates in their units to rates of the whole cluster, domains to nodes,
// what changes the rates.
#include <algorithm>
#include <cmath>

#include "engine/unit_factors.h"
#include "proto/catalog.pb.h"
#include "proto/catalog/catalog_entries.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/resolve.h"
#include "proto/text/ranges.h"
#include "report/text/text.h"
#include "scheduler/reliability/weeks/reliability_question.h"
#include "topology/fabric_kind.h"
#include "topology/part_counts.h"

namespace podsim {
namespace {

using schema::FailureRate;

constexpr const char* kRateUnits =
    "per_1000_node_days, per_chip_year, per_part_day, per_unit_day, per_day or every_days";

// Of a component that is none of its own, 0.
double parts_of(const UsedParts& parts, FailureRate::Component component) {
  switch (component) {
    case FailureRate::gpu:
    case FailureRate::hbm:
    case FailureRate::gpu_memory:
      return parts.chips;
    case FailureRate::host:
    case FailureRate::cpu:
    case FailureRate::chassis:
      return parts.hosts;
    case FailureRate::nic:
      return parts.nics;
    case FailureRate::cable:
      return parts.cables;
    case FailureRate::switch_:
      return parts.switches;
    case FailureRate::ici_link:
      return parts.ici_links;
    case FailureRate::ocs:
      return parts.optical_switches;
    default:
      return 0;
  }
}

// A mended node is needed for these no more than for a restart.
bool leaves_nodes_whole(FailureRate::Component component) {
  return component == FailureRate::software || component == FailureRate::collective_library;
}

class FailureResolver {
 public:
  FailureResolver(const schema::Reliability& block, const Catalog::Entries& entries, const std::string& path,
                  ReliabilityQuestion& question, Document& document)
      : block_(block),
        entries_(entries),
        path_(path),
        question_(question),
        run_(question.run),
        document_(document) {}

  void resolve() {
    failures();
    hazard();
    lemons();
  }

 private:
  std::string at(const std::string& field) const { return join_path(path_, field); }

  // The mix that is named, or of the fabric where nothing is said to fail.
  void failures() {
    if (block_.has_failures() || block_.failure_size() > 0) question_.failures = block_.failures();
    if (!question_.failures.empty()) {
      const schema::FailureMix* mix = find_failures(entries_, question_.failures);
      if (!mix) {
        report_unknown_name(entries_, Catalog::Section::kFailures, question_.failures, at("failures"),
                            document_);
      } else {
        for (const FailureRate& failure : mix->failure())
          if (!replaced(failure.component())) add(failure, mix, at("failures"));
      }
    }
    for (int i = 0; i < block_.failure_size(); ++i)
      add(block_.failure(i), nullptr, at("failure[" + std::to_string(i) + "]"));
    if (question_.failures.empty() && block_.failure_size() == 0)
      document_.report(at("failure"), path_ + " has no failures",
                       "name a mix, such as failures: \"llama3_16k_h100\", or write, for example, failure { "
                       "component: gpu per_1000_node_days: 2 }");
  }

  bool replaced(FailureRate::Component component) const {
    for (const FailureRate& failure : block_.failure())
      if (failure.component() == component) return true;
    return false;
  }

  // `mix` is null for a failure of the scenario.
  void add(const FailureRate& failure, const schema::FailureMix* mix, const std::string& path) {
    if (!one_unit(failure, mix, path)) return;
    FailureSource source;
    source.component = static_cast<Component>(failure.component() - 1);
    source.regular = failure.has_every_days();
    const bool of_job = failure.has_per_day() || failure.has_every_days();
    source.domain_nodes = failure.has_nodes() ? failure.nodes() : of_job ? 0 : 1;
    if (failure.has_domain()) source.domain_nodes = nodes_of(failure, path);
    const double nodes = run_.nodes(), job_share = run_.job_nodes() / nodes;
    const double factor = block_.has_failure_factor() ? block_.failure_factor() : 1;
    if (failure.has_per_1000_node_days())
      source.per_s = failure.per_1000_node_days() / 1000 / kSecondsPerDay * nodes;
    if (failure.has_per_chip_year())
      source.per_s = failure.per_chip_year() / kSecondsPerYear * static_cast<double>(run_.chips());
    if (failure.has_per_unit_day()) source.per_s = failure.per_unit_day() / kSecondsPerDay * failure.units();
    if (failure.has_per_unit_day()) warn_of_unused_units(failure, path);
    if (failure.has_per_part_day()) {  // spares have as many
      source.per_s = failure.per_part_day() / kSecondsPerDay * used_parts(failure, path);
      if (source.domain_nodes > 0) source.per_s /= job_share;
    }
    if (failure.has_count())
      source.per_s = failure.count() / mix->observed_days() / kSecondsPerDay / mix->observed_nodes() * nodes;
    if (failure.has_per_day()) source.per_s = failure.per_day() / kSecondsPerDay;
    if (failure.has_every_days()) source.per_s = 1 / (failure.every_days() * kSecondsPerDay);
    if (failure.has_per_day() && source.domain_nodes > 0) source.per_s /= job_share;
    source.per_s *= factor;
    source.notice = Milliseconds::seconds(failure.notice_s());
    source.slows_to = failure.slows_to();
    source.swapped_after = to_delay(failure.swapped_after());
    if (failure.has_swapped_after() && !failure.has_slows_to())
      document_.report(join_path(path, "swapped_after"), "only what slows the job is found and replaced",
                       "write slows_to: 0.9, or leave it out");
    if (failure.has_repair()) {
      source.repair = to_delay(failure.repair());
    } else if (block_.has_repair() && !leaves_nodes_whole(failure.component())) {
      source.repair = to_delay(block_.repair().time());
    }
    if (source.slows_to > 0 && source.repair.mean_s == 0)
      document_.report(join_path(path, "slows_to"), "what slows the job needs the time until it is mended",
                       "write repair { mean_s: 3600 }");
    run_.failures.push_back(source);
  }

  const UsedParts& parts() {
    if (!parts_ && kinds_of(question_.cluster.fabric) == 1) parts_ = count_parts(question_.cluster.fabric);
    if (!parts_) parts_ = UsedParts{};
    return *parts_;
  }

  double used_parts(const FailureRate& failure, const std::string& path) {
    const double used = parts_of(parts(), failure.component());
    const UsedParts one = {1, 1, 1, 1, 1, 1, 1};
    if (parts_of(one, failure.component()) == 0)
      document_.report(join_path(path, "per_part_day"),
                       "it is not known how many of the component " +
                           FailureRate::Component_Name(failure.component()) + " a job uses",
                       "write per_unit_day and units");
    return used;
  }

  void warn_of_unused_units(const FailureRate& failure, const std::string& path) {
    const double used = parts_of(parts(), failure.component());
    if (used == 0 || failure.units() <= used) return;
    document_.warn(join_path(path, "units"),
                   "the job uses " + significant(used, 1) + " of the " + significant(failure.units(), 1) +
                       " units: failures of the others do not strike it",
                   "write per_part_day, and they are counted");
  }

  // Nodes of a named domain of this fabric; 1 where it has none, which is told.
  int nodes_of(const FailureRate& failure, const std::string& path) {
    if (failure.has_nodes())
      document_.report(join_path(path, "nodes"), path + " has both nodes and domain", "leave one out");
    if (failure.domain() == FailureRate::job) return 0;
    const FabricSpec& fabric = question_.cluster.fabric;
    const bool one_node = !failure.has_domain() || failure.domain() == FailureRate::node;
    if (one_node || kinds_of(fabric) == 0) return 1;
    const std::string& name = FailureRate::Domain_Name(failure.domain());
    const std::vector<FailureDomain> domains = kind_of(fabric).failure_domains(fabric);
    const auto found = std::ranges::find(domains, name, &FailureDomain::name);
    if (found != domains.end() && found->chips > 0)
      return std::max(1, found->chips / std::max(1, run_.chips_per_node));
    std::string has = "it has node";
    for (const FailureDomain& domain : domains)
      has.append(&domain == &domains.back() ? " and " : ", ").append(domain.name);
    document_.report(join_path(path, "domain"), fabric.name + " has no " + name, has);
    return 1;
  }

  void hazard() {
    const schema::Hazard& hazard = block_.hazard();
    const auto together = [&](bool first, bool second, const char* missing, const char* example) {
      if (first && !second) report_missing(join_path(at("hazard"), missing), example, document_);
    };
    together(hazard.has_infant_factor(), hazard.has_infant_decay_days(), "infant_decay_days", "14");
    together(hazard.has_infant_decay_days(), hazard.has_infant_factor(), "infant_factor", "3");
    together(hazard.has_wear_begins_days(), hazard.has_wear_doubles_days(), "wear_doubles_days", "365");
    if (hazard.has_infant_factor()) run_.hazard.infant_factor = hazard.infant_factor();
    run_.hazard.infant_decay_s = hazard.infant_decay_days() * kSecondsPerDay;
    run_.hazard.wear_begins_s = hazard.wear_begins_days() * kSecondsPerDay;
    run_.hazard.wear_doubles_s = hazard.wear_doubles_days() * kSecondsPerDay;
    run_.hazard.diurnal_swing = hazard.diurnal_swing();
    run_.hazard.diurnal_peak_s = hazard.diurnal_peak_hour() * kSecondsPerHour;
  }

  void lemons() {
    if (!block_.has_lemons()) return;
    run_.lemons.nodes = static_cast<int>(std::llround(block_.lemons().share() * run_.nodes()));
    if (block_.lemons().has_factor()) run_.lemons.factor = block_.lemons().factor();
    run_.lemons.removed_after = block_.lemons().removed_after_failures();
  }

  bool one_unit(const FailureRate& failure, const schema::FailureMix* mix, const std::string& path) {
    const int units = failure.has_per_1000_node_days() + failure.has_per_chip_year() +
                      failure.has_per_part_day() + failure.has_per_unit_day() + failure.has_per_day() +
                      failure.has_every_days() + failure.has_count();
    const auto wrong = [&](const std::string& field, const std::string& message, const std::string& hint) {
      document_.report(field.empty() ? path : join_path(path, field), message, hint);
      return false;
    };
    if (failure.has_rate()) return wrong("rate", "the rate has no unit", std::string("write ") + kRateUnits);
    if (units == 0 && document_.clean_below(path))
      return wrong("", path + " has no rate", std::string("write ") + kRateUnits);
    if (units > 1)
      return wrong("", path + " has more than one rate", std::string("write one of ") + kRateUnits);
    if (failure.has_count() && !(mix && mix->has_observed_days() && mix->has_observed_nodes()))
      return wrong("count", "a count says nothing without the nodes and days it was seen in",
                   std::string("write ") + kRateUnits);
    if (failure.has_per_unit_day() != failure.has_units())
      return wrong("", path + " must have per_unit_day and units together", "per_unit_day: 0.0004 units: 48");
    return true;
  }

  const schema::Reliability& block_;
  const Catalog::Entries& entries_;
  const std::string& path_;
  ReliabilityQuestion& question_;
  TrainingRun& run_;
  Document& document_;
  std::optional<UsedParts> parts_;  // of the job, where they are asked for
};

}  // namespace

Delay to_delay(const schema::Delay& delay) {
  Delay result;
  result.mean_s = delay.mean_s();
  result.coefficient_of_variation = delay.coefficient_of_variation();
  if (delay.distribution() == schema::Delay::exponential) result.kind = Delay::Kind::kExponential;
  if (delay.distribution() == schema::Delay::lognormal) result.kind = Delay::Kind::kLognormal;
  return result;
}

void resolve_failures_of_weeks(const schema::Reliability& block, const Catalog::Entries& entries,
                               const std::string& path, ReliabilityQuestion& question, Document& document) {
  FailureResolver(block, entries, path, question, document).resolve();
}

}  // namespace podsim
