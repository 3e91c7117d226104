// Walks the JSON of a report by the parts of a name.
#include "cli/answers/report_figures.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "engine/words.h"
#include "proto/text/assign.h"

namespace podsim {

struct ReportFigures::Content {
  nlohmann::ordered_json report;
};

namespace {

void add_paths(const nlohmann::ordered_json& value, const std::string& path,
               std::vector<std::string>& paths) {
  if (value.is_object()) {
    for (const auto& [name, member] : value.items())
      add_paths(member, path.empty() ? name : path + "." + name, paths);
  } else if (!value.is_array()) {
    paths.push_back(path);
  }
}

}  // namespace

ReportFigures::ReportFigures(const std::string& report_json)
    : content_(std::make_shared<Content>(Content{nlohmann::ordered_json::parse(report_json)})) {}

std::optional<ReportFigure> ReportFigures::at(const std::string& path) const {
  const nlohmann::ordered_json* value = &content_->report;
  for (const std::string& name : split(path, '.')) {
    if (!value->is_object() || !value->contains(name)) return std::nullopt;
    value = &(*value)[name];
  }
  using Kind = ReportFigure::Kind;
  if (value->is_structured()) return std::nullopt;
  if (value->is_null()) return ReportFigure{Kind::kNone, "", 0};
  if (value->is_string()) return ReportFigure{Kind::kWord, value->get<std::string>(), 0};
  if (value->is_boolean()) return ReportFigure{Kind::kTruth, value->dump(), 0};
  return ReportFigure{value->is_number_float() ? Kind::kReal : Kind::kWhole, value->dump(),
                      value->get<double>()};
}

bool ReportFigures::holds(const std::string& path) const {
  const auto figure = at(path);
  return figure && figure->exact == "true";
}

std::string ReportFigures::there_is_no(const std::string& path) const {
  std::vector<std::string> paths;
  add_paths(content_->report, "", paths);
  return "there is no figure \"" + path + "\"; " + suggest(path, paths, "there are");
}

}  // namespace podsim
