// podsim._podsim: the library for the sources in podsim/, which are what users see.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "podsim/podsim.h"
#include "python/conversions.h"

namespace podsim::python {
namespace {

namespace py = pybind11;

StepReport evaluate(const Scenario& scenario, int threads, py::object progress) {
  Listener listener(std::move(progress), threads);
  const auto answer = [&] { return scenario.evaluate(listener.effort()); };
  return value_or_raise(threads == 1 ? listener.run_here(answer) : listener.run(answer));
}

py::object figure(const StepReport& report, const std::string& name) {
  return object_of(value_or_raise(report.figure(name)));
}

// What the call gives, made without the interpreter's lock.
template <class Call>
std::string unlocked(Call&& call) {
  const auto made = [&] {
    const py::gil_scoped_release released;
    return call();
  };
  return value_or_raise(made());
}

// The figure, or nothing where there is no single one of this name.
py::object known_figure(const StepReport& report, const std::string& name) {
  const Expected<Value> value = report.figure(name);
  return value ? py::make_tuple(object_of(*value)) : py::object(py::none());
}

// [row] the values, a report or None, and None or the exception that says why there is none.
py::list swept(const Scenario& scenario,
               const std::vector<std::pair<std::string, std::vector<std::string>>>& fields, int threads,
               py::object progress) {
  std::vector<SweptField> all;
  for (const auto& [path, values] : fields) all.push_back({path, values});
  Listener listener(std::move(progress), threads);
  py::list rows;
  for (SweepRow& row :
       value_or_raise(listener.run([&] { return sweep(scenario, all, listener.effort()); }))) {
    if (row.report) {
      rows.append(py::make_tuple(row.values, py::cast(*std::move(row.report)), py::none()));
    } else {
      rows.append(py::make_tuple(row.values, py::none(), exception_of(row.report.error())));
    }
  }
  return rows;
}

py::dict searched(const Scenario& scenario, int top, double within, double gap, bool pareto, int threads,
                  py::object progress) {
  Listener listener(std::move(progress), threads);
  const SearchWish wish{top, within, gap, pareto};
  const SearchResult result =
      value_or_raise(listener.run([&] { return search(scenario, wish, listener.effort()); }));
  py::list layouts;
  for (const RankedLayout& each : result.layouts)
    layouts.append(py::make_tuple(each.layout, each.step_time_s, each.memory_gib, each.scenario));
  py::dict answer;
  answer["layouts"] = layouts;
  answer["proven"] = result.proven;
  answer["gap"] = result.gap;
  answer["json"] = result.json;
  return answer;
}

py::dict planned(const Scenario& scenario, PlanWish wish, int threads, py::object progress) {
  Listener listener(std::move(progress), threads);
  const PlanResult result =
      value_or_raise(listener.run([&] { return plan(scenario, wish, listener.effort()); }));
  py::list clusters;
  for (const PlannedCluster& each : result.clusters) {
    py::dict row;
    row["chip"] = each.chip;
    row["chips"] = each.chips;
    row["fabric"] = each.fabric;
    row["stack"] = each.stack;
    row["precision"] = each.precision;
    row["price_term"] = each.price_term;
    row["days"] = each.days;
    row["usd"] = each.usd;
    row["mwh"] = each.mwh;
    row["meets_limits"] = each.meets_limits;
    row["layout"] = each.fastest.layout;
    row["step_time_s"] = each.fastest.step_time_s;
    row["memory_gib"] = each.fastest.memory_gib;
    row["scenario"] = each.fastest.scenario;
    clusters.append(row);
  }
  py::dict answer;
  answer["clusters"] = clusters;
  answer["json"] = result.json;
  return answer;
}

py::tuple commanded(const std::vector<std::string>& words) {
  Listener listener(py::none(), 1);
  const CommandOutput output = listener.run([&] { return command(words, &listener.stop()); });
  return py::make_tuple(output.exit_code, py::bytes(output.out), py::bytes(output.err));
}

py::list figure_rows() {
  py::list rows;
  for (const FigureInfo& info : figure_list())
    rows.append(py::make_tuple(info.name, info.type, info.unit, info.definition));
  return rows;
}

py::list field_rows() {
  py::list rows;
  for (const FieldInfo& info : scenario_fields())
    rows.append(py::make_tuple(info.message, info.name, info.type, info.repeated, info.values, info.range));
  return rows;
}

PYBIND11_MODULE(_podsim, module) {
  py::class_<StepReport>(module, "Report")
      .def("figure", figure)
      .def("known_figure", known_figure)
      .def("names", &StepReport::names)
      .def("render", &StepReport::render)
      .def("picture", &StepReport::picture, py::call_guard<py::gil_scoped_release>())
      .def("html", [](const StepReport& report) { return unlocked([&] { return report.html(); }); })
      .def("panels", [](const StepReport& report) { return unlocked([&] { return report.panels(); }); })
      .def("trace",
           [](const StepReport& report, const std::string& format) {
             return py::bytes(unlocked([&] { return report.trace(format); }));
           })
      .def("warnings", [](const StepReport& report) { return list_of(report.warnings()); });
  py::class_<Scenario>(module, "Scenario")
      .def_static("parse",
                  [](std::string text, std::string name) {
                    return value_or_raise(Scenario::parse(std::move(text), std::move(name)));
                  })
      .def_static("load", [](const std::string& path) { return value_or_raise(Scenario::load(path)); })
      .def("set",
           [](Scenario& scenario, const std::string& path, const std::string& value) {
             if (const auto error = scenario.set(path, value)) raise(*error);
           })
      .def("copy", [](const Scenario& scenario) { return Scenario(scenario); })
      .def("settings", &Scenario::settings)
      .def_property_readonly("text", &Scenario::text)
      .def_property_readonly("name", &Scenario::name)
      .def("evaluate", evaluate);
  py::class_<PlanWish>(module, "PlanWish")
      .def(py::init<>())
      .def_readwrite("tokens", &PlanWish::tokens)
      .def_readwrite("chips", &PlanWish::chips)
      .def_readwrite("counts", &PlanWish::counts)
      .def_readwrite("price_terms", &PlanWish::price_terms)
      .def_readwrite("precisions", &PlanWish::precisions)
      .def_readwrite("most_days", &PlanWish::most_days)
      .def_readwrite("most_usd", &PlanWish::most_usd)
      .def_readwrite("minimise", &PlanWish::minimise)
      .def_readwrite("gap", &PlanWish::gap);
  module.def("sweep", swept);
  module.def("search", searched);
  module.def("plan", planned);
  module.def("command", commanded);
  module.def("figure_list", figure_rows);
  module.def("scenario_fields", field_rows);
  module.def("picture_names", podsim::picture_names);
  module.def("version", library_version);
}

}  // namespace
}  // namespace podsim::python
