// What podsim validate is asked, for its parts by kind of table.
#pragma once

#include <string>
#include <vector>

#include "cli/anchored.h"
#include "cli/options.h"
#include "proto/catalog/catalog.h"
#include "proto/text/read_file.h"

namespace podsim {

struct ValidateVerb {
  std::vector<std::string> files;
  std::string suite;
  std::string fabric;
  std::vector<std::string> only;
  std::string kind;  // of output of nccl-tests; empty where that says it
  int gpus = 0;
  int nodes = 0;
  bool all = false;
  std::string explain;   // a row to tell of
  std::string scenario;  // a row whose scenario to print
  std::string html;      // file for the errors of runs as a page, or empty
  int threads = 0;       // 0 = as many as the machine has
  bool quiet = false;
  std::vector<std::string> catalog_directories;
  AnchorOptions anchor;
  OutputOptions output;
};

// Says that no row is asked for, and the exit code.
int no_rows(const ValidateVerb& verb);

// A table of collectives, or output of nccl-tests.
int validate_collective_table(const ValidateVerb& verb, const InputText& file, const Catalog& catalog);

}  // namespace podsim
