// Tables and keys of module_step.h.
#include "ingest/hlo/step_figures.h"

#include <cmath>
#include <utility>

#include "ingest/imported/account.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim::hlo {
namespace {

Figure work_figure(const std::string& key, const WorkTime& work) {
  return Figure::group(key, {{"runs", work.runs}, {"time_s", work.seconds}});
}

// Steps of tiny modules last microseconds.
std::string number_text(double number) {
  constexpr double kEnough = 10;  // from here on one decimal is as much as anybody reads
  return std::abs(number) >= kEnough || number == 0 ? fixed(number, 1) : significant(number, 3);
}
std::string milliseconds(double seconds) { return number_text(seconds * 1e3); }

// What the step takes for something else, or leaves out.
std::string left_out_text(const ModuleStep& step, const Machine& machine) {
  std::string text;
  for (const auto& [type, runs] : step.without_rate)
    text += count_text(runs) + " products of " + type + " run at the rate of bf16: " + machine.chip.name +
            " has no rate of " + type + "\n";
  for (const auto& [what, runs] : step.not_timed) {
    const bool moves = what == "MoveToHost" || what == "MoveToDevice";
    const double bytes = what == "MoveToHost" ? step.bytes_to_host : step.bytes_from_host;
    text += what + " takes no time here (" + count_text(runs) + " runs" +
            (moves ? ", " + number_text(bytes / 1e9) + " GB over the link to the host" : "") + ")\n";
  }
  for (const std::string& name : step.unknown_loops)
    text += "loop " + name + " goes round an unknown number of times, and counts once: --trips " + name +
            "=N states it\n";
  return text;
}

}  // namespace

std::vector<Figure> step_figures(const ModuleStep& step, const Machine& machine) {
  std::vector<Figure> collectives;
  for (const auto& [kind, work] : step.collectives) collectives.push_back(work_figure(kind, work));
  std::vector<Figure> loops;
  for (const std::string& name : step.unknown_loops) loops.emplace_back("", name);
  return {{"chip", machine.chip.name},
          {"fabric", machine.fabric.name},
          {"chips", static_cast<std::int64_t>(machine.fabric.chips)},
          {"stack", machine.stack.name},
          {"attention_kernel", machine.stack.attention_kernel},
          {"step_s", step.seconds},
          work_figure("matmuls", step.matmuls),
          work_figure("attention", step.attention),
          work_figure("others", step.others),
          {"bytes_fused", step.bytes_fused},
          Figure::group("collectives", std::move(collectives)),
          {"communication_s", step.communication_seconds},
          {"exposed_s", step.exposed_seconds},
          {"scattered_all_reduces", step.scattered},
          counts_figure("unknown_calls", step.unknown_calls),
          counts_figure("without_rate", step.without_rate),
          counts_figure("not_timed", step.not_timed),
          {"bytes_to_host", step.bytes_to_host},
          {"bytes_from_host", step.bytes_from_host},
          Figure::list("unknown_loops", std::move(loops))};
}

std::string step_text(const std::string& file, const ModuleStep& step, const Machine& machine) {
  std::vector<std::vector<std::string>> rows = {{"", "runs", "ms"}};
  const auto row = [&](const std::string& name, const WorkTime& work) {
    if (work.runs > 0) rows.push_back({name, count_text(work.runs), milliseconds(work.seconds)});
  };
  row("matmuls", step.matmuls);
  row("fused attention", step.attention);
  row("other kernels", step.others);
  for (const auto& [kind, work] : step.collectives) row(kind, work);
  std::string text = file + " on " + std::to_string(machine.fabric.chips) + " " + machine.chip.name + ", " +
                     machine.fabric.name + ": the step takes " + milliseconds(step.seconds) + " ms\n\n" +
                     align(rows) + "\n" + milliseconds(step.communication_seconds) +
                     " ms of communication, of which at least " + milliseconds(step.exposed_seconds) +
                     " ms are exposed\n";
  text += "Other kernels move " + number_text(step.bytes_fused / 1e9) +
          " GB once chains of elementwise operations are one kernel; attention is as fast as " +
          machine.stack.attention_kernel + "\n";
  if (step.scattered > 0)
    text += count_text(step.scattered) +
            " all-reduces of which each device keeps a part are timed as reduce-scatters\n";
  for (const auto& [target, count] : step.unknown_calls)
    text += "unknown call " + target + " is taken to move its operands and results (" + count_text(count) +
            " in the text)\n";
  return text + left_out_text(step, machine);
}

}  // namespace podsim::hlo
