// MaxText: reads the settings, judges them, tells them.
#include <utility>

#include "ingest/launchers/launchers.h"
#include "ingest/launchers/maxtext_plan.h"
#include "ingest/launchers/reasons.h"

namespace podsim {
namespace {

std::optional<Imported> imported_maxtext(const std::string& file, MaxTextSources& sources,
                                         const Stated& stated, std::vector<Problem>& problems) {
  Configuration& settings = sources.all;
  MaxTextPlan plan = read_maxtext_plan(sources, stated);
  settings.refuse_misspelt(why_not_used_by_maxtext);
  if (settings.add_problems(problems)) return std::nullopt;
  if (!plan.chips) plan.needs.insert(plan.needs.begin(), {"chips", "--chips"});
  plan.needs.insert(plan.needs.end(), settings.needs.begin(), settings.needs.end());
  const auto why_not_used = [&](const std::string& name) -> std::string {
    return sources.assumed.count(name) != 0 ? "defaults that no figure asks for"
                                            : why_not_used_by_maxtext(name);
  };
  Imported imported = begun_import(maxtext_figures(plan), maxtext_text(file, plan), plan.needs,
                                   settings.account("settings", why_not_used));
  need_cluster(stated, imported.needs_to_run);
  imported.needs_to_run.insert(imported.needs_to_run.end(), plan.not_run.begin(), plan.not_run.end());
  if (maxtext_recipe(plan).empty())
    imported.needs_to_run.push_back(
        {"products in a format that podsim has, instead of " + plan.quantization, "--set quantization=int8"});
  if (!plan.needs.empty() || !imported.needs_to_run.empty()) return imported;
  std::string problem;
  imported.scenario = maxtext_scenario(file, plan, stated, problem);
  if (problem.empty()) return imported;
  settings.refuse("ici_expert_parallelism", problem);
  problems.push_back(settings.problems().back());
  return std::nullopt;
}

}  // namespace

bool is_maxtext(std::string_view text) {
  for (const char* word : {"per_device_batch_size", "M_PER_DEVICE_BATCH_SIZE", "ici_fsdp_parallelism",
                           "base_emb_dim", "max_target_length="})
    if (text.find(word) != std::string_view::npos) return true;
  return false;
}

std::optional<Imported> import_maxtext(const std::vector<InputText>& files, const Stated& stated,
                                       std::vector<Problem>& problems) {
  const InputText* script = nullptr;
  for (const InputText& file : files) {
    if (file.name.ends_with(".yml") || file.name.ends_with(".yaml")) continue;
    if (script != nullptr) {
      Problem problem;
      problem.file = file.name;
      problem.message = "a second script of MaxText beside " + script->name;
      problem.hint = "import one script at a time, with base.yml and the file of its model";
      problems.push_back(problem);
      return std::nullopt;
    }
    script = &file;
  }
  if (script == nullptr) script = &files.back();
  auto sources = read_maxtext(files, stated, *script, problems);
  if (!sources) return std::nullopt;
  return imported_maxtext(script->name, *sources, stated, problems);
}

}  // namespace podsim
