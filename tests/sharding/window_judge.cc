// Enumerates what each shard reads, and looks for it in its own rows and in the slabs it receives.
#include "tests/sharding/window_judge.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace podsim::testing {
namespace {

using nlohmann::json;
using Sizes = std::vector<std::int64_t>;
using Rows = std::set<std::int64_t>;

// Output o meets input i at tap w where i base = o stride + w dilation - low.
struct Geometry {
  std::int64_t inputs = 1, outputs = 1, taps = 1, stride = 1, dilation = 1, base = 1, low = 0;

  void each(const std::function<void(std::int64_t o, std::int64_t w, std::int64_t i)>& meet) const {
    for (std::int64_t o = 0; o < outputs; ++o) {
      for (std::int64_t w = 0; w < taps; ++w) {
        const std::int64_t at = o * stride + w * dilation - low;
        if (at >= 0 && at % base == 0 && at / base < inputs) meet(o, w, at / base);
      }
    }
  }
};

// [shard] rows of the tensor that are read for its share of `cut` things.
std::vector<Rows> rows_read(const Geometry& geometry, int shards, std::int64_t cut, bool by_output,
                            bool read_taps) {
  std::vector<Rows> read(static_cast<std::size_t>(shards));
  const std::int64_t share = (cut + shards - 1) / shards;
  geometry.each([&](std::int64_t o, std::int64_t w, std::int64_t i) {
    const std::int64_t of = read_taps ? i : by_output ? o : w;
    read[static_cast<std::size_t>(of / share)].insert(read_taps ? w : i);
  });
  return read;
}

// Every row is a shard's own, or lies in a run that one hop is wide enough for.
Faults covered(const std::vector<Rows>& read, std::int64_t rows, int dim,
               const std::vector<PlanStep>& halos) {
  Faults faults;
  const auto shards = static_cast<std::int64_t>(read.size()), own = (rows + shards - 1) / shards;
  std::map<std::int64_t, std::int64_t> width;  // by distance, negative to the left
  for (const PlanStep& step : halos) {
    if (step.kind == StepKind::kHalo && step.halo_dim == dim)
      width[step.halo_left ? -step.halo_distance : step.halo_distance] = step.halo_width;
  }
  for (std::int64_t shard = 0; shard < shards; ++shard) {
    std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> runs;  // by distance
    for (const std::int64_t row : read[static_cast<std::size_t>(shard)]) {
      auto [at, fresh] = runs.try_emplace(row / own - shard, row, row);
      at->second = {std::min(at->second.first, row), std::max(at->second.second, row)};
    }
    for (const auto& [distance, run] : runs) {
      if (distance != 0 && width[distance] < run.second - run.first + 1)
        faults.push_back("shard " + std::to_string(shard) + " reads rows " + std::to_string(run.first) +
                         " to " + std::to_string(run.second) + " and receives " +
                         std::to_string(width[distance]));
    }
  }
  return faults;
}

// A slab is as wide as it says, and as long as the shard with the halos of dimensions before.
Faults slabs(const Sizes& dims, const Layout& layout, double bytes, const std::vector<PlanStep>& halos) {
  std::vector<double> extents;
  for (std::size_t d = 0; d < dims.size(); ++d)
    extents.push_back(std::ceil(static_cast<double>(dims[d]) / shard_count(layout.dims[d])));
  Faults faults;
  std::vector<double> grown = extents;
  int dim = -1;
  for (const PlanStep& step : halos) {
    if (step.kind != StepKind::kHalo) continue;
    if (step.halo_dim != dim) extents = grown;
    dim = step.halo_dim;
    const auto d = static_cast<std::size_t>(dim);
    double slab = bytes * static_cast<double>(step.halo_width);
    for (std::size_t other = 0; other < extents.size(); ++other) slab *= other == d ? 1 : extents[other];
    if (std::abs(slab - step.operand.value) > 1)
      faults.push_back("a slab of " + std::to_string(slab) + " bytes counts as " +
                       std::to_string(step.operand.value));
    grown[d] += static_cast<double>(step.halo_width);
  }
  return faults;
}

double bytes_of_element(const json& question) { return question.value("dtype", "bf16") == "bf16" ? 2 : 4; }

// "b01f_01io->b01f": where the dimensions of each operand and of the output are.
struct ConvolutionLabels {
  std::string lhs, rhs, out;

  explicit ConvolutionLabels(const std::string& text) {
    const std::size_t bar = text.find('_'), arrow = text.find("->");
    lhs = text.substr(0, bar);
    rhs = text.substr(bar + 1, arrow - bar - 1);
    out = text.substr(arrow + 2);
  }
};

void append(Faults& all, const Faults& more) { all.insert(all.end(), more.begin(), more.end()); }

std::size_t place(const std::string& labels, char label) { return labels.find(label); }

int add_factor(OpRule& rule, std::int64_t size, FactorKind kind) {
  rule.factors.push_back({.size = size, .kind = kind});
  return static_cast<int>(rule.factors.size()) - 1;
}

// The rule without spatial dimensions: groups, batch, features, and what is summed.
OpRule rule_of_channels(const json& question, const ConvolutionLabels& labels) {
  const auto& [lhs, rhs, out] = labels;
  const Sizes rhs_dims = question.at("rhs").at("dims"), out_dims = question.at("output").at("dims");
  const int batch_groups = question.value("batch_group_count", 1),
            groups = question.value("feature_group_count", 1) * batch_groups;
  OpRule rule;
  rule.operands = {FactorMap(lhs.size()), FactorMap(rhs.size())};
  rule.results = {FactorMap(out.size())};
  if (groups > 1) {
    const int group = add_factor(rule, groups, FactorKind::kPassThrough);
    rule.operands[0][place(lhs, batch_groups > 1 ? 'b' : 'f')].push_back(group);
    rule.operands[1][place(rhs, 'o')].push_back(group);
    rule.results[0][place(out, 'f')].push_back(group);
  }
  const int batch = add_factor(rule, out_dims[place(out, 'b')], FactorKind::kPassThrough);
  rule.operands[0][place(lhs, 'b')].push_back(batch);
  rule.results[0][place(out, 'b')].push_back(batch);
  const int features = add_factor(rule, out_dims[place(out, 'f')] / groups, FactorKind::kPassThrough);
  rule.operands[1][place(rhs, 'o')].push_back(features);
  rule.results[0][place(out, 'f')].push_back(features);
  const int summed = add_factor(rule, rhs_dims[place(rhs, 'i')], FactorKind::kReduction);
  rule.operands[0][place(lhs, 'f')].push_back(summed);
  rule.operands[1][place(rhs, 'i')].push_back(summed);
  return rule;
}

// Spatial dimension s.
Geometry geometry_of(const json& question, const ConvolutionLabels& labels, std::size_t s) {
  const json& window = question.at("window");
  const auto entry = [&](const char* key, std::int64_t fallback) {
    return window.contains(key) ? window.at(key).at(s).get<std::int64_t>() : fallback;
  };
  const auto size = [&](const char* tensor, const std::string& dims) {
    return question.at(tensor).at("dims").at(place(dims, static_cast<char>('0' + s))).get<std::int64_t>();
  };
  return {.inputs = size("lhs", labels.lhs),
          .outputs = size("output", labels.out),
          .taps = size("rhs", labels.rhs),
          .stride = entry("stride", 1),
          .dilation = entry("rhs_dilate", 1),
          .base = entry("lhs_dilate", 1),
          .low = window.contains("pad") ? window.at("pad").at(s).at(0).get<std::int64_t>() : 0};
}

}  // namespace

WindowVerdict judge_convolution(const std::string& text, const std::vector<Layout>& layouts,
                                const std::vector<std::vector<PlanStep>>& halos) {
  const json question = json::parse(text);
  const ConvolutionLabels labels(question.at("dim_labels").get<std::string>());
  WindowVerdict verdict{.rule = rule_of_channels(question, labels), .faults = {}};
  OpRule& rule = verdict.rule;
  for (std::size_t s = 0; s + 2 < labels.lhs.size(); ++s) {
    const char label = static_cast<char>('0' + s);
    const std::size_t l = place(labels.lhs, label), r = place(labels.rhs, label),
                      o = place(labels.out, label);
    const Geometry geometry = geometry_of(question, labels, s);
    const int position = add_factor(rule, geometry.outputs, FactorKind::kPermutation);
    const int tap = add_factor(rule, geometry.taps, FactorKind::kReduction);
    const AxisList &cut = layouts[0].dims[l], &taps = layouts[1].dims[r];
    const bool by_taps = !cut.empty() && cut == taps;
    rule.operands[0][l].push_back(by_taps ? tap : position);
    rule.operands[1][r].push_back(tap);
    rule.results[0][o].push_back(position);
    if (cut.empty()) continue;
    const int shards = shard_count(cut);
    const int l_dim = static_cast<int>(l), r_dim = static_cast<int>(r);
    const bool rhs_receives =
        by_taps && std::any_of(halos[1].begin(), halos[1].end(), [&](const PlanStep& step) {
          return step.kind == StepKind::kHalo && step.halo_dim == r_dim;
        });
    if (rhs_receives) {
      append(verdict.faults, covered(rows_read(geometry, shards, geometry.inputs, false, true), geometry.taps,
                                     r_dim, halos[1]));
    } else {
      append(verdict.faults,
             covered(rows_read(geometry, shards, by_taps ? geometry.taps : geometry.outputs, !by_taps, false),
                     geometry.inputs, l_dim, halos[0]));
    }
  }
  append(verdict.faults,
         slabs(question.at("lhs").at("dims"), layouts[0], bytes_of_element(question), halos[0]));
  append(verdict.faults,
         slabs(question.at("rhs").at("dims"), layouts[1], bytes_of_element(question), halos[1]));
  return verdict;
}

WindowVerdict judge_shift(const std::string& text, const std::string& op, const Layout& layout,
                          const std::vector<PlanStep>& halos) {
  const json question = json::parse(text);
  const Sizes in = question.at("inputs").at(0).at("dims"), out = question.at("output").at("dims");
  const auto entry = [&](const char* key, std::size_t d, std::int64_t fallback) {
    return question.contains(key) ? question.at(key).at(d).get<std::int64_t>() : fallback;
  };
  WindowVerdict verdict;
  FactorMap map;
  for (std::size_t d = 0; d < in.size(); ++d) {
    const bool buffer = op == "pad_then_slice" && d == 0 && !question.contains("low");
    const Geometry geometry{.inputs = in[d],
                            .outputs = out[d],
                            .stride = entry("stride", d, 1),
                            .base = entry("interior", d, 0) + 1,
                            .low = entry("low", d, buffer ? 1 : 0) - entry("start", d, 0)};
    verdict.rule.factors.push_back({.size = out[d], .kind = FactorKind::kPermutation});
    map.push_back({static_cast<int>(d)});
    if (layout.dims[d].empty()) continue;
    const auto read = rows_read(geometry, shard_count(layout.dims[d]), geometry.outputs, true, false);
    append(verdict.faults, covered(read, geometry.inputs, static_cast<int>(d), halos));
  }
  verdict.rule.operands = {map};
  verdict.rule.results = {map};
  append(verdict.faults, slabs(in, layout, bytes_of_element(question), halos));
  return verdict;
}

}  // namespace podsim::testing
