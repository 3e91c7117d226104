// Bytes and groups as the text has them.
#include "ingest/partitioning/written_collective.h"

#include <string>
#include <string_view>

#include "engine/check.h"
#include "ingest/hlo/fields.h"
#include "ingest/hlo/operations.h"
#include "ingest/hlo/replica_groups.h"
#include "workload/resharding/cost_model.h"

namespace podsim::partitioning {
namespace {

CollectiveKind kind_of(std::string_view kind) {
  if (kind == "all-gather") return CollectiveKind::kAllGather;
  if (kind == "reduce-scatter") return CollectiveKind::kReduceScatter;
  if (kind == "all-to-all" || kind == "ragged-all-to-all") return CollectiveKind::kAllToAll;
  if (kind == "all-reduce") return CollectiveKind::kAllReduce;
  return CollectiveKind::kSendReceive;
}

// Long lists of groups are not told in full.
std::string short_text(std::string_view text) {
  constexpr std::size_t kLongest = 48;
  return text.size() <= kLongest ? std::string(text) : std::string(text.substr(0, kLongest)) + "...";
}

}  // namespace

MadeCollective written_collective(const hlo::Module& module, const hlo::Instruction& collective,
                                  const std::vector<hlo::Shape>& operands) {
  MadeCollective made;
  made.kind = hlo::collective_kind(collective.opcode);
  PODSIM_CHECK(!made.kind.empty(), "the instruction is a collective");
  made.axes = short_text(
      collective.attribute(collective.has("source_target_pairs") ? "source_target_pairs" : "replica_groups"));
  const auto groups = hlo::groups_of(module, collective);
  made.group = groups ? groups->size : 1;
  for (const hlo::Shape& operand : operands)
    made.operand_bytes = hlo::saturating_add(made.operand_bytes, operand.bytes());
  // A start's own tuple holds more than the result.
  made.result_bytes = !collective.opcode.ends_with("-start") ? collective.shape.bytes()
                      : made.kind == "all-gather" ? hlo::saturating_multiply(made.operand_bytes, made.group)
                      : made.kind == "reduce-scatter" ? made.operand_bytes / made.group
                                                      : made.operand_bytes;
  const CollectiveKind kind = kind_of(made.kind);
  const std::int64_t bytes = kind == CollectiveKind::kAllGather ? made.result_bytes : made.operand_bytes;
  made.sent_bytes = sent_bytes(kind, static_cast<int>(made.group), Bytes{static_cast<double>(bytes)}).value;
  made.why = "written in the module";
  return made;
}

}  // namespace podsim::partitioning
