// The keys of docs/theory/availability.md.
#include "cli/weeks/availability_json.h"

#include <utility>
#include <vector>

#include "proto/writing/figure_json.h"

namespace podsim {
namespace {

using Figures = std::vector<Figure>;

Figures outlook(const JobOutlook& job) {
  return {{"starts_at_once", job.starts_at_once},
          {"wait_h", job.wait_h},
          {"without_restart", job.without_restart},
          {"restarts", job.restarts},
          {"finish_h", job.finish_h}};
}

Figure reached_slices(const AvailabilityQuestion& question, const SliceAvailability& row) {
  Figures list;
  for (std::size_t i = 0; i < row.at_least.size(); ++i) {
    Figures reached = {{"slices", question.at_least_slices[i]}, {"probability", row.at_least[i]}};
    if (question.simulate) reached.emplace_back("probability_standard_error", row.at_least_error[i]);
    list.push_back(Figure::group("", std::move(reached)));
  }
  return Figure::list("at_least", std::move(list));
}

Figure row_figures(const AvailabilityQuestion& question, const SliceAvailability& row) {
  const double share = row.chips_per_slice_of_pod;
  Figures parts = {{"policy", std::string(to_string(row.policy))},
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
  if (row.slices_error)
    append(parts, {{"goodput_standard_error", *row.slices_error * share},
                   {"slices_standard_error", *row.slices_error}});
  if (!row.at_least.empty()) parts.push_back(reached_slices(question, row));
  if (row.job) {
    Figures job = outlook(*row.job);
    if (row.job_error) job.push_back(Figure::group("standard_error", outlook(*row.job_error)));
    parts.push_back(Figure::group("job", std::move(job)));
  }
  return Figure::group("", std::move(parts));
}

}  // namespace

std::string availability_json(const AvailabilityQuestion& question, std::span<const SliceAvailability> rows) {
  const PodParts& pod = question.pod;
  Figures parts = {{"scenario", question.name},
                   {"question", question.question},
                   {"method", question.simulate ? "simulate" : "closed_form"}};
  if (question.simulate) append(parts, {{"draws", question.draws}, {"seed", question.seed}});
  parts.push_back(Figure::group("pod", {{"fabric", pod.name},
                                        {"chips", pod.chips()},
                                        {"hosts", pod.hosts()},
                                        {"block", pod.block},
                                        {"blocks", pod.blocks},
                                        {"hosts_per_block", pod.hosts_per_block},
                                        {"chips_per_host", pod.chips_per_host}}));
  Figures slices;
  for (const SliceAvailability& row : rows) slices.push_back(row_figures(question, row));
  parts.push_back(Figure::list("slices", std::move(slices)));
  return json_text(result_figure(question.sha256, std::move(parts)), JsonNumbers::kWithPoint);
}

}  // namespace podsim
