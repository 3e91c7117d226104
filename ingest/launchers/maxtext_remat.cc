// base.yml has the list of what a custom policy chooses among.
#include "ingest/launchers/maxtext_remat.h"

#include <algorithm>

#include "proto/text/assign.h"
#include "workload/partition/recompute.h"

namespace podsim {
namespace {

constexpr const char* kKeptByName[] = {"context",  "mlpwi",      "mlpwi_0",      "mlpwi_1",
                                       "mlpwo",    "query_proj", "key_proj",     "value_proj",
                                       "qkv_proj", "out_proj",   "attention_out"};
constexpr const char* kWithoutName[] = {"moe_mlpwi_0", "moe_mlpwi_1",   "moe_mlpwo",  "kv_proj",
                                        "mla_q",       "query_wa_proj", "kv_wa_proj", "mla_kv"};

// "remat" where nothing is said.
std::string place_of_activation(Configuration& settings, const char* name, const char* otherwise) {
  const std::string place = settings.text(name).value_or(otherwise);
  if (place != "remat" && place != "device" && place != "offload")
    settings.refuse(name, std::string(name) + " is \"" + place + "\"", "expected remat, device or offload");
  return place;
}

void read_custom(Configuration& settings, MaxTextRemat& remat) {
  if (place_of_activation(settings, "decoder_layer_input", "device") == "offload")
    remat.offloaded.emplace_back("decoder_layer_input");
  for (const char* name : kKeptByName) {
    const std::string place = place_of_activation(settings, name, "remat");
    if (place == "device") remat.kept.emplace_back(name);
    if (place == "offload") remat.offloaded.emplace_back(name);
  }
  for (const char* name : kWithoutName)
    if (place_of_activation(settings, name, "remat") != "remat")
      remat.not_run.push_back({std::string(name) + " computed again: podsim does not keep it by itself",
                               "--set " + std::string(name) + "=remat"});
}

}  // namespace

MaxTextRemat read_maxtext_remat(Configuration& settings) {
  MaxTextRemat remat;
  remat.policy = settings.text("remat_policy").value_or("full");
  if (remat.policy == "minimal_flash") remat.policy = "minimal_with_context";  // its name until 2025
  if (remat.policy == "custom") {
    read_custom(settings, remat);
    return remat;
  }
  const std::vector<std::string> known = retention_policy_names();
  if (std::ranges::find(known, remat.policy) == known.end())
    settings.refuse("remat_policy", "remat_policy is \"" + remat.policy + "\"",
                    suggest(remat.policy, known, "expected custom, or one of"));
  return remat;
}

}  // namespace podsim
