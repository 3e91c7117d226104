// Fields that stand beside a question that does not read them: what weeks and availability read, as lists.
#include "proto/scenario/idle_questions.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "proto/scenario.pb.h"
#include "proto/text/set_fields.h"

namespace podsim {
namespace {

using google::protobuf::Message;

// Blocks and fields that a question reads; the fields of a block that is named are all read.
constexpr std::string_view kReadByWeeks[] = {"name",
                                             "question",
                                             "seed",
                                             "seeds",
                                             "reliability",
                                             "space",  // warn_of_other_questions tells of these two
                                             "plan",
                                             "cluster.chip",
                                             "cluster.chips",
                                             "cluster.fabric",
                                             "cluster.slice_shape",
                                             "cluster.slices",
                                             "cluster.twisted",
                                             "cluster.prices",
                                             "cluster.price_term",
                                             "cluster.provider",
                                             "cluster.region",
                                             "cluster.contract",
                                             "cluster.owned",
                                             "cluster.usd_per_chip_hour",
                                             "cluster.usd_per_kwh",
                                             "cluster.pue",
                                             "cluster.grid",
                                             "cluster.kg_per_kwh",
                                             "cluster.embodied_kg",
                                             "cluster.hypothetical.power",
                                             "cluster.hypothetical.price",
                                             "cluster.chip_override.name",
                                             "cluster.chip_override.power_idle_w",
                                             "cluster.chip_override.power_busy_w",
                                             "cluster.chip_override.power_overhead_w",
                                             "cluster.chip_override.power_waiting_share",
                                             "cluster.chip_override.power_range",
                                             "cluster.fabric_override.name",
                                             "cluster.fabric_override.failures",
                                             "cluster.fabric_override.chip",
                                             "cluster.fabric_override.torus",
                                             "cluster.fabric_override.gpu_cluster.gpus_per_domain",
                                             "cluster.fabric_override.gpu_cluster.gpus_per_host",
                                             "cluster.fabric_override.gpu_cluster.rail_optimised",
                                             "cluster.fabric_override.gpu_cluster.tier",
                                             "cluster.fabric_override.dcn.chips_per_host"};
constexpr std::string_view kReadByAvailability[] = {"name",
                                                    "question",
                                                    "seed",
                                                    "availability",
                                                    "cluster.chips",
                                                    "cluster.fabric",
                                                    "cluster.fabric_override.name",
                                                    "cluster.fabric_override.torus.cube",
                                                    "cluster.fabric_override.torus.dimensions",
                                                    "cluster.fabric_override.torus.pod_cubes",
                                                    "cluster.fabric_override.torus.max_chips",
                                                    "cluster.fabric_override.gpu_cluster.gpus_per_domain",
                                                    "cluster.fabric_override.gpu_cluster.gpus_per_host",
                                                    "cluster.fabric_override.dcn.chips_per_host"};

// A block that asks another question, why this one does not read it, and who does.
struct OtherQuestion {
  AskedOf beside;
  const char *block, *why, *hint;
};
constexpr const char* kSearchReads = "podsim search chooses among layouts";
constexpr const char* kPlanReads = "podsim plan chooses among clusters";
constexpr OtherQuestion kOtherQuestions[] = {
    {AskedOf::kStep, "space", "a run has the layout of its job", kSearchReads},
    {AskedOf::kStep, "plan", "a run has the cluster of its scenario", kPlanReads},
    {AskedOf::kSearch, "plan", "a search has the cluster of its scenario", kPlanReads},
    {AskedOf::kWeeks, "space", "a run of weeks has the layout of its job", kSearchReads},
    {AskedOf::kWeeks, "plan", "a run of weeks has the cluster of its scenario", kPlanReads}};

// Of a scenario that asks nothing else.
template <std::size_t N>
void warn_of_others(const schema::Scenario& scenario, const std::string_view (&read)[N],
                    const std::string& why, Document& document) {
  visit_fields(scenario, "", [&](const std::string& path) {
    // What is written in full has fields that must be there.
    const bool in_full = (!scenario.cluster().has_fabric() && path.starts_with("cluster.fabric_override")) ||
                         (scenario.has_reliability() && !scenario.cluster().has_chip() &&
                          path.starts_with("cluster.chip_override"));
    const bool known = in_full || std::any_of(std::begin(read), std::end(read), [&](std::string_view each) {
                         return path == each || (path.starts_with(each) && path[each.size()] == '.');
                       });
    if (!known) document.warn_idle(path, why);
  });
}

void warn_of_delays(const schema::Reliability& block, Document& document) {
  visit_blocks(block, "reliability", [&](const std::string& path, const Message& each) {
    if (each.GetDescriptor() != schema::Delay::descriptor()) return true;
    const auto& delay = static_cast<const schema::Delay&>(each);
    if (delay.has_coefficient_of_variation() && delay.distribution() != schema::Delay::lognormal)
      document.warn_idle(path + ".coefficient_of_variation", "only lognormal times have one");
    return true;
  });
}

}  // namespace

void warn_of_other_questions(AskedOf asked, const schema::Scenario& scenario, Document& document) {
  for (const OtherQuestion& other : kOtherQuestions)
    if (other.beside == asked && is_set(scenario, other.block))
      document.warn_idle(other.block, other.why, other.hint);
}

void warn_beside_weeks(const schema::Scenario& scenario, Document& document) {
  const schema::Reliability& block = scenario.reliability();
  if (!scenario.has_job() && !scenario.has_availability())
    warn_of_others(scenario, kReadByWeeks, "without a job no step is simulated that it could change",
                   document);
  warn_of_delays(block, document);
  const schema::Checkpoint& checkpoint = block.checkpoint();
  const bool by_size = !checkpoint.has_save_s();
  for (const char* field : {"size_gb", "bytes_per_parameter", "write_gb_per_s", "gb_per_s_per_host"})
    if (!by_size && is_set(checkpoint, field))
      document.warn_idle(std::string("reliability.checkpoint.") + field, "save_s says how long a save takes");
  if (checkpoint.has_read_gb_per_s() && (!by_size || block.recovery().has_restore()))
    document.warn_idle("reliability.checkpoint.read_gb_per_s", by_size
                                                                   ? "recovery says how long a restore takes"
                                                                   : "save_s says how long a save takes");
  if (block.has_step_error() && !(block.has_target_tokens() && scenario.has_job()))
    document.warn_idle("reliability.step_error",
                       "the error of a step counts until a number of tokens is trained, with a job");
  if (scenario.cluster().fabric_override().has_failures() &&
      (block.has_failures() || block.failure_size() > 0))
    document.warn_idle("cluster.fabric_override.failures", "the reliability block says what fails");
  if (block.has_tokens_per_step() && !block.has_target_tokens())
    document.warn_idle("reliability.tokens_per_step", "no number of tokens is aimed at");
  if (block.hazard().has_diurnal_peak_hour() && block.hazard().diurnal_swing() == 0)
    document.warn_idle("reliability.hazard.diurnal_peak_hour", "diurnal_swing is missing or 0");
}

void warn_beside_availability(const schema::Scenario& scenario, Document& document) {
  if (!scenario.has_job() && scenario.jobs_size() == 0 && !scenario.has_reliability())
    warn_of_others(scenario, kReadByAvailability,
                   "of the cluster, availability reads the fabric and the number of chips", document);
  const schema::Availability& block = scenario.availability();
  if (scenario.has_seed() && !scenario.has_job() && block.method() != schema::Availability::simulate)
    document.warn_idle("seed", "a closed form draws nothing");
}

}  // namespace podsim
