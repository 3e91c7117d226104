// Finds the largest cluster of what is left that the job can have.
#include "prediction/lost_chips.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "engine/number_text.h"
#include "prediction/kept_chips.h"
#include "prediction/rescale.h"
#include "scheduler/question/spec.h"
#include "topology/fabric_kind.h"
#include "topology/parts.h"
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

// Where the cubes of chips are among those that the slices of a pod are made of.
class CubePlaces {
 public:
  CubePlaces(const FabricSpec& spec, int cubes_of_slices)
      : fabric_(build_fabric(spec)),
        parts_(fabric_, spec.chips_per_host),
        slice_chips_(spec.chips / spec.slices),
        slice_cubes_(cubes_of_slices / spec.slices) {}
  CubePlaces(const CubePlaces&) = delete;
  CubePlaces& operator=(const CubePlaces&) = delete;

  int of(ChipId chip) const {  // domains are numbered with a gap between slices
    const int slice = chip / slice_chips_;
    return parts_.domain_of(Domain::kCube, PartKind::kChip, chip) - slice * (slice_chips_ - slice_cubes_);
  }

 private:
  const Fabric fabric_;
  const Parts parts_;
  const int slice_chips_, slice_cubes_;
};

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
  int cubes_of_slices() const {  // a slice that is a part of a cube takes one
    if (block_.side == 0) return 0;
    return fabric_.slices * std::max(1, fabric_.chips / fabric_.slices / (block_.face_chips * block_.side));
  }
  int cubes() const { return block_.in_pod > 0 ? block_.in_pod : cubes_of_slices(); }

  std::string read(const std::string& part) {
    const bool node = begins(part, kNode);
    const std::string where = part.substr(node ? kNode.size() : kCube.size());
    if (!node && !block_.any_blocks)
      return fabric_.name + " has no cubes: those are of pods with optical circuit switches";
    const int count = node ? host_count(fabric_) : cubes();
    const int number = whole_text_as<int>(where).value_or(-1);
    if (number < 0 || number >= count)
      return "there is no " + std::string(node ? "host" : "cube") + " \"" + where + "\"; " + fabric_.name +
             " has " + (count == 1 ? "0 alone" : "0 to " + std::to_string(count - 1)) + " here";
    (node ? nodes_ : cubes_).insert(number);
    return "";
  }

  // Whether each chip is in a host that is lost.
  std::vector<bool> in_lost_hosts() const {
    std::vector<bool> lost(fabric_.chips);
    for (const int node : nodes_)
      for (const ChipId chip : chips_of_host(fabric_, node)) lost[chip] = true;
    return lost;
  }

  // [place in the slices] the cube of the pod that is there: slices are made of the healthy ones in their
  // order.
  std::vector<int> cubes_in_use() const {
    FabricSpec fabric = fabric_;
    const std::vector<int>& failed = *kind_of(fabric_).failed_blocks(fabric);
    std::vector<int> in_use;
    for (int cube = 0; cube < cubes() && static_cast<int>(in_use.size()) < cubes_of_slices(); ++cube)
      if (std::ranges::find(failed, cube) == failed.end()) in_use.push_back(cube);
    return in_use;
  }

  // Those of cubes that are lost, and those of hosts that are: hosts of one cube have one.
  std::set<int> lost_places(const CubePlaces& places) const {
    const std::vector<int> in_use = cubes_in_use();
    std::set<int> lost;
    for (std::size_t place = 0; place < in_use.size(); ++place)
      if (cubes_.contains(in_use[place])) lost.insert(static_cast<int>(place));
    for (const int node : nodes_) lost.insert(places.of(chips_of_host(fabric_, node).front()));
    return lost;
  }

  // Slices that one pod has no room for are made of cubes of others, which have no number here: any that is
  // left stands for such a one.
  std::set<int> lost_cubes() const {
    std::set<int> lost = cubes_;
    if (nodes_.empty()) return lost;
    const std::vector<int> in_use = cubes_in_use();
    int of_others = 0;
    for (const int place : lost_places(CubePlaces(fabric_, cubes_of_slices())))
      if (place < static_cast<int>(in_use.size()))
        lost.insert(in_use[static_cast<std::size_t>(place)]);
      else
        ++of_others;
    for (int next = 0; of_others > 0 && next < cubes(); ++next) of_others -= lost.insert(next).second ? 1 : 0;
    return lost;
  }

  std::vector<bool> in_lost_cubes() const {
    const CubePlaces places(fabric_, cubes_of_slices());
    const std::set<int> lost_places = this->lost_places(places);
    std::vector<bool> lost(fabric_.chips);
    for (ChipId chip = 0; chip < fabric_.chips; ++chip) lost[chip] = lost_places.contains(places.of(chip));
    return lost;
  }

  // The number of each chip among the first `kept` that are not lost.
  static std::vector<ChipId> renumbered(const std::vector<bool>& lost, int kept) {
    std::vector<ChipId> number(lost.size(), -1);
    int next = 0;
    for (std::size_t chip = 0; chip < lost.size() && next < kept; ++chip)
      if (!lost[chip]) number[chip] = next++;
    return number;
  }

  // The spec on fewer chips, by `resize`, with what of its adversities is left there; nothing where the job
  // has no such size, and where the adversities are in its way: `why_` says so.
  template <typename Resize>
  std::optional<Spec> smaller(const std::vector<bool>& lost, int chips, Resize&& resize) {
    Spec healthy = spec_;
    healthy.adversities = {};
    if (!resize(healthy).empty()) return std::nullopt;
    Spec fewer = spec_;
    fewer.adversities = of_kept_chips(spec_, renumbered(lost, chips));
    const std::string why = resize(fewer);
    if (why_.empty()) why_ = why;
    return why.empty() ? std::optional(std::move(fewer)) : std::nullopt;
  }

  std::string lost_words() const {
    std::string words;
    if (!nodes_.empty()) words = counted(nodes_.size(), "host");
    if (!cubes_.empty()) words += (words.empty() ? "" : " and ") + counted(cubes_.size(), "cube");
    return words;
  }

  LostChips fewer_gpus() {
    const std::vector<bool> gone = in_lost_hosts();
    const auto left = static_cast<int>(std::ranges::count(gone, false));
    const std::string lost = "Without " + lost_words() + " " + std::to_string(left) + " of " +
                             std::to_string(fabric_.chips) + " GPUs are left";
    for (int chips = left; chips > 0; --chips) {
      for (const bool strong : {true, false}) {
        std::optional<Spec> fewer =
            smaller(gone, chips, [&](Spec& spec) { return rescale(spec, chips, strong); });
        if (!fewer) continue;
        const std::string axis = changed_axis(spec_.job.mesh, fewer->job.mesh);
        const std::string batch = batch_words(spec_.job, fewer->job);
        spec_ = *std::move(fewer);
        return {"", lost + ". The job stops and can go on with " + std::to_string(chips) +
                        " of them: " + axis + ", " + batch + ". " + kElse};
      }
    }
    if (!why_.empty()) return {lost + ", and the job cannot go on with them: " + why_, ""};
    return {lost + ", and the job's mesh has no smaller size: it waits for a spare", ""};
  }

  LostChips other_cubes() {
    Spec repaired = spec_;
    std::vector<int>& all_failed = *kind_of(fabric_).failed_blocks(repaired.cluster.fabric);
    const std::set<int> failed = lost_cubes();
    all_failed.insert(all_failed.end(), failed.begin(), failed.end());
    const std::string why = explain_invalid(repaired.cluster.fabric);
    if (!why.empty()) return fewer_slices(why);
    const int healthy = cubes() - static_cast<int>(all_failed.size());
    std::vector<ChipId> number(fabric_.chips);
    const std::vector<bool> gone = in_lost_cubes();
    for (ChipId chip = 0; chip < fabric_.chips; ++chip) number[chip] = gone[chip] ? -1 : chip;
    repaired.adversities = of_kept_chips(spec_, number);
    spec_ = std::move(repaired);
    return {"", "Without " + lost_words() + " the pod has " +
                    counted(static_cast<std::size_t>(healthy), "healthy cube") + ", and the job needs " +
                    std::to_string(cubes_of_slices()) +
                    ". It stops, the optical switches make its slices of others, and it goes on at the same "
                    "speed; podsim reliability tells what the stop costs."};
  }

  LostChips fewer_slices(const std::string& why) {
    const std::string lost = "Without " + lost_words() + " " +
                             (why.empty() ? "a slice of " + fabric_.name + " is not whole" : why);
    const int slice_chips = fabric_.chips / fabric_.slices;
    std::vector<bool> gone = block_.any_blocks ? in_lost_cubes() : in_lost_hosts();
    for (int chip = 0; chip < fabric_.chips; ++chip)  // of a slice all, each of which comes after its first
      if (gone[chip]) std::fill_n(gone.begin() + chip / slice_chips * slice_chips, slice_chips, true);
    const int whole = static_cast<int>(std::ranges::count(gone, false)) / slice_chips;
    for (int slices = whole; slices > 0; --slices) {
      for (const bool strong : {true, false}) {
        std::optional<Spec> fewer = smaller(gone, slices * slice_chips,
                                            [&](Spec& spec) { return rescale_slices(spec, slices, strong); });
        if (!fewer) continue;
        const std::string batch = batch_words(spec_.job, fewer->job);
        spec_ = *std::move(fewer);
        return {"", lost + ". The job stops and can go on with " +
                        counted(static_cast<std::size_t>(slices), "slice") + " of " +
                        std::to_string(fabric_.slices) + ", " + batch + ". " + kElse};
      }
    }
    if (!why_.empty()) return {lost + ", and the job cannot go on with the others: " + why_, ""};
    return {lost + ": the job waits for the repair. podsim scale tells what a smaller slice would do", ""};
  }

  Spec& spec_;
  const FabricSpec fabric_;  // as it was
  const ReplaceableUnit block_ = kind_of(fabric_).block(fabric_);
  std::set<int> nodes_, cubes_;
  std::string why_;  // an adversity is in the way of the largest size that the job could have
};

}  // namespace

bool names_lost_chips(const std::string& part) { return begins(part, kNode) || begins(part, kCube); }

LostChips lose_chips(Spec& spec, const std::vector<std::string>& parts) { return Loss(spec).run(parts); }

}  // namespace podsim
