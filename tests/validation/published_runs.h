// Published training runs as scenarios with a measured step time, and how near podsim comes to them.
#pragma once

#include <string>
#include <vector>

namespace podsim::testing {

struct PublishedRun {
  std::string row;   // name of the row in the table of runs that it was taken from
  std::string file;  // scenarios/validation/<file>
  std::string source;
  std::string assumptions;
  std::string chip;
  std::string model;
  std::string precision;
  int chips = 0;
  double measured_s = 0;
  double predicted_s = 0;

  double error() const { return predicted_s / measured_s - 1; }  // signed share
};

// Every scenario of scenarios/validation, predicted; in order of file names.
std::vector<PublishedRun> predict_published_runs();

struct ErrorSummary {
  std::string of;
  int runs = 0;
  double median = 0, mean = 0, p90 = 0, max = 0;  // of absolute errors
  double bias = 0;                                // mean signed error
};
ErrorSummary summarize_errors(const std::string& of, const std::vector<PublishedRun>& runs);

// docs/validation.md: summaries by chip, then every run, worst first.
std::string validation_document(const std::vector<PublishedRun>& runs);

}  // namespace podsim::testing
