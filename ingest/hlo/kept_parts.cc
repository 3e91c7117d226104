// Follows indices of slices back to where they come from, through loops and calls.
#include "ingest/hlo/kept_parts.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

#include "ingest/hlo/operations.h"

namespace podsim::hlo {
namespace {

int element_index(const Instruction& element) {
  const std::string_view text = element.attribute("index");
  int index = 0;
  std::from_chars(text.data(), text.data() + text.size(), index);
  return index;
}

// Whether the same numbers go on under another name.
bool is_another_name(const Instruction& each) {
  return each.opcode == "get-tuple-element" || each.opcode == "bitcast" || each.opcode == "copy" ||
         each.opcode.text().ends_with("-done");
}

// Places are whole numbers, or tuples that hold some.
bool may_be_a_place(const Shape& shape) {
  return shape.is_tuple() || shape.type == "pred" || shape.type.starts_with('s') ||
         shape.type.starts_with('u');
}

}  // namespace

KeptParts::KeptParts(const Module& module) : module_(module), callers_(module.computations.size()) {
  for (std::size_t c = 0; c < module.computations.size(); ++c) {
    const auto& all = module.computations[c].instructions;
    for (std::size_t i = 0; i < all.size(); ++i)
      for (const int called : called_by(module, all[i]))
        if (called >= 0)
          callers_[static_cast<std::size_t>(called)].push_back({static_cast<int>(c), static_cast<int>(i)});
  }
}

bool KeptParts::each_device_keeps_one(int computation, const Users& users, std::size_t reduction) const {
  const Computation& in = module_.computations[static_cast<std::size_t>(computation)];
  std::vector<std::size_t> open = {reduction};
  bool sliced = false;
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    if (static_cast<int>(at) == in.root) return false;
    for (const int user : users[at]) {
      const Instruction& each = in.instructions[static_cast<std::size_t>(user)];
      if (is_another_name(each)) {
        open.push_back(static_cast<std::size_t>(user));
        continue;
      }
      if (each.opcode != "dynamic-slice") return false;
      bool own = each.operands.size() == 1;
      for (std::size_t o = 1; o < each.operands.size(); ++o)
        own = own || follows_from_own_number({computation, each.operands[o]});
      if (!own) return false;
      sliced = true;
    }
  }
  return sliced;
}

bool KeptParts::follows_from_own_number(const Place& index) const {
  std::set<Place> seen;
  std::vector<Place> open = {index};
  while (!open.empty()) {
    const Place place = open.back();
    open.pop_back();
    if (!seen.insert(place).second) continue;
    const Computation& in = module_.computations[static_cast<std::size_t>(place.computation)];
    const Instruction& each = in.instructions[static_cast<std::size_t>(place.instruction)];
    if (each.opcode == "partition-id" || each.opcode == "replica-id") return true;
    if (may_be_a_place(each.shape)) add_sources(place, open);
  }
  return false;
}

void KeptParts::add_sources(const Place& place, std::vector<Place>& open) const {
  const Computation& in = module_.computations[static_cast<std::size_t>(place.computation)];
  const Instruction& each = in.instructions[static_cast<std::size_t>(place.instruction)];
  if (each.opcode == "get-tuple-element") {
    add_element({place.computation, each.operands[0]}, element_index(each), open);
  } else if (each.opcode == "parameter") {
    add_arguments(
        place,
        static_cast<std::size_t>(std::ranges::find(in.parameters, place.instruction) - in.parameters.begin()),
        -1, open);
  } else {
    for (const int operand : each.operands) open.push_back({place.computation, operand});
    if (each.opcode == "fusion" || each.opcode == "call")
      for (const int called : called_by(module_, each))
        open.push_back({called, module_.computations[static_cast<std::size_t>(called)].root});
  }
}

void KeptParts::add_element(const Place& tuple, int element, std::vector<Place>& open) const {
  const Computation& in = module_.computations[static_cast<std::size_t>(tuple.computation)];
  const Instruction& each = in.instructions[static_cast<std::size_t>(tuple.instruction)];
  if (element >= 0 && each.opcode == "tuple" && static_cast<std::size_t>(element) < each.operands.size()) {
    open.push_back({tuple.computation, each.operands[static_cast<std::size_t>(element)]});
  } else if (element >= 0 && each.opcode == "parameter") {
    add_arguments(
        tuple,
        static_cast<std::size_t>(std::ranges::find(in.parameters, tuple.instruction) - in.parameters.begin()),
        element, open);
  } else if (element >= 0 && each.opcode == "while") {
    const int body = module_.find(each.attribute("body"));
    add_element({tuple.computation, each.operands[0]}, element, open);
    add_element({body, module_.computations[static_cast<std::size_t>(body)].root}, element, open);
  } else {
    open.push_back(tuple);
  }
}

void KeptParts::add_arguments(const Place& parameter, std::size_t number, int element,
                              std::vector<Place>& open) const {
  const Computation& in = module_.computations[static_cast<std::size_t>(parameter.computation)];
  for (const Place& caller : callers_[static_cast<std::size_t>(parameter.computation)]) {
    const Computation& from = module_.computations[static_cast<std::size_t>(caller.computation)];
    const Instruction& call = from.instructions[static_cast<std::size_t>(caller.instruction)];
    if (call.opcode == "conditional" || number >= call.operands.size()) {  // one operand for each branch
      for (const int operand : call.operands) add_element({caller.computation, operand}, element, open);
      continue;
    }
    add_element({caller.computation, call.operands[number]}, element, open);
    if (call.opcode == "while" && module_.find(call.attribute("body")) == parameter.computation)
      add_element({parameter.computation, in.root}, element, open);
  }
}

}  // namespace podsim::hlo
