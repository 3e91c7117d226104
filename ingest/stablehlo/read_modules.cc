// Goes over the words of each module once, and over those of each product's type again.
#include "ingest/stablehlo/read_modules.h"

#include <algorithm>
#include <set>

#include "engine/number_text.h"
#include "ingest/hlo/fields.h"
#include "ingest/stablehlo/calls.h"
#include "ingest/stablehlo/mesh_text.h"
#include "ingest/stablehlo/operation_names.h"
#include "ingest/stablehlo/tensor_type.h"
#include "ingest/stablehlo/tokens.h"
#include "ingest/stablehlo/type_checks.h"

namespace podsim::stablehlo {
namespace {

constexpr std::size_t kMostModuleProblems = 20;

class Reader {
 public:
  Reader(const std::string& file, std::string_view text, std::vector<Problem>& problems)
      : file_(file), text_(text), problems_(problems) {}

  std::optional<std::vector<Module>> read() {
    auto tokens = tokens_of(file_, text_, problems_);
    if (!tokens) return std::nullopt;
    tokens_ = *std::move(tokens);
    std::size_t i = 0;
    while (i < tokens_.all.size()) {
      if (tokens_.is(i, "module") || tokens_.is(i, "builtin.module"))
        i = read_module(i);
      else if (tokens_.is(i, "func.func"))
        i = read_rest();
      else
        i = tokens_.partner[i] > i ? tokens_.partner[i] + 1 : i + 1;
    }
    const bool empty =
        std::ranges::all_of(modules_, [](const Module& module) { return module.functions.empty(); });
    if (empty && problems_.empty())
      refuse(0, "there is no function", "module { func.func @main(...) { ... } }");
    if (!problems_.empty()) return std::nullopt;
    return std::move(modules_);
  }

 private:
  void refuse(std::size_t at, const std::string& message, const std::string& hint = "") {
    if (problems_.size() < kMostModuleProblems)
      problems_.push_back(problem_at(file_, text_, at, message, hint));
  }
  const Token& token(std::size_t i) const { return tokens_.all[i]; }
  bool is_string(std::size_t i) const {
    return i < tokens_.all.size() && token(i).kind == Token::Kind::kString;
  }
  bool is_word(std::size_t i) const { return i < tokens_.all.size() && token(i).kind == Token::Kind::kWord; }
  std::optional<std::int64_t> number_at(std::size_t i) const {
    return is_word(i) ? whole_text_as<std::int64_t>(token(i).text) : std::nullopt;
  }

  // module @name attributes {...} { ... }; returns what follows.
  std::size_t read_module(std::size_t i) {
    Module& module = modules_.emplace_back();
    ++i;
    if (is_word(i) && token(i).text.starts_with("@")) module.name = symbol(i);
    std::size_t attributes_end = i;
    if (tokens_.is(i, "attributes") && tokens_.is(i + 1, "{")) {
      attributes_end = tokens_.partner[i + 1];
      for (std::size_t k = i + 2; k < attributes_end; ++k) {
        if (tokens_.is(k, "mhlo.num_partitions")) module.partitions = number_at(k + 2);
        if (tokens_.is(k, "mhlo.num_replicas")) module.replicas = number_at(k + 2);
        if (tokens_.is(k, "xla.sdy.meshes") && is_string(k + 2)) read_hidden_meshes(module, k + 2);
      }
      i = attributes_end + 1;
    }
    if (!tokens_.is(i, "{")) {
      refuse(i < tokens_.all.size() ? token(i).at : text_.size(), "expected the module's {");
      return i;
    }
    const std::size_t end = tokens_.partner[i];
    read_body(module, i + 1, end);
    return end + 1;
  }

  // Functions that stand outside of any module are one.
  std::size_t read_rest() {
    read_body(modules_.emplace_back(), 0, tokens_.all.size());
    return tokens_.all.size();
  }

  // @name or @"name" at i, which moves behind it.
  std::string symbol(std::size_t& i) const {
    std::string name(token(i).text.substr(1));
    if (name.empty() && is_string(i + 1)) name = token(++i).text;
    ++i;
    return name;
  }

  void read_body(Module& module, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) count(module, i);
    for (std::size_t i = begin; i < end;) {
      if (tokens_.is(i, "sdy.mesh")) read_mesh(module, i + 1);
      i = tokens_.is(i, "func.func") ? read_function(module, i + 1, end)
          : tokens_.partner[i] > i   ? tokens_.partner[i] + 1
                                     : i + 1;
    }
    check_calls(module);
  }

  // @name = <["x"=2, "y"=4]>
  void read_mesh(Module& module, std::size_t i) {
    if (!is_word(i) || !token(i).text.starts_with("@")) return refuse(token(i - 1).at, "a mesh has no name");
    const std::string name = symbol(i);
    Mesh mesh;
    if (!tokens_.is(i + 2, "["))
      return refuse(token(i - 1).at, "mesh @" + name + " has no axes", R"(<["x"=2, "y"=4]>)");
    const std::size_t end = tokens_.partner[i + 2];
    for (std::size_t k = i + 3; k < end; ++k) {
      if (!is_string(k)) continue;
      const auto size = number_at(k + 2);
      if (!size || *size < 1)
        return refuse(token(k).at, "axis \"" + std::string(token(k).text) + "\" has no size");
      mesh.emplace_back(token(k).text, *size);
    }
    add_mesh(module, name, std::move(mesh));
  }

  void read_hidden_meshes(Module& module, std::size_t i) {
    const auto hidden = meshes_in(token(i).text);
    if (!hidden) return refuse(token(i).at, "a mesh has an axis without a size");
    for (const auto& [name, mesh] : *hidden) add_mesh(module, name, mesh);
  }

  // A mesh may be said twice: by itself, and in attributes for compilers that do not know it.
  static void add_mesh(Module& module, const std::string& name, Mesh mesh) {
    const auto known = std::ranges::find(module.meshes, name, &std::pair<std::string, Mesh>::first);
    if (known == module.meshes.end())
      module.meshes.emplace_back(name, std::move(mesh));
    else
      known->second = std::move(mesh);
  }

  // Words that are counted wherever they stand.
  void count(Module& module, std::size_t i) {
    const Token& of = token(i);
    const bool string = of.kind == Token::Kind::kString;
    std::string_view word = of.text;
    if (string && !tokens_.is(i + 1, "(")) return;
    if (word.starts_with("#")) word.remove_prefix(1);
    if (is_operation(word)) ++module.operations[std::string(word)];
    if (is_collective(word)) ++module.collectives[std::string(word)];
    if (string) return;
    const bool sharding = of.text == "sdy.sharding" || of.text == "xla.sdy.sharding";
    if (sharding && tokens_.is(i + 1, "=")) ++module.shardy_shardings;
    if (word == "sdy.sharding_constraint") ++module.constraints;
    if (word == "sdy.manual_computation") ++module.manual_regions;
    if (word == "mhlo.sharding" && is_string(i + 2)) ++module.gspmd_shardings[std::string(token(i + 2).text)];
    if (word == "stablehlo.custom_call") count_call(module, i);
    if (word == "tensor" && tokens_.is(i + 1, "<")) check_type(i + 2);
  }

  // custom_call @Sharding(...)
  void count_call(Module& module, std::size_t i) {
    if (!is_word(i + 1) || !token(i + 1).text.starts_with("@")) return;
    std::size_t next = i + 1;
    const std::string target = symbol(next);
    ++module.custom_calls[target];
    if (target == "Sharding") ++module.constraints;
    if (target == "SPMDFullToShardShape") ++module.manual_regions;
  }

  // Between < and its >, from token i on.
  std::string_view angle_text(std::size_t i) const {
    if (i >= tokens_.all.size()) return {};
    const std::size_t begin = token(i).at;
    int open = 1;
    for (std::size_t k = begin; k < text_.size() && text_[k] != '\n'; ++k) {
      if (text_[k] == '<') ++open;
      if (text_[k] == '>' && --open == 0) return text_.substr(begin, k - begin);
    }
    return {};
  }

  void check_type(std::size_t i) {
    std::string unknown;
    const std::string_view text = angle_text(i);
    if (tensor_type(text, unknown)) return;
    const std::string near = nearest_element_type(unknown);
    refuse(i < tokens_.all.size() ? token(i).at : text_.size(), "unknown element type \"" + unknown + "\"",
           near.empty() ? "" : "did you mean \"" + near + "\"?");
  }

  // public @main(...) -> ... { ... }, from what follows func.func; returns what follows.
  std::size_t read_function(Module& module, std::size_t i, std::size_t end) {
    Function function;
    function.is_public = true;
    if (tokens_.is(i, "private") || tokens_.is(i, "nested")) function.is_public = false;
    if (tokens_.is(i, "public") || !function.is_public) ++i;
    if (!is_word(i) || !token(i).text.starts_with("@")) {
      refuse(token(i - 1).at, "a function has no name");
      return i;
    }
    function.name = symbol(i);
    if (!tokens_.is(i, "(")) {
      refuse(token(i - 1).at, "function @" + function.name + " has no arguments", "@name(...)");
      return i;
    }
    const std::size_t arguments = i;
    std::size_t next = tokens_.partner[i] + 1;
    std::optional<std::size_t> body;
    while (next < end && !tokens_.is(next, "func.func")) {
      if (tokens_.is(next, "attributes") && tokens_.is(next + 1, "{")) {
        next = tokens_.partner[next + 1] + 1;
      } else if (tokens_.is(next, "{")) {
        body = next;
        next = tokens_.partner[next] + 1;
        break;
      } else {
        next = tokens_.partner[next] > next ? tokens_.partner[next] + 1 : next + 1;
      }
    }
    count_sharded(module, arguments);
    if (body) {
      check_values(function.name, arguments, tokens_.partner[*body]);
      read_region(function, *body);
      if (problems_.empty()) problems_ = type_problems(file_, text_, tokens_, *body);
    }
    module.functions.push_back(std::move(function));
    return next;
  }

  // Arguments whose dictionary has a sharding.
  void count_sharded(Module& module, std::size_t open) {
    for (std::size_t i = open + 1; i < tokens_.partner[open]; ++i) {
      if (!tokens_.is(i, "{")) continue;
      bool sharded = false;
      for (std::size_t k = i; k < tokens_.partner[i]; ++k)
        sharded = sharded || tokens_.is(k, "sdy.sharding") || tokens_.is(k, "mhlo.sharding") ||
                  tokens_.is(k, "xla.sdy.sharding");
      module.sharded_arguments += sharded;
      i = tokens_.partner[i];
    }
  }

  // "%0#1" and "%0:2" are both %0.
  static std::string_view value_name(std::string_view word) { return word.substr(0, word.find('#')); }

  void check_values(const std::string& function, std::size_t begin, std::size_t end) {
    std::set<std::string_view> defined;
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_word(i) || !token(i).text.starts_with("%")) continue;
      const bool typed = tokens_.is(i + 1, ":") && token(i + 1).at == token(i).at + token(i).text.size();
      bool assigned = tokens_.is(i + 1, "=");
      for (std::size_t k = i + 1;
           !assigned && tokens_.is(k, ",") && is_word(k + 1) && token(k + 1).text.starts_with("%"); k += 2)
        assigned = tokens_.is(k + 2, "=");
      if (typed || assigned) defined.insert(token(i).text);
    }
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_word(i) || !token(i).text.starts_with("%")) continue;
      const std::string_view name = value_name(token(i).text);
      if (defined.count(name) == 0)
        refuse(token(i).at, "value " + std::string(name) + " is not defined in function @" + function);
    }
  }

  // From its brace on.
  void read_region(Function& function, std::size_t open, int depth = 0) {
    constexpr int kDeepest = 200;
    if (depth > kDeepest) return refuse(token(open).at, "branches are nested too deep");
    for (std::size_t i = open + 1; i < tokens_.partner[open]; ++i) {
      if (tokens_.is_string(i, "stablehlo.case") || tokens_.is_string(i, "stablehlo.if"))
        i = read_branches(function, i, depth);
      else
        read_operation(function, i);
    }
  }

  // "stablehlo.case"(%index) ({...}, {...}) : ..., up to the last word of its branches.
  std::size_t read_branches(Function& function, std::size_t i, int depth) {
    std::size_t regions = i + 1;
    while (tokens_.is(regions, "(") && !tokens_.is(regions + 1, "{")) regions = tokens_.partner[regions] + 1;
    if (!tokens_.is(regions, "(")) return i;
    std::vector<Function>& branches = function.conditionals.emplace_back();
    for (std::size_t k = regions + 1; k < tokens_.partner[regions]; ++k) {
      if (!tokens_.is(k, "{")) continue;
      read_region(branches.emplace_back(), k, depth + 1);
      k = tokens_.partner[k];
    }
    return tokens_.partner[regions];
  }

  void read_operation(Function& function, std::size_t i) {
    const std::string_view word = token(i).text;
    const bool generic = is_string(i) && tokens_.is(i + 1, "(");
    if (!generic && !is_word(i)) return;
    if (word == "stablehlo.dot_general" || word == "stablehlo.dot") read_dot(function, i);
    const bool pretty_call = (word == "call" || word == "func.call") && is_word(i + 1);
    if (pretty_call && token(i + 1).text.starts_with("@")) add_call(function, i + 1, i);
    if (generic && word == "func.call") read_generic_call(function, i);
  }

  // "func.call"(%0) <{callee = @f}> : ...
  void read_generic_call(Function& function, std::size_t i) {
    for (std::size_t k = i + 1; k < tokens_.all.size() && !tokens_.is(k, ":"); ++k)
      if (tokens_.is(k, "callee") && is_word(k + 2) && token(k + 2).text.starts_with("@"))
        return add_call(function, k + 2, i);
  }

  void add_call(Function& function, std::size_t symbol_at, std::size_t i) {
    const std::string callee = symbol(symbol_at);
    ++function.calls[callee];
    call_places_.try_emplace(callee, token(i).at);
  }

  // The tensor whose `tensor` stands at i or behind it, before `end`.
  std::optional<TensorType> type_after(std::size_t i, std::size_t end) const {
    while (i < end && !tokens_.is(i, "tensor")) ++i;
    std::string unknown;
    if (i >= end) return std::nullopt;
    return tensor_type(angle_text(i + 2), unknown);
  }

  // lhs_contracting_dimensions = [2], or contracting_dims = [2] x [1].
  std::vector<std::int64_t> contracted(std::size_t i, std::size_t end) const {
    std::vector<std::int64_t> dimensions;
    for (; i < end; ++i) {
      const bool here = tokens_.is(i, "contracting_dims") || tokens_.is(i, "lhs_contracting_dimensions");
      if (!here || !tokens_.is(i + 2, "[")) continue;
      for (std::size_t k = i + 3; k < tokens_.partner[i + 2]; ++k)
        if (const auto dimension = number_at(k)) dimensions.push_back(*dimension);
      break;
    }
    return dimensions;
  }

  // ... : (tensor<..>, tensor<..>) -> tensor<..>
  void read_dot(Function& function, std::size_t i) {
    std::size_t colon = i + 1;
    while (colon < tokens_.all.size() && !tokens_.is(colon, ":"))
      colon = tokens_.partner[colon] > colon ? tokens_.partner[colon] + 1 : colon + 1;
    const bool typed = tokens_.is(colon + 1, "(");
    const std::size_t operands_end = typed ? tokens_.partner[colon + 1] : colon;
    const auto left = typed ? type_after(colon + 1, operands_end) : std::nullopt;
    const auto result =
        typed ? type_after(operands_end, std::min(operands_end + 4, tokens_.all.size())) : std::nullopt;
    if (!left || !result)
      return refuse(token(i).at, "a product has no type", "(tensor<..>, tensor<..>) -> tensor<..>");
    if (left->has_open_size || result->has_open_size)
      return refuse(token(i).at, "a product of no stated size", "a module whose shapes are known");
    std::vector<std::int64_t> dimensions = contracted(i, colon);
    const auto rank = static_cast<std::int64_t>(left->sizes.size());
    if (token(i).text == "stablehlo.dot" && rank > 0) dimensions = {rank - 1};
    std::int64_t flops = hlo::saturating_multiply(2, elements_of(*result));
    for (const std::int64_t dimension : dimensions) {
      if (dimension < 0 || dimension >= rank)
        return refuse(token(i).at,
                      "a product has no dimension " + std::to_string(dimension) + " to contract");
      flops = hlo::saturating_multiply(flops, left->sizes[static_cast<std::size_t>(dimension)]);
    }
    ++function.dots;
    function.dot_flops = hlo::saturating_add(function.dot_flops, flops);
  }

  void check_calls(const Module& module) {
    for (const CallProblem& problem : call_problems(module)) {
      const auto place = call_places_.find(problem.function);
      refuse(place == call_places_.end() ? 0 : place->second, problem.message, problem.hint);
    }
    call_places_.clear();
  }

  const std::string& file_;
  std::string_view text_;
  std::vector<Problem>& problems_;
  Tokens tokens_;
  std::vector<Module> modules_;
  std::map<std::string, std::size_t> call_places_;  // [function] where it is called first
};

}  // namespace

std::optional<std::vector<Module>> read_modules(const std::string& file, std::string_view text,
                                                std::vector<Problem>& problems) {
  std::vector<Problem> own;
  auto modules = Reader(file, text, own).read();
  problems.insert(problems.end(), own.begin(), own.end());
  return modules;
}

}  // namespace podsim::stablehlo
