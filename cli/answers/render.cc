// Joins what the report and proto folders write for one report.
#include "cli/answers/render.h"

#include <list>

#include "engine/check.h"
#include "engine/words.h"
#include "proto/writing/answer_textproto.h"
#include "proto/writing/write.h"
#include "report/pictures/detail_figures.h"
#include "report/tables/write.h"

namespace podsim {
namespace {

std::string without_last_line_break(std::string text) {
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string joined(const std::vector<std::string>& texts, const std::string& between) {
  std::string all;
  for (const std::string& text : texts)
    all += (all.empty() ? "" : between) + without_last_line_break(text) + "\n";
  return all;
}

// What the writers make of a prediction: of its report, or of the reports of its jobs.
std::string written_text(const Prediction& prediction, const std::string& format) {
  const auto written = [&](const auto& report, const auto& table) {
    if (format == "textproto") return report_textproto(report);
    if (format == "table") return table(report);
    PODSIM_CHECK(format == "json", "the command line admits only known formats");
    return report_json(report);
  };
  if (prediction.detail && format == "json") return report_json(prediction.report, &*prediction.detail);
  if (prediction.detail && format == "textproto")
    return report_textproto(prediction.report, &*prediction.detail);
  return prediction.jobs ? written(*prediction.jobs, jobs_table) : written(prediction.report, report_table);
}

std::string spreadsheet(std::span<const Prediction> predictions) {
  std::vector<SpreadsheetLine> lines;
  std::list<DetailedReport> detailed;  // which lines point to
  for (const Prediction& prediction : predictions) {
    if (prediction.detail && !prediction.jobs) {
      detailed.push_back({&prediction.report, detail_figures(*prediction.detail)});
      lines.emplace_back(&detailed.back());
      continue;
    }
    if (!prediction.jobs) {
      lines.emplace_back(&prediction.report);
      continue;
    }
    for (const JobReport& job : prediction.jobs->jobs) lines.emplace_back(&job);
  }
  return report_csv(lines);
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

std::string answer_text(const std::string& format, const AnswerForms& forms, const std::string& message) {
  if (format == "table") return forms.table();
  if (format == "csv") return forms.csv();
  PODSIM_CHECK(format == "json" || format == "textproto", "the command line admits only known formats");
  const std::string json = forms.json();
  return format == "textproto" ? answer_textproto(json, message) : json;
}

std::string joined(const std::vector<NamedContent>& answers, bool json) {
  if (answers.size() == 1) return answers.front().content;
  std::vector<std::string> texts;
  for (const NamedContent& one : answers) texts.push_back(one.content);
  if (json) return json_array(texts);
  return separated(texts, "\n");
}

std::string render(std::span<const Report> reports, const std::string& format) {
  std::vector<Prediction> predictions;
  for (const Report& report : reports) predictions.emplace_back().report = report;
  return render(predictions, format);
}

std::string render(std::span<const Prediction> predictions, const std::string& format) {
  if (format == "csv") return spreadsheet(predictions);
  std::vector<std::string> texts;
  for (const Prediction& prediction : predictions) texts.push_back(written_text(prediction, format));
  if (format == "textproto") return joined(texts, "\n");
  if (format == "table") return joined(texts, "\n" + std::string(100, '=') + "\n\n");
  return texts.size() == 1 ? without_last_line_break(texts[0]) + "\n" : json_array(texts);
}

}  // namespace podsim
