// Brings the column names of several sources to one.
#include "validation/run_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/number_text.h"
#include "proto/text/csv_table.h"
#include "report/text/text.h"

namespace podsim {
namespace {

constexpr double kMostCount = 1e8;  // of anything: as many sequences and tokens as a scenario may have

enum class CellKind { kWords, kWhole, kZeroOrOne, kTwoOrThree, kNotNegative, kPositive };

struct Column {
  const char* name;
  CellKind cells;
  std::vector<const char*> aliases;
};

const std::vector<Column>& columns() {
  static const std::vector<Column> all = {
      {"id", CellKind::kWords, {"row_id"}},
      {"chip", CellKind::kWords, {"gpu"}},
      {"chips", CellKind::kWhole, {"n_gpus", "GPUs", "# GPUs"}},
      {"slices", CellKind::kWhole, {}},
      {"gpus_per_node", CellKind::kWhole, {}},
      {"nvlink_domain_gpus", CellKind::kWhole, {}},
      {"nic_gbps_per_gpu", CellKind::kNotNegative, {}},
      {"params_total_b", CellKind::kNotNegative, {"params_total_B", "Parameters (billion)"}},
      {"layers", CellKind::kWhole, {"# layers"}},
      {"hidden", CellKind::kWhole, {"d_model", "hidden size"}},
      {"heads", CellKind::kWhole, {"n_heads", "attention heads"}},
      {"kv_heads", CellKind::kWhole, {"n_kv_heads"}},
      {"head_dim", CellKind::kWhole, {}},
      {"ffn_hidden", CellKind::kWhole, {"d_ff"}},
      {"ffn_matrices", CellKind::kTwoOrThree, {}},
      {"vocab", CellKind::kWhole, {}},
      {"seq_len", CellKind::kWhole, {"sequence length"}},
      {"n_experts", CellKind::kWhole, {}},
      {"topk", CellKind::kWhole, {"experts_per_token"}},
      {"shared_expert_ffn", CellKind::kWhole, {}},
      {"dense_layers", CellKind::kWhole, {}},
      {"global_batch_seqs", CellKind::kWhole, {"global batch"}},
      {"micro_batch", CellKind::kWhole, {"micro batch"}},
      {"tp", CellKind::kWhole, {"tensor parallelism"}},
      {"sp", CellKind::kWhole, {}},
      {"cp", CellKind::kWhole, {}},
      {"pp", CellKind::kWhole, {"pipeline parallelism"}},
      {"vp", CellKind::kWhole, {}},
      {"ep", CellKind::kWhole, {}},
      {"etp", CellKind::kWhole, {}},
      {"dp", CellKind::kWhole, {"data parallelism"}},
      {"optimizer_group", CellKind::kWhole, {}},
      {"chunk_layers", CellKind::kWhole, {}},
      {"sim_ready", CellKind::kZeroOrOne, {}},
      {"recompute", CellKind::kWords, {"remat"}},
      {"step_time_s", CellKind::kPositive, {}},
      {"tok_s_gpu", CellKind::kPositive, {"tokens_per_s_per_chip"}},
      {"step_time_ms", CellKind::kPositive, {"iteration time (ms)"}},
  };
  return all;
}

const Column* column_called(const std::string& name) {
  for (const Column& column : columns())
    if (name == column.name || std::ranges::count(column.aliases, name) > 0) return &column;
  return nullptr;
}

bool is_one_of(const std::string& text, double one, double other) {
  const auto value = whole_text_as<double>(text);
  return value == one || value == other;
}

// Whether the cell has what its column takes; tells of one that has not.
bool is_valid(CsvTable& table, const CsvRow& row, const std::string& header, CellKind cells) {
  const std::string& text = table.cell(row, header).text;
  const auto refuse = [&](const char* expected) {
    table.report(row, header, header + " is \"" + text + '"', expected);
    return false;
  };
  if (cells == CellKind::kWords) return true;
  if (cells == CellKind::kZeroOrOne) return is_one_of(text, 0, 1) || refuse("expected 1 or 0");
  if (cells == CellKind::kTwoOrThree)
    return is_one_of(text, 2, 3) || refuse("expected 2, or 3 of a gated block");
  const CsvNumber which = cells == CellKind::kPositive ? CsvNumber::kPositive : CsvNumber::kNotNegative;
  const auto value = table.number(row, header, which);
  if (!value) return false;
  if (cells != CellKind::kWhole || (*value == std::floor(*value) && *value <= kMostCount)) return true;
  return refuse("expected a whole number, at most 100000000");
}

// Two names of one column: which of them would count?
void report_columns_of_two_names(CsvTable& table) {
  const std::vector<CsvCell> cells = table.header().cells;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Column* column = column_called(cells[i].text);
    for (std::size_t j = 0; column && j < i; ++j)
      if (column_called(cells[j].text) == column && cells[j].text != cells[i].text)
        table.report(table.header(), cells[i].text,
                     '"' + cells[j].text + "\" and \"" + cells[i].text + "\" are two names of column \"" +
                         column->name + '"',
                     "expected one of them");
  }
}

// Times and rates of one row that are of different steps.
void report_contradiction(const RunRow& row, const CsvRow& line, CsvTable& table) {
  constexpr double kRounded = 0.05;  // what sources round
  std::vector<std::pair<std::string, double>> stated;
  for (const auto& [column, unit] : {std::pair("step_time_s", 1.0), std::pair("step_time_ms", 1e-3)})
    if (const auto time = row.number(column)) stated.emplace_back(column, *time * unit);
  const auto rate = row.number("tok_s_gpu"), batch = row.number("global_batch_seqs"),
             sequence = row.number("seq_len"), chips = row.number("chips");
  if (rate && batch && sequence && chips && *batch * *sequence * *chips > 0)
    stated.emplace_back("tok_s_gpu", *batch * *sequence / (*rate * *chips));
  for (std::size_t i = 1; i < stated.size(); ++i)
    if (std::abs(stated[i].second - stated[0].second) > kRounded * stated[0].second)
      return table.report(line, "",
                          "by " + stated[0].first + " a step takes " + significant(stated[0].second, 4) +
                              " s, by " + stated[i].first + " " + significant(stated[i].second, 4) + " s",
                          "expected one of them, or the same step");
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
  return value ? static_cast<int>(std::min(*value, kMostCount)) : missing;
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
      return (column ? column->name : cell.text) == std::string(name);
    });
  };
  return (found("layers") || found("catalog_model")) && found("global_batch_seqs");
}

std::string table_name(const std::string& file) {
  const std::string name = file.substr(file.find_last_of('/') + 1);
  return name.substr(0, name.find('.'));
}

RunTable read_run_table(const std::string& file, const std::string& text) {
  CsvTable table(file, with_header(text));
  report_columns_of_two_names(table);
  RunTable result;
  for (const CsvRow& line : table.rows()) {
    RunRow row;
    for (std::size_t i = 0; i < line.cells.size(); ++i) {
      if (line.cells[i].text.empty()) continue;
      const std::string& header = table.header().cells[i].text;
      const Column* column = column_called(header);
      if (column && !is_valid(table, line, header, column->cells)) continue;
      const std::string name = column ? column->name : header;
      row.set(name, line.cells[i].text);
      row.begins_at(name, line.cells[i].column);
    }
    row.stands_at(file, line.line, line.source);
    report_contradiction(row, line, table);
    complete(table_name(file), static_cast<int>(result.rows.size()) + 1, row);
    result.rows.push_back(std::move(row));
  }
  result.problems = table.problems();
  return result;
}

}  // namespace podsim
