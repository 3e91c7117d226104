// Recorded traces of training runs as files: a table of operations, and what describes the run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/load.h"
#include "scheduler/replay/recorded_trace.h"

namespace podsim {

// Reads TRACE.csv or TRACE.csv.gz row by row: a header and one operation a row, with the columns dp_rank,
// stage, rank, step, optype, start_ts and duration (seconds), seq_id, mc, gmc and, if there is one, mb_id, in
// any order; others are passed over. `meta` = META.yaml, lines "key: value", of which dsp_size and precision
// ("single", the default, or "double") matter here; empty = none. Nothing, and problems, where a row cannot
// be read; after 20 problems the rest is not read.
std::optional<RecordedTrace> read_trace(const std::string& path, const std::string& meta,
                                        std::vector<Problem>& problems);

}  // namespace podsim
