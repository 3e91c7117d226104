// Predicted kernels beside measured ones as a table, JSON or CSV.
#include "cli/validation/validate_output.h"
#include "proto/writing/figure_json.h"
#include "proto/writing/result_json.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

constexpr std::size_t kWorstRows = 10;

std::string group_name(const KernelErrors& group) {
  if (group.kernel.empty()) return "all";
  return group.kernel + (group.chip.empty() ? "" : " " + group.chip + " " + group.dtype);
}

std::string errors_table(const std::vector<PredictedKernel>& rows) {
  std::vector<NamedSummary> summaries;
  for (const KernelErrors& group : summarize(rows)) summaries.push_back({group_name(group), group.errors});
  return summary_table(summaries);
}

std::string worst_table(const std::vector<PredictedKernel>& rows) {
  std::vector<std::vector<std::string>> table = {
      {"line", "kernel", "chip", "dtype", "shape", "measured us", "predicted us", "error %"}};
  for (const PredictedKernel* row : worst(rows, kWorstRows)) {
    const MeasuredKernel& of = row->measured;
    table.push_back({std::to_string(of.line), of.kernel(), of.chip, of.dtype, of.shape(),
                     fixed(of.time_s * 1e6, 1), fixed(row->predicted_s * 1e6, 1),
                     signed_percent(row->error())});
  }
  return align(table);
}

std::string kernel_text(const KernelValidation& made) {
  std::string text = errors_table(made.rows) + "\nFurthest off:\n" + worst_table(made.rows);
  for (const LeftOutKernels& left : made.left_out)
    text += "\nLeft out, " + std::to_string(left.rows) + " rows from line " +
            std::to_string(left.first_line) + " on: " + left.reason + "\n";
  for (const AssumedKernels& one : made.assumed)
    text += "\nAssumed, of " + std::to_string(one.rows) + " rows from line " +
            std::to_string(one.first_line) + " on: " + one.assumption + "\n";
  return text;
}

std::string kernel_csv(const KernelValidation& made) {
  std::string text = "line,kernel,chip,dtype,shape,measured_time_s,predicted_time_s,error_pct,assumption\n";
  for (const PredictedKernel& row : made.rows) {
    const MeasuredKernel& of = row.measured;
    text += std::to_string(of.line) + ',' + of.kernel() + ',' + csv_text_cell(of.chip) + ',' +
            csv_text_cell(of.dtype) + ',' + of.shape() + ',' + shortest(of.time_s) + ',' +
            shortest(row.predicted_s) + ',' + shortest(100 * row.error()) + ',' +
            csv_text_cell(of.assumption) + '\n';
  }
  return text;
}

std::string kernel_json(const KernelValidation& made, const std::string& sha256) {
  std::vector<Figure> groups, furthest, left_out, assumed;
  for (const KernelErrors& group : summarize(made.rows))
    groups.push_back(Figure::group("", {{"kernel", group.kernel},
                                        {"chip", group.chip},
                                        {"dtype", group.dtype},
                                        {"rows", group.errors.rows},
                                        {"mean_error_pct", 100 * group.errors.mean},
                                        {"median_error_pct", 100 * group.errors.median},
                                        {"p90_error_pct", 100 * group.errors.p90},
                                        {"max_error_pct", 100 * group.errors.max},
                                        {"bias_pct", 100 * group.errors.bias}}));
  for (const PredictedKernel* row : worst(made.rows, kWorstRows)) {
    const MeasuredKernel& of = row->measured;
    furthest.push_back(Figure::group("", {{"line", of.line},
                                          {"kernel", std::string(of.kernel())},
                                          {"chip", of.chip},
                                          {"dtype", of.dtype},
                                          {"shape", of.shape()},
                                          {"measured_time_s", of.time_s},
                                          {"predicted_time_s", row->predicted_s},
                                          {"error_pct", 100 * row->error()}}));
  }
  for (const LeftOutKernels& left : made.left_out)
    left_out.push_back(
        Figure::group("", {{"reason", left.reason}, {"rows", left.rows}, {"first_line", left.first_line}}));
  for (const AssumedKernels& one : made.assumed)
    assumed.push_back(Figure::group(
        "", {{"assumption", one.assumption}, {"rows", one.rows}, {"first_line", one.first_line}}));
  return json_text(result_figure(sha256, {Figure::list("summary", std::move(groups)),
                                          Figure::list("worst", std::move(furthest)),
                                          Figure::list("left_out", std::move(left_out)),
                                          Figure::list("assumed", std::move(assumed))}),
                   JsonNumbers::kWithPoint);
}

}  // namespace

std::string kernel_errors(const KernelValidation& made, const std::string& format,
                          const std::string& sha256) {
  if (format == "json") return kernel_json(made, sha256);
  return format == "csv" ? kernel_csv(made) : kernel_text(made);
}

}  // namespace podsim
