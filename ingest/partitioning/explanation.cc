// The keys of docs/guide/import.md.
#include "ingest/partitioning/explanation.h"

#include <cmath>
#include <map>
#include <utility>

#include "engine/words.h"
#include "ingest/imported/account.h"
#include "ingest/partitioning/module_totals.h"
#include "report/text/align.h"

namespace podsim::partitioning {
namespace {

std::string mesh_text(const Mesh& mesh) {
  return separated(mesh.axes, ",",
                   [](const MeshAxis& axis) { return axis.name + "=" + std::to_string(axis.size); });
}

Figure collective_figure(const MadeCollective& made) {
  return Figure::group("", {{"kind", made.kind},
                            {"tensor", made.tensor},
                            {"axes", made.axes},
                            {"group", made.group},
                            {"operand_bytes", made.operand_bytes},
                            {"result_bytes", made.result_bytes},
                            {"sent_bytes", static_cast<std::int64_t>(std::llround(made.sent_bytes))},
                            {"why", made.why}});
}

Figure operation_figure(const OperationRecord& record) {
  std::vector<Figure> collectives;
  for (const MadeCollective& made : record.collectives) collectives.push_back(collective_figure(made));
  return Figure::group("", {{"name", record.name},
                            {"operation", record.opcode},
                            {"loop", record.loop},
                            {"runs", record.runs},
                            {"treatment", record.treatment},
                            Figure::list("operands", values_of(record.operands)),
                            Figure::list("results", values_of(record.results)),
                            {"product_flops", record.flops},
                            {"product_flops_of_all", record.global_flops},
                            Figure::list("collectives", std::move(collectives))});
}

Figure sum_figure(const CollectiveSum& sum) {
  return Figure::group("", {{"kind", sum.kind},
                            {"axes", sum.axes},
                            {"group", sum.group},
                            {"operations", sum.operations},
                            {"executed", sum.executed},
                            {"operand_bytes", sum.operand_bytes},
                            {"result_bytes", sum.result_bytes},
                            {"sent_bytes", sum.sent_bytes}});
}

bool is_named(const OperationRecord& record, const std::string& operation) {
  return record.name.find(operation) != std::string::npos;
}

std::string operation_text(const OperationRecord& record) {
  std::string text = record.name + ": " + record.opcode;
  if (!record.loop.empty()) text += " in " + record.loop + ", " + count_text(record.runs) + " runs";
  if (record.treatment != "partitioned" && record.treatment != "compiled") text += ", " + record.treatment;
  text += "\n";
  for (const std::string& result : record.results) text += "  " + result + "\n";
  for (const MadeCollective& made : record.collectives)
    text += "  " + made.kind + " of " + made.tensor + " over " + made.axes + " (" + count_text(made.group) +
            "): " + count_text(std::llround(made.sent_bytes)) + " bytes sent; " + made.why + "\n";
  return text;
}

std::string sums_text(const PartitionedModule& module) {
  const std::vector<CollectiveSum> sums = collective_sums(module);
  if (sums.empty()) return "No collectives\n";
  std::vector<std::vector<std::string>> rows = {
      {"collective", "over", "group", "executed", "operand bytes", "bytes sent"}};
  CollectiveSum all;
  for (const CollectiveSum& sum : sums) {
    rows.push_back({sum.kind, sum.axes, count_text(sum.group), count_text(sum.executed),
                    count_text(sum.operand_bytes), count_text(sum.sent_bytes)});
    all.executed += sum.executed;
    all.operand_bytes += sum.operand_bytes;
    all.sent_bytes += sum.sent_bytes;
  }
  rows.push_back(
      {"all", "", "", count_text(all.executed), count_text(all.operand_bytes), count_text(all.sent_bytes)});
  return align(rows);
}

// [kind, group] of all runs.
using ByKind = std::map<std::pair<std::string, std::int64_t>, CollectiveSum>;
ByKind by_kind(const PartitionedModule& module) {
  ByKind all;
  for (const CollectiveSum& sum : collective_sums(module)) {
    if (sum.group < 2 && sum.kind != "collective-permute") continue;
    CollectiveSum& into = all[{sum.kind, sum.group}];
    into.executed += sum.executed;
    into.operand_bytes += sum.operand_bytes;
    into.sent_bytes += sum.sent_bytes;
  }
  return all;
}

}  // namespace

Figure module_figure(const TakenModule& taken, const std::string& operation) {
  const PartitionedModule& module = taken.partitioned;
  std::vector<Figure> axes, operations, sums;
  for (const MeshAxis& axis : module.mesh.axes) axes.emplace_back(axis.name, axis.size);
  for (const OperationRecord& record : module.operations)
    if (is_named(record, operation)) operations.push_back(operation_figure(record));
  for (const CollectiveSum& sum : collective_sums(module)) sums.push_back(sum_figure(sum));
  return Figure::group("", {{"module", taken.name},
                            {"refused", taken.refused.empty() ? FigureValue() : FigureValue(taken.refused)},
                            {"compiled", taken.compiled},
                            Figure::group("mesh", std::move(axes)),
                            Figure::list("operations", std::move(operations)),
                            Figure::list("collectives", std::move(sums)),
                            {"product_flops", product_flops(module)},
                            counts_figure("not_planned", module.not_planned),
                            Figure::list("unread_shardings", values_of(module.unread)),
                            {"conflicts", module.conflicts}});
}

std::string module_text(const TakenModule& taken, const std::string& operation) {
  const PartitionedModule& module = taken.partitioned;
  if (!taken.refused.empty()) return taken.name + ": not partitioned: " + taken.refused + "\n";
  std::string text = taken.name + (taken.compiled ? ": partitioned by its compiler\n\n"
                                                  : ": partitioned for " + mesh_text(module.mesh) + "\n\n");
  for (const OperationRecord& record : module.operations)
    if (is_named(record, operation)) text += operation_text(record);
  text += "\n" + sums_text(module) + count_text(std::llround(product_flops(module))) +
          " FLOP of products on a device\n";
  for (const auto& [name, count] : module.not_planned)
    text += "not planned, so whole on every device: " + name + " (" + count_text(count) + ")\n";
  for (const std::string& sharding : module.unread)
    text += "sharding that does not fit the mesh: " + sharding + "\n";
  if (module.conflicts > 0) text += count_text(module.conflicts) + " conflicts that propagation left open\n";
  return text;
}

Imported beside(const std::string& file, const TakenModule& taken, const std::string& other_file,
                const TakenModule& other) {
  const ByKind ours = by_kind(taken.partitioned), theirs = by_kind(other.partitioned);
  ByKind both = ours;
  both.insert(theirs.begin(), theirs.end());
  std::vector<std::vector<std::string>> rows = {
      {"collective", "group", "podsim", "dump", "podsim bytes sent", "dump bytes sent"}};
  std::vector<Figure> figures;
  std::int64_t our_bytes = 0, their_bytes = 0;
  for (const auto& [key, unused] : both) {
    const auto of = [&of_kind = key](const ByKind& sums) {
      const auto found = sums.find(of_kind);
      return found == sums.end() ? CollectiveSum{} : found->second;
    };
    const CollectiveSum we = of(ours), they = of(theirs);
    our_bytes += we.sent_bytes;
    their_bytes += they.sent_bytes;
    rows.push_back({key.first, count_text(key.second), count_text(we.executed), count_text(they.executed),
                    count_text(we.sent_bytes), count_text(they.sent_bytes)});
    const auto side = [](const char* name, const CollectiveSum& sum) {
      return Figure::group(
          name,
          {{"executed", sum.executed}, {"operand_bytes", sum.operand_bytes}, {"sent_bytes", sum.sent_bytes}});
    };
    figures.push_back(Figure::group(
        "", {{"kind", key.first}, {"group", key.second}, side("podsim", we), side("dump", they)}));
  }
  rows.push_back({"all", "", "", "", count_text(our_bytes), count_text(their_bytes)});
  const double our_flops = product_flops(taken.partitioned), their_flops = product_flops(other.partitioned);
  Imported made;
  made.figures = {{"kind", std::string("beside")},
                  {"dump", other_file},
                  Figure::list("collectives", std::move(figures)),
                  Figure::group("sent_bytes", {{"podsim", our_bytes}, {"dump", their_bytes}}),
                  Figure::group("product_flops", {{"podsim", our_flops}, {"dump", their_flops}}),
                  counts_figure("not_planned", taken.partitioned.not_planned)};
  made.text = file + ", " + taken.name + " by podsim's partitioner on " + mesh_text(taken.partitioned.mesh) +
              ", beside " + other_file + "\n\n" + align(rows) +
              "\nFLOP of products on a device: " + count_text(std::llround(our_flops)) + ", of the dump " +
              count_text(std::llround(their_flops)) + "\n";
  for (const auto& [name, count] : taken.partitioned.not_planned)
    made.text += "not planned, so whole on every device: " + name + " (" + count_text(count) + ")\n";
  return made;
}

}  // namespace podsim::partitioning
