// The words of Chakra's schema.
#include "ingest/chakra/trace.h"

#include "engine/check.h"

namespace podsim::chakra {

const char* to_string(NodeType type) {
  constexpr const char* kNames[kNodeTypes] = {"INVALID", "METADATA",  "MEM_LOAD",  "MEM_STORE",
                                              "COMP",    "COMM_SEND", "COMM_RECV", "COMM_COLL"};
  return kNames[static_cast<std::size_t>(type)];
}

const char* collective_name(int type) {
  constexpr const char* kNames[kCollectiveTypes] = {
      "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
      "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};
  PODSIM_CHECK(type >= 0 && type < kCollectiveTypes, "a collective of the schema");
  return kNames[type];
}

}  // namespace podsim::chakra
