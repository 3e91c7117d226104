// The tables of a store, and how the columns of a result are read and written.
#pragma once

#include <string>

#include "planner/store/database.h"
#include "planner/store/main_figures.h"

namespace podsim {

// Opens a store: makes its tables in a file that is new, and refuses files of other programs and of later
// forms.
std::unique_ptr<Database> open_store(const std::string& path, Database::Access access);

// Columns of a result after key and version.
inline constexpr const char* kFigureColumns =
    "step_ps, compute_ps, exposed_communication_ps, pipeline_bubble_ps, optimizer_ps, skew_wait_ps, "
    "memory_gib, fits, tokens_per_s, tokens_per_s_per_chip, mfu_causal, cost_usd_per_million_tokens, "
    "energy_j_per_token";
// From the column on.
MainFigures read_figures(const Statement& row, int first_column);

// Of one key by one version. Throws where they differ.
void check_same(const std::string& path, const std::string& key, const MainFigures& known,
                const MainFigures& other);

// Inserts where missing, else holds against what is there.
class ResultWriter {
 public:
  explicit ResultWriter(Database& database);
  void scenario(const std::string& key, const std::string& text, const std::string& name);
  void result(const std::string& key, const std::string& version, const MainFigures& figures,
              std::int64_t cpu_us);
  void report(const std::string& key, const std::string& version, const std::string& body);

 private:
  Database& database_;
  Statement scenario_, result_, report_;
};

}  // namespace podsim
