// Tables of a module's work, loops and collectives, and what became of its instructions.
#include <vector>

#include "ingest/hlo/module_figures.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim::hlo {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string heading(const std::string& file, const Summary& summary) {
  std::string text = file + ": HLO";
  if (!summary.module.empty()) text += " module " + summary.module;
  text += " of " + count_text(summary.devices) + (summary.devices == 1 ? " device" : " devices");
  return text + ", entry " + summary.entry + ", " + count_text(summary.computations) + " computations, " +
         count_text(summary.instructions) + " instructions\n";
}

std::string loops_text(const Summary& summary) {
  std::string text;
  for (const auto& [name, trips] : summary.loops.by_name) {
    text += "loop " + name;
    if (trips.how == TripCount::How::kUnknown)
      text += ": how often it runs is not known, and it counts once; --trips " + name + "=N states it\n";
    else
      text += " runs " + count_text(trips.trips) + " times (" + to_string(trips.how) + ")\n";
  }
  return text;
}

std::string work_text(const Summary& summary) {
  Rows rows = {{"work of a device", "each loop once", "executed"}};
  const auto row = [&](const char* name, std::int64_t once, std::int64_t executed) {
    if (executed != 0) rows.push_back({name, count_text(once), count_text(executed)});
  };
  const Cost &once = summary.once, &executed = summary.executed;
  row("FLOP of dots", once.dot, executed.dot);
  row("FLOP of convolutions", once.convolution, executed.convolution);
  row("FLOP of custom calls", once.custom_flops, executed.custom_flops);
  row("other FLOP", once.elementwise(), executed.elementwise());
  row("transcendental functions", once.transcendentals, executed.transcendentals);
  row("bytes, unfused as written", once.bytes, executed.bytes);
  return align(rows);
}

std::string collectives_text(const Summary& summary) {
  if (summary.collectives.empty()) return "";
  Rows rows = {{"collective", "group", "groups", "numbers are", "runs", "bytes in", "bytes out"}};
  for (const CollectiveUse& use : summary.collectives)
    rows.push_back({use.kind, count_text(use.groups.size), count_text(use.groups.count),
                    to_string(use.groups.mode), count_text(use.executed), count_text(use.operand_bytes),
                    count_text(use.result_bytes)});
  return "\n" + align(rows);
}

}  // namespace

std::string module_text(const std::string& file, const Summary& summary, const Account& account) {
  return heading(file, summary) + loops_text(summary) + "\n" + work_text(summary) +
         collectives_text(summary) + "\n" + account_text(account);
}

}  // namespace podsim::hlo
