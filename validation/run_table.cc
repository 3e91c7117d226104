// Brings the column names of several sources to one.
#include "validation/run_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "proto/text/csv_table.h"

namespace podsim {
namespace {

struct Column {
  const char* name;
  std::optional<CsvNumber> number;  // nothing of words
  std::vector<const char*> aliases;
};

const std::vector<Column>& columns() {
  static const std::vector<Column> all = {
      {"id", {}, {"row_id"}},
      {"chip", {}, {"gpu"}},
      {"chips", CsvNumber::kNotNegative, {"n_gpus", "GPUs", "# GPUs"}},
      {"slices", CsvNumber::kNotNegative, {}},
      {"gpus_per_node", CsvNumber::kNotNegative, {}},
      {"nvlink_domain_gpus", CsvNumber::kNotNegative, {}},
      {"nic_gbps_per_gpu", CsvNumber::kNotNegative, {}},
      {"params_total_b", CsvNumber::kNotNegative, {"params_total_B", "Parameters (billion)"}},
      {"layers", CsvNumber::kNotNegative, {"# layers"}},
      {"hidden", CsvNumber::kNotNegative, {"d_model", "hidden size"}},
      {"heads", CsvNumber::kNotNegative, {"n_heads", "attention heads"}},
      {"kv_heads", CsvNumber::kNotNegative, {"n_kv_heads"}},
      {"head_dim", CsvNumber::kNotNegative, {}},
      {"ffn_hidden", CsvNumber::kNotNegative, {"d_ff"}},
      {"ffn_matrices", CsvNumber::kNotNegative, {}},
      {"vocab", CsvNumber::kNotNegative, {}},
      {"seq_len", CsvNumber::kNotNegative, {"sequence length"}},
      {"n_experts", CsvNumber::kNotNegative, {}},
      {"topk", CsvNumber::kNotNegative, {"experts_per_token"}},
      {"shared_expert_ffn", CsvNumber::kNotNegative, {}},
      {"dense_layers", CsvNumber::kNotNegative, {}},
      {"global_batch_seqs", CsvNumber::kNotNegative, {"global batch"}},
      {"micro_batch", CsvNumber::kNotNegative, {"micro batch"}},
      {"tp", CsvNumber::kNotNegative, {"tensor parallelism"}},
      {"sp", CsvNumber::kNotNegative, {}},
      {"cp", CsvNumber::kNotNegative, {}},
      {"pp", CsvNumber::kNotNegative, {"pipeline parallelism"}},
      {"vp", CsvNumber::kNotNegative, {}},
      {"ep", CsvNumber::kNotNegative, {}},
      {"etp", CsvNumber::kNotNegative, {}},
      {"dp", CsvNumber::kNotNegative, {"data parallelism"}},
      {"recompute", {}, {"remat"}},
      {"step_time_s", CsvNumber::kPositive, {}},
      {"tok_s_gpu", CsvNumber::kPositive, {"tokens_per_s_per_chip"}},
      {"step_time_ms", CsvNumber::kPositive, {"iteration time (ms)"}},
  };
  return all;
}

const Column* column_called(const std::string& name) {
  for (const Column& column : columns())
    if (name == column.name || std::ranges::count(column.aliases, name) > 0) return &column;
  return nullptr;
}

std::string stem(const std::string& file) {
  const std::string name = file.substr(file.find_last_of('/') + 1);
  return name.substr(0, name.find('.'));
}

void complete(const std::string& family, int number, RunRow& row) {
  if (!row.has("id")) row.set("id", std::to_string(number));
  if (!row.has("family")) row.set("family", family);
}

}  // namespace

std::string RunRow::text(const std::string& column) const {
  const auto cell = cells_.find(column);
  return cell == cells_.end() ? "" : cell->second;
}

std::optional<double> RunRow::number(const std::string& column) const {
  const auto cell = cells_.find(column);
  if (cell == cells_.end()) return std::nullopt;
  double value = 0;
  std::from_chars(cell->second.data(), cell->second.data() + cell->second.size(), value);
  return value;
}

int RunRow::whole(const std::string& column, int missing) const {
  const auto value = number(column);
  return value ? static_cast<int>(std::min(*value, 2e9)) : missing;
}

Problem RunRow::problem_at(const std::string& column, const std::string& message,
                           const std::string& hint) const {
  const auto place = places_.find(column);
  const int at = place == places_.end() ? 0 : place->second;
  return {file_, line_, at, message, source_, hint, at};
}

std::string with_header(const std::string& text) {
  return text.starts_with("# GPUs,") ? text.substr(2) : text;
}

bool is_run_table(const std::string& text) {
  const CsvTable table("", with_header(text));
  const auto found = [&](const char* name) {
    return std::ranges::any_of(table.header().cells, [&](const CsvCell& cell) {
      const Column* column = column_called(cell.text);
      return column && column->name == std::string(name);
    });
  };
  return found("layers") && found("global_batch_seqs");
}

RunTable read_run_table(const std::string& file, const std::string& text) {
  CsvTable table(file, with_header(text));
  RunTable result;
  for (const CsvRow& line : table.rows()) {
    RunRow row;
    for (std::size_t i = 0; i < line.cells.size(); ++i) {
      if (line.cells[i].text.empty()) continue;
      const std::string& header = table.header().cells[i].text;
      const Column* column = column_called(header);
      if (column && column->number && !table.number(line, header, *column->number)) continue;
      const std::string name = column ? column->name : header;
      row.set(name, line.cells[i].text);
      row.begins_at(name, line.cells[i].column);
    }
    row.stands_at(file, line.line, line.source);
    complete(stem(file), static_cast<int>(result.rows.size()) + 1, row);
    result.rows.push_back(std::move(row));
  }
  result.problems = table.problems();
  return result;
}

}  // namespace podsim
