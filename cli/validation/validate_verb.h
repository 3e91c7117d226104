// What podsim validate is asked, for its parts by kind of table.
#pragma once

#include <string>
#include <vector>

#include "cli/options/options.h"
#include "cli/scenarios/anchored.h"
#include "cli/validation/validate_suite.h"
#include "proto/catalog/catalog.h"
#include "proto/text/read_file.h"

namespace podsim {

struct ValidateVerb {
  std::vector<std::string> files;
  std::string suite;
  RunCommand run_command;  // of a suite
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
  const std::string& one_row() const { return explain.empty() ? scenario : explain; }
};

// Says that no row is asked for, and the exit code.
int no_rows(const ValidateVerb& verb);

// A table of collectives, or output of nccl-tests.
int validate_collective_table(const ValidateVerb& verb, const InputText& file, const Catalog& catalog);

}  // namespace podsim
