// The keys of docs/guide/import.md.
#include "ingest/hlo/module_figures.h"

#include <utility>

namespace podsim::hlo {
namespace {

using Figures = std::vector<Figure>;

Figure cost_figure(const char* key, const Cost& cost) {
  return Figure::group(key, {{"flops", cost.flops},
                             {"trans", cost.transcendentals},
                             {"bytes", cost.bytes},
                             {"dot", cost.dot},
                             {"conv", cost.convolution},
                             {"elem", cost.elementwise()},
                             {"custom_flops", cost.custom_flops},
                             {"custom_unknown", cost.unknown_calls}});
}

Figure loops_figure(const std::map<std::string, TripCount>& loops) {
  Figures parts;
  for (const auto& [name, count] : loops)
    parts.push_back(Figure::group(
        name, {{"n", count.how == TripCount::How::kUnknown ? FigureValue() : FigureValue(count.trips)},
               {"how", std::string(to_string(count.how))}}));
  return Figure::group("while_trip_counts", std::move(parts));
}

Figure first_group(const Groups& groups) {
  Figures elements;
  for (const auto& [source, target] : groups.pairs)
    elements.push_back(Figure::list("", values_of(std::vector<std::int64_t>{source, target})));
  if (groups.pairs.empty()) elements = values_of(groups.first);
  return Figure::list("first_group", std::move(elements));
}

Figure collective_figure(const CollectiveUse& use) {
  return Figure::group("", {{"kind", use.kind},
                            {"group_size", use.groups.size},
                            {"groups", use.groups.count},
                            {"mode", std::string(to_string(use.groups.mode))},
                            first_group(use.groups),
                            {"instructions", use.instructions},
                            {"executed", use.executed},
                            {"operand_bytes", use.operand_bytes},
                            {"result_bytes", use.result_bytes},
                            {"tensors", use.tensors}});
}

std::int64_t runs_of(const Executions& executions, const char* opcode) {
  const auto found = executions.opcodes.find(opcode);
  return found == executions.opcodes.end() ? 0 : found->second;
}

}  // namespace

std::vector<Figure> module_figures(const Summary& summary, const Account& account) {
  Figures collectives;
  for (const CollectiveUse& use : summary.collectives) collectives.push_back(collective_figure(use));
  return {{"kind", std::string("hlo")},
          {"module", summary.module.empty() ? FigureValue() : FigureValue(summary.module)},
          {"is_scheduled", summary.scheduled},
          {"num_partitions", summary.partitions},
          {"replica_count", summary.replicas},
          {"devices", summary.devices},
          {"computations", summary.computations},
          {"instructions", summary.instructions},
          {"entry", summary.entry},
          loops_figure(summary.loops.by_name),
          {"executed_dots", runs_of(summary.executions, "dot")},
          {"executed_convolutions", runs_of(summary.executions, "convolution")},
          cost_figure("cost_once", summary.once),
          cost_figure("cost_executed", summary.executed),
          Figure::list("collectives", std::move(collectives)),
          counts_figure("custom_calls", summary.executions.custom_calls),
          counts_figure("opcodes_executed", summary.executions.opcodes),
          account_figure(account)};
}

}  // namespace podsim::hlo
