// The list of numbers that measured steps may move.
#include "calibration/stack_numbers.h"

#include <algorithm>

namespace podsim {
namespace {

constexpr double kMicrosecond = 1e-6, kMillisecond = 1e-3;

bool always(const Stack&) { return true; }

template <double Stack::*member>
constexpr StackNumber plain(const char* path) {
  return {path, [](const Stack& stack) { return stack.*member; },
          [](Stack& stack, double value) { stack.*member = value; }, always};
}

template <Time Stack::*member, const double& unit>
constexpr StackNumber duration(const char* path) {
  return {path, [](const Stack& stack) { return (stack.*member).in_seconds() / unit; },
          [](Stack& stack, double value) { stack.*member = Time::seconds(value * unit); }, always};
}

// Where a stack does not state them, they follow elementwise_traffic by themselves.
constexpr StackNumber kExpertTraffic = {
    "experts.traffic",
    [](const Stack& stack) { return stack.experts.traffic.value_or(stack.elementwise_traffic); },
    [](Stack& stack, double value) {
      if (stack.experts.traffic) stack.experts.traffic = value;
    },
    [](const Stack& stack) { return stack.experts.traffic.has_value(); }};
constexpr StackNumber kPermutationTraffic = {
    "experts.permutation_traffic",
    [](const Stack& stack) { return stack.experts.permutation_traffic.value_or(kExpertTraffic.read(stack)); },
    [](Stack& stack, double value) {
      if (stack.experts.permutation_traffic) stack.experts.permutation_traffic = value;
    },
    [](const Stack& stack) { return stack.experts.permutation_traffic.has_value(); }};

}  // namespace

const std::vector<StackNumber>& stack_numbers() {
  static const std::vector<StackNumber> kNumbers = {
      plain<&Stack::gemm_factor>("gemm_factor"),
      plain<&Stack::attention_factor>("attention_factor"),
      plain<&Stack::elementwise_traffic>("elementwise_traffic"),
      kExpertTraffic,
      kPermutationTraffic,
      duration<&Stack::host_launch, kMicrosecond>("host_launch_us"),
      duration<&Stack::host_collective, kMicrosecond>("host_collective_us"),
      duration<&Stack::kernel_gap, kMicrosecond>("kernel_gap_us"),
      plain<&Stack::tensor_hidden>("tensor_hidden"),
      plain<&Stack::send_exposed>("send_exposed"),
      plain<&Stack::interference>("interference"),
      plain<&Stack::skew_per_doubling>("skew_per_doubling"),
      plain<&Stack::network_share>("network_share"),
      duration<&Stack::fixed_step, kMillisecond>("fixed_step_ms"),
      duration<&Stack::update_per_weight, kMicrosecond>("update_us_per_weight"),
      plain<&Stack::gradient_pass_bytes>("gradient_pass_bytes"),
      plain<&Stack::weight_passes>("weight_passes")};
  return kNumbers;
}

const StackNumber* find_stack_number(const std::string& path) {
  const auto& all = stack_numbers();
  const auto at = std::ranges::find_if(all, [&](const StackNumber& number) { return path == number.path; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace podsim
