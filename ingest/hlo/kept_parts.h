// All-reduces that are reduce-scatters but for their name.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "ingest/hlo/module.h"
#include "ingest/hlo/waits.h"

namespace podsim::hlo {

class KeptParts {
 public:
  // REQUIRES: the module outlives this.
  explicit KeptParts(const Module& module);

  // Whether a device keeps of the result of a reduction only the part that its own number says: all that use
  // it slice it at a place that follows from partition-id or replica-id, through ends of what is asynchronous
  // and elements of tuples. Slices of podsim's partitioner name no place: they are those of the device.
  bool each_device_keeps_one(int computation, const Users& users, std::size_t reduction) const;

 private:
  struct Place {
    int computation, instruction;
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  bool follows_from_own_number(const Place& index) const;
  void add_sources(const Place& place, std::vector<Place>& open) const;
  void add_arguments(const Place& parameter, std::size_t number, int element, std::vector<Place>& open) const;
  // The element of a tuple, or what cannot be taken apart.
  void add_element(const Place& tuple, int element, std::vector<Place>& open) const;

  const Module& module_;
  std::vector<std::vector<Place>> callers_;  // [computation]
};

}  // namespace podsim::hlo
