// Follows the counter of a loop from the condition through the body to its first value.
#include "ingest/hlo/trip_counts.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "engine/number_text.h"

namespace podsim::hlo {
namespace {

constexpr int kMostSteps = 64;     // from a value to what it comes from
constexpr int kMostValues = 4096;  // looked at for one loop: sums have two operands each

bool passes_on(const Instruction& instruction) {
  return (instruction.opcode == "copy" || instruction.opcode == "convert" ||
          instruction.opcode == "bitcast" || instruction.opcode == "reshape" ||
          instruction.opcode == "opt-barrier") &&
         instruction.operands.size() == 1;
}

// A value of a computation, and of those that it was called by, the last one innermost: what a parameter of
// a fusion or call stands for is an operand of its caller.
struct Value {
  const Computation* computation;
  const Instruction* instruction;
  const Value* caller = nullptr;  // the fusion or call
};

// Element of the loop's tuple that a value of its body or condition is, plus a constant; or a constant alone.
struct Linear {
  int element = -1;  // of the tuple; -1: none
  std::int64_t constant = 0;
};

class Reader {
 public:
  explicit Reader(const Module& module) : module_(module) {}

  // The value as an element of the parameter of the outermost computation, plus a constant.
  std::optional<Linear> linear(const Value& value, int steps = 0) const {
    const Instruction& instruction = *value.instruction;
    if (steps > kMostSteps || --values_left_ < 0) return std::nullopt;
    const auto operand = [&](std::size_t i) {
      return linear({value.computation, &value.computation->operand(instruction, i), value.caller},
                    steps + 1);
    };
    if (passes_on(instruction)) return operand(0);
    if (instruction.opcode == "constant") {
      const auto constant = whole_text_as<std::int64_t>(instruction.literal());
      return constant ? std::optional<Linear>({-1, *constant}) : std::nullopt;
    }
    if (instruction.opcode == "get-tuple-element") return element(value, steps);
    if (instruction.opcode == "parameter" && value.caller != nullptr) return of_caller(value, steps);
    if ((instruction.opcode == "fusion" || instruction.opcode == "call")) {
      const int called = module_.find(instruction.attribute(instruction.has("calls") ? "calls" : "to_apply"));
      if (called < 0) return std::nullopt;
      const Computation& inner = module_.computations[static_cast<std::size_t>(called)];
      return linear({&inner, &inner.root_instruction(), &value}, steps + 1);
    }
    if ((instruction.opcode == "add" || instruction.opcode == "subtract") && instruction.operands.size() == 2)
      return sum(operand(0), operand(1), instruction.opcode == "add" ? 1 : -1);
    return std::nullopt;
  }

  // The comparison at the root of a condition, as (left, direction, right).
  struct Comparison {
    Linear left, right;
    std::string direction;
  };
  std::optional<Comparison> comparison(const Value& value, int steps = 0) const {
    const Instruction& instruction = *value.instruction;
    if (steps > kMostSteps) return std::nullopt;
    if (passes_on(instruction))
      return comparison({value.computation, &value.computation->operand(instruction, 0), value.caller},
                        steps + 1);
    if (instruction.opcode == "fusion" || instruction.opcode == "call") {
      const int called = module_.find(instruction.attribute(instruction.has("calls") ? "calls" : "to_apply"));
      if (called < 0) return std::nullopt;
      const Computation& inner = module_.computations[static_cast<std::size_t>(called)];
      return comparison({&inner, &inner.root_instruction(), &value}, steps + 1);
    }
    if (instruction.opcode != "compare" || instruction.operands.size() != 2) return std::nullopt;
    const auto operand = [&](std::size_t i) {
      return linear({value.computation, &value.computation->operand(instruction, i), value.caller});
    };
    const auto left = operand(0), right = operand(1);
    if (!left || !right) return std::nullopt;
    return Comparison{*left, *right, std::string(instruction.attribute("direction"))};
  }

  // Of a tuple, that may be copied, held back, or made by a fusion or call.
  std::optional<Linear> element_of(const Value& tuple, std::int64_t index, int steps) const {
    const Instruction& made = *tuple.instruction;
    if (steps > kMostSteps || --values_left_ < 0 || index < 0) return std::nullopt;
    if (made.opcode == "parameter" && tuple.caller == nullptr) return Linear{static_cast<int>(index), 0};
    if (passes_on(made))
      return element_of({tuple.computation, &tuple.computation->operand(made, 0), tuple.caller}, index,
                        steps + 1);
    if (made.opcode == "fusion" || made.opcode == "call") {
      const int called = module_.find(made.attribute(made.has("calls") ? "calls" : "to_apply"));
      if (called < 0) return std::nullopt;
      const Computation& inner = module_.computations[static_cast<std::size_t>(called)];
      return element_of({&inner, &inner.root_instruction(), &tuple}, index, steps + 1);
    }
    if (made.opcode != "tuple" || index >= static_cast<std::int64_t>(made.operands.size()))
      return std::nullopt;
    const Instruction& picked = tuple.computation->operand(made, static_cast<std::size_t>(index));
    return linear({tuple.computation, &picked, tuple.caller}, steps + 1);
  }

 private:
  std::optional<Linear> of_caller(const Value& value, int steps) const {
    const auto parameter = whole_text_as<std::int64_t>(value.instruction->literal());
    const Value& caller = *value.caller;
    if (!parameter || *parameter < 0 ||
        *parameter >= static_cast<std::int64_t>(caller.instruction->operands.size()))
      return std::nullopt;
    const Instruction& passed =
        caller.computation->operand(*caller.instruction, static_cast<std::size_t>(*parameter));
    return linear({caller.computation, &passed, caller.caller}, steps + 1);
  }

  std::optional<Linear> element(const Value& value, int steps) const {
    const auto index = whole_text_as<std::int64_t>(value.instruction->attribute("index"));
    if (!index || value.instruction->operands.size() != 1) return std::nullopt;
    return element_of({value.computation, &value.computation->operand(*value.instruction, 0), value.caller},
                      *index, steps + 1);
  }

  static std::optional<Linear> sum(std::optional<Linear> a, std::optional<Linear> b, int sign) {
    if (!a || !b || (a->element >= 0 && b->element >= 0) || (b->element >= 0 && sign < 0))
      return std::nullopt;
    return Linear{std::max(a->element, b->element), a->constant + sign * b->constant};
  }

  const Module& module_;
  mutable int values_left_ = kMostValues;
};

// The element of the tuple that a loop begins with, or its body ends with.
std::optional<Linear> element_of(const Reader& reader, const Computation& computation,
                                 const Instruction& tuple, int index) {
  return reader.element_of({&computation, &tuple, nullptr}, index, 0);
}

std::int64_t trips_of(std::int64_t begin, std::int64_t step, const std::string& direction,
                      std::int64_t limit) {
  const auto upward = [&](std::int64_t last) { return last < begin ? 0 : (last - begin) / step + 1; };
  const auto downward = [&](std::int64_t last) { return last > begin ? 0 : (begin - last) / -step + 1; };
  if (direction == "LT" && step > 0) return upward(limit - 1);
  if (direction == "LE" && step > 0) return upward(limit);
  if (direction == "GT" && step < 0) return downward(limit + 1);
  if (direction == "GE" && step < 0) return downward(limit);
  if (direction == "NE" && step != 0 && (limit - begin) % step == 0 && (limit - begin) / step >= 0)
    return (limit - begin) / step;
  return -1;
}

std::string mirrored(const std::string& direction) {
  if (direction == "LT") return "GT";
  if (direction == "GT") return "LT";
  if (direction == "LE") return "GE";
  if (direction == "GE") return "LE";
  return direction;
}

std::int64_t computed(const Module& module, const Computation& computation, const Instruction& loop) {
  const int condition = module.find(loop.attribute("condition")), body = module.find(loop.attribute("body"));
  if (condition < 0 || body < 0 || loop.operands.size() != 1) return -1;
  const Reader reader(module);
  const Computation& test = module.computations[static_cast<std::size_t>(condition)];
  const Computation& inside = module.computations[static_cast<std::size_t>(body)];
  auto compared = reader.comparison({&test, &test.root_instruction(), nullptr});
  if (!compared) return -1;
  if (compared->left.element < 0) {
    std::swap(compared->left, compared->right);
    compared->direction = mirrored(compared->direction);
  }
  const int counter = compared->left.element;
  if (counter < 0) return -1;
  const Instruction& first = computation.operand(loop, 0);
  // The limit may be an element that the body passes on as it is.
  if (compared->right.element >= 0) {
    const auto kept = element_of(reader, inside, inside.root_instruction(), compared->right.element);
    const auto limit = element_of(reader, computation, first, compared->right.element);
    if (!kept || kept->element != compared->right.element || kept->constant != 0 || !limit ||
        limit->element >= 0)
      return -1;
    compared->right = {-1, compared->right.constant + limit->constant};
  }
  const auto next = element_of(reader, inside, inside.root_instruction(), counter);
  const auto begin = element_of(reader, computation, first, counter);
  if (!next || next->element != counter || !begin || begin->element >= 0) return -1;
  return trips_of(begin->constant + compared->left.constant, next->constant, compared->direction,
                  compared->right.constant);
}

// backend_config={"known_trip_count":{"n":"80"}, ...}
std::int64_t annotated(const Instruction& loop) {
  const std::string_view config = loop.attribute("backend_config");
  const std::size_t known = config.find("known_trip_count");
  if (known == std::string_view::npos) return -1;
  const std::size_t begin = config.find_first_of("0123456789", known);
  const std::size_t end = config.find_first_not_of("0123456789", begin);
  if (begin == std::string_view::npos || end == std::string_view::npos) return -1;
  return whole_text_as<std::int64_t>(config.substr(begin, end - begin)).value_or(-1);
}

}  // namespace

const char* to_string(TripCount::How how) {
  switch (how) {
    case TripCount::How::kAnnotated:
      return "annotated";
    case TripCount::How::kComputed:
      return "computed";
    case TripCount::How::kStated:
      return "stated";
    case TripCount::How::kUnknown:
      return "unknown";
  }
  return "";
}

TripCount trip_count(const Module& module, const Computation& computation, const Instruction& loop) {
  if (const std::int64_t trips = annotated(loop); trips >= 0) return {trips, TripCount::How::kAnnotated};
  if (const std::int64_t trips = computed(module, computation, loop); trips >= 0)
    return {trips, TripCount::How::kComputed};
  return {};
}

LoopCounts loop_counts(const Module& module, const std::map<std::string, std::int64_t>& stated) {
  std::map<std::string, int> called_so;
  for (const Computation& computation : module.computations)
    for (const Instruction& each : computation.instructions)
      if (each.opcode == "while") ++called_so[each.name];
  LoopCounts counts;
  for (const Computation& computation : module.computations)
    for (const Instruction& each : computation.instructions) {
      if (each.opcode != "while") continue;
      const std::string name = called_so[each.name] > 1 ? computation.name + "/" + each.name : each.name;
      const auto told = stated.find(name);
      const TripCount count = told != stated.end() ? TripCount{told->second, TripCount::How::kStated}
                                                   : trip_count(module, computation, each);
      counts.by_name[name] = counts.of[&each] = count;
    }
  return counts;
}

}  // namespace podsim::hlo
