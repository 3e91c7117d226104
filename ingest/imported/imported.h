// What a file of another tool holds, and what a user says beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ingest/imported/account.h"
#include "report/figure.h"
#include "scheduler/replay/step_graph.h"

namespace podsim {

// What files do not tell. Options of podsim import have these names.
struct Stated {
  std::map<std::string, std::int64_t> trips;  // [loop] how often it runs
};

// What has to be stated before it could be run.
struct Need {
  std::string what, option;  // "chips", "--chips"
};

struct Imported {
  std::vector<Figure> figures;    // for programs
  std::string text;               // for people, the account at its end
  std::vector<Account> accounts;  // of each part that has one
  std::vector<Need> needs;
  // The step of ranks that have traces, on so many chips; null where files say nothing of who waits for whom.
  std::function<StepGraph(std::int64_t chips)> step = {};
  std::int64_t ranks = 0;  // that have traces
};

}  // namespace podsim
