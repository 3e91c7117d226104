// JSON results begin alike.
#pragma once

#include <string>
#include <vector>

#include "report/answer/result_header.h"

namespace podsim {

// An object of the JSON library with podsim's version, the version of the results' schema and, where it is
// not empty, the SHA-256 of what was asked.
template <class Json>
Json result_json(const std::string& scenario_sha256) {
  const ResultHeader header = result_header(scenario_sha256);
  Json json = {{"podsim", header.podsim}, {"schema", header.schema}};
  if (!header.scenario_sha256.empty()) json["scenario_sha256"] = header.scenario_sha256;
  return json;
}

// The SHA-256 of a question that is no scenario: words that say it, and the texts it is about.
std::string question_sha256(const std::string& words, const std::vector<std::string>& texts);
// The same where the SHA-256 of each text is known.
std::string question_of_digests(const std::string& words, const std::vector<std::string>& digests);

}  // namespace podsim
