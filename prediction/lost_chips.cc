// Finds the largest cluster of what is left that the job can have.
#include "prediction/lost_chips.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "prediction/predict.h"
#include "prediction/rescale.h"
#include "scheduler/question/spec.h"
#include "topology/fabric_kind.h"
#include "workload/job/job.h"

namespace podsim {
namespace {

constexpr std::string_view kNode = "node:", kCube = "cube:";

bool begins(const std::string& text, std::string_view word) { return text.rfind(word, 0) == 0; }

std::string counted(std::size_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

// "data 15 instead of 16"
std::string changed_axis(const Mesh& before, const Mesh& after) {
  for (std::size_t i = 0; i < before.axes.size(); ++i)
    if (before.axes[i].size != after.axes[i].size)
      return before.axes[i].name + " " + std::to_string(after.axes[i].size) + " instead of " +
             std::to_string(before.axes[i].size);
  return "";
}

std::string batch_words(const Job& before, const Job& after) {
  if (before.global_batch == after.global_batch) return "the same batch";
  return std::to_string(after.global_batch) + " sequences a step instead of " +
         std::to_string(before.global_batch);
}

constexpr const char* kElse =
    "With spares it runs as before; podsim reliability tells what stops and spares cost.";

class Loss {
 public:
  explicit Loss(Spec& spec) : spec_(spec), fabric_(spec.cluster.fabric) {}

  LostChips run(const std::vector<std::string>& parts) {
    for (const std::string& part : parts) {
      const std::string why = read(part);
      if (!why.empty()) return {part + ": " + why, ""};
    }
    if (block_.any_hosts) return fewer_gpus();
    // A host of an OCS pod stands in a cube, and nothing smaller than a cube is replaced.
    return block_.any_blocks ? other_cubes() : fewer_slices("");
  }

 private:
  int hosts() const { return std::max(1, fabric_.chips / fabric_.chips_per_host); }
  int cubes_of_slices() const {
    const int cube = block_.side;
    return cube > 0 ? std::max(1, fabric_.chips / (cube * cube * cube)) : 0;
  }
  int cubes() const { return block_.in_pod > 0 ? block_.in_pod : cubes_of_slices(); }

  std::string read(const std::string& part) {
    const bool node = begins(part, kNode);
    const std::string where = part.substr(node ? kNode.size() : kCube.size());
    if (!node && !block_.any_blocks)
      return fabric_.name + " has no cubes: those are of pods with optical circuit switches";
    const int count = node ? hosts() : cubes();
    int number = -1;
    const auto [end, error] = std::from_chars(where.data(), where.data() + where.size(), number);
    if (error != std::errc() || end != where.data() + where.size() || number < 0 || number >= count)
      return "there is no " + std::string(node ? "host" : "cube") + " \"" + where + "\"; " + fabric_.name +
             " has " + (count == 1 ? "0 alone" : "0 to " + std::to_string(count - 1)) + " here";
    (node ? nodes_ : cubes_).insert(number);
    return "";
  }

  std::string lost_words() const {
    std::string words;
    if (!nodes_.empty()) words = counted(nodes_.size(), "host");
    if (!cubes_.empty()) words += (words.empty() ? "" : " and ") + counted(cubes_.size(), "cube");
    return words;
  }

  LostChips fewer_gpus() {
    const int left = fabric_.chips - static_cast<int>(nodes_.size()) * fabric_.chips_per_host;
    const std::string lost = "Without " + lost_words() + " " + std::to_string(std::max(left, 0)) + " of " +
                             std::to_string(fabric_.chips) + " GPUs are left";
    for (int chips = left; chips > 0; --chips) {
      for (const bool strong : {true, false}) {
        Spec fewer = spec_;
        if (!rescale(fewer, chips, strong).empty()) continue;
        const std::string axis = changed_axis(spec_.job.mesh, fewer.job.mesh);
        const std::string batch = batch_words(spec_.job, fewer.job);
        spec_ = std::move(fewer);
        return {"", lost + ". The job stops and can go on with " + std::to_string(chips) +
                        " of them: " + axis + ", " + batch + ". " + kElse};
      }
    }
    return {lost + ", and the job's mesh has no smaller size: it waits for a spare", ""};
  }

  LostChips other_cubes() {
    Spec repaired = spec_;
    std::vector<int>& all_failed = *kind_of(fabric_).failed_blocks(repaired.cluster.fabric);
    std::set<int> failed = cubes_;
    for (int next = 0; failed.size() < cubes_.size() + nodes_.size() && next < cubes(); ++next)
      failed.insert(next);
    all_failed.insert(all_failed.end(), failed.begin(), failed.end());
    const std::string why = explain_invalid(repaired.cluster.fabric);
    if (!why.empty()) return fewer_slices(why);
    const int healthy = cubes() - static_cast<int>(all_failed.size());
    spec_ = std::move(repaired);
    return {"", "Without " + lost_words() + " the pod has " +
                    counted(static_cast<std::size_t>(healthy), "healthy cube") + ", and the job needs " +
                    std::to_string(cubes_of_slices()) +
                    ". It stops, the optical switches make its slices of others, and it goes on at the same "
                    "speed; podsim reliability tells what the stop costs."};
  }

  // Each lost part may stand in a slice of its own.
  LostChips fewer_slices(const std::string& why) {
    const int whole = fabric_.slices - static_cast<int>(nodes_.size() + cubes_.size());
    const std::string lost = "Without " + lost_words() + " " +
                             (why.empty() ? "a slice of " + fabric_.name + " is not whole" : why);
    for (int slices = whole; slices > 0; --slices) {
      for (const bool strong : {true, false}) {
        Spec fewer = spec_;
        if (!rescale_slices(fewer, slices, strong).empty()) continue;
        const std::string batch = batch_words(spec_.job, fewer.job);
        spec_ = std::move(fewer);
        return {"", lost + ". The job stops and can go on with " +
                        counted(static_cast<std::size_t>(slices), "slice") + " of " +
                        std::to_string(fabric_.slices) + ", " + batch + ". " + kElse};
      }
    }
    return {lost + ": the job waits for the repair. podsim scale tells what a smaller slice would do", ""};
  }

  Spec& spec_;
  const FabricSpec fabric_;  // as it was
  const ReplaceableUnit block_ = kind_of(fabric_).block(fabric_);
  std::set<int> nodes_, cubes_;
};

}  // namespace

bool names_lost_chips(const std::string& part) { return begins(part, kNode) || begins(part, kCube); }

LostChips lose_chips(Spec& spec, const std::vector<std::string>& parts) { return Loss(spec).run(parts); }

}  // namespace podsim
