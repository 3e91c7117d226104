// Predicts measured collectives with the fabrics of the catalogue, or with one that is given.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "proto/catalog/catalog.h"
#include "topology/fabric.h"
#include "validation/error_summary.h"
#include "validation/measured_collectives.h"

namespace podsim {

struct PredictedCollective {
  MeasuredCollective measured;
  std::string fabric;
  Algorithm algorithm{};
  double predicted_s = 0;

  double error() const { return (predicted_s - measured.time_s) / measured.time_s; }
};

struct CollectiveValidation {
  std::vector<PredictedCollective> rows;  // in the order of the table
  std::vector<Problem> problems;          // of rows that could not be predicted
};

// Each row alone on `fabric`; where that is empty, on the usual fabric of its chip, or the one whose file
// names its system and network. The GPUs lie equally spread over the fewest NVLink domains that hold them and
// the nodes; on a torus they are the most cubic slice.
CollectiveValidation validate_collectives(const std::vector<MeasuredCollective>& rows, const Catalog& catalog,
                                          const std::string& fabric);

// Each row alone on this network, made as large as its GPUs need it, which lie there as above.
CollectiveValidation validate_collectives(const std::vector<MeasuredCollective>& rows,
                                          const FabricSpec& fabric);

// A fabric, sized to hold a group.
struct PlacedGroup {
  FabricSpec spec;
  Fabric fabric;
  std::vector<ChipId> group;
};

// On the fabric of this name, or on this one: so many GPUs of so many nodes (0 = as few as hold them), placed
// as above; nothing, and a problem without a place, where they do not fit.
std::optional<PlacedGroup> place_measured_group(const Catalog& catalog, const std::string& fabric, int gpus,
                                                int nodes, Problem& problem);
std::optional<PlacedGroup> place_measured_group(const FabricSpec& fabric, int gpus, int nodes,
                                                Problem& problem);

struct NamedSummary {
  std::string of;
  ErrorSummary errors;
};

// All rows; those of at least 1 MiB; those below; then system by system as the table names them first, and
// those that name a chip by collective, by GPUs and by size. Without rows that are not representative.
std::vector<NamedSummary> summarize(const std::vector<PredictedCollective>& rows);

// Those that are farthest off, the worst first; likewise.
std::vector<PredictedCollective> worst(const std::vector<PredictedCollective>& rows, std::size_t count);

}  // namespace podsim
