// Recorded traces of training runs as files: a table of operations, and what describes the run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/text/csv_table.h"
#include "proto/text/problem.h"
#include "scheduler/replay/recorded_trace.h"

namespace podsim {

// Reads TRACE.csv or TRACE.csv.gz row by row: a header and one operation a row, with the columns dp_rank,
// stage, rank, step, optype, start_ts and duration (seconds), seq_id, mc, gmc and, if there is one, mb_id, in
// any order; others are passed over. `meta` = META.yaml, lines "key: value", of which dsp_size and precision
// ("single", the default, or "double") matter here; empty = none. Nothing, and problems, where a row cannot
// be read; after 20 problems the rest is not read, nor are more than 2,000,000 lines or 256 MiB of text.
std::optional<RecordedTrace> read_trace(const std::string& path, const std::string& meta,
                                        std::vector<Problem>& problems);

// The same format as text, and the description of the run. Every number is written so that it reads back as
// itself.
std::string trace_rows(const RecordedTrace& trace);
std::string trace_meta(const RecordedTrace& trace, const std::string& name, int chips);

// Compressed by gzip.
std::string gzipped(const std::string& text);

// Where the description belongs: TRACE.meta.yaml beside TRACE.csv.gz.
std::string meta_path(const std::string& trace_path);

}  // namespace podsim
