// Operations whose windows slide along dimensions: convolution, pooling, slice, pad and shift.
#include <algorithm>
#include <utility>

#include "workload/model/program_operation.h"

namespace podsim {

std::int64_t ProgramOperationBuilder::slide(const ProgramWindow& window, const std::string& field,
                                            std::int64_t size) {
  const std::int64_t reach = window.dilation * (window.size - 1) + 1;
  const std::int64_t padded = size + window.pad_low + window.pad_high;
  if (padded >= reach) return (padded - reach) / window.stride + 1;
  report(field, "a window over " + std::to_string(reach) + " is larger than the input of " +
                    std::to_string(size) +
                    (padded == size ? "" : ", " + std::to_string(padded) + " with its padding"));
  return 0;
}

// Pools, and moves data along dimensions without computing.
void ProgramOperationBuilder::shift() {
  if (!take_inputs(1, 1) || !outputs_of(1) || !bind_inputs() || !check_sizes("*")) return;
  if (op_.windows.empty())
    return report("window", "needs a window", "write, for example, window { along: \"height\" size: 3 }");
  const Input& input = inputs_.front();
  std::vector<DimTerm> terms = input.tensor->terms;
  for (std::size_t i = 0; i < op_.windows.size(); ++i) {
    ProgramWindow window = op_.windows[i];
    const std::string field = "window[" + std::to_string(i) + "]";
    const auto at = std::find(input.keys.begin(), input.keys.end(), window.along);
    if (at == input.keys.end())
      return report(field + ".along", "\"" + window.along + "\" is no dimension of " + text(input));
    const auto dim = static_cast<std::size_t>(at - input.keys.begin());
    window.size = std::max<std::int64_t>(window.size, 1);
    const std::int64_t size = slide(window, field, input.tensor->sizes[dim]);
    if (size == 0) return;
    if (size != input.tensor->sizes[dim]) terms[dim] = sized_term(terms[dim].name, size);
    result_.windows.push_back({.letter = letter(window.along),
                               .size = window.size,
                               .stride = window.stride,
                               .dilation = window.dilation,
                               .pad_low = window.pad_low,
                               .pad_high = window.pad_high});
  }
  if (!op_.equation.empty()) return report("equation", "its dimensions are those of the input");
  if (!op_.dims.empty() && !same_sizes(terms)) return;
  if (!op_.dims.empty() && !parse_output(0, terms)) return;
  if (!add_output(0, terms, input.keys)) return;
  result_.saves_inputs = op_.kind == ProgramKind::kPool;
  result_.passes = op_.passes;
  push(OperationKind::kShift);
}

// Sizes that the user wrote for the output against those that windows make.
bool ProgramOperationBuilder::same_sizes(const std::vector<DimTerm>& made) {
  std::vector<DimTerm> written;
  if (!parse_output(0, written)) return false;
  if (written.size() != made.size()) {
    report("dims[0]", "the output has " + std::to_string(made.size()) + " dimensions, not " +
                          std::to_string(written.size()));
    return false;
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    const std::int64_t is = scope_.size_of(written[i], path_ + ".dims[0]"),
                       must = scope_.size_of(made[i], path_);
    if (is == 0) return false;
    if (is == must) continue;
    report("dims[0]", "\"" + written[i].text + "\" is " + std::to_string(is) + ", but the operation makes " +
                          std::to_string(must) + " of it");
    return false;
  }
  return true;
}

// The window along spatial dimension `spatial` of `count`: the one for all, or its own; its size is the
// filter's.
ProgramWindow ProgramOperationBuilder::filter_window(std::size_t spatial, std::size_t count) {
  ProgramWindow window;
  if (op_.windows.size() == 1) window = op_.windows.front();
  if (op_.windows.size() == count) window = op_.windows[spatial];
  const std::int64_t of_filter = inputs_[1].tensor->sizes[spatial];
  if (window.size != 0 && window.size != of_filter)
    report("window", "its size is " + std::to_string(window.size) + ", the filter " + text(inputs_[1]) +
                         " has " + std::to_string(of_filter));
  window.size = of_filter;
  return window;
}

bool ProgramOperationBuilder::check_groups(std::int64_t channels, std::int64_t filter_in,
                                           std::int64_t filter_out) {
  if (channels % op_.groups != 0 || filter_out % op_.groups != 0) {
    report("groups", std::to_string(op_.groups) + " groups do not divide " + std::to_string(channels) +
                         " channels into " + std::to_string(filter_out));
    return false;
  }
  if (channels / op_.groups == filter_in) return true;
  report("input[1]", text(inputs_[1]) + " takes " + std::to_string(filter_in) + " channels, " +
                         text(inputs_[0]) + " has " + std::to_string(channels) +
                         (op_.groups > 1 ? " in " + std::to_string(op_.groups) + " groups" : ""));
  return false;
}

// Dimensions by position. Image: batch, spatial, channels. Filter: window, channels in, channels out.
void ProgramOperationBuilder::convolution() {
  if (!take_inputs(2, 2) || !outputs_of(1)) return;
  const std::size_t rank = inputs_[0].tensor->terms.size();
  if (rank < 3 || rank > 5 || inputs_[1].tensor->terms.size() != rank)
    return report("input",
                  "takes an image [batch, one to three spatial dimensions, channels] and a filter [window, "
                  "channels in, channels out], not " +
                      text(inputs_[0]) + " and " + text(inputs_[1]));
  if (!op_.equation.empty()) return report("equation", "its dimensions go by position");
  const std::size_t spatial = rank - 2;
  if (op_.windows.size() > 1 && op_.windows.size() != spatial)
    return report("window", "has " + std::to_string(op_.windows.size()) + " windows for " +
                                std::to_string(spatial) + " spatial dimensions");
  const std::vector<std::int64_t>&image = inputs_[0].tensor->sizes, &filter = inputs_[1].tensor->sizes;
  if (!check_groups(image[rank - 1], filter[rank - 2], filter[rank - 1])) return;
  const bool depthwise = op_.groups > 1 && op_.groups == image[rank - 1] && op_.groups == filter[rank - 1];
  const std::string to = depthwise ? "channels" : "to";
  inputs_[0].keys = {"batch"};
  inputs_[1].keys = {};
  std::vector<std::string> made = {"batch"};
  std::vector<DimTerm> terms = {inputs_[0].tensor->terms[0]};
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::string key = "spatial " + std::to_string(i);
    inputs_[0].keys.push_back(key);
    inputs_[1].keys.push_back("window " + std::to_string(i));
    made.push_back(key);
    const ProgramWindow window = filter_window(i, spatial);
    const std::int64_t size = slide(window, "window", image[i + 1]);
    if (size == 0) return;
    const DimTerm& from = inputs_[0].tensor->terms[i + 1];
    terms.push_back(size == image[i + 1] ? from : sized_term(from.name, size));
    result_.windows.push_back({.letter = letter(key),
                               .size = window.size,
                               .stride = window.stride,
                               .dilation = window.dilation,
                               .pad_low = window.pad_low,
                               .pad_high = window.pad_high});
  }
  inputs_[0].keys.push_back("channels");
  inputs_[1].keys.push_back(op_.groups == 1 ? "channels" : "of group");
  inputs_[1].keys.push_back(to);
  made.push_back(to);
  const DimTerm& channels = inputs_[0].tensor->terms.back();
  terms.push_back(filter[rank - 1] == image[rank - 1] ? channels
                                                      : sized_term(channels.name, filter[rank - 1]));
  if (!check_sizes("*")) return;
  if (!op_.dims.empty() && (!same_sizes(terms) || !parse_output(0, terms))) return;
  if (!add_output(0, terms, made)) return;
  if (op_.groups > 1 && !depthwise) result_.whole = letters({"channels", "of group"});
  result_.low_precision = layer_;
  push(OperationKind::kConvolution);
}

}  // namespace podsim
