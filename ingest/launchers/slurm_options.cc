// The short options that say how many processes there are, beside all long ones.
#include "ingest/launchers/slurm_options.h"

#include <algorithm>
#include <string_view>

namespace podsim {
namespace {

// Empty for a short option that says nothing of nodes and tasks.
std::string long_name(std::string_view word) {
  return word.starts_with("-N") ? "nodes" : word.starts_with("-n") ? "ntasks" : "";
}

}  // namespace

std::vector<SlurmOption> slurm_options(const std::vector<std::string>& words) {
  std::vector<SlurmOption> options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with("-")) continue;
    SlurmOption option;
    option.word = i;
    option.is_short = !word.starts_with("--");
    const std::size_t value = option.is_short ? 2 : std::min(word.find('='), word.size());
    option.name = option.is_short ? long_name(word) : word.substr(2, value - 2);
    if (value < word.size())
      option.value = word.substr(option.is_short ? value : value + 1);
    else if (i + 1 < words.size() && !words[i + 1].starts_with("-"))
      option.value = words[++i];
    if (!option.name.empty() && !option.value.empty()) options.push_back(option);
  }
  return options;
}

}  // namespace podsim
