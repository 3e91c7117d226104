// Figures of a report by name, from the list of figures that all other forms are made of.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "api/errors.h"
#include "api/evaluators.h"
#include "api/figure_path.h"
#include "api/podsim/podsim.h"
#include "api/report_content.h"
#include "cli/answers/render.h"
#include "cli/terminal/version.h"
#include "proto/pages/origin.h"
#include "proto/pages/run_page.h"
#include "proto/text/assign.h"
#include "proto/traces/step_trace.h"
#include "proto/writing/figure_json.h"
#include "report/figures/every_figure.h"
#include "report/figures/figures.h"
#include "report/pictures/run_pictures.h"
#include "report/pictures/svg.h"

namespace podsim {
namespace {

Value public_value(const FigureValue& value) {
  return std::visit(
      [](const auto& held) -> Value {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, Time>) {
          return held.in_seconds();
        } else if constexpr (std::is_same_v<Held, int>) {
          return std::int64_t{held};
        } else {
          return held;
        }
      },
      value);
}

Figure whole_of(const Prediction& prediction) {
  return prediction.jobs ? result_figure(prediction.jobs->scenario_sha256, figures(*prediction.jobs))
                         : result_figure(prediction.report.scenario_sha256, figures(prediction.report));
}

// The page of the report, with what was set since as comments below the text of its scenario.
Page page_of(const ReportContent& content) {
  const Prediction& of = content.prediction;
  Page page = of.jobs ? jobs_page(*of.jobs) : run_page(of.report, content.detail());
  std::vector<Override> settings;
  for (const auto& [path, value] : content.scenario.settings()) settings.push_back({path, value});
  PageOrigin origin = origin_of(content.scenario.name(), content.scenario.text(), shared_catalog(), settings);
  for (const Override& each : settings) origin.text += "\n# --set " + each.path + "=" + each.value;
  page.origins = {std::move(origin)};
  return page;
}

template <class T>
T value_or_empty(Expected<T> value) {
  return value ? *std::move(value) : T();
}

const char* type_in_json(const Figure& figure) {
  if (figure.shape == Figure::Shape::kList) return "array";
  if (figure.shape != Figure::Shape::kValue) return "object";
  constexpr const char* kTypes[] = {"number",  "boolean", "integer", "integer",
                                    "integer", "number",  "number",  "string"};
  return kTypes[figure.value.index()];
}

// Parts without a unit of their own have that of the whole.
std::string unit_of(const Figure& figure, const std::string& above) {
  if (!figure.unit.empty()) return figure.unit;
  if (std::holds_alternative<Time>(figure.value)) return "s";
  return std::holds_alternative<double>(figure.value) || figure.shape == Figure::Shape::kGroup ? above : "";
}

void list_below(const Figure& above, const std::string& path, const std::string& unit,
                std::vector<FigureInfo>& list) {
  if (above.shape == Figure::Shape::kList) {
    if (!above.parts[0].parts.empty()) list_below(above.parts[0], path + "[]", unit, list);
    return;
  }
  for (const Figure& figure : above.parts) {
    if (!figure.in_json) continue;
    const std::string key = above.shape == Figure::Shape::kByName ? "*" : figure.key;
    const std::string name = path.empty() ? key : path + "." + key;
    const std::string own_unit = unit_of(figure, unit);
    list.push_back({name, type_in_json(figure), own_unit, figure.definition});
    list_below(figure, name, own_unit, list);
  }
}

}  // namespace

StepReport report_of(Scenario scenario, Prediction prediction, std::vector<Diagnostic> warnings) {
  return StepReport(
      std::make_shared<const ReportContent>(std::move(scenario), std::move(prediction), std::move(warnings)));
}

inline namespace v0 {

ReportContent::ReportContent(Scenario asked, Prediction of, std::vector<Diagnostic> worth_a_look)
    : scenario(std::move(asked)),
      prediction(std::move(of)),
      warnings(std::move(worth_a_look)),
      whole_(Figure::group("", {})) {}

const Figure& ReportContent::whole() const {
  std::call_once(made_, [this] { whole_ = whole_of(prediction); });
  return whole_;
}

const StepDetail* ReportContent::detail() const {
  if (prediction.jobs) return nullptr;
  std::call_once(looked_, [this] {
    PredictOptions options;
    options.detail = true;
    detail_ = predicted_again(scenario, options).detail;
  });
  return detail_ ? &*detail_ : nullptr;
}

StepReport::StepReport(std::shared_ptr<const ReportContent> content) : content_(std::move(content)) {}

Expected<Value> StepReport::figure(const std::string& name) const {
  return guarded<Value>([&]() -> Expected<Value> {
    const Figure* found = figure_named(content_->whole(), name);
    if (found != nullptr && found->shape == Figure::Shape::kValue) return public_value(found->value);
    if (found != nullptr)
      return input_error("figure", name, "\"" + name + "\" is several figures: names() has each");
    return input_error("figure", name,
                       "the report has no figure \"" + name + "\"; " + suggest(name, names(), "figures"));
  });
}

double StepReport::number(const std::string& name) const {
  const Expected<Value> value = figure(name);
  if (!value) return std::nan("");
  return std::visit(
      [](const auto& held) {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(held)>>) {
          return static_cast<double>(held);
        } else {
          return std::numeric_limits<double>::quiet_NaN();
        }
      },
      *value);
}

std::vector<std::string> StepReport::names() const {
  using Names = std::vector<std::string>;
  return value_or_empty(guarded<Names>([&]() -> Expected<Names> {
    Names all;
    visit_named_figures(content_->whole(),
                        [&](const std::string& name, const Figure&) { all.push_back(name); });
    return all;
  }));
}

std::string StepReport::render(const std::string& format) const {
  return value_or_empty(guarded<std::string>([&]() -> Expected<std::string> {
    if (std::ranges::count(report_formats(), format) == 0) return std::string();
    return ::podsim::render({&content_->prediction, 1}, format);
  }));
}

std::string StepReport::picture(const std::string& what) const {
  return value_or_empty(guarded<std::string>([&]() -> Expected<std::string> {
    if (content_->prediction.jobs || std::ranges::count(run_picture_names(), what) == 0) return std::string();
    const Report& report = content_->prediction.report;
    auto picture = run_picture(what, report, nullptr);
    if (!picture) picture = run_picture(what, report, content_->detail());
    return picture ? svg_file(*picture) : std::string();
  }));
}

Expected<std::string> StepReport::html() const {
  return guarded<std::string>([&]() -> Expected<std::string> { return html_page(page_of(*content_)); });
}

Expected<std::string> StepReport::panels() const {
  return guarded<std::string>([&]() -> Expected<std::string> { return html_panels(page_of(*content_)); });
}

Expected<std::string> StepReport::trace(const std::string& format) const {
  return guarded<std::string>([&]() -> Expected<std::string> {
    if (format != "perfetto" && format != "chrome")
      return input_error("trace", format, "traces are \"perfetto\" or \"chrome\", not \"" + format + "\"");
    if (content_->prediction.jobs)
      return input_error("trace", format, "a scenario with several jobs has no trace of its step");
    PredictOptions options;
    options.tracks = true;
    const Prediction prediction = predicted_again(content_->scenario, options);
    return format == "chrome" ? chrome_trace(*prediction.tracks) : perfetto_trace(*prediction.tracks);
  });
}

const std::vector<Diagnostic>& StepReport::warnings() const { return content_->warnings; }

std::vector<FigureInfo> figure_list() {
  std::vector<FigureInfo> list;
  list_below(result_figure("number", figures(every_figure())), "", "", list);
  std::vector<FigureInfo> of_jobs;
  list_below(Figure::group("", {figures(every_figure_of_jobs()).back()}), "", "", of_jobs);
  for (FigureInfo& info : of_jobs)
    if (info.name.find(".alone.") == std::string::npos && info.name.find(".together.") == std::string::npos)
      list.push_back(std::move(info));
  return list;
}

std::vector<std::string> picture_names() { return run_picture_names(); }

std::string library_version() { return ::podsim::version(); }

}  // namespace v0
}  // namespace podsim
