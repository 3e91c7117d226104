// Joins what the report and proto folders write for one report.
#include "cli/render.h"

#include <functional>

#include "engine/check.h"
#include "proto/write.h"
#include "report/write.h"

namespace podsim {
namespace {

std::string without_last_line_break(std::string text) {
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string joined(std::span<const Report> reports, const std::string& between,
                   const std::function<std::string(const Report&)>& text) {
  std::string all;
  for (const Report& report : reports)
    all += (all.empty() ? "" : between) + without_last_line_break(text(report)) + "\n";
  return all;
}

}  // namespace

const std::vector<std::string>& report_formats() {
  static const std::vector<std::string> formats = {"table", "json", "textproto", "csv"};
  return formats;
}

std::string extension(const std::string& format) { return format == "table" ? "txt" : format; }

std::string json_array(const std::vector<std::string>& values) {
  std::string array = "[\n";
  for (std::size_t i = 0; i < values.size(); ++i)
    array += (i == 0 ? "" : ",\n") + without_last_line_break(values[i]);
  return array + "\n]\n";
}

std::string render(std::span<const Report> reports, const std::string& format) {
  if (format == "csv") return report_csv(reports);
  if (format == "textproto") return joined(reports, "\n", report_textproto);
  if (format == "table") return joined(reports, "\n" + std::string(100, '=') + "\n\n", report_table);
  PODSIM_CHECK(format == "json", "the command line admits only known formats");
  if (reports.size() == 1) return without_last_line_break(report_json(reports[0])) + "\n";
  std::vector<std::string> values;
  for (const Report& report : reports) values.push_back(report_json(report));
  return json_array(values);
}

}  // namespace podsim
