// The output of nccl-tests and rccl-tests: times of one collective by size.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/imported/imported.h"
#include "proto/text/problem.h"
#include "proto/text/read_file.h"
#include "report/figures/figure.h"

namespace podsim {

// One placement of buffers in one row. GB are 10^9 bytes.
struct NcclTiming {
  double time_us = 0, algbw = 0, busbw = 0;
  std::string wrong;  // results that were wrong, or "N/A" where they were not checked
};

struct NcclRow {
  std::int64_t line = 0;  // of the text, from 1
  std::int64_t bytes = 0, count = 0;
  std::string dtype, redop;  // redop: empty where the version prints none
  std::int64_t root = -1;
  NcclTiming out_of_place;
  std::optional<NcclTiming> in_place;

  bool wrong() const;  // in either placement
  bool usable() const { return bytes > 0 && out_of_place.time_us > 0 && !wrong(); }
};

struct NcclTests {
  std::string kind;           // as the file names it, "all_reduce" of "# all_reduce_perf", or empty
  std::string inferred_kind;  // from bus factor and reduction; "all_gather or alltoall" where both fit
  double bus_factor = 0;      // bus over algorithm bandwidth; 0 where no row tells
  std::int64_t ranks = 0;     // as listed; 0 where they are not
  std::int64_t inferred_ranks = 0;
  std::int64_t hosts = 0;
  std::vector<std::string> devices;  // names, each once
  std::vector<NcclRow> rows;
  std::optional<double> average_busbw;  // as printed: a mean over all sizes, which means little
  std::int64_t lines = 0, used_lines = 0;
  std::map<std::string, std::int64_t> passed_over;  // [reason] lines

  double peak_busbw() const;  // out of place, of rows without wrong results
};

// Whether a text looks like such an output.
bool is_nccl_tests(std::string_view text);

// One piece for each test, where a log holds several: each begins with heads behind the rows of the one
// before.
std::vector<std::string_view> texts_of_tests(std::string_view text);

// Prefixes of launchers and lines of other programs between the rows are passed over. Nothing, and a problem,
// where there is no row.
std::optional<NcclTests> read_nccl_tests(const std::string& file, std::string_view text,
                                         std::vector<Problem>& problems);

// As podsim import shows one file: its rows, and a problem where it has none. Several tests are each told.
std::optional<Imported> import_nccl_tests(const std::vector<InputText>& files, const Stated& stated,
                                          std::vector<Problem>& problems);

// The keys of docs/guide/import.md.
std::vector<Figure> nccl_tests_figures(const NcclTests& tests);

}  // namespace podsim
