// Reports and answers in the format the user asked for.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/terminal/output.h"
#include "prediction/predict.h"

namespace podsim {

// "table", "json", "textproto" and "csv".
const std::vector<std::string>& report_formats();

// File extension of a format: "txt", "json", "textproto", "csv".
std::string extension(const std::string& format);

// One report as it is; several as tables one below the other, a JSON array, text-format messages or lines of
// one spreadsheet. REQUIRES: the format is one of report_formats().
std::string render(std::span<const Report> reports, const std::string& format);
std::string render(std::span<const Prediction> predictions, const std::string& format);

// A JSON array of texts that are JSON values.
std::string json_array(const std::vector<std::string>& values);

// An answer of a verb that chooses, each form made where it is asked for.
struct AnswerForms {
  std::function<std::string()> table, json, csv;
};

// The answer in the format. Text format is that of `message`, of proto/answers.proto. REQUIRES: the format is
// one of report_formats().
std::string answer_text(const std::string& format, const AnswerForms& forms, const std::string& message);

// Answers to several files in one text: as they are, or as a JSON array of them.
std::string joined(const std::vector<NamedContent>& answers, bool json);

}  // namespace podsim
