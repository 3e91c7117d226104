// What others may rely on in results: of reports a JSON schema and a table, written from the list of figures;
// of the results of other verbs a JSON schema, written from what they print.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace podsim::testing {

// Files of docs/reference.
inline constexpr const char* kSchemaFile = "docs/reference/schema/report.schema.json";
inline constexpr const char* kFiguresPage = "docs/reference/figures.md";

// The folder of schemas, each VERB.schema.json, and one of results that this version wrote, each VERB.json.
inline constexpr const char* kSchemaFolder = "docs/reference/schema/";
inline constexpr const char* kVerbResults = "tests/api/verb_results";

// What every verb prints as JSON for its lines of verb_lines.txt, without run. REQUIRES: the root of the
// repository is where we are.
std::map<std::string, std::vector<std::string>> json_of_verbs();

// The schema that such results have. An object with a key that is no name, such as a number of a rank, has
// any keys; numbers may be null, as those that are not finite are.
std::string result_json_schema(const std::string& verb, const std::vector<std::string>& results);

// The JSON schema of a report of `podsim run`, of one job or several.
std::string report_json_schema();

// The table on a page, anew: the version since which there is a figure stays where the page has it, and is
// this one where it is new.
std::string figures_page(const std::string& page);

}  // namespace podsim::testing
