// What others may rely on in results, written from the list of figures: a JSON schema and a table.
#pragma once

#include <string>

namespace podsim::testing {

// Files of docs/reference.
inline constexpr const char* kSchemaFile = "docs/reference/schema/report.schema.json";
inline constexpr const char* kFiguresPage = "docs/reference/figures.md";

// The JSON schema of a report of `podsim run`, of one job or several.
std::string report_json_schema();

// The table on a page, anew: the version since which there is a figure stays where the page has it, and is
// this one where it is new.
std::string figures_page(const std::string& page);

}  // namespace podsim::testing
