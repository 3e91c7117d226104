// Traces for viewers, read back as a viewer reads them: every rule that it relies on without a word is
// expected.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace podsim::testing {

struct DecodedSlice {
  std::string group, track, name;
  std::int64_t begin_ns = 0, end_ns = 0, duration_ps = 0;
  std::string message = {}, waits_for = {}, layers = {}, shape = {};
  std::int64_t flops = -1;
  std::vector<std::uint64_t> sends = {};  // flows, each with a number above 0
  std::uint64_t receives = 0;             // 0 = none
  bool holds_others = false;
  auto key() const {
    return std::tie(group, track, name, begin_ns, end_ns, duration_ps, waits_for, layers, shape, flops, sends,
                    receives);
  }
};

struct DecodedCounter {
  std::string group, name, unit;
  std::vector<std::pair<std::int64_t, double>> values;  // (ns, value from then on)
  bool operator==(const DecodedCounter&) const = default;
};

std::vector<DecodedSlice> decode_perfetto(const std::string& bytes);
std::vector<DecodedSlice> decode_chrome(const std::string& text);
std::vector<DecodedCounter> counters_of_perfetto(const std::string& bytes);
std::vector<DecodedCounter> counters_of_chrome(const std::string& text);

void expect_same_slices(std::vector<DecodedSlice> a, std::vector<DecodedSlice> b);

}  // namespace podsim::testing
