// Factors of a scenario on rates, bandwidths, watts and dollars.
#include "proto/scenario/hypothetical.h"

#include <google/protobuf/descriptor.h>

#include <sstream>

#include "proto/catalog/catalog_entries.h"
#include "proto/scenario.pb.h"

namespace podsim {
namespace {

double or_one(bool given, double factor) { return given ? factor : 1; }

bool is_of(const schema::Hypothetical& factors, const std::string& chip, const Catalog::Entries& entries) {
  if (!factors.has_chip()) return true;
  const schema::Chip* meant = find_chip(entries, factors.chip());
  return (meant ? meant->name() : factors.chip()) == chip;
}

// "h100 with 1.5x hbm".
std::string name_with(const std::string& chip, const schema::Hypothetical& factors) {
  std::ostringstream text;
  for (const char* part : {"matmul", "hbm", "hbm_capacity", "host_link", "power"}) {
    const auto* field = schema::Hypothetical::descriptor()->FindFieldByName(part);
    if (!factors.GetReflection()->HasField(factors, field)) continue;
    text << (text.view().empty() ? " with " : ", ") << factors.GetReflection()->GetDouble(factors, field)
         << "x " << part;
  }
  return chip + text.str();
}

}  // namespace

const schema::Hypothetical& hypothetical_of(const schema::ClusterChoice& choice,
                                            const Catalog::Entries& entries) {
  const schema::Chip* entry = choice.has_chip() ? find_chip(entries, choice.chip()) : nullptr;
  const std::string& chip = entry ? entry->name() : choice.chip_override().name();
  return is_of(choice.hypothetical(), chip, entries) ? choice.hypothetical()
                                                     : schema::Hypothetical::default_instance();
}

void check_hypothetical(const schema::ClusterChoice& choice, const std::string& chip,
                        const Catalog::Entries& entries, const std::string& path, Document& document) {
  const schema::Hypothetical& factors = choice.hypothetical();
  if (is_of(factors, chip, entries)) return;
  const std::string field = join_path(path, "hypothetical.chip");
  if (!find_chip(entries, factors.chip()))
    report_unknown_name(entries, Catalog::Section::kChips, factors.chip(), field, document);
  else
    document.warn_idle(join_path(path, "hypothetical"), "the cluster is of " + chip);
}

void scale(const schema::Hypothetical& factors, Chip& chip) {
  chip.name = name_with(chip.name, factors);
  const double matmul = or_one(factors.has_matmul(), factors.matmul());
  for (auto& [dtype, rate] : chip.matmul) rate.peak = matmul * rate.peak;
  chip.hbm = or_one(factors.has_hbm(), factors.hbm()) * chip.hbm;
  chip.hbm_capacity = or_one(factors.has_hbm_capacity(), factors.hbm_capacity()) * chip.hbm_capacity;
  chip.host_link = or_one(factors.has_host_link(), factors.host_link()) * chip.host_link;
  const double power = or_one(factors.has_power(), factors.power());
  for (double* watts : {&chip.power_idle_w, &chip.power_busy_w}) *watts *= power;
  if (chip.power_overhead_w) *chip.power_overhead_w *= power;
}

void scale(const schema::Hypothetical& factors, FabricSpec& fabric) {
  const double up = or_one(factors.has_scale_up(), factors.scale_up());
  const double out = or_one(factors.has_scale_out(), factors.scale_out());
  if (fabric.torus) fabric.torus->ici.bandwidth = up * fabric.torus->ici.bandwidth;
  fabric.dcn.bandwidth = out * fabric.dcn.bandwidth;
  if (!fabric.gpu) return;
  fabric.gpu->nvlink.bandwidth = up * fabric.gpu->nvlink.bandwidth;
  fabric.gpu->nic.bandwidth = out * fabric.gpu->nic.bandwidth;
}

void scale(const schema::Hypothetical& factors, Price& price) {
  const double more = or_one(factors.has_price(), factors.price());
  for (double* usd : {&price.usd_per_chip_hour, &price.low_usd_per_chip_hour, &price.high_usd_per_chip_hour})
    *usd *= more;
}

}  // namespace podsim
