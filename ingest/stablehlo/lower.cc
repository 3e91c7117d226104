// Function by function: each is a computation, and so is each region of a loop or a conditional.
#include "ingest/stablehlo/lower.h"

#include <algorithm>
#include <utility>

#include "ingest/hlo/fields.h"
#include "ingest/stablehlo/hlo_attributes.h"
#include "ingest/stablehlo/read_modules.h"
#include "ingest/stablehlo/statement.h"
#include "ingest/stablehlo/value_scope.h"

namespace podsim::stablehlo {
namespace {

class Lowering {
 public:
  Lowering(const Words& words, std::size_t begin, std::size_t end, const Module& module)
      : words_(words), begin_(begin), end_(end), module_(module), attributes_(words) {}

  Lowered run() {
    Lowered made;
    made.name = module_.name;
    for (const auto& [name, mesh] : module_.meshes)
      if (made.mesh.empty()) made.mesh = mesh;
    try {
      functions();
      std::string header = "HloModule " + (module_.name.empty() ? "module" : plain_name(module_.name));
      if (module_.partitions)  // groups name devices, of all replicas
        header += ", num_partitions=" + std::to_string(hlo::saturating_multiply(
                                            std::max<std::int64_t>(1, *module_.partitions),
                                            std::max<std::int64_t>(1, module_.replicas.value_or(1))));
      made.hlo = header + "\n\n" + attributes_.combiners() + text_;
    } catch (const Unread& unread) {
      made.refused = unread.what;
      made.refused_at = unread.at;
    }
    return made;
  }

 private:
  void functions() {
    if (module_.functions.empty()) throw Unread{"a module without functions"};
    const auto first = std::ranges::find_if(module_.functions, &Function::is_public);
    const std::string entry = first != module_.functions.end() ? first->name : module_.functions.front().name;
    for (std::size_t i = begin_; i < end_;) {
      if (!words_.is(i, "func.func")) {
        i = words_.next(i);
        continue;
      }
      while (i < end_ && !words_.at(i).starts_with("@")) ++i;
      i = function(i, entry);
    }
  }

  // From its name on; returns what follows.
  std::size_t function(std::size_t i, const std::string& entry) {
    const std::string name(words_.at(i).substr(1));
    ValueScope scope(plain_name(name), count_);
    const std::size_t arguments = i + 1;
    std::size_t next = words_.next(arguments);
    const std::size_t results = next;
    while (next < end_ && !words_.is(next, "{") && !words_.is(next, "func.func"))
      next = words_.is(next, "attributes") ? words_.next(next + 1) : words_.next(next);
    if (!words_.is(next, "{")) return next;
    std::int64_t number = 0;
    for (std::size_t a = arguments + 1; a < words_.partner(arguments);) {
      if (!words_.is_value(a)) {
        a = words_.next(a);
        continue;
      }
      const std::string argument(words_.at(a));
      a += 2;
      const std::string type = words_.hlo_type(a);
      const std::string where = words_.is(a, "{") ? words_.sharding(a, words_.partner(a)) : "";
      scope.define(argument, type, "parameter(" + std::to_string(number++) + ")" + where);
    }
    function_results_ = words_.result_shardings(results, next);
    block(scope, next + 1, words_.partner(next), name == entry ? Root::kAnnotated : Root::kValue);
    text_ += (name == entry ? "ENTRY " : "") + scope.written();
    return words_.partner(next) + 1;
  }

  // One operation with however many results.
  void emit(ValueScope& scope, const Statement& of, const std::string& rest) {
    const std::vector<std::string> types = words_.result_types(of);
    if (of.results.empty()) return;
    if (of.results.size() == 1) {
      scope.define(of.results.front(), types.front(), rest);
      return;
    }
    scope.elements(scope.define(of.results.front() + ".all", tuple_of(types), rest), of.results, types);
  }

  // What cannot be lowered is told with the place of its operation, the innermost one.
  template <typename Step>
  void placed(const Statement& of, const Step& step) {
    constexpr int kDeepest = 200;
    try {
      if (++depth_ > kDeepest) throw Unread{"regions are nested too deep"};
      step();
      --depth_;
    } catch (Unread& unread) {
      if (!unread.at) unread.at = words_.byte(of.begin);
      throw;
    }
  }

  enum class Root : std::uint8_t { kValue, kAnnotated, kCarrying };

  // What a block returns becomes its root, in a tuple where it is not one value; the body of a loop gives
  // back what it was given to carry, too.
  void block(ValueScope& scope, std::size_t begin, std::size_t end, Root kind) {
    for (const Statement& each : words_.statements(begin, end)) {
      if (each.operation == "return") return placed(each, [&] { root(scope, each, kind); });
      placed(each, [&] { statement(scope, each); });
    }
    throw Unread{"a block that returns nothing"};
  }

  void root(ValueScope& scope, const Statement& of, Root kind) {
    std::vector<Value> values;
    for (std::size_t i = 0; i < of.operands.size(); ++i) {
      Value made = scope.value(of.operands[i]);
      const bool annotated = kind == Root::kAnnotated && i < function_results_.size();
      if (annotated && !function_results_[i].empty())
        made = scope.define(
            of.operands[i] + ".out", made.type,
            "custom-call(" + made.name + "), custom_call_target=\"Sharding\"" + function_results_[i]);
      values.push_back(std::move(made));
    }
    if (kind == Root::kCarrying)
      for (Value& each : scope.carried()) values.push_back(std::move(each));
    if (values.size() == 1 && kind != Root::kCarrying) return scope.set_root(values.front().line);
    scope.set_root(tuple(scope, "%root", values).line);
  }

  static Value tuple(ValueScope& scope, const std::string& result, const std::vector<Value>& values) {
    std::string names;
    std::vector<std::string> types;
    for (const Value& each : values) {
      names += (names.empty() ? "" : ", ") + each.name;
      types.push_back(each.type);
    }
    return scope.define(result, tuple_of(types), "tuple(" + names + ")");
  }

  void statement(ValueScope& scope, const Statement& of) {
    const std::string& operation = of.operation;
    if (operation == "call" || operation == "func.call") return call(scope, of);
    if (operation == "sdy.manual_computation") return manual(scope, of);
    if (operation == "stablehlo.while") return loop(scope, of);
    if (operation == "stablehlo.case" || operation == "stablehlo.if") return conditional(scope, of);
    if (operation == "stablehlo.constant" || operation == "arith.constant") return constant(scope, of);
    if (operation == "stablehlo.custom_call") return custom_call(scope, of);
    if (operation == "sdy.sharding_constraint") return constraint(scope, of);
    if (operation == "stablehlo.broadcast_in_dim") return broadcast(scope, of);
    const std::string opcode = opcode_of(operation);
    const auto attributes = attributes_.of(of, opcode);
    if (!attributes)
      return emit(scope, of,
                  "custom-call" + scope.list(of.operands) + ", custom_call_target=\"" + operation + "\"");
    emit(scope, of, opcode + scope.list(of.operands) + *attributes);
  }

  // The one index of a dimension that is expanded goes everywhere: HLO has no such dimension.
  void broadcast(ValueScope& scope, const Statement& of) {
    if (of.operands.empty()) throw Unread{"a broadcast of nothing"};
    Value from = scope.value(of.operands.front());
    const std::string result = words_.result_types(of).front();
    const std::vector<std::int64_t> sizes = sizes_of(from.type), wide = sizes_of(result),
                                    to = words_.numbers(of, "dims");
    std::vector<std::int64_t> kept, kept_sizes;
    for (std::size_t d = 0; d < sizes.size() && d < to.size(); ++d) {
      const bool inside = to[d] >= 0 && to[d] < static_cast<std::int64_t>(wide.size());
      if (inside && sizes[d] == 1 && wide[static_cast<std::size_t>(to[d])] != 1) continue;
      kept.push_back(to[d]);
      kept_sizes.push_back(sizes[d]);
    }
    if (kept.size() != sizes.size()) {
      const std::string list = braced(kept_sizes);
      from =
          scope.define(of.operands.front() + ".narrow",
                       from.type.substr(0, from.type.find('[')) + "[" + list.substr(1, list.size() - 2) + "]",
                       "reshape(" + from.name + ")");
    }
    emit(scope, of, "broadcast(" + from.name + "), dimensions=" + braced(kept));
  }

  void call(ValueScope& scope, const Statement& of) {
    std::size_t at = of.begin;
    while (at < of.end && !words_.at(at).starts_with("@")) ++at;
    emit(scope, of, "call" + scope.list(of.operands) + ", to_apply=" + plain_name(words_.at(at).substr(1)));
  }

  // Scalars as they are, for conditions of loops.
  void constant(ValueScope& scope, const Statement& of) {
    const std::string type = words_.result_types(of).front();
    std::string literal = "{...}";
    for (std::size_t i = of.begin; type.ends_with("[]") && i < of.types; ++i)
      if (words_.is(i, "<") && words_.is(i + 2, ">")) literal = words_.at(i + 1);
    scope.define(of.results.front(), type, "constant(" + literal + ")");
  }

  void custom_call(ValueScope& scope, const Statement& of) {
    std::string target = "custom";
    for (std::size_t i = of.begin; i < of.types; ++i)
      if (words_.at(i).starts_with("@") && !words_.is(i - 1, "<")) {
        target = words_.at(i).substr(1);
        break;
      }
    emit(scope, of,
         "custom-call" + scope.list(of.operands) + ", custom_call_target=\"" + target + "\"" +
             words_.sharding(of.begin, of.types));
  }

  void constraint(ValueScope& scope, const Statement& of) {
    std::size_t angle = of.begin;
    while (angle < of.types && !words_.is(angle, "<")) ++angle;
    emit(scope, of,
         "custom-call" + scope.list(of.operands) +
             ", custom_call_target=\"Sharding\", shardy=" + words_.annotation(angle));
  }

  // in_shardings=[<@mesh, [...]>, ...], one for each.
  std::vector<std::string> annotations(const Statement& of, std::string_view name) const {
    const auto value = words_.attribute(of, name);
    std::vector<std::string> found;
    for (std::size_t i = value.value_or(0) + 1; value && i < words_.partner(*value); i = words_.next(i))
      if (words_.is(i, "<")) found.push_back(words_.annotation(i));
    return found;
  }

  // Its operands lie as stated, then shards are arrays; what it returns becomes shards of whole arrays again.
  void manual(ValueScope& scope, const Statement& of) {
    const std::size_t operands = of.begin + 1;
    const std::vector<std::string> in = annotations(of, "in_shardings"),
                                   out = annotations(of, "out_shardings");
    const auto axes = words_.attribute(of, "manual_axes");
    std::size_t given = axes ? words_.next(*axes) : of.end;
    if (!words_.is(given, "(")) throw Unread{"a manual computation without arguments"};
    const std::size_t body = words_.next(given);
    std::size_t next = 0, k = operands + 1;
    for (std::size_t i = given + 1; i < words_.partner(given); ++next) {
      while (i < words_.partner(given) && !words_.is_value(i)) ++i;
      if (i >= words_.partner(given)) break;
      while (k < words_.partner(operands) && !words_.is_value(k)) ++k;
      if (k >= words_.partner(operands) || next >= in.size())
        throw Unread{"a manual computation of other arguments"};
      const std::string argument(words_.at(i));
      const Value whole = scope.value(std::string(words_.at(k++)));
      i += 2;
      const std::string type = words_.hlo_type(i);
      const Value lain = scope.define(
          argument + ".lain", whole.type,
          "custom-call(" + whole.name + "), custom_call_target=\"Sharding\", shardy=" + in[next]);
      scope.define(
          argument, type,
          "custom-call(" + lain.name + "), custom_call_target=\"SPMDFullToShardShape\", sharding={manual}");
    }
    const std::vector<std::string> types = words_.result_types(of);
    for (const Statement& each : words_.statements(body + 1, words_.partner(body))) {
      if (each.operation != "return") {
        placed(each, [&] { statement(scope, each); });
        continue;
      }
      if (each.operands.size() != of.results.size() || out.size() < of.results.size())
        throw Unread{"a manual computation of other results"};
      for (std::size_t i = 0; i < of.results.size(); ++i)
        scope.define(of.results[i], types[i],
                     "custom-call(" + scope.value(each.operands[i]).name +
                         "), custom_call_target=\"SPMDShardToFullShape\", shardy=" + out[i]);
    }
  }

  // stablehlo.while(%a = %0, ...) : types cond {...} do {...}
  void loop(ValueScope& scope, const Statement& of) {
    const std::size_t open = of.begin + 1;
    std::vector<std::string> inner, outer;
    for (std::size_t i = open + 1; i < words_.partner(open); ++i)
      if (words_.is_value(i)) (words_.is(i + 1, "=") ? inner : outer).emplace_back(words_.at(i));
    std::size_t condition = of.types;
    while (condition < of.end && !words_.is(condition, "cond")) ++condition;
    const std::size_t body = words_.next(condition + 1) + 1;
    if (inner.size() != outer.size() || inner.empty() || of.results.size() != outer.size() ||
        !words_.is(condition + 1, "{") || !words_.is(body, "{"))
      throw Unread{"a loop of another form"};
    std::vector<Value> begun;
    std::vector<std::string> types;
    for (const std::string& each : outer) {
      begun.push_back(scope.value(each));
      types.push_back(begun.back().type);
    }
    const std::string name = "loop" + std::to_string(count_++);
    Captures captures{scope};
    ValueScope tested(name + ".condition", count_, captures, inner, types);
    block(tested, condition + 2, words_.partner(condition + 1), Root::kValue);
    ValueScope repeated(name + ".body", count_, captures, inner, types);
    block(repeated, body + 1, words_.partner(body), Root::kCarrying);
    for (ValueScope* region : {&tested, &repeated}) add(*region);
    begun.insert(begun.end(), captures.values.begin(), captures.values.end());
    const Value begin = tuple(scope, of.results.front() + ".in", begun);
    const Value end =
        scope.define(of.results.front() + ".all", begin.type,
                     "while(" + begin.name + "), condition=" + name + ".condition, body=" + name + ".body");
    scope.elements(end, of.results, types);
  }

  void add(ValueScope& region) {
    region.close();
    text_ += region.written();
  }

  // "stablehlo.case"(%index) ({...}, {...}) : type -> types, and so is "stablehlo.if". Each branch is given a
  // tuple of what it captures.
  void conditional(ValueScope& scope, const Statement& of) {
    std::size_t regions = of.begin + 1;
    while (regions < of.types && !(words_.is(regions, "(") && words_.is(regions + 1, "{")))
      regions = words_.next(regions);
    if (regions >= of.types || of.operands.size() != 1) throw Unread{"a conditional of another form"};
    const std::string name = "branch" + std::to_string(count_++);
    std::string operands = scope.value(of.operands.front()).name, branches;
    std::int64_t number = 0;
    for (std::size_t i = regions + 1; i < words_.partner(regions); i = words_.next(i)) {
      if (!words_.is(i, "{")) continue;
      Captures captures{scope};
      ValueScope branch(name + "." + std::to_string(number++), count_, captures, {}, {});
      block(branch, i + 1, words_.partner(i), Root::kValue);
      add(branch);
      operands += ", " + tuple(scope, "%" + branch.name(), captures.values).name;
      branches += (branches.empty() ? "" : ", ") + branch.name();
    }
    const bool two_ways = of.operation == "stablehlo.if";
    if (two_ways && number != 2) throw Unread{"a conditional of other than two branches"};
    const std::size_t comma = branches.find(", ");
    emit(scope, of,
         "conditional(" + operands + ")" +
             (two_ways ? ", true_computation=" + branches.substr(0, comma) +
                             ", false_computation=" + branches.substr(comma + 2)
                       : ", branch_computations={" + branches + "}"));
  }

  const Words& words_;
  const std::size_t begin_, end_;
  const Module& module_;
  std::string text_;
  HloAttributes attributes_;
  std::vector<std::string> function_results_;
  std::int64_t count_ = 0;
  int depth_ = 0;  // of the operation among regions
};

}  // namespace

std::optional<std::vector<Lowered>> lower_modules(const std::string& file, std::string_view text,
                                                  std::vector<Problem>& problems) {
  const auto modules = read_modules(file, text, problems);
  const auto tokens = modules ? tokens_of(file, text, problems) : std::nullopt;
  if (!tokens) return std::nullopt;
  const Words words(*tokens, text);
  std::vector<Lowered> made;
  for (std::size_t i = 0; i < words.size() && made.size() < modules->size();) {
    std::size_t begin = 0, end = words.size();
    if (words.is(i, "module") || words.is(i, "builtin.module")) {
      while (i < words.size() && !words.is(i, "{")) i = words.is(i, "attributes") ? words.next(i + 1) : i + 1;
      begin = i + 1;
      end = words.partner(i);
    } else if (!words.is(i, "func.func")) {
      i = words.next(i);
      continue;
    }
    made.push_back(Lowering(words, begin, end, (*modules)[made.size()]).run());
    i = end + 1;
  }
  return made;
}

}  // namespace podsim::stablehlo
