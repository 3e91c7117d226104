// Reads the modules, adds them up and tells them one after the other.
#include "ingest/hlo/import_hlo.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/spelling.h"
#include "ingest/hlo/module_figures.h"
#include "ingest/hlo/parse.h"
#include "ingest/hlo/step_figures.h"

namespace podsim {
namespace {

// Every stated loop is one of the modules.
bool loops_exist(const std::string& file, const Stated& stated, const std::vector<hlo::Summary>& modules,
                 std::vector<Problem>& problems) {
  std::vector<std::string> loops;
  for (const hlo::Summary& module : modules)
    for (const auto& [loop, found] : module.loops.by_name) loops.push_back(loop);
  bool all = true;
  for (const auto& [name, count] : stated.trips) {
    if (std::find(loops.begin(), loops.end(), name) != loops.end()) continue;
    const std::string near = closest_name(name, loops);
    Problem problem;
    problem.file = file;
    problem.message = "--trips " + name + ": there is no such loop" +
                      (near.empty() ? "" : "; did you mean \"" + near + "\"?");
    problems.push_back(problem);
    all = false;
  }
  return all;
}

}  // namespace

std::optional<Imported> import_hlo(const std::vector<InputText>& files, const Stated& stated,
                                   std::vector<Problem>& problems) {
  const auto& [file, text] = files.front();
  auto modules = hlo::parse_modules(file, text, problems);
  if (!modules) return std::nullopt;
  std::vector<hlo::Summary> summaries;
  for (const hlo::Module& module : *modules) summaries.push_back(hlo::summarize(module, stated.trips));
  if (!loops_exist(file, stated, summaries, problems)) return std::nullopt;
  Imported imported;
  std::vector<Figure> each;
  for (std::size_t i = 0; i < modules->size(); ++i) {
    const Account& account = imported.accounts.emplace_back(hlo::account_of((*modules)[i]));
    each.push_back(Figure::group("", hlo::module_figures(summaries[i], account)));
    if (const hlo::Module& module = (*modules)[i]; !module.entry_marked)
      imported.notes.push_back(file + ": no computation of module " + module.name +
                               " is marked ENTRY: the last one, " + module.entry_computation().name +
                               ", is taken for it; the file may have been cut behind it");
    imported.text += (i == 0 ? "" : "\n") + hlo::module_text(file, summaries[i], account);
  }
  if (each.size() == 1) {
    imported.ranks = summaries.front().devices;
    const auto kept = std::make_shared<const hlo::Module>(std::move(modules->front()));
    imported.on_machine = [kept, trips = stated.trips, name = file](const hlo::Machine& machine) {
      const hlo::ModuleStep step = predict_module(*kept, hlo::loop_counts(*kept, trips), machine);
      Imported answer;
      answer.figures = hlo::step_figures(step, machine);
      answer.text = hlo::step_text(name, step, machine);
      return answer;
    };
    imported.figures = std::move(each.front().parts);
  } else {
    imported.figures.emplace_back("modules", static_cast<std::int64_t>(each.size()));
    imported.figures.push_back(Figure::list("module", std::move(each)));
  }
  return imported;
}

}  // namespace podsim
