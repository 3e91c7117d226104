// A scenario with another layout of its job, as text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/text/override.h"
#include "workload/job/job.h"

namespace podsim {

// The fields of a job block that say how it is laid out.
struct LayoutBlocks {
  std::vector<MeshAxis> mesh;
  std::vector<std::string> sharding;  // presets
  std::vector<ShardingRule> rules;
  std::optional<PipelineSchedule> schedule;  // nothing = no pipeline
  int chunks = 1;
  int microbatch = 1;
  std::optional<Recompute> recompute;  // kNone, kSelective or kFull; nothing = as the job's own
  int recompute_layers = 0;
};

// The scenario in text format, without its block plan, and with `comment` before it, line by line. REQUIRES:
// it can be parsed with these overrides.
enum class KeepSpace : bool { kNo, kYes };
std::string scenario_with_layout(const std::string& text, const std::vector<Override>& overrides,
                                 const LayoutBlocks& layout, const std::string& comment,
                                 KeepSpace space = KeepSpace::kNo);

// The scenario in text format. REQUIRES: as above.
std::string scenario_with_overrides(const std::string& text, const std::vector<Override>& overrides);

// The same without what its block plan says of numbers that vary.
std::string scenario_without_varied(const std::string& text, const std::vector<Override>& overrides);

// The same at the price of its list: without a price of the cluster's own, and the contract of that.
std::string scenario_at_list_price(const std::string& text, const std::vector<Override>& overrides);

// The same without what its cluster says of the chip that it names alone: what that costs, rented or bought,
// the carbon of making it, and what stands in place of its entry.
struct WithoutOwnChip {
  std::string text;
  std::vector<std::string> left_out;  // "cluster.usd_per_chip_hour", in the order of the schema
};
WithoutOwnChip scenario_without_own_chip(const std::string& text, const std::vector<Override>& overrides);

// The same, whose run of weeks ends with so many tokens, whatever its block reliability says of an end.
std::string scenario_to_tokens(const std::string& text, const std::vector<Override>& overrides,
                               double tokens);

// What a scenario says of its cluster and its batch; empty and 0 where it cannot be parsed or does not say.
struct ClusterWords {
  std::string chip, fabric, price_term;
  bool own_price = false;  // usd_per_chip_hour
  int slices = 0;
  int global_batch = 0;  // sequences
  int chips = 0, sequence_tokens = 0;
  bool reliability = false;  // it has the block
  int failures = 0;          // rates that the block lists
  bool step_error = true;    // the block lets the step's time be off
};
ClusterWords cluster_words(const std::string& text, const std::vector<Override>& overrides);

}  // namespace podsim
