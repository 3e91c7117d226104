// Each operation as a module of HLO of its own, which the reader of HLO judges.
#include "ingest/stablehlo/type_checks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "ingest/hlo/parse.h"
#include "ingest/stablehlo/hlo_attributes.h"
#include "ingest/stablehlo/statement.h"
#include "ingest/stablehlo/value_scope.h"

namespace podsim::stablehlo {
namespace {

// Those whose attributes are read in the form that StableHLO prints them in.
bool is_judged(const Words& words, const Statement& of) {
  constexpr std::array<std::string_view, 10> kPretty = {
      "stablehlo.dot",         "stablehlo.reshape",
      "stablehlo.transpose",   "stablehlo.concatenate",
      "stablehlo.reduce",      "stablehlo.slice",
      "stablehlo.pad",         "stablehlo.dynamic_slice",
      "stablehlo.convolution", "stablehlo.dynamic_update_slice"};
  constexpr std::array<std::string_view, 6> kBoth = {"stablehlo.dot_general", "stablehlo.reduce_window",
                                                     "stablehlo.all_gather",  "stablehlo.reduce_scatter",
                                                     "stablehlo.all_to_all",  "stablehlo.all_reduce"};
  if (std::ranges::count(kBoth, of.operation) > 0) return true;
  if (words.is_string(of.begin)) return false;
  const std::string opcode = opcode_of(of.operation);
  return std::ranges::count(kPretty, of.operation) > 0 || opcode == "broadcast" || opcode == "convert" ||
         opcode == "compare";
}

class TypeCheck {
 public:
  TypeCheck(const std::string& file, std::string_view text, const Tokens& tokens)
      : file_(file), text_(text), words_(tokens, text) {}

  std::vector<Problem> problems(std::size_t open) {
    try {
      block(open, 0);
    } catch (const Unread&) {  // an operation with more results than there are programs for
    }
    return std::move(problems_);
  }

 private:
  // Blocks that lie deeper than any program's are taken as they are.
  void block(std::size_t open, int depth) {
    constexpr int kDeepestBlock = 200;
    if (depth > kDeepestBlock) return;
    for (const Statement& each : words_.statements(open + 1, words_.partner(open))) {
      if (!problems_.empty()) return;
      if (is_judged(words_, each)) judge(each);
      for (std::size_t i = each.begin; i < each.end && problems_.empty(); ++i) {
        if (!words_.is(i, "{")) continue;
        block(i, depth + 1);
        i = words_.partner(i);
      }
    }
  }

  void judge(const Statement& of) {
    try {
      if (of.results.empty()) return;
      const std::string why = opcode_of(of.operation) == "broadcast" ? broadcast(of) : by_hlo(of);
      if (!why.empty())
        problems_.push_back(problem_at(file_, text_, words_.byte(of.begin), of.operation + " " + why));
    } catch (const Unread&) {  // of another dialect, or open sizes
    }
  }

  // (tensor<..>, tensor<..>) -> ...; nothing where types are written in short.
  std::vector<std::string> operand_types(const Statement& of) const {
    std::vector<std::string> types;
    const std::size_t open = of.types + 1;
    if (!words_.is(open, "(") || !words_.is(words_.next(open), "->")) return types;
    for (std::size_t i = open + 1; i < words_.partner(open);) {
      if (words_.is(i, ","))
        ++i;
      else
        types.push_back(words_.hlo_type(i));
    }
    return types;
  }

  std::string by_hlo(const Statement& of) const {
    const std::vector<std::string> types = operand_types(of);
    const std::string opcode = opcode_of(of.operation);
    HloAttributes made(words_);
    const auto attributes = made.of(of, opcode);
    if (types.empty() || !attributes) return "";
    std::string body = "ENTRY e {\n", operands;
    for (std::size_t i = 0; i < types.size(); ++i) {
      const std::string name = "o" + std::to_string(i);
      body += "  " + name + " = " + types[i] + " parameter(" + std::to_string(i) + ")\n";
      operands += (i == 0 ? "" : ", ") + name;
    }
    const std::vector<std::string> results = words_.result_types(of);
    body += "  ROOT r = " + (results.size() == 1 ? results.front() : tuple_of(results)) + " " + opcode + "(" +
            operands + ")" + *attributes + "\n}\n";
    std::vector<Problem> found;
    if (hlo::parse_modules(file_, made.combiners() + body, found)) return "";
    // What HLO cannot say at all is no problem of this operation.
    const std::string& message = found.front().message;
    const std::string shapes = "\"r\": " + opcode + " ", groups = "\"r\" ";
    for (const std::string& begin : {shapes, groups})
      if (message.starts_with(begin)) return message.substr(begin.size());
    return "";
  }

  // Dimensions of one element are expanded.
  std::string broadcast(const Statement& of) const {
    const std::vector<std::string> types = operand_types(of);
    if (types.size() != 1) return "";
    const std::string result = words_.result_types(of).front();
    const std::vector<std::int64_t> from = sizes_of(types[0]), to = sizes_of(result),
                                    dims = words_.numbers(of, "dims");
    bool fits = dims.size() == from.size();
    for (std::size_t d = 0; fits && d < dims.size(); ++d) {
      const bool inside = dims[d] >= 0 && dims[d] < static_cast<std::int64_t>(to.size());
      fits = inside && std::ranges::count(dims, dims[d]) == 1 &&
             (from[d] == 1 || from[d] == to[static_cast<std::size_t>(dims[d])]);
    }
    return fits ? "" : "gives " + result + ", which its operand, " + types[0] + ", is no part of";
  }

  const std::string& file_;
  std::string_view text_;
  const Words words_;
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> type_problems(const std::string& file, std::string_view text, const Tokens& tokens,
                                   std::size_t open) {
  return TypeCheck(file, text, tokens).problems(open);
}

}  // namespace podsim::stablehlo
