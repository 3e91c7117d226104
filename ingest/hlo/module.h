// An HLO module as it is written: computations of instructions, whose attributes are kept as text.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/hlo/attributes.h"
#include "ingest/hlo/shape.h"
#include "ingest/hlo/shared_text.h"
#include "ingest/hlo/short_list.h"

namespace podsim::hlo {

struct Instruction {
  std::string name;            // without %
  SharedText opcode;           // "dot"
  Shape shape;                 // of the result
  ShortList<int, 2> operands;  // instructions of the same computation
  Attributes attributes;       // and the literal
  int line = 0;                // from 1

  // The attribute's text, or empty.
  std::string_view attribute(std::string_view key) const { return attributes.of(key); }
  bool has(std::string_view key) const { return attributes.has(key); }
  // Of a constant, and the number of a parameter, as written. Set once.
  std::string_view literal() const { return attributes.of({}); }
  void set_literal(std::string_view text) { attributes.add({}, text); }
};

struct Computation {
  std::string name;
  std::vector<Instruction> instructions;
  int root = -1;                // the one marked ROOT, else the last
  std::vector<int> parameters;  // [number] instruction

  const Instruction& root_instruction() const { return instructions[static_cast<std::size_t>(root)]; }
  const Instruction& operand(const Instruction& of, std::size_t i) const {
    return instructions[static_cast<std::size_t>(of.operands[i])];
  }
};

struct Module {
  std::string name;  // empty where the text has no header
  bool scheduled = false;
  std::int64_t partitions = 1, replicas = 1;  // as written; 1 where not
  std::vector<Computation> computations;      // in the order written, called ones before their callers or not
  int entry = -1;
  bool entry_marked = false;  // else it is the last computation
  std::map<std::string, int, std::less<>> by_name;

  const Computation& entry_computation() const { return computations[static_cast<std::size_t>(entry)]; }
  // The computation that an attribute names ("%add"), or -1.
  int find(std::string_view reference) const;
  // Those that the attribute names: one, or the branches of {%a, %b}.
  std::vector<int> find_all(std::string_view references) const;
};

// Computations that the instruction calls, applies or loops over; -1 for one that is not there.
std::vector<int> called_by(const Module& module, const Instruction& instruction);

}  // namespace podsim::hlo
