// Megatron-LM: reads the arguments, judges them, tells them.
#include <map>
#include <utility>

#include "ingest/launchers/launchers.h"
#include "ingest/launchers/megatron_arguments.h"
#include "ingest/launchers/read_megatron.h"
#include "ingest/launchers/reasons.h"
#include "ingest/launchers/shell.h"

namespace podsim {
namespace {

std::optional<Imported> imported_megatron(const std::string& file, Configuration& settings,
                                          const Stated& stated, std::vector<Problem>& problems) {
  MegatronPlan plan = read_megatron(settings, stated);
  settings.refuse_misspelt(why_not_used_by_megatron);
  if (settings.add_problems(problems)) return std::nullopt;
  if (!plan.chips)
    plan.needs.push_back({plan.chips_unknown.empty() ? "chips" : "chips: " + plan.chips_unknown, "--chips"});
  if (!plan.model.vocabulary) plan.needs.push_back({"vocabulary: from the tokenizer", "--set vocab-size=N"});
  plan.needs.insert(plan.needs.end(), settings.needs.begin(), settings.needs.end());
  Imported imported = begun_import(megatron_figures(plan), megatron_text(file, plan), plan.needs,
                                   settings.account("arguments", why_not_used_by_megatron));
  need_cluster(stated, imported.needs_to_run);
  if (!plan.batch) imported.needs_to_run.push_back({"global-batch-size", "--set global-batch-size=N"});
  imported.needs_to_run.insert(imported.needs_to_run.end(), plan.not_run.begin(), plan.not_run.end());
  if (!plan.needs.empty() || !imported.needs_to_run.empty()) return imported;
  std::string problem;
  imported.scenario = megatron_scenario(file, plan, stated, problem);
  if (problem.empty()) return imported;
  settings.refuse("expert-model-parallel-size", problem);
  problems.push_back(settings.problems().back());
  return std::nullopt;
}

}  // namespace

bool is_megatron(std::string_view text) {
  for (const char* word :
       {"tensor-model-parallel-size", "tensor_model_parallel_size", "--num-attention-heads"})
    if (text.find(word) != std::string_view::npos) return true;
  return false;
}

std::optional<Imported> import_megatron(const std::vector<InputText>& files, const Stated& stated,
                                        std::vector<Problem>& problems) {
  const InputText& file = files.front();
  const auto has = [&](const char* words) { return file.text.find(words) != std::string::npos; };
  if (has("\nimport ") || has("\nfrom ") || file.text.starts_with("import ") ||
      file.text.starts_with("from ")) {
    Problem problem;
    problem.file = file.name;
    problem.message = "this is a recipe in Python, which podsim does not run";
    problem.hint = "save the configuration that it makes as YAML, and import that";
    problems.push_back(problem);
    return std::nullopt;
  }
  const bool script = has("#!/") || has(".py") || has("torchrun") || has("#SBATCH");
  const bool keys = has("MODEL_ARGS:") || !script;
  std::vector<std::string> notes;
  std::map<std::string, std::string> contradictions;
  auto settings = keys ? read_megatron_keys(file, contradictions, problems)
                       : read_megatron_script(file, stated, notes, problems);
  if (!settings) return std::nullopt;
  for (const auto& [name, text] : stated.settings) {
    if (!keys && reads_variable(file.text, name)) continue;
    Setting setting;
    setting.name = argument_name(name);
    setting.text = text;
    setting.file = kStatedFile;
    settings->set(std::move(setting));
  }
  if (settings->all().empty()) {
    Problem problem;
    problem.file = file.name;
    problem.message = "there is no command with arguments of Megatron-LM: --num-layers, --hidden-size, ...";
    problems.push_back(problem);
    return std::nullopt;
  }
  auto imported = imported_megatron(file.name, *settings, stated, problems);
  if (!imported) return std::nullopt;
  for (const std::string& word : settings->unread)
    notes.push_back(file.name + ": nothing says what " + word + " is: arguments in it are not read");
  for (const auto& [argument, words] : contradictions)
    if (settings->is_used(argument)) notes.push_back(file.name + ": " + words);
  imported->notes = std::move(notes);
  return imported;
}

}  // namespace podsim
