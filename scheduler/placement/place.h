// Placement: mesh coordinate -> chip, and the groups of chips along mesh axes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/index_iterator.h"
#include "topology/fabric.h"
#include "workload/mesh/axes.h"
#include "workload/mesh/mesh.h"

namespace podsim {

struct AxisPlacement;
struct FabricSpec;

// Chips one after the other, which take no room, or any.
class ChipList {
 public:
  using Iterator = IndexIterator<ChipList, ChipId>;

  ChipList() = default;
  ChipList(std::vector<ChipId> chips) : chips_(std::move(chips)), size_(chips_.size()) {}
  ChipList(ChipId first, std::size_t count) : first_(first), size_(count) {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  ChipId operator[](std::size_t i) const {
    return chips_.empty() ? first_ + static_cast<ChipId>(i) : chips_[i];
  }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, static_cast<std::ptrdiff_t>(size_)}; }
  bool in_order() const;  // from chip 0 on
  friend bool operator==(const ChipList& a, const ChipList& b);

 private:
  std::vector<ChipId> chips_;  // empty where they come one after the other
  ChipId first_ = 0;
  std::size_t size_ = 0;
};

// Where each device of a mesh (Mesh) lies.
struct Placement {
  ChipList chip_of_device;
  // Each device lies on the chip of its number.
  bool in_order() const { return chip_of_device.in_order(); }
  friend bool operator==(const Placement&, const Placement&) = default;
};

// The device mesh of a job and the chips it lies on.
struct LaidMesh {
  Mesh mesh;
  Placement placement;
  double network_share = 1;  // Stack::network_share
  friend bool operator==(const LaidMesh&, const LaidMesh&) = default;
};

// The mesh lies on the chips from `first_chip`, one device on each.
// GPU clusters: device d is chip first_chip + d, so the innermost axes share an NVLink domain.
// Tori: the outermost axes run over the slices; inside a slice each axis takes whole torus dimensions whose
// lengths multiply to its size, innermost axis first, by the user's choice or else the first exact assignment
// in x, y, z order; where there is none, devices follow the chips' own numbering. REQUIRES: the fabric has
// these chips, and of a torus they are whole slices.
Placement place(const Fabric& fabric, const Mesh& mesh, const std::vector<AxisPlacement>& chosen,
                ChipId first_chip = 0);

// Why these choices cannot be met ("axis tensor has size 8, but dimensions x, y hold 64 chips"), or empty.
std::string explain_invalid(const FabricSpec& fabric, const Mesh& mesh,
                            const std::vector<AxisPlacement>& chosen);

// Groups of equally many chips each: a pod has a million, so that all stand in one array.
class ChipGroups {
 public:
  class Iterator {
   public:
    Iterator(const ChipId* first, std::size_t members) : first_(first), members_(members) {}
    std::span<const ChipId> operator*() const { return {first_, members_}; }
    Iterator& operator++() {
      first_ += members_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const ChipId* first_;
    std::size_t members_;
  };

  ChipGroups() = default;
  // REQUIRES: members >= 1, and as many chips as whole groups have.
  ChipGroups(std::size_t members, std::vector<ChipId> chips) : members_(members), chips_(std::move(chips)) {}

  std::size_t size() const { return chips_.size() / members_; }
  std::size_t members() const { return members_; }
  std::span<const ChipId> operator[](std::size_t group) const {
    return {chips_.data() + group * members_, members_};
  }
  std::span<const ChipId> front() const { return (*this)[0]; }
  Iterator begin() const { return {chips_.data(), members_}; }
  Iterator end() const { return {chips_.data() + chips_.size(), members_}; }

 private:
  std::size_t members_ = 1;
  std::vector<ChipId> chips_;  // group after group
};

// What to add to the number of the first device of a group along the axes to come to each of its members,
// ascending. REQUIRES: pieces of axes are in their canonical form.
std::vector<std::size_t> steps_in_group(const Mesh& mesh, const AxisList& axes);
std::vector<std::size_t> steps_in_group(const Mesh& mesh, AxisSet axes);

// The groups of chips that differ only in their coordinates along `axes`; members in row-major order of those
// axes, groups in order of their first device.
ChipGroups groups_along(const Mesh& mesh, const Placement& placement, AxisSet axes);

}  // namespace podsim
