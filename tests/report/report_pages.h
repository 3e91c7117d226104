// What is written from the list of figures for people and other programs: the tables of
// docs/reference/report.md, and the schema of reports.
#pragma once

#include <string>

namespace podsim::testing {

inline constexpr const char* kReportPage = "/docs/reference/report.md";
inline constexpr const char* kReportSchema = "/proto/report.proto";

// The page with the rows of its three tables anew: keys, keys of several jobs, nested keys.
std::string report_page(const std::string& page);

// The whole file.
std::string report_schema();

}  // namespace podsim::testing
