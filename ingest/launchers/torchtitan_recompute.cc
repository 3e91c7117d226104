// [activation_checkpoint], whose words have their case.
#include "ingest/launchers/torchtitan_recompute.h"

namespace podsim {
namespace {

bool is_number_of_layers(const std::string& text) {
  return !text.empty() && text.size() <= 6 && text.find_first_not_of("0123456789") == std::string::npos &&
         text.find_first_not_of('0') != std::string::npos;
}

}  // namespace

std::string read_torchtitan_recompute(Configuration& settings) {
  const std::string mode = settings.text("activation_checkpoint.mode").value_or("selective");
  const std::string option = settings.text("activation_checkpoint.selective_ac_option").value_or("2");
  if (mode == "selective") {
    if (option != "op" && !is_number_of_layers(option))
      settings.refuse("activation_checkpoint.selective_ac_option",
                      "the option of selective recompute is \"" + option + "\"",
                      "expected op, or a number n: every n-th layer");
    return mode + ":" + option;
  }
  if (mode != "none" && mode != "full" && mode != "memory_budget")
    settings.refuse("activation_checkpoint.mode", "the mode of recompute is \"" + mode + "\"",
                    "expected none, selective, full or memory_budget");
  return mode;
}

}  // namespace podsim
