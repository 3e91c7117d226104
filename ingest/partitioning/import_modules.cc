// Figures of the readers, and what partitioning adds to them.
#include "ingest/partitioning/import_modules.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "ingest/hlo/import_hlo.h"
#include "ingest/hlo/module_step.h"
#include "ingest/hlo/step_figures.h"
#include "ingest/partitioning/explanation.h"
#include "ingest/partitioning/module_file.h"
#include "ingest/stablehlo/import_stablehlo.h"
#include "ingest/stablehlo/tokens.h"

namespace podsim {
namespace {

using partitioning::TakenModule;

Problem problem_of(const std::string& file, const std::string& message) {
  Problem problem;
  problem.file = file;
  problem.message = message;
  return problem;
}

Problem refusal_of(const InputText& file, const TakenModule& module) {
  return module.refused_at ? stablehlo::problem_at(file.name, file.text, *module.refused_at, module.refused)
                           : problem_of(file.name, module.refused);
}

// FILE, or FILE:LINE:COLUMN.
std::string place_of_refusal(const InputText& file, const TakenModule& module) {
  const Problem problem = refusal_of(file, module);
  if (problem.line == 0) return file.name;
  return file.name + ":" + std::to_string(problem.line) + ":" + std::to_string(problem.column);
}

Imported step_of(const std::string& file, const partitioning::PartitionedModule& module,
                 const hlo::Machine& machine) {
  const hlo::ModuleStep step = predict_module(module.local, hlo::loop_counts(module.local), machine);
  Imported answer;
  answer.figures = hlo::step_figures(step, machine);
  answer.figures.push_back(counts_figure("not_planned", module.not_planned));
  answer.text = hlo::step_text(file, step, machine);
  for (const auto& [name, count] : module.not_planned)
    answer.text += "not planned, so whole on every device: " + name + " (" + count_text(count) + ")\n";
  return answer;
}

// What the first module of the file becomes on a machine, and beside a dump.
void add_partitioned(Imported& imported, const InputText& file, const Stated& stated) {
  std::vector<Problem> unused;  // the file could be read
  auto modules = partitioning::take_modules(file, stated, unused);
  if (!modules || modules->empty() || modules->front().compiled) return;
  const auto first = std::make_shared<const TakenModule>(std::move(modules->front()));
  imported.on_machine = nullptr;
  if (!first->refused.empty()) {
    if (first->needs_mesh)
      imported.needs_to_run.push_back({"mesh", "--mesh"});
    else
      imported.notes.push_back(place_of_refusal(file, *first) + ": not partitioned: " + first->refused);
    return;
  }
  imported.ranks = first->partitioned.mesh.devices();
  if (modules->size() == 1)
    imported.on_machine = [first, name = file.name](const hlo::Machine& machine) {
      return step_of(name, first->partitioned, machine);
    };
  imported.beside = [first, name = file.name](const InputText& dump,
                                              std::vector<Problem>& problems) -> std::optional<Imported> {
    const auto others = partitioning::take_modules(dump, {}, problems);
    if (!others) return std::nullopt;
    if (!others->front().refused.empty()) {
      problems.push_back(problem_of(dump.name, "no collectives to lay beside: " + others->front().refused));
      return std::nullopt;
    }
    return partitioning::beside(name, *first, dump.name, others->front());
  };
}

}  // namespace

std::optional<Imported> import_hlo_module(const std::vector<InputText>& files, const Stated& stated,
                                          std::vector<Problem>& problems) {
  auto imported = import_hlo(files, stated, problems);
  if (imported && stated.partition) add_partitioned(*imported, files.front(), stated);
  return imported;
}

std::optional<Imported> import_stablehlo_module(const std::vector<InputText>& files, const Stated& stated,
                                                std::vector<Problem>& problems) {
  auto imported = import_stablehlo(files, stated, problems);
  if (imported && stated.partition) add_partitioned(*imported, files.front(), stated);
  return imported;
}

std::optional<Imported> explain_modules(const InputText& file, const Stated& stated,
                                        const std::string& operation, std::vector<Problem>& problems) {
  const auto modules = partitioning::take_modules(file, stated, problems);
  if (!modules) return std::nullopt;
  bool any = false, named = operation.empty();
  Imported made;
  std::vector<Figure> figures;
  for (const TakenModule& taken : *modules) {
    any = any || taken.refused.empty();
    for (const auto& record : taken.partitioned.operations)
      named = named || record.name.find(operation) != std::string::npos;
    figures.push_back(partitioning::module_figure(taken, operation));
    made.text += (made.text.empty() ? "" : "\n") + partitioning::module_text(taken, operation);
  }
  if (!any) problems.push_back(refusal_of(file, modules->front()));
  if (any && !named)
    problems.push_back(problem_of(file.name, "no operation is called \"" + operation + "\""));
  if (!any || !named) return std::nullopt;
  made.figures.push_back(Figure::list("modules", std::move(figures)));
  return made;
}

}  // namespace podsim
