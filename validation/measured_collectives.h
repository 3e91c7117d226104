// Measured collectives: tables of them, and the output of nccl-tests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collectives/collective.h"
#include "proto/text/problem.h"

namespace podsim {

struct MeasuredCollective {
  std::string id;  // "H100-SXM 8 NVLink4 all-reduce Ring 4294967296"
  std::string system, network;
  std::string chip;  // of a sweep over the collectives of one domain, in place of system and network
  int gpus = 0;
  int nodes = 0;  // 0 = as few as hold the GPUs
  Collective collective{};
  std::string algo;                 // as written
  std::optional<Algorithm> pinned;  // nothing where the library chose
  bool representative = true;       // false where the table says that the system was faulty
  double time_s = 0;
  std::string source;
  Problem place;  // the row, without a message
};

struct MeasuredCollectives {
  std::vector<MeasuredCollective> rows;
  std::vector<Problem> problems;
};

// Whether the header has the columns of collectives.
bool is_collective_table(const std::string& text);

// Columns gpus, collective, bytes and time_us, latency_ms or busbw_GBps (a row without a time uses the last);
// chip or system and network, where `fabric_given` is false; and maybe nodes, algo, source, software, dtype.
// `algo` begins with "default" where the library chose, and says "mis-tuned" of a faulty system; anything
// else pins an algorithm.
MeasuredCollectives read_collective_table(const std::string& file, const std::string& text,
                                          bool fabric_given);

// Whether the text is what a program of nccl-tests prints.
bool is_nccl_tests_output(const std::string& text);

// What nccl-tests prints; its out-of-place times. The kind is read off "# ... all_gather_perf" where the text
// says so; otherwise it is `kind`.
MeasuredCollectives read_nccl_tests(const std::string& file, const std::string& text, int gpus, int nodes,
                                    CollectiveKind kind);

}  // namespace podsim
