// Operation by operation.
#include "ingest/stablehlo/hlo_attributes.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "ingest/hlo/fields.h"
#include "ingest/hlo/operations.h"

namespace podsim::stablehlo {
namespace {

constexpr std::array<std::string_view, 7> kCombiners = {
    "stablehlo.maximum", "stablehlo.minimum", "stablehlo.multiply", "stablehlo.add",
    "stablehlo.and",     "stablehlo.or",      "stablehlo.xor"};

}  // namespace

std::vector<std::int64_t> sizes_of(const std::string& type) {
  return hlo::list_of(type.substr(type.find('[')));
}

std::string braced(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return "{" + text + "}";
}

std::string opcode_of(std::string_view operation) {
  static const std::map<std::string, std::string, std::less<>> kOthers = {
      {"dot-general", "dot"}, {"broadcast-in-dim", "broadcast"}, {"optimization-barrier", "opt-barrier"}};
  const std::size_t dot = operation.find('.');
  std::string name(operation.substr(dot == std::string_view::npos ? 0 : dot + 1));
  std::ranges::replace(name, '_', '-');
  const auto other = kOthers.find(name);
  return other != kOthers.end() ? other->second : name;
}

std::string HloAttributes::pair(const Statement& of, std::string_view name, const char* left,
                                const char* right) const {
  const auto value = words_.attribute(of, name);
  if (!value) return "";
  return std::string(", ") + left + "=" + braced(words_.numbers(*value)) + ", " + right + "=" +
         braced(words_.numbers(words_.next(*value) + 1));
}

std::string HloAttributes::product(const Statement& of) const {
  if (of.operation == "stablehlo.dot") {  // the last dimension of a matrix or a vector, and the first
    std::size_t left = of.types + 2;      // behind ": ("
    const std::size_t rank = sizes_of(words_.hlo_type(left)).size();
    return ", lhs_contracting_dims={" + std::to_string(rank < 2 ? 0 : 1) + "}, rhs_contracting_dims={0}";
  }
  if (!words_.attribute(of, "dot_dimension_numbers"))
    return pair(of, "batching_dims", "lhs_batch_dims", "rhs_batch_dims") +
           pair(of, "contracting_dims", "lhs_contracting_dims", "rhs_contracting_dims");
  std::string text;
  for (const auto& [name, as] : {std::pair("lhs_batching_dimensions", "lhs_batch_dims"),
                                 std::pair("rhs_batching_dimensions", "rhs_batch_dims"),
                                 std::pair("lhs_contracting_dimensions", "lhs_contracting_dims"),
                                 std::pair("rhs_contracting_dimensions", "rhs_contracting_dims")})
    text += std::string(", ") + as + "=" + braced(words_.numbers(of, name));
  return text;
}

// [0:3, 1:8:2]
std::optional<std::string> HloAttributes::slice(const Statement& of) const {
  std::size_t open = of.begin;
  while (open < of.types && !words_.is(open, "[")) ++open;
  if (open >= of.types) return std::nullopt;
  std::string text = "[";
  for (const char c : words_.text(open + 1, words_.partner(open)))
    if (c == ',')
      text += "],[";
    else if (c != ' ')
      text += c;
  return ", slice={" + text + "]}";
}

std::string HloAttributes::padding(const Statement& of) const {
  const std::vector<std::int64_t> low = words_.numbers(of, "low"), high = words_.numbers(of, "high"),
                                  between = words_.numbers(of, "interior");
  std::string text;
  for (std::size_t d = 0; d < low.size() && d < high.size() && d < between.size(); ++d)
    text += (d == 0 ? "" : "x") + std::to_string(low[d]) + "_" + std::to_string(high[d]) + "_" +
            std::to_string(between[d]);
  return ", padding=" + text;
}

// A computation of two scalars, a and b.
std::string HloAttributes::function(const std::string& name, const std::string& type,
                                    const std::string& root) {
  const std::string element = type.substr(0, type.find('[')), unique = name + "." + element;
  if (names_.insert(unique).second)
    text_ += unique + " {\n  a = " + element + "[] parameter(0)\n  b = " + element +
             "[] parameter(1)\n  ROOT c = " + root + "\n}\n\n";
  return unique;
}

std::string HloAttributes::combiner(const std::string& opcode, const std::string& type) {
  return function("combine." + opcode, type, type.substr(0, type.find('[')) + "[] " + opcode + "(a, b)");
}

// What a region of two arguments does with them, where it is one operation.
std::optional<std::string> HloAttributes::combined(const Statement& of) const {
  if (const auto applied = std::find_if(kCombiners.begin(), kCombiners.end(),
                                        [&](std::string_view name) {
                                          for (std::size_t i = of.begin; i < of.end; ++i)
                                            if (words_.at(i) == name) return true;
                                          return false;
                                        });
      applied != kCombiners.end())
    return opcode_of(*applied);
  return std::nullopt;
}

std::optional<std::string> HloAttributes::reduction(const Statement& of) {
  const auto with = combined(of);
  if (!with || of.results.size() != 1 || of.operands.size() != 2) return std::nullopt;
  return ", dimensions=" + braced(words_.numbers(of, "dimensions")) +
         ", to_apply=" + combiner(*with, words_.result_types(of).front());
}

// dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]}
std::optional<std::string> HloAttributes::convolution(const Statement& of) const {
  const auto first = words_.attribute(of, "dim_numbers");
  if (!first || of.types + 2 >= of.end) return std::nullopt;
  std::vector<std::string> labels;
  for (std::size_t i = *first; i < of.types && labels.size() < 3; ++i) {
    if (!words_.is(i, "[")) continue;
    std::string& text = labels.emplace_back();
    for (const char c : words_.text(i + 1, words_.partner(i)))
      if (c != ',' && c != ' ') text += c;
    i = words_.partner(i);
  }
  std::size_t type = of.types + 2;  // behind ": ("
  words_.hlo_type(type);
  ++type;
  const std::string kernel = words_.hlo_type(type);
  const std::vector<std::int64_t> sizes = sizes_of(kernel);
  if (labels.size() != 3 || labels[1].size() != sizes.size()) return std::nullopt;
  const auto numbers = [&](const char* name) { return words_.numbers(of, name); };
  const std::vector<std::int64_t> stride = numbers("stride"), pad = numbers("pad"),
                                  base = numbers("lhs_dilate"), dilation = numbers("rhs_dilate");
  const auto value = [](const std::vector<std::int64_t>& list, std::size_t i, std::int64_t otherwise) {
    return std::to_string(i < list.size() ? list[i] : otherwise);
  };
  std::string size_text, stride_text, pad_text, base_text, dilation_text;
  for (std::size_t d = 0; d + 2 < labels[1].size(); ++d) {
    const std::size_t at = labels[1].find(static_cast<char>('0' + d));
    if (at == std::string::npos) return std::nullopt;
    const std::string times = d == 0 ? "" : "x";
    size_text += times + std::to_string(sizes[at]);
    stride_text += times + value(stride, d, 1);
    pad_text += times + value(pad, 2 * d, 0) + "_" + value(pad, 2 * d + 1, 0);
    base_text += times + value(base, d, 1);
    dilation_text += times + value(dilation, d, 1);
  }
  std::string text;
  if (!size_text.empty())
    text = ", window={size=" + size_text + " stride=" + stride_text + " pad=" + pad_text +
           " lhs_dilate=" + base_text + " rhs_dilate=" + dilation_text + "}";
  text += ", dim_labels=" + labels[0] + "_" + labels[1] + "->" + labels[2];
  for (const char* groups : {"feature_group_count", "batch_group_count"})
    if (const auto count = numbers(groups); !count.empty() && count[0] != 1)
      text += std::string(", ") + groups + "=" + std::to_string(count[0]);
  return text;
}

// window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>, padding = dense<[[0, 0], [1, 1]]>;
// what is not written changes nothing, and a padding of one number is the same everywhere.
std::optional<std::string> HloAttributes::window(const Statement& of) const {
  const std::vector<std::int64_t> sizes = words_.numbers(of, "window_dimensions");
  if (sizes.empty()) return std::nullopt;
  const auto text_of = [&](const char* name) {
    const std::vector<std::int64_t> numbers = words_.numbers(of, name);
    std::string text;
    for (std::size_t d = 0; d < sizes.size(); ++d)
      text += (d == 0 ? "" : "x") + std::to_string(d < numbers.size() ? numbers[d] : 1);
    return text;
  };
  const std::vector<std::int64_t> padding = words_.numbers(of, "padding");
  const auto side = [&](std::size_t i) {
    return std::to_string(padding.size() == 1 ? padding.front() : i < padding.size() ? padding[i] : 0);
  };
  std::string pads;
  for (std::size_t d = 0; d < sizes.size(); ++d)
    pads += (d == 0 ? "" : "x") + side(2 * d) + "_" + side(2 * d + 1);
  return ", window={size=" + text_of("window_dimensions") + " stride=" + text_of("window_strides") +
         " pad=" + pads + " lhs_dilate=" + text_of("base_dilations") +
         " rhs_dilate=" + text_of("window_dilations") + "}";
}

// Of one array.
std::optional<std::string> HloAttributes::windowed_reduction(const Statement& of) {
  const auto with = combined(of);
  const auto windows = window(of);
  if (!with || !windows || of.results.size() != 1 || of.operands.size() != 2) return std::nullopt;
  return *windows + ", to_apply=" + combiner(*with, words_.result_types(of).front());
}

// The largest of each window, as its pooling chose it: which one is chosen moves nothing.
std::optional<std::string> HloAttributes::selection(const Statement& of) {
  const auto windows = window(of);
  if (!windows || of.results.size() != 1 || of.operands.size() != 3) return std::nullopt;
  const std::string type = words_.result_types(of).front();
  return *windows + ", select=" + function("ge", type, "pred[] compare(a, b), direction=GE") +
         ", scatter=" + combiner(combined(of).value_or("add"), type);
}

std::string HloAttributes::lists(const Statement& of, const std::vector<const char*>& names) const {
  std::string text;
  for (const char* name : names) text += std::string(", ") + name + "=" + braced(words_.numbers(of, name));
  const std::vector<std::int64_t> along = words_.numbers(of, "index_vector_dim");
  return text + ", index_vector_dim=" + std::to_string(along.empty() ? 0 : along[0]);
}

std::optional<std::string> HloAttributes::gather(const Statement& of) const {
  if (!words_.attribute(of, "slice_sizes")) return std::nullopt;
  return lists(of, {"offset_dims", "collapsed_slice_dims", "start_index_map", "operand_batching_dims",
                    "start_indices_batching_dims", "slice_sizes"});
}

// Of one array; what writes over it gives back what comes.
std::optional<std::string> HloAttributes::scatter(const Statement& of) {
  if (of.results.size() != 1 || of.operands.size() != 3) return std::nullopt;
  const std::string type = words_.result_types(of).front();
  const auto with = combined(of);
  const std::string written =
      with ? combiner(*with, type)
           : function("overwrite", type, type.substr(0, type.find('[')) + "[] copy(b)");
  return lists(of, {"update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims",
                    "input_batching_dims", "scatter_indices_batching_dims"}) +
         ", to_apply=" + written;
}

// Of one array.
std::optional<std::string> HloAttributes::sort(const Statement& of) {
  if (of.results.size() != 1 || of.operands.size() != 1) return std::nullopt;
  return ", dimensions=" + braced(words_.numbers(of, "dimension")) + ", to_apply=" +
         function("less", words_.result_types(of).front(), "pred[] compare(a, b), direction=LT");
}

std::optional<std::string> HloAttributes::collective(const Statement& of, const std::string& opcode) {
  std::string groups;
  const char* name = opcode == "collective-permute" ? "source_target_pairs" : "replica_groups";
  if (const auto value = words_.attribute(of, name);
      value && words_.is(*value, "dense") && words_.is(*value + 2, "["))
    for (const char c : words_.text(*value + 2, words_.partner(*value + 2) + 1))
      if (c != ' ') groups += c == '[' ? '{' : c == ']' ? '}' : c;
  if (groups.empty()) return std::nullopt;
  for (std::size_t none = groups.find(",-1"); none != std::string::npos; none = groups.find(",-1"))
    groups.erase(none, 3);  // what makes rows equally long
  std::string text = std::string(", ") + name + "=" + groups + ", channel_id=1";
  if (opcode != "collective-permute" && opcode != "all-to-all") text += ", use_global_device_ids=true";
  for (const char* dimension : {"all_gather_dim", "scatter_dimension"})
    if (words_.attribute(of, dimension)) text += ", dimensions=" + braced(words_.numbers(of, dimension));
  if (opcode == "all-to-all")
    text += ", dimensions=" + braced(words_.numbers(of, "split_dimension")) +
            ", concat_dimension=" + braced(words_.numbers(of, "concat_dimension"));
  if (opcode == "all-reduce" || opcode == "reduce-scatter")
    text += ", to_apply=" + combiner(combined(of).value_or("add"), words_.result_types(of).front());
  return text;
}

// Of HLO; nothing where the operation has no HLO of this form.
std::optional<std::string> HloAttributes::of(const Statement& statement, const std::string& opcode) {
  if (statement.operation.starts_with("sdy.")) return std::nullopt;
  if (hlo::is_transcendental(opcode)) return "";
  if (opcode == "compare") return ", direction=" + std::string(words_.at(statement.begin + 1));
  if (hlo::is_elementwise(opcode) || opcode == "reshape" || opcode == "dynamic-update-slice" ||
      opcode == "opt-barrier")
    return "";
  if (opcode == "dot") return product(statement);
  if (opcode == "transpose") return ", dimensions=" + braced(words_.numbers(statement, "dims"));
  if (opcode == "reduce") return reduction(statement);
  if (opcode == "concatenate") return ", dimensions=" + braced(words_.numbers(statement, "dim"));
  if (opcode == "slice") return slice(statement);
  if (opcode == "convolution") return convolution(statement);
  if (opcode == "reduce-window") return windowed_reduction(statement);
  if (opcode == "select-and-scatter") return selection(statement);
  if (opcode == "gather") return gather(statement);
  if (opcode == "scatter") return scatter(statement);
  if (opcode == "sort") return sort(statement);
  if (opcode == "reverse") return ", dimensions=" + braced(words_.numbers(statement, "dims"));
  if (opcode == "pad") return padding(statement);
  if (opcode == "iota") {
    const std::vector<std::int64_t> dimension = words_.numbers(statement, "dim");
    return ", iota_dimension=" + std::to_string(dimension.empty() ? 0 : dimension.front());
  }
  if (opcode == "dynamic-slice") return ", dynamic_slice_sizes=" + braced(words_.numbers(statement, "sizes"));
  if (!hlo::collective_kind(opcode).empty()) return collective(statement, opcode);
  return std::nullopt;
}

}  // namespace podsim::stablehlo
