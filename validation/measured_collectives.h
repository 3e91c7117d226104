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
  // Of outputs of nccl-tests, those left out: with wrong results, and without bytes or time.
  int wrong_rows = 0, empty_rows = 0;
};

// Whether the header has the columns of collectives.
bool is_collective_table(const std::string& text);

// Columns gpus, collective, bytes and time_us, latency_ms or busbw_GBps (a row without a time uses the last);
// chip or system and network, where `fabric_given` is false; and maybe nodes, algo, source, software, dtype.
// `algo` begins with "default" where the library chose, and says "mis-tuned" of a faulty system; anything
// else pins an algorithm.
MeasuredCollectives read_collective_table(const std::string& file, const std::string& text,
                                          bool fabric_given);

// What a user says of the output of nccl-tests; 0 and nothing where the output does.
struct StatedTest {
  int gpus = 0;
  int nodes = 0;  // also 0: as few as hold the GPUs, where the output lists no hosts
  std::optional<CollectiveKind> kind;
};

// The out-of-place times of rows without wrong results, as ingest/nccl_tests.h reads them. What is stated and
// what the output lists, names or implies by its bus bandwidth must agree, and tell kind and ranks together.
MeasuredCollectives collectives_of_nccl_tests(const std::string& file, const std::string& text,
                                              const StatedTest& stated);

}  // namespace podsim
