// Chakra traces out of files: records of protobuf, each behind its length.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/chakra/trace.h"
#include "proto/text/problem.h"

namespace podsim::chakra {

// Whether the first record is what a Chakra trace begins with. O(first record).
bool is_chakra_trace(std::string_view bytes);

// Nothing, and problems that name the record and its byte, where a record is cut or cannot be read, where an
// id occurs twice, and where data of a node is awaited that the file lacks. A file that ends between two
// records looks whole: only those that something waits for are missed.
std::optional<Trace> read_trace(const std::string& file, std::string_view bytes,
                                std::vector<Problem>& problems);

}  // namespace podsim::chakra
