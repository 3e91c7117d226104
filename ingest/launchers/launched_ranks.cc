// Numbers are taken as they stand; what is said and is no number is told, not replaced by a default.
#include "ingest/launchers/launched_ranks.h"

#include <cstdlib>
#include <utility>
#include <vector>

#include "engine/check.h"

namespace podsim {
namespace {

using RankCount = std::optional<std::int64_t>;

RankCount process_count(const std::string& text) {
  if (text.empty() || text.size() > 6 || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  const std::int64_t number = std::strtoll(text.c_str(), nullptr, 10);
  return number > 0 ? RankCount(number) : std::nullopt;
}

class LauncherReader {
 public:
  explicit LauncherReader(Configuration& settings) : s_(settings) {}

  LaunchedRanks read() {
    const bool torchrun = has("nnodes") || has("nproc-per-node");
    if (torchrun)
      read_torchrun();
    else
      read_slurm();
    for (const char* name : {"nnodes", "nproc-per-node", "nodes", "ntasks-per-node", "ntasks",
                             "launchers.ntasks-per-node", "launchers.ntasks", "gpus-per-node", "gres"})
      s_.use(launcher(name));
    PODSIM_CHECK(!read_.ranks || (*read_.ranks > 0 && read_.unknown.empty()), "what is told is known");
    return std::move(read_);
  }

 private:
  static std::string launcher(const std::string& name) { return "launcher." + name; }
  bool has(const std::string& name) const { return s_.has(launcher(name)); }
  // The first word: behind it a program may stand.
  std::string word(const std::string& name) {
    const std::vector<std::string> words = s_.list(launcher(name));
    return words.empty() ? "" : words.front();
  }
  RankCount number(const std::string& name) { return process_count(word(name)); }

  void unknown(const std::string& name) {
    read_.unknown = name + " is " + s_.text(launcher(name)).value_or("not there");
  }

  void multiply(std::int64_t nodes, std::int64_t per_node) {
    read_.ranks = nodes * per_node;
    read_.from = "the launcher's " + std::to_string(nodes) + " x " + std::to_string(per_node) + " processes";
  }

  void read_torchrun() {
    RankCount nodes = number("nnodes"), per_node = number("nproc-per-node");
    if (!nodes) nodes = number("nodes");
    if (!nodes && !has("nnodes") && !has("nodes")) nodes = 1;  // the default of torchrun
    if (!per_node && has("nproc-per-node")) per_node = slurm_gpus();
    if (!nodes) return unknown(has("nnodes") ? "nnodes" : "nodes");
    if (!per_node) return unknown("nproc-per-node");
    multiply(*nodes, *per_node);
  }

  // Of a node: "8", "h100:8"; in a list of resources "gpu:8", "gpu:h100:8(S:0-1)", "gpu".
  RankCount slurm_gpus() {
    std::string gpus = word("gpus-per-node");
    if (gpus.empty()) {
      const std::string resources = "," + word("gres");
      const std::size_t begin = resources.find(",gpu");
      if (begin == std::string::npos || resources.find(",gpu", begin + 1) != std::string::npos)
        return std::nullopt;
      gpus = resources.substr(begin + 1, resources.find(',', begin + 1) - begin - 1);
    }
    gpus = gpus.substr(0, gpus.find('('));
    return gpus == "gpu" ? RankCount(1) : process_count(gpus.substr(gpus.rfind(':') + 1));
  }

  void read_slurm() {
    const RankCount tasks = number("ntasks"), per_node = number("ntasks-per-node");
    RankCount nodes = number("nodes");
    if (!nodes && !has("nodes")) nodes = 1;  // that of one with so many tasks
    if (tasks && per_node && has("nodes") && nodes && *nodes * *per_node != *tasks) {
      read_.unknown = "ntasks is " + std::to_string(*tasks) + ", and nodes x ntasks-per-node " +
                      std::to_string(*nodes) + " x " + std::to_string(*per_node);
    } else if (tasks) {
      read_.ranks = tasks;
      read_.from = "the launcher's " + std::to_string(*tasks) + " processes";
    } else if (has("ntasks-per-node")) {
      if (!nodes) return unknown("nodes");
      if (!per_node) return unknown("ntasks-per-node");
      multiply(*nodes, *per_node);
    }
  }

  Configuration& s_;
  LaunchedRanks read_;
};

}  // namespace

LaunchedRanks launched_ranks(Configuration& settings) { return LauncherReader(settings).read(); }

}  // namespace podsim
