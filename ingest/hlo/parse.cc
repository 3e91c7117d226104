// A reader by recursive descent: module, computation, instruction.
#include "ingest/hlo/parse.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/spelling.h"
#include "ingest/hlo/module_checks.h"
#include "ingest/hlo/scanner.h"
#include "ingest/hlo/shape_text.h"

namespace podsim::hlo {
namespace {

constexpr int kMostNesting = 64;                             // of bodies in place
constexpr std::int64_t kMostCopies = std::int64_t{1} << 24;  // of a module, replicas or partitions

class Parser {
 public:
  Parser(const std::string& file, std::string_view text) : file_(file), text_(text), scan_(file, text) {}

  // The modules up to the end or to the first problem.
  void parse(std::vector<Module>& modules) {
    if (text_.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      scan_.fail("the text is larger than 2 GiB");
    scan_.skip_space();
    if (scan_.at_end()) scan_.fail("the file is empty");
    while (!scan_.at_end()) {
      Module& module = modules.emplace_back();
      parse_module(module);
      scan_.skip_space();
    }
  }

 private:
  void parse_module(Module& module) {
    module_ = &module;
    has_layout_ = false;
    if (scan_.looks_at("HloModule")) header();
    for (scan_.skip_space(); !scan_.at_end() && !scan_.looks_at("HloModule"); scan_.skip_space()) {
      if (!skip_table()) computation();
    }
    if (module.computations.empty()) scan_.fail("the module has no computation");
    module.entry_marked = module.entry >= 0;
    if (!module.entry_marked && has_layout_)
      scan_.fail("the header has the layout of an entry, but no computation is marked ENTRY: truncated");
    if (!module.entry_marked) module.entry = static_cast<int>(module.computations.size()) - 1;
    check_module(file_, module);
  }

  void header() {
    scan_.take("HloModule");
    scan_.skip_blanks();
    module_->name = scan_.name();
    while (scan_.take(',')) {
      scan_.skip_space();
      const std::string key(scan_.name());
      if (!scan_.take('=')) continue;
      const std::size_t position = scan_.position();
      const std::string_view value = scan_.value();
      has_layout_ = has_layout_ || key == "entry_computation_layout";
      if (key == "is_scheduled") module_->scheduled = value == "true";
      if (key == "num_partitions") module_->partitions = positive(key, value, position);
      if (key == "replica_count") module_->replicas = positive(key, value, position);
    }
    scan_.skip_line();
  }

  std::int64_t positive(const std::string& key, std::string_view value, std::size_t position) const {
    const std::int64_t count = leading_number(value);
    if (count < 1 || count > kMostCopies)
      scan_.fail(position, key + " is a number from 1 to " + std::to_string(kMostCopies));
    return count;
  }

  // Tables of names and places, which newer dumps have before the first computation: rows begin with digits.
  bool skip_table() {
    constexpr std::array<std::string_view, 4> kTables = {"FileNames", "FunctionNames", "FileLocations",
                                                         "StackFrames"};
    const auto named = [&](std::string_view table) {
      return scan_.looks_at(table) && (scan_.peek(table.size()) == '\n' || scan_.peek(table.size()) == '\r');
    };
    if (std::ranges::none_of(kTables, named)) return false;
    scan_.skip_line();
    while (scan_.peek() >= '0' && scan_.peek() <= '9') scan_.skip_line();
    return true;
  }

  void computation() {
    const std::size_t begin = scan_.position();
    const bool entry = scan_.looks_at("ENTRY ") && scan_.take("ENTRY");
    scan_.take('%');
    scan_.skip_blanks();
    const std::string name(scan_.name());
    if (name.empty()) scan_.fail(begin, "expected a computation: [ENTRY] name (parameters) -> shape {");
    scan_.skip_blanks();
    if (scan_.peek() == '(') scan_.bracketed();
    if (scan_.take("->")) read_shape(scan_);
    while (scan_.take(',')) attribute_of_computation();
    scan_.skip_blanks();
    if (scan_.peek() != '{') scan_.fail("expected '{' after the name of computation " + name);
    const int number_of = body(name, entry ? "ENTRY " + name : "computation " + name, 0);
    while (scan_.take(',')) attribute_of_computation();
    if (entry) module_->entry = number_of;
  }

  // execution_thread="sparsecore", before the body or behind it.
  void attribute_of_computation() {
    scan_.skip_blanks();
    const std::size_t begin = scan_.position();
    if (scan_.name().empty() || !scan_.take('='))
      scan_.fail(begin, "expected an attribute of the computation: execution_thread=\"main\"");
    scan_.value();
  }

  // From '{' to '}': the computation's number.
  int body(const std::string& name, const std::string& what, int depth) {
    if (depth > kMostNesting) scan_.fail("bodies are nested too deep");
    scan_.expect('{', "before a body");
    Computation computation;
    computation.name = name;
    computation.instructions.reserve(scan_.lines_of_body());
    for (scan_.skip_space(); scan_.peek() != '}' || scan_.at_end(); scan_.skip_space()) {
      if (scan_.at_end()) scan_.fail(what + " is not closed: truncated");
      instruction(computation, what, depth);
    }
    scan_.take('}');
    finish(computation);
    const int number_of = static_cast<int>(module_->computations.size());
    if (!module_->by_name.emplace(name, number_of).second)
      scan_.fail("there are two computations \"" + name + "\"");
    module_->computations.push_back(std::move(computation));
    return number_of;
  }

  // Numbers of instructions, of which no two have one name.
  std::vector<int> sorted_by_name(const Computation& computation) const {
    const std::vector<Instruction>& all = computation.instructions;
    std::vector<int> sorted(all.size());
    std::iota(sorted.begin(), sorted.end(), 0);
    const auto name_of = [&](int number) -> std::string_view {
      return all[static_cast<std::size_t>(number)].name;
    };
    std::ranges::stable_sort(sorted, {}, name_of);
    int twice = -1;  // the first in the text
    for (std::size_t i = 1; i < sorted.size(); ++i)
      if (name_of(sorted[i - 1]) == name_of(sorted[i]) && (twice < 0 || sorted[i] < twice)) twice = sorted[i];
    if (twice < 0) return sorted;
    const Instruction& again = all[static_cast<std::size_t>(twice)];
    fail_in_line(file_, again.line, "\"" + again.name + "\" stands in " + computation.name + " already");
  }

  // The name of an operand that begins there, or % before it.
  std::string_view written(int position) {
    const std::size_t before = scan_.position();
    scan_.go_to(static_cast<std::size_t>(position));
    scan_.take('%');
    const std::string_view name = scan_.name();
    scan_.go_to(before);
    return name;
  }

  [[noreturn]] void fail_unknown(const Computation& computation, int position) {
    std::vector<std::string> names;
    for (const Instruction& each : computation.instructions) names.push_back(each.name);
    const std::string name(written(position));
    const std::string near = closest_name(name, names);
    scan_.fail(static_cast<std::size_t>(position), "no instruction \"" + name + "\" in " + computation.name,
               near.empty() ? "" : "did you mean \"" + near + "\"?");
  }

  // Operands, which are places in the text until all instructions are known, become these.
  void finish(Computation& computation) {
    computation.instructions.shrink_to_fit();
    const std::vector<int> sorted = sorted_by_name(computation);
    const auto name_of = [&](int number) -> std::string_view {
      return computation.instructions[static_cast<std::size_t>(number)].name;
    };
    for (Instruction& each : computation.instructions)
      for (int& operand : each.operands) {
        const std::string_view name = written(operand);
        const auto found = std::ranges::lower_bound(sorted, name, {}, name_of);
        if (found == sorted.end() || name_of(*found) != name) fail_unknown(computation, operand);
        operand = *found;
      }
    if (computation.root < 0) computation.root = static_cast<int>(computation.instructions.size()) - 1;
    if (computation.root < 0) scan_.fail("computation " + computation.name + " is empty");
    number_parameters(computation);
  }

  void number_parameters(Computation& computation) const {
    std::map<std::int64_t, int> found;
    for (std::size_t i = 0; i < computation.instructions.size(); ++i) {
      const Instruction& each = computation.instructions[i];
      if (each.opcode == "parameter" &&
          !found.emplace(leading_number(each.literal()), static_cast<int>(i)).second)
        scan_.fail("computation " + computation.name + " has two parameters " + std::string(each.literal()));
    }
    for (const auto& [order, instruction] : found) computation.parameters.push_back(instruction);
  }

  void instruction(Computation& computation, const std::string& what, int depth) {
    Instruction made;
    const std::size_t begin = scan_.position();
    const bool root = scan_.looks_at("ROOT ") && scan_.take("ROOT");
    scan_.take('%');
    made.line = scan_.line();
    made.name = scan_.name();
    if (made.name.empty()) scan_.fail(begin, "expected an instruction: name = shape opcode(operands)");
    if (!scan_.take('=')) after(what, "expected '=' after \"" + made.name + "\"");
    made.shape = read_shape(scan_);
    scan_.skip_space();
    made.opcode = shared(scan_.name());
    if (made.opcode == "") after(what, "expected an operation after the shape of \"" + made.name + "\"");
    scan_.skip_space();
    if (scan_.peek() != '(') after(what, "expected '(' after " + made.opcode.text());
    arguments(made, what);
    attributes(made, depth);
    made.attributes.release_spare();
    if (root) computation.root = static_cast<int>(computation.instructions.size());
    computation.instructions.push_back(std::move(made));
  }

  SharedText shared(std::string_view opcode) {
    const auto found = opcodes_.find(opcode);
    if (found != opcodes_.end()) return found->second;
    const std::string text(opcode);
    return opcodes_.emplace(text, text).first->second;
  }

  // What the text ends amid is told by what is not closed.
  [[noreturn]] void after(const std::string& what, const std::string& message) const {
    scan_.fail(scan_.at_end() ? what + " is not closed: truncated" : message);
  }

  void arguments(Instruction& made, const std::string& what) {
    if (made.opcode == "constant" || made.opcode == "parameter") {
      const std::string_view text = scan_.bracketed();
      made.set_literal(text.substr(1, text.size() - 2));
      return;
    }
    scan_.expect('(', "before operands");
    for (scan_.skip_space(); scan_.peek() != ')'; scan_.skip_space()) {
      if (scan_.at_end()) scan_.fail(what + " is not closed: truncated");
      made.operands.push_back(operand());
      scan_.skip_space();
      if (!scan_.take(',') && scan_.peek() != ')') after(what, "expected ',' or ')' after an operand");
    }
    scan_.take(')');
  }

  // Where the name stands in "%x", "x" or "f32[2] %x".
  int operand() {
    scan_.skip_space();
    const std::size_t begin = scan_.position();
    bool typed = scan_.peek() == '(';
    if (!typed && scan_.peek() != '%') {
      scan_.name();
      typed = scan_.peek() == '[';
      scan_.go_to(begin);
    }
    if (typed) {
      read_shape(scan_);
      scan_.skip_space();
    }
    const std::size_t position = scan_.position();
    scan_.take('%');
    if (scan_.name().empty()) scan_.fail(position, "expected the name of an operand");
    return static_cast<int>(position);
  }

  void attributes(Instruction& made, int depth) {
    for (scan_.skip_blanks(); scan_.take(','); scan_.skip_blanks()) {
      scan_.skip_space();
      const std::size_t begin = scan_.position();
      const std::string key(scan_.name());
      if (key.empty()) scan_.fail(begin, "expected an attribute of \"" + made.name + "\"");
      if (!scan_.take('=')) {
        made.attributes.add(key, "");
        continue;
      }
      scan_.skip_space();
      if (in_place(key)) {
        const std::string name = made.name + "." + key;
        const int called = body(name, "the body of " + made.name, depth + 1);
        made.attributes.add(key, module_->computations[static_cast<std::size_t>(called)].name);
      } else {
        made.attributes.add(key, scan_.value());
      }
    }
  }

  // A body that stands where others name one: {, and an instruction in the next line.
  bool in_place(const std::string& key) {
    if (scan_.peek() != '{' || (key != "calls" && key != "to_apply" && key != "body" && key != "condition"))
      return false;
    const std::size_t begin = scan_.position();
    scan_.take('{');
    scan_.skip_space();
    scan_.take("ROOT");
    scan_.take('%');
    scan_.name();
    const bool assigned = scan_.take('=');
    scan_.go_to(begin);
    return assigned;
  }

  const std::string& file_;
  std::string_view text_;
  Scanner scan_;
  Module* module_ = nullptr;
  bool has_layout_ = false;  // of the entry, in the header
  std::map<std::string, SharedText, std::less<>> opcodes_;
};

}  // namespace

std::optional<std::vector<Module>> parse_modules(const std::string& file, std::string_view text,
                                                 std::vector<Problem>& problems, std::vector<Module>* seen) {
  std::vector<Module> modules;
  try {
    Parser(file, text).parse(modules);
  } catch (ParseError& error) {
    place_in_line(text, error.problem);
    problems.push_back(error.problem);
    if (seen != nullptr) *seen = std::move(modules);
    return std::nullopt;
  }
  return modules;
}

}  // namespace podsim::hlo
