// The availability block of a scenario and the parts of its cluster to a question.
#include "proto/scenario/load_availability.h"

#include <algorithm>
#include <array>

#include "proto/catalog.pb.h"
#include "proto/catalog/catalog_entries.h"
#include "proto/catalog/convert.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/idle_questions.h"
#include "proto/scenario/read_scenario.h"
#include "proto/text/override.h"
#include "proto/text/ranges.h"
#include "report/text/text.h"

namespace podsim {
namespace {

constexpr double kMostEvents = 1e9;  // half a minute

class AvailabilityResolver {
 public:
  AvailabilityResolver(const schema::Scenario& scenario, const Catalog::Entries& entries, Document& document)
      : scenario_(scenario), entries_(entries), document_(document) {}

  std::optional<AvailabilityQuestion> resolve() {
    set_heading(scenario_, document_, question_);
    const auto fabric = network();
    if (!scenario_.has_availability())
      report_missing("availability", "{ slice_chips: 256 host_availability: 0.999 }", document_);
    if (!fabric || !scenario_.has_availability()) return std::nullopt;
    question_.pod = pod_parts(*fabric);
    parts();
    slices();
    method();
    job();
    warn_beside_availability(scenario_, document_);
    if (!document_.clean()) return std::nullopt;
    return std::move(question_);
  }

 private:
  const schema::Availability& block() const { return scenario_.availability(); }

  // The fabric without a slice shape: all chips that there are.
  std::optional<FabricSpec> network() {
    if (!scenario_.has_cluster()) return std::nullopt;
    const schema::ClusterChoice& choice = scenario_.cluster();
    schema::Fabric fabric;
    if (choice.has_fabric()) {
      const schema::Fabric* entry = find_fabric(entries_, choice.fabric());
      if (!entry)
        report_unknown_name(entries_, Catalog::Section::kFabrics, choice.fabric(), "cluster.fabric",
                            document_);
      if (!entry) return std::nullopt;
      warn_of_loose_name(entries_, Catalog::Section::kFabrics, choice.fabric(), "cluster.fabric", document_);
      fabric = *entry;
    } else if (!choice.has_fabric_override()) {
      report_missing("cluster.fabric", "\"v4_pod\"", document_);
      return std::nullopt;
    }
    merge_override(choice.fabric_override(), fabric);
    check_required(fabric, "cluster.fabric_override", document_);
    if (!document_.clean_below("cluster.fabric_override")) return std::nullopt;
    return sized(choice, fabric);
  }

  std::optional<FabricSpec> sized(const schema::ClusterChoice& choice, const schema::Fabric& fabric) {
    FabricSpec spec;
    spec.name = fabric.name();
    std::int64_t known = 0;
    if (fabric.has_torus()) {
      spec.torus = to_torus(fabric.torus());
      if (fabric.has_dcn()) spec.chips_per_host = fabric.dcn().chips_per_host();
      const TorusSpec& torus = *spec.torus;
      known = torus.cube > 0 ? std::int64_t{torus.pod_cubes} * torus.chips_per_cube() : torus.max_chips;
    } else if (fabric.has_gpu_cluster()) {
      spec.gpu = to_gpu_cluster(fabric.gpu_cluster());
      const schema::GpuCluster& gpu = fabric.gpu_cluster();
      spec.chips_per_host = gpu.has_gpus_per_host() ? gpu.gpus_per_host() : gpu.gpus_per_domain();
    } else {
      document_.report("cluster.fabric_override", "cluster.fabric_override has no network",
                       "write torus { ... } or gpu_cluster { ... }");
      return std::nullopt;
    }
    if (!choice.has_chips() && known > kMaxChipsByRule) {
      document_.report("cluster.fabric_override", "a pod of " + std::to_string(known) +
                                                      " chips is more than the " +
                                                      std::to_string(kMaxChipsByRule) + " that there may be");
      return std::nullopt;
    }
    spec.chips = choice.has_chips() ? choice.chips() : static_cast<int>(known);
    if (spec.chips == 0) {
      report_missing("cluster.chips", "512", document_);
      return std::nullopt;
    }
    const std::string uneven = explain_uneven(spec);
    if (!uneven.empty()) document_.report("cluster.chips", uneven);
    if (!uneven.empty()) return std::nullopt;
    return spec;
  }

  void only_with_cubes(bool set, const char* field) {
    const std::string at = join_path("availability", field);
    if (set && question_.pod.cube == 0)
      document_.report(
          at, at + " is of cubes that optical circuit switches join, and " + question_.pod.name + " has none",
          "leave it out");
  }

  void parts() {
    only_with_cubes(block().has_cable_availability(), "cable_availability");
    only_with_cubes(block().has_optical_link_availability(), "optical_link_availability");
    only_with_cubes(block().has_ocs_availability(), "ocs_availability");
    only_with_cubes(block().has_optical_failures_stop_slices(), "optical_failures_stop_slices");
    PartAvailability& parts = question_.parts;
    if (block().has_cube_availability()) parts.block = block().cube_availability();
    if (block().has_cable_availability()) parts.cable = block().cable_availability();
    if (block().has_optical_link_availability()) parts.optical_link = block().optical_link_availability();
    if (block().has_ocs_availability()) parts.ocs = block().ocs_availability();
    parts.optical_stops = block().optical_failures_stop_slices();
    question_.host_availability.assign(block().host_availability().begin(),
                                       block().host_availability().end());
  }

  void slices() {
    constexpr std::array kPolicies = {SlicePolicy::kAnyCubes, SlicePolicy::kStaticPartitions,
                                      SlicePolicy::kAnyNodes};
    for (const int policy : block().policy())
      question_.policies.push_back(kPolicies[static_cast<std::size_t>(policy - 1)]);
    if (question_.policies.empty()) {
      if (question_.pod.any_hosts) question_.policies = {SlicePolicy::kAnyNodes};
      if (question_.pod.any_blocks) question_.policies = {SlicePolicy::kAnyCubes};
      if (!question_.pod.any_hosts) question_.policies.push_back(SlicePolicy::kStaticPartitions);
    }
    for (int i = 0; i < block().slice_chips_size(); ++i) {
      const int chips = block().slice_chips(i);
      question_.slice_chips.push_back(chips);
      for (const SlicePolicy policy : question_.policies) {
        const std::string why = explain_impossible(question_.pod, chips, policy);
        if (why.empty()) continue;
        document_.report("availability.slice_chips[" + std::to_string(i) + "]",
                         std::string(to_string(policy)) + " cannot make slices of " + std::to_string(chips) +
                             " chips: " + why);
        break;
      }
    }
    question_.at_least_slices.assign(block().at_least_slices().begin(), block().at_least_slices().end());
  }

  void method() {
    question_.simulate = block().method() == schema::Availability::simulate;
    if (block().has_draws()) question_.draws = block().draws();
    if (block().has_draws() && !question_.simulate)
      document_.report("availability.draws", "availability.draws has no effect on a closed form",
                       "write method: simulate, or leave it out");
  }

  void job() {
    if (!block().has_job()) return;
    const schema::QueuedJob& given = block().job();
    question_.job = QueuedJob{given.length_h(), given.repair_h(), given.slices_in_use(), given.restart_h(),
                              given.checkpoint_every_h()};
    if (question_.parts.optical_stops && question_.parts.ocs < 1)
      document_.report("availability.job",
                       "availability.job needs traffic that is routed around optical circuit switches",
                       "leave out optical_failures_stop_slices or ocs_availability");
    if (document_.clean() && question_.simulate && events() > kMostEvents)
      document_.report("availability.job",
                       "availability.job would be simulated in " + significant(events(), 2) +
                           " events, at most " + significant(kMostEvents, 1) + " are",
                       "ask for fewer draws or the closed form, or give the job checkpoints");
  }

  double events() const {
    double sum = 0;
    for (const SlicePolicy policy : question_.policies) {
      for (const int chips : question_.slice_chips) {
        const SlicePool pool = cut_slices(question_.pod, chips, policy, question_.parts.optical_stops);
        if (pool.most_slices() <= question_.job->slices_in_use) continue;
        for (const double host : question_.host_availability) {
          PartAvailability parts = question_.parts;
          parts.host = host;
          sum += static_cast<double>(question_.draws) * events_per_draw(pool, parts, *question_.job);
        }
      }
    }
    return sum;
  }

  const schema::Scenario& scenario_;
  const Catalog::Entries& entries_;
  Document& document_;
  AvailabilityQuestion question_;
};

}  // namespace

LoadAvailabilityResult load_availability(const std::string& file_name, const std::string& text,
                                         const Catalog& catalog, const std::vector<Override>& overrides) {
  return loaded(file_name, text, overrides, &LoadAvailabilityResult::question,
                [&](const schema::Scenario& scenario, Document& document) {
                  return AvailabilityResolver(scenario, catalog.entries(), document).resolve();
                });
}

}  // namespace podsim
