// The names of operations by the rule that gives their cost.
#include "ingest/hlo/operations.h"

#include <algorithm>
#include <array>

namespace podsim::hlo {
namespace {

constexpr std::array<std::string_view, 24> kTranscendental = {"atan2",       "cbrt",
                                                              "cosine",      "erf",
                                                              "exponential", "exponential-minus-one",
                                                              "log",         "log-plus-one",
                                                              "logistic",    "power",
                                                              "rsqrt",       "sine",
                                                              "sqrt",        "tan",
                                                              "tanh",        "complex-exponential",
                                                              "acos",        "acosh",
                                                              "asin",        "asinh",
                                                              "atan",        "atanh",
                                                              "cosh",        "sinh"};
constexpr std::array<std::string_view, 35> kElementwise = {"abs",
                                                           "add",
                                                           "and",
                                                           "bitcast-convert",
                                                           "ceil",
                                                           "clamp",
                                                           "clz",
                                                           "compare",
                                                           "complex",
                                                           "convert",
                                                           "divide",
                                                           "floor",
                                                           "imag",
                                                           "is-finite",
                                                           "maximum",
                                                           "minimum",
                                                           "multiply",
                                                           "negate",
                                                           "not",
                                                           "or",
                                                           "popcnt",
                                                           "real",
                                                           "reduce-precision",
                                                           "remainder",
                                                           "round-nearest-afz",
                                                           "round-nearest-even",
                                                           "select",
                                                           "shift-left",
                                                           "shift-right-arithmetic",
                                                           "shift-right-logical",
                                                           "sign",
                                                           "stochastic-convert",
                                                           "subtract",
                                                           "xor",
                                                           "count-leading-zeros"};
constexpr std::array<std::string_view, 6> kFree = {"parameter", "constant",  "get-tuple-element",
                                                   "bitcast",   "after-all", "add-dependency"};

// Of the memory alone, of called computations, or of the network.
constexpr std::array<std::string_view, 68> kOthers = {"dot",
                                                      "scaled-dot",
                                                      "ragged-dot",
                                                      "convolution",
                                                      "reduce",
                                                      "reduce-window",
                                                      "map",
                                                      "scatter",
                                                      "select-and-scatter",
                                                      "sort",
                                                      "slice",
                                                      "dynamic-slice",
                                                      "gather",
                                                      "dynamic-update-slice",
                                                      "tuple",
                                                      "broadcast",
                                                      "reshape",
                                                      "dynamic-reshape",
                                                      "transpose",
                                                      "copy",
                                                      "copy-start",
                                                      "copy-done",
                                                      "concatenate",
                                                      "pad",
                                                      "iota",
                                                      "reverse",
                                                      "rng",
                                                      "rng-bit-generator",
                                                      "rng-get-and-update-state",
                                                      "partition-id",
                                                      "replica-id",
                                                      "infeed",
                                                      "outfeed",
                                                      "send",
                                                      "send-done",
                                                      "recv",
                                                      "recv-done",
                                                      "domain",
                                                      "opt-barrier",
                                                      "get-dimension-size",
                                                      "set-dimension-size",
                                                      "batch-norm-training",
                                                      "batch-norm-grad",
                                                      "batch-norm-inference",
                                                      "while",
                                                      "call",
                                                      "fusion",
                                                      "conditional",
                                                      "async-start",
                                                      "async-update",
                                                      "async-done",
                                                      "all-reduce",
                                                      "all-reduce-start",
                                                      "all-reduce-done",
                                                      "all-gather",
                                                      "all-gather-start",
                                                      "all-gather-done",
                                                      "reduce-scatter",
                                                      "all-to-all",
                                                      "collective-permute",
                                                      "collective-permute-start",
                                                      "collective-permute-done",
                                                      "collective-broadcast",
                                                      "ragged-all-to-all",
                                                      "topk",
                                                      "fft",
                                                      "cholesky",
                                                      "triangular-solve"};
constexpr std::array<std::string_view, 8> kCollectives = {
    "all-reduce",         "all-gather",           "reduce-scatter",    "all-to-all",
    "collective-permute", "collective-broadcast", "ragged-all-to-all", "reduce-scatter-block"};

template <std::size_t n>
bool is_one_of(std::string_view opcode, const std::array<std::string_view, n>& names) {
  return std::ranges::find(names, opcode) != names.end();
}

}  // namespace

bool is_transcendental(std::string_view opcode) { return is_one_of(opcode, kTranscendental); }

bool is_elementwise(std::string_view opcode) { return is_one_of(opcode, kElementwise); }

std::string_view collective_kind(std::string_view opcode) {
  if (opcode.ends_with("-start")) opcode.remove_suffix(std::string_view("-start").size());
  return is_one_of(opcode, kCollectives) ? opcode : std::string_view();
}

std::string_view started_operation(std::string_view opcode) {
  constexpr std::string_view kStart = "-start";
  if (!opcode.ends_with(kStart) || opcode == "copy-start" || opcode == "async-start" ||
      !collective_kind(opcode).empty())
    return opcode;
  const std::string_view begun = opcode.substr(0, opcode.size() - kStart.size());
  return is_known_operation(begun) ? begun : opcode;
}

bool is_free(std::string_view opcode) {
  return is_one_of(opcode, kFree) || opcode.ends_with("-done") || opcode.ends_with("-update");
}

bool is_known_operation(std::string_view opcode) {
  return is_transcendental(opcode) || is_elementwise(opcode) || is_free(opcode) ||
         is_one_of(opcode, kOthers) || started_operation(opcode) != opcode ||
         !collective_kind(opcode).empty();
}

}  // namespace podsim::hlo
