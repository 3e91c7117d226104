// The keys of docs/theory/availability.md.
#include "cli/availability_json.h"

#include <nlohmann/json.hpp>

#include "proto/writing/result_json.h"

namespace podsim {
namespace {

using Json = nlohmann::ordered_json;

Json outlook(const JobOutlook& job) {
  return {{"starts_at_once", job.starts_at_once},
          {"wait_h", job.wait_h},
          {"without_restart", job.without_restart},
          {"restarts", job.restarts},
          {"finish_h", job.finish_h}};
}

Json row_json(const AvailabilityQuestion& question, const SliceAvailability& row) {
  const double share = row.chips_per_slice_of_pod;
  Json json = {{"policy", to_string(row.policy)},
               {"host_availability", row.host_availability},
               {"slice_chips", row.slice_chips},
               {"goodput", row.goodput()},
               {"goodput_p5", row.slices_p5 * share},
               {"goodput_p50", row.slices_p50 * share},
               {"goodput_p95", row.slices_p95 * share},
               {"slices", row.slices},
               {"slices_p5", row.slices_p5},
               {"slices_p50", row.slices_p50},
               {"slices_p95", row.slices_p95},
               {"most_slices", row.pool.most_slices()},
               {"any_slice", row.any_slice},
               {"grain_availability", row.grain_availability},
               {"grains_per_slice", row.pool.grains_per_slice},
               {"optical_bandwidth", row.optical_bandwidth}};
  if (row.slices_error) {
    json["goodput_standard_error"] = *row.slices_error * share;
    json["slices_standard_error"] = *row.slices_error;
  }
  for (std::size_t i = 0; i < row.at_least.size(); ++i) {
    Json reached = {{"slices", question.at_least_slices[i]}, {"probability", row.at_least[i]}};
    if (question.simulate) reached["probability_standard_error"] = row.at_least_error[i];
    json["at_least"].push_back(reached);
  }
  if (row.job) json["job"] = outlook(*row.job);
  if (row.job_error) json["job"]["standard_error"] = outlook(*row.job_error);
  return json;
}

}  // namespace

std::string availability_json(const AvailabilityQuestion& question, std::span<const SliceAvailability> rows) {
  const PodParts& pod = question.pod;
  Json json = result_json<nlohmann::ordered_json>(question.sha256);
  json.update({{"scenario", question.name},
               {"question", question.question},
               {"method", question.simulate ? "simulate" : "closed_form"}});
  if (question.simulate) json.update({{"draws", question.draws}, {"seed", question.seed}});
  json["pod"] = {{"fabric", pod.name},
                 {"chips", pod.chips()},
                 {"hosts", pod.hosts()},
                 {"block", pod.block},
                 {"blocks", pod.blocks},
                 {"hosts_per_block", pod.hosts_per_block},
                 {"chips_per_host", pod.chips_per_host}};
  json["slices"] = Json::array();
  for (const SliceAvailability& row : rows) json["slices"].push_back(row_json(question, row));
  return json.dump(2) + "\n";
}

}  // namespace podsim
