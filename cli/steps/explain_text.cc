// The partitioner's decisions as text and as JSON.
#include "cli/steps/explain_text.h"

#include <cstdio>
#include <utility>

#include "proto/writing/figure_json.h"

namespace podsim {
namespace {

using Figures = std::vector<Figure>;

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[160];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

bool chosen(const OperationRecord& op, const std::string& wanted) {
  return op.name.find(wanted) != std::string::npos;
}

std::string duration(double seconds) {
  return seconds < 1e-3 ? format("%.1f us", seconds * 1e6) : format("%.3f ms", seconds * 1e3);
}

std::string megabytes(Bytes bytes) { return format("%.3f MB", bytes.value * 1e-6); }

std::string tensor_line(const char* mark, const TensorRecord& tensor) {
  std::string global, local;
  for (std::size_t i = 0; i < tensor.dims.size(); ++i) {
    global += (i == 0 ? "" : ", ") + tensor.dims[i] + format(" %.0f", tensor.global[i]);
    local += (i == 0 ? "" : ", ") + format("%.0f", tensor.local[i]);
  }
  return std::string("    ") + mark + " " + tensor.name + " [" + global + "] local [" + local + "]  " +
         tensor.sharding + "  " + tensor.origin + "\n";
}

std::string operation_text(const OperationRecord& op) {
  std::string text = "  " + op.name + " (" + op.kind + ")  cut: " + op.cut;
  if (op.flops > 0) text += format("  %.4g GFLOP", op.flops * 1e-9);
  if (op.seconds > 0) text += "  " + duration(op.seconds);
  text += "\n";
  for (const TensorRecord& tensor : op.operands) text += tensor_line("<-", tensor);
  for (const TensorRecord& tensor : op.results) text += tensor_line("->", tensor);
  for (const CollectiveRecord& c : op.collectives) {
    text += "    " + std::string(to_string(c.kind)) + " of " + c.tensor + " over " + c.axes +
            format(" (%d)", c.group_size) + ": " + megabytes(c.bytes) + ", " + megabytes(c.sent) + " sent";
    if (c.seconds > 0) text += ", " + duration(c.seconds);
    if (c.shared) text += " in a matrix's message";
    if (c.count > 1) text += format(", %d times", c.count);
    text += ", " + c.purpose + "\n";
  }
  for (const AlternativeRecord& lost : op.alternatives) {
    text += "    lost: " + lost.cut + ": " + (lost.seconds > 0 ? duration(lost.seconds) + ", " : "") +
            megabytes(lost.sent) + " sent; " + lost.why + "\n";
  }
  return text;
}

Figure tensors(const std::string& key, const std::vector<TensorRecord>& records) {
  Figures list;
  for (const TensorRecord& tensor : records)
    list.push_back(Figure::group("", {{"name", tensor.name},
                                      Figure::list("dimensions", values_of(tensor.dims)),
                                      Figure::list("global_shape", values_of(tensor.global)),
                                      Figure::list("local_shape", values_of(tensor.local)),
                                      {"sharding", tensor.sharding},
                                      {"origin", tensor.origin}}));
  return Figure::list(key, std::move(list));
}

Figure collectives(const OperationRecord& op) {
  Figures list;
  for (const CollectiveRecord& c : op.collectives)
    list.push_back(Figure::group("", {{"tensor", c.tensor},
                                      {"kind", std::string(to_string(c.kind))},
                                      {"axes", c.axes},
                                      {"group_size", c.group_size},
                                      {"count", c.count},
                                      {"bytes", c.bytes.value},
                                      {"sent_bytes", c.sent.value},
                                      {"time_s", c.seconds},
                                      {"purpose", c.purpose}}));
  return Figure::list("collectives", std::move(list));
}

Figure operation_figures(const OperationRecord& op) {
  Figures lost;
  for (const AlternativeRecord& one : op.alternatives)
    lost.push_back(Figure::group(
        "", {{"cut", one.cut}, {"time_s", one.seconds}, {"sent_bytes", one.sent.value}, {"why", one.why}}));
  return Figure::group("", {{"part", op.part},
                            {"name", op.name},
                            {"kind", op.kind},
                            {"backward", op.backward},
                            {"cut", op.cut},
                            {"flops_per_device", op.flops},
                            {"time_s", op.seconds},
                            tensors("operands", op.operands),
                            tensors("results", op.results),
                            collectives(op),
                            Figure::list("alternatives", std::move(lost))});
}

}  // namespace

std::string explanation_text(const Explanation& explanation, const std::string& op) {
  std::string text =
      explanation.scenario + ": mesh " + explanation.mesh + " on " + explanation.fabric +
      "; sizes per device and microbatch, each collective alone on the fabric, without ramps\n";
  for (const std::string& conflict : explanation.trace.conflicts) text += "conflict: " + conflict + "\n";
  std::string part;
  for (const OperationRecord& record : explanation.trace.operations) {
    if (!chosen(record, op)) continue;
    const std::string here = record.part + (record.backward ? ", backward" : ", forward");
    if (here != part) text += "\n" + here + "\n";
    part = here;
    text += operation_text(record);
  }
  return text;
}

std::string explanation_json(const Explanation& explanation, const std::string& op) {
  Figures operations;
  for (const OperationRecord& record : explanation.trace.operations) {
    if (chosen(record, op)) operations.push_back(operation_figures(record));
  }
  return json_text(result_figure(explanation.scenario_sha256,
                                 {{"scenario", explanation.scenario},
                                  {"mesh", explanation.mesh},
                                  {"fabric", explanation.fabric},
                                  Figure::list("conflicts", values_of(explanation.trace.conflicts)),
                                  Figure::list("operations", std::move(operations))}),
                   JsonNumbers::kWithPoint);
}

}  // namespace podsim
