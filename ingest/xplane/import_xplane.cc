// Devices become ranks, which are told as those of other profiles are.
#include "ingest/xplane/import_xplane.h"

#include <utility>

#include "ingest/kineto/figures.h"
#include "ingest/kineto/import_kineto.h"
#include "ingest/xplane/device_profiles.h"
#include "ingest/xplane/read_space.h"
#include "ingest/xplane/read_trace_json.h"

namespace podsim {
namespace {

std::vector<std::string> modules_of(const xplane::Space& space) {
  std::vector<std::string> modules;
  for (const xplane::Plane& plane : space.planes)
    if (plane.name == "/host:metadata")
      for (const auto& [number, name] : plane.names) modules.push_back(name);
  return modules;
}

std::vector<std::string> plane_names(const xplane::Space& space) {
  std::vector<std::string> names;
  for (const xplane::Plane& plane : space.planes) names.push_back(plane.name);
  return names;
}

}  // namespace

bool is_xplane(std::string_view bytes) { return xplane::is_space(bytes) || xplane::is_trace_json(bytes); }

std::optional<Imported> import_xplane(const std::vector<InputText>& files, const Stated& stated,
                                      std::vector<Problem>& problems) {
  const InputText& file = files.front();
  const auto space = xplane::is_trace_json(file.text)
                         ? xplane::read_trace_json(file.name, file.text, problems)
                         : xplane::read_space(file.name, file.text, problems);
  if (!space) return std::nullopt;
  Account account;
  auto devices = xplane::device_profiles(file.name, *space, account);
  if (devices.empty()) {
    problems.push_back({file.name, 0, 0,
                        "no device did anything: planes " +
                            (space->planes.empty() ? std::string("none") : space->planes.front().name),
                        "", "a profile that has a plane /device:GPU:0 or /device:TPU:0 with events"});
    return std::nullopt;
  }
  account.check();
  const std::string title = file.name + ": profile of XProf, " + std::to_string(devices.size()) + " devices";
  std::vector<Figure> more = {Figure::list("planes", values_of(plane_names(*space))),
                              Figure::list("modules", values_of(modules_of(*space))),
                              devices_figure(devices)};
  Imported imported = imported_profiles(std::move(devices), title, std::move(account), stated);
  imported.figures.front() = Figure("kind", std::string("xplane"));
  append(imported.figures, std::move(more));
  return imported;
}

}  // namespace podsim
