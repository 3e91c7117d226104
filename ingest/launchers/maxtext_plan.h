// What a configuration of MaxText means, as plain data, and how it is told.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/launchers/maxtext_remat.h"
#include "ingest/launchers/maxtext_sources.h"
#include "ingest/launchers/scenario_text.h"
#include "report/figures/figure.h"

namespace podsim {

// What a command of MaxText asks for, with what only its files say still open.
struct MaxTextPlan {
  using Axes = std::vector<std::pair<std::string, std::int64_t>>;  // -1 = the rest, of unknown size

  ModelSizes model;
  ModelSizes known;                         // those of `catalogue`, which the settings may change
  std::map<std::string, std::string> from;  // [what] where it is said
  std::vector<Needed> needs;
  Axes ici, dcn;  // of a slice and between slices, those that are not 1
  std::optional<std::int64_t> chips, global;
  std::int64_t slices = 1, accumulation = 1, sequence = 2048;
  std::int64_t shared = 0;                                         // experts that every token passes
  std::int64_t stages = 1, chunks = 1, pipeline_microbatches = 1;  // chunks: of layers on a stage
  std::optional<std::int64_t> micro;                               // sequences of one on a batch shard
  std::int64_t state_bytes = 12;                                   // of weights in 32 bits, and of moments
  double per_device = 12;                                          // sequences
  bool scan = true, offload_optimizer = false;
  std::vector<Needed> not_run;  // instead of what podsim does not simulate
  std::string chips_from = "--chips", name, catalogue, quantization, precision, weights, attention;
  MaxTextRemat remat;
};

// Product of the axes of these names, of both levels. REQUIRES: none of them is the rest.
std::int64_t axes_product(const MaxTextPlan& plan, std::initializer_list<std::string_view> names);

// Contradictions are problems of the settings.
MaxTextPlan read_maxtext_plan(MaxTextSources& sources, const Stated& stated);

// As podsim names what matmuls run in; empty where it has no such format.
std::string maxtext_recipe(const MaxTextPlan& plan);

std::vector<Figure> maxtext_figures(const MaxTextPlan& plan);
std::string maxtext_text(const std::string& file, const MaxTextPlan& plan);

// Empty, and a problem, where its experts do not fit the mesh. REQUIRES: nothing is needed.
std::string maxtext_scenario(const std::string& file, MaxTextPlan plan, const Stated& stated,
                             std::string& problem);

}  // namespace podsim
