// The keys of docs/guide/import.md.
#include "ingest/stablehlo/import_stablehlo.h"

#include <set>
#include <string_view>
#include <utility>

#include "engine/check.h"
#include "ingest/stablehlo/read_modules.h"
#include "report/text/align.h"

namespace podsim {
namespace {

using stablehlo::Module;

FigureValue optional_number(const std::optional<std::int64_t>& number) {
  return number ? FigureValue(*number) : FigureValue();
}

Figure meshes_figure(const Module& module) {
  std::vector<Figure> meshes;
  for (const auto& [name, mesh] : module.meshes) {
    std::vector<Figure> axes;
    for (const auto& [axis, size] : mesh) axes.push_back(Figure::list("", {{"", axis}, {"", size}}));
    meshes.push_back(Figure::list(name, std::move(axes)));
  }
  return Figure::group("meshes", std::move(meshes));
}

std::int64_t count_of(const std::map<std::string, std::int64_t>& counts, const char* name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

std::int64_t sum_of(const std::map<std::string, std::int64_t>& counts) {
  std::int64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

std::int64_t products_in_text(const Module& module) {
  return count_of(module.operations, "stablehlo.dot_general");
}

Figure dots_figure(const Module& module) {
  std::vector<Figure> functions;
  for (const stablehlo::Function& function : module.functions) {
    if (!function.is_public) continue;
    const stablehlo::Work work = work_of(module, function.name);
    functions.push_back(Figure::group(
        function.name, {{"executed_whiles_once", work.dots}, {"flops_as_written", work.dot_flops}}));
  }
  return Figure::group("dots", std::move(functions));
}

std::vector<Figure> module_figures(const Module& module) {
  std::vector<std::string> public_functions;
  for (const stablehlo::Function& function : module.functions)
    if (function.is_public) public_functions.push_back(function.name);
  return {{"name", module.name.empty() ? FigureValue() : FigureValue(module.name)},
          {"num_partitions", optional_number(module.partitions)},
          {"num_replicas", optional_number(module.replicas)},
          meshes_figure(module),
          {"functions", static_cast<std::int64_t>(module.functions.size())},
          Figure::list("public_functions", values_of(public_functions)),
          dots_figure(module),
          {"dot_general_in_text", products_in_text(module)},
          counts_figure("operations", module.operations),
          {"sharded_arguments", module.sharded_arguments},
          Figure::group("annotations", {{"sdy", module.shardy_shardings},
                                        {"gspmd", sum_of(module.gspmd_shardings)},
                                        {"constraints", module.constraints},
                                        {"manual_computations", module.manual_regions}}),
          counts_figure("gspmd_shardings", module.gspmd_shardings),
          counts_figure("explicit_collectives", module.collectives),
          counts_figure("custom_calls", module.custom_calls),
          {"whiles", count_of(module.operations, "stablehlo.while")}};
}

// Operations by what is known of them; custom calls that only annotate are known.
Account account_of(const std::vector<Module>& modules) {
  static const std::set<std::string> kUsed = {"stablehlo.dot_general", "stablehlo.dot", "stablehlo.while",
                                              "sdy.manual_computation", "sdy.sharding_constraint"};
  static const std::set<std::string> kAnnotations = {"Sharding", "SPMDFullToShardShape",
                                                     "SPMDShardToFullShape", "xla.sdy.FuncResultSharding",
                                                     "annotate_device_placement"};
  Account account{"operations", 0, 0, {}, {}};
  for (const Module& module : modules) {
    for (const auto& [name, count] : module.operations) {
      account.read += count;
      if (name == "stablehlo.custom_call") continue;
      if (kUsed.count(name) != 0 || module.collectives.count(name) != 0)
        account.used += count;
      else
        account.passed_over["without products"] += count;
    }
    std::int64_t rest = count_of(module.operations, "stablehlo.custom_call");
    for (const auto& [target, count] : module.custom_calls) {
      rest -= count;
      (kAnnotations.count(target) != 0 ? account.used : account.unknown["custom call " + target]) += count;
    }
    if (rest > 0) account.unknown["custom call"] += rest;
  }
  account.check();
  return account;
}

std::string module_text(const Module& module) {
  std::string text = "module " + (module.name.empty() ? std::string("without name") : module.name);
  if (module.partitions) text += ", " + std::to_string(*module.partitions) + " partitions";
  for (const auto& [name, mesh] : module.meshes) {
    text += ", mesh " + name;
    for (const auto& [axis, size] : mesh) text += " " + axis + "=" + std::to_string(size);
  }
  text += ", " + std::to_string(module.functions.size()) + " functions\n";
  std::vector<std::vector<std::string>> rows = {{"function", "products", "FLOP as written"}};
  for (const stablehlo::Function& function : module.functions) {
    if (!function.is_public) continue;
    const stablehlo::Work work = work_of(module, function.name);
    rows.push_back({function.name, count_text(work.dots), count_text(work.dot_flops)});
  }
  text += align(rows);
  for (const auto& [name, count] : module.collectives) text += count_text(count) + " " + name + "\n";
  return text + count_text(module.shardy_shardings) + " shardings of Shardy, " +
         count_text(sum_of(module.gspmd_shardings)) + " of GSPMD, " + count_text(module.sharded_arguments) +
         " sharded arguments, " + count_text(module.constraints) + " constraints, " +
         count_text(module.manual_regions) + " manual regions\n";
}

// Whether what follows the last separator of modules, but for comments, begins none.
bool ends_behind_separator(std::string_view text) {
  constexpr std::string_view kSeparator = "// -----";
  const std::size_t last = text.rfind(kSeparator);
  for (std::size_t line = last; line < text.size();) {
    const std::size_t end = std::min(text.find('\n', line), text.size());
    const std::string_view words = text.substr(line, end - line);
    const std::string_view code = words.substr(0, words.find("//"));
    if (code.find("module") != std::string_view::npos || code.find("func.func") != std::string_view::npos)
      return false;
    line = end + 1;
  }
  return last != std::string_view::npos;
}

}  // namespace

bool is_stablehlo(std::string_view text) {
  for (const char* word : {"stablehlo.", "func.func", "sdy.mesh"})
    if (text.find(word) != std::string_view::npos) return true;
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const std::string_view head = text.substr(std::min(begin, text.size()));
  return head.starts_with("module ") || head.starts_with("module{");
}

std::optional<Imported> import_stablehlo(const std::vector<InputText>& files, const Stated&,
                                         std::vector<Problem>& problems) {
  PODSIM_CHECK(files.size() == 1, "modules are of one file");
  const auto modules = stablehlo::read_modules(files.front().name, files.front().text, problems);
  if (!modules) return std::nullopt;
  Imported imported;
  if (ends_behind_separator(files.front().text))
    imported.notes.push_back(
        files.front().name +
        ": no module follows the last separator, // -----: the file may have been cut there");
  imported.accounts = {account_of(*modules)};
  std::vector<Figure> each;
  imported.text = files.front().name + ": StableHLO\n";
  for (const Module& module : *modules) {
    each.push_back(Figure::group("", module_figures(module)));
    imported.text += "\n" + module_text(module);
  }
  imported.figures = {{"kind", std::string("stablehlo")},
                      {"modules", static_cast<std::int64_t>(modules->size())},
                      Figure::list("module", std::move(each)),
                      account_figure(imported.accounts.front())};
  imported.text += "\n" + account_text(imported.accounts.front());
  return imported;
}

}  // namespace podsim
