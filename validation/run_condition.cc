// Conditions on measured runs, as a user types them.
#include "validation/run_condition.h"

#include <algorithm>

#include "engine/number_text.h"
#include "engine/spelling.h"
#include "engine/words.h"

namespace podsim {
namespace {

std::vector<std::string> pieces_of(const std::string& text, char separator) {
  std::vector<std::string> parts = split(text, separator);
  for (std::string& part : parts) part = trim(part);
  return parts;
}

}  // namespace

const std::vector<std::string>& run_field_names() {
  static const std::vector<std::string> kNames = {"id",     "family",      "group", "chip",
                                                  "fabric", "stack",       "model", "precision",
                                                  "arch",   "parallelism", "chips"};
  return kNames;
}

std::optional<std::string> run_field(const RunScenario& run, const std::string& name) {
  const std::string values[] = {run.id,
                                run.family,
                                run.group,
                                run.chip,
                                run.fabric,
                                run.stack,
                                run.model,
                                run.precision,
                                run.architecture,
                                run.parallelism,
                                std::to_string(run.chips)};
  const auto& names = run_field_names();
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) return std::nullopt;
  return values[at - names.begin()];
}

std::string RunCondition::read(const std::string& text) {
  for (const std::string& part : pieces_of(text, '&')) {
    const std::string problem = read_part(part);
    if (!problem.empty()) return problem;
  }
  return "";
}

std::string RunCondition::read_part(const std::string& text) {
  const std::size_t at = text.find_first_of("<>=!");
  if (at == std::string::npos)
    return "\"" + text + "\" compares nothing: write it as chips<=1024 or chip=h100";
  const std::size_t after = text.find_first_not_of("<>=!", at);
  Part part{trim(text.substr(0, at)), text.substr(at, std::min(after, text.size()) - at), {}, 0};
  if (after != std::string::npos) part.values = pieces_of(text.substr(after), '|');
  const auto& names = run_field_names();
  if (std::ranges::count(names, part.field) == 0) {
    const std::string close = closest_name(part.field, names);
    return "runs have no \"" + part.field + "\"" + (close.empty() ? "" : "; did you mean \"" + close + "\"?");
  }
  const bool of_order =
      part.comparison == "<" || part.comparison == "<=" || part.comparison == ">" || part.comparison == ">=";
  if (!of_order && part.comparison != "=" && part.comparison != "!=")
    return "\"" + part.comparison + "\" is no comparison: one of = != < <= > >=";
  if (part.values.empty() || part.values.front().empty()) return "\"" + text + "\" compares with nothing";
  if (of_order) {
    const std::string& value = part.values.front();
    const auto number = whole_text_as<int>(value);
    if (part.field != "chips" || !number)
      return "\"" + text + "\": only chips is compared so, with a whole number";
    part.number = *number;
  }
  parts_.push_back(std::move(part));
  return "";
}

bool RunCondition::holds(const RunScenario& run) const {
  return std::ranges::all_of(parts_, [&](const Part& part) {
    if (part.comparison == "<") return run.chips < part.number;
    if (part.comparison == "<=") return run.chips <= part.number;
    if (part.comparison == ">") return run.chips > part.number;
    if (part.comparison == ">=") return run.chips >= part.number;
    const bool named = std::ranges::count(part.values, *run_field(run, part.field)) > 0;
    return named == (part.comparison == "=");
  });
}

}  // namespace podsim
