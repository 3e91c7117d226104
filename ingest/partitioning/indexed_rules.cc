// One factor for each dimension of the operand, of its indices, and of pieces.
#include "ingest/partitioning/indexed_rules.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/index.h"
#include "ingest/hlo/fields.h"

namespace podsim::partitioning {
namespace {

using hlo::Instruction;
using hlo::Shape;
using Sizes = std::vector<std::int64_t>;

bool holds(const Sizes& list, std::size_t number) {
  return std::ranges::count(list, static_cast<std::int64_t>(number)) > 0;
}

// How a gather and its mirror, a scatter, are related: the whole operand, indices, and pieces that have
// window dimensions and those of the indices.
struct Indexing {
  Sizes windows;                     // dimensions of the pieces that are of the operand
  Sizes dropped;                     // dimensions of the operand that pieces lack
  Sizes indexed;                     // of the operand, in the order of an index
  Sizes operand_batch, index_batch;  // dimensions that go together
  std::int64_t vector_dim = 0;       // of the indices, along which an index lies
};

// Factors of the three tensors; index dimensions are of one kind, those of single places of another.
struct Factors {
  FactorMap operand, indices, pieces;
};

std::optional<Factors> factors_of(OpRule& rule, const Indexing& how, const Shape& operand,
                                  const Shape& indices, const Shape& pieces, FactorKind of_indices,
                                  FactorKind of_places) {
  Factors made{FactorMap(operand.dimensions.size()), FactorMap(indices.dimensions.size()),
               FactorMap(pieces.dimensions.size())};
  // Dimensions of pieces that are none of a window are those of the indices, in their order.
  std::size_t piece = 0;
  for (std::size_t d = 0; d < indices.dimensions.size(); ++d) {
    if (static_cast<std::int64_t>(d) == how.vector_dim) continue;
    while (holds(how.windows, piece)) ++piece;
    if (piece >= pieces.dimensions.size() || pieces.dimensions[piece] != indices.dimensions[d])
      return std::nullopt;
    const auto batch = std::ranges::find(how.index_batch, static_cast<std::int64_t>(d));
    const int factor = rule.add(
        {indices.dimensions[d], batch != how.index_batch.end() ? FactorKind::kPassThrough : of_indices});
    made.indices[d] = made.pieces[piece++] = {factor};
    if (batch == how.index_batch.end()) continue;
    const auto at_operand = static_cast<std::size_t>(
        how.operand_batch[static_cast<std::size_t>(batch - how.index_batch.begin())]);
    if (operand.dimensions[at_operand] != indices.dimensions[d]) return std::nullopt;
    made.operand[at_operand] = {factor};
  }
  std::size_t window = 0;
  for (std::size_t d = 0; d < operand.dimensions.size(); ++d) {
    if (holds(how.operand_batch, d)) continue;
    std::int64_t length = 1;
    std::size_t at_piece = pieces.dimensions.size();
    if (!holds(how.dropped, d)) {
      if (window >= how.windows.size()) return std::nullopt;
      at_piece = static_cast<std::size_t>(how.windows[window++]);
      length = pieces.dimensions[at_piece];
    }
    const bool whole = length == operand.dimensions[d], place = length == 1 && holds(how.indexed, d);
    const int factor = rule.add({operand.dimensions[d], whole   ? FactorKind::kPassThrough
                                                        : place ? of_places
                                                                : FactorKind::kNeedReplication});
    made.operand[d] = {factor};
    if (whole && at_piece < pieces.dimensions.size()) made.pieces[at_piece] = {factor};
  }
  if (window != how.windows.size()) return std::nullopt;
  return made;
}

// Whether all dimensions that are named are there.
bool is_valid(const Indexing& how, const Shape& operand, const Shape& indices, const Shape& pieces) {
  const auto within = [](const Sizes& list, const Shape& shape) {
    return std::ranges::all_of(list, [&](std::int64_t d) {
      return d >= 0 && d < static_cast<std::int64_t>(shape.dimensions.size());
    });
  };
  return within(how.windows, pieces) && within(how.dropped, operand) && within(how.indexed, operand) &&
         within(how.operand_batch, operand) && within(how.index_batch, indices) &&
         how.operand_batch.size() == how.index_batch.size() && how.vector_dim >= 0 &&
         how.vector_dim <= static_cast<std::int64_t>(indices.dimensions.size());
}

std::int64_t vector_dim_of(const Instruction& instruction) {
  const Sizes text = hlo::list_of(instruction.attribute("index_vector_dim"));
  return text.size() == 1 ? text[0] : -1;
}

}  // namespace

std::optional<OpRule> gather_of(const Instruction& gather, const std::vector<Shape>& operands,
                                const Shape& result) {
  if (operands.size() != 2) return std::nullopt;
  Indexing how;
  how.windows = hlo::list_of(gather.attribute("offset_dims"));
  how.dropped = hlo::list_of(gather.attribute("collapsed_slice_dims"));
  how.indexed = hlo::list_of(gather.attribute("start_index_map"));
  how.operand_batch = hlo::list_of(gather.attribute("operand_batching_dims"));
  how.index_batch = hlo::list_of(gather.attribute("start_indices_batching_dims"));
  how.vector_dim = vector_dim_of(gather);
  if (!is_valid(how, operands[0], operands[1], result)) return std::nullopt;
  OpRule rule;
  auto factors = factors_of(rule, how, operands[0], operands[1], result, FactorKind::kPassThrough,
                            FactorKind::kReduction);
  if (!factors) return std::nullopt;
  rule.operands = {std::move(factors->operand), std::move(factors->indices)};
  rule.results = {std::move(factors->pieces)};
  return rule;
}

std::optional<OpRule> scatter_of(const Instruction& scatter, const std::vector<Shape>& operands,
                                 const std::vector<Shape>& results, bool combined) {
  const std::size_t arrays = results.size();
  if (arrays == 0 || operands.size() != 2 * arrays + 1) return std::nullopt;
  for (std::size_t i = 0; i < arrays; ++i)
    if (operands[i].dimensions != results[0].dimensions || results[i].dimensions != results[0].dimensions ||
        operands[arrays + 1 + i].dimensions != operands[arrays + 1].dimensions)
      return std::nullopt;
  Indexing how;
  how.windows = hlo::list_of(scatter.attribute("update_window_dims"));
  how.dropped = hlo::list_of(scatter.attribute("inserted_window_dims"));
  how.indexed = hlo::list_of(scatter.attribute("scatter_dims_to_operand_dims"));
  how.operand_batch = hlo::list_of(scatter.attribute("input_batching_dims"));
  how.index_batch = hlo::list_of(scatter.attribute("scatter_indices_batching_dims"));
  how.vector_dim = vector_dim_of(scatter);
  if (!is_valid(how, operands[0], operands[arrays], operands[arrays + 1])) return std::nullopt;
  OpRule rule;
  const auto factors =
      factors_of(rule, how, operands[0], operands[arrays], operands[arrays + 1],
                 combined ? FactorKind::kReduction : FactorKind::kNeedReplication, FactorKind::kPassThrough);
  if (!factors) return std::nullopt;
  rule.operands.assign(arrays, factors->operand);
  rule.operands.push_back(factors->indices);
  rule.operands.insert(rule.operands.end(), arrays, factors->pieces);
  rule.results.assign(arrays, factors->operand);
  return rule;
}

bool is_combined(const hlo::Module& module, const Instruction& scatter) {
  constexpr std::array<std::string_view, 7> kInAnyOrder = {"add", "multiply", "minimum", "maximum",
                                                           "and", "or",       "xor"};
  const int function = module.find(scatter.attribute("to_apply"));
  if (function < 0) return false;
  const hlo::Computation& computation = module.computations[at(function)];
  return std::ranges::count(kInAnyOrder, std::string_view(computation.root_instruction().opcode)) > 0;
}

}  // namespace podsim::partitioning
