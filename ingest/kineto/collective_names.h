// What profiles call collectives and types of elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace podsim::kineto {

// "_allgather_base", "allreduce_coalesced" -> "all_gather", "all_reduce"; another word stays as it is.
std::string kind_of_call(std::string_view name);

// "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...)" -> "all_reduce"; "unknown" where the name does not say.
std::string kind_of_kernel(std::string_view name);

// Whether a kernel is one of a library of collectives.
bool is_of_collective_library(std::string_view name);

// "BFloat16" -> 2; nothing for an unknown type.
std::optional<std::int64_t> bytes_of_type(std::string_view type);

}  // namespace podsim::kineto
