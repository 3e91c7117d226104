// Lists of groups and of pairs as a collective writes them: numbers, whatever they stand for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingest/hlo/module.h"

namespace podsim::hlo {

// What all groups of a collective name together.
struct NamedNumbers {
  std::int64_t count = 0;  // 0 where no group is written: everybody is in one
  std::int64_t largest = -1;
  std::int64_t missing = 0;                          // the smallest that no group has
  std::optional<std::int64_t> twice = std::nullopt;  // that stands in two places
  bool even = true;                                  // groups have one size
  bool empty_group = false;
};

// Groups as they are written, one by one or as an iota; one too many to keep has its first members.
struct GroupList {
  std::int64_t size = 0, count = 0;  // of the largest group; of groups
  std::vector<std::int64_t> first;   // group, of it the first kKeptIds
  NamedNumbers named;
  std::vector<std::vector<std::int64_t>> every = {};  // group, where that is asked for
};
constexpr std::size_t kKeptIds = 65'536;

// In any of its four forms; of no size where everybody is in one group. Nothing where it cannot be read.
enum class Listed : std::uint8_t { kFirstGroup, kEveryGroup };
std::optional<GroupList> written_groups(const Instruction& collective, Listed listed = Listed::kFirstGroup);

// Sources and targets of a permute, all of them.
using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
std::optional<Pairs> source_target_pairs(const Instruction& permute);

}  // namespace podsim::hlo
