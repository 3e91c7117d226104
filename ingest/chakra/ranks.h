// Chakra traces of several ranks: whom each one's messages meet.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ingest/chakra/summary.h"
#include "ingest/chakra/trace.h"
#include "proto/text/problem.h"

namespace podsim::chakra {

// One file of a set, PREFIX.RANK.et.
struct RankTrace {
  std::string file;
  std::int64_t rank = 0;
  std::shared_ptr<const Trace> trace;  // of equal files one
  std::shared_ptr<const Summary> summary;
};

// [name] ranks of a process group.
using Groups = std::map<std::string, std::vector<std::int64_t>>;

// One transfer of which all ends are known.
struct Meeting {
  struct End {
    std::size_t rank = 0;  // among the traces
    std::int32_t node = 0;
  };
  std::vector<End> ends;  // of a message: sender, then receiver
};

// Members of a collective meet by group and by the order of their calls; a message meets by sender, receiver
// and tag, in order. Without ranks stated for it a group has those that call it; "", "0" and no name are all
// ranks. Nothing of ranks that are not there is missed. Problems where members call different collectives,
// or where a message has no other end.
std::vector<Meeting> meetings_of(const std::vector<RankTrace>& ranks, const Groups& groups,
                                 std::vector<Problem>& problems);

// Sums over ranks; rows of communication in the order of their words.
Summary sum_of(const std::vector<RankTrace>& ranks);

}  // namespace podsim::chakra
