// Operations of sharding cases whose windows slide along dimensions: convolution, pad, slice.
#include <algorithm>

#include "proto/cases/shard_case_questions.h"

namespace podsim {
namespace {

constexpr std::int64_t kMostStride = 1 << 20;
// Reads are found by trying taps and outputs for each residue of the dilations.
constexpr std::int64_t kMostDilation = 256, kMostInterior = (1 << 16) - 1;

using Numbers = std::vector<std::int64_t>;

// Where the batch (or input feature), the feature (or output feature) and each spatial dimension stand.
struct Roles {
  int first = 0, second = 0;
  std::vector<int> spatial;
};

// "b01f" with first = 'b', second = 'f'; nothing when it is not that.
std::optional<Roles> roles_of(const std::string& labels, char first, char second) {
  Roles roles;
  const auto at = [&](char label) {
    const std::size_t found = labels.find(label);
    return found == labels.rfind(label) && found != std::string::npos ? static_cast<int>(found) : -1;
  };
  roles.first = at(first);
  roles.second = at(second);
  if (labels.size() < 2 || labels.size() > 5 || roles.first < 0 || roles.second < 0) return std::nullopt;
  for (std::size_t s = 0; s + 2 < labels.size(); ++s) {
    roles.spatial.push_back(at(static_cast<char>('0' + s)));
    if (roles.spatial.back() < 0) return std::nullopt;
  }
  return roles;
}

// "b01f_01io->b01f"
bool read_labels(ShardCaseValues& values, std::int32_t value, ConvolutionShape& shape) {
  const auto labels = values.text(value);
  if (!labels) return false;
  const std::size_t bar = labels->find('_'), arrow = labels->find("->");
  if (bar != std::string::npos && arrow != std::string::npos && bar < arrow) {
    const auto lhs = roles_of(labels->substr(0, bar), 'b', 'f');
    const auto rhs = roles_of(labels->substr(bar + 1, arrow - bar - 1), 'i', 'o');
    const auto out = roles_of(labels->substr(arrow + 2), 'b', 'f');
    if (lhs && rhs && out && lhs->spatial.size() == rhs->spatial.size() &&
        lhs->spatial.size() == out->spatial.size()) {
      shape.lhs_batch = lhs->first;
      shape.lhs_feature = lhs->second;
      shape.rhs_in = rhs->first;
      shape.rhs_out = rhs->second;
      shape.out_batch = out->first;
      shape.out_feature = out->second;
      shape.lhs_spatial = lhs->spatial;
      shape.rhs_spatial = rhs->spatial;
      shape.out_spatial = out->spatial;
      return true;
    }
  }
  values.report(value, "must be labels such as \"b01f_01io->b01f\", not \"" + *labels + "\"");
  return false;
}

// Low padding of each spatial dimension.
std::optional<Numbers> low_padding(ShardCaseValues& values, std::int32_t value, std::size_t spatial,
                                   Numbers& high) {
  high.assign(spatial, 0);
  if (value == kMissing) return Numbers(spatial, 0);
  const auto pairs = values.array(value);
  if (pairs.size() != spatial) {
    values.report(value,
                  "must be [low, high] for each of " + std::to_string(spatial) + " spatial dimensions");
    return std::nullopt;
  }
  Numbers low;
  for (std::size_t s = 0; s < spatial; ++s) {
    const auto pair = values.per_dim(pairs[s], 2, "padding", -kMostSize, kMostSize, 0);
    if (!pair) return std::nullopt;
    low.push_back((*pair)[0]);
    high[s] = (*pair)[1];
  }
  return low;
}

std::int64_t at(const Numbers& numbers, int index) { return numbers[static_cast<std::size_t>(index)]; }

bool read_windows(ShardCaseValues& values, std::int32_t value, ConvolutionQuestion& question) {
  const auto keys =
      values.object(value, {"size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"});
  if (!keys) return false;
  ConvolutionShape& shape = question.shape;
  const std::size_t spatial = shape.lhs_spatial.size();
  const auto list = [&](std::size_t key, std::int64_t most, std::int64_t fallback) {
    return values.per_dim((*keys)[key], spatial, "the window", fallback, most, fallback);
  };
  Numbers high;
  const auto size = list(0, kMostSize, 1), stride = list(1, kMostDilation, 1);
  const auto low = low_padding(values, (*keys)[2], spatial, high);
  const auto base = list(3, kMostDilation, 1), dilation = list(4, kMostDilation, 1), reversed = list(5, 1, 0);
  if (!size || !stride || !low || !base || !dilation || !reversed) return false;
  for (std::size_t s = 0; s < spatial; ++s) {
    Window& w = shape.windows.emplace_back();
    w.size = (*size)[s];
    w.stride = (*stride)[s];
    w.dilation = (*dilation)[s];
    w.base_dilation = (*base)[s];
    w.pad_low = (*low)[s];
    w.pad_high = high[s];
    w.input = at(shape.lhs, shape.lhs_spatial[s]);
    question.reversed.push_back((*reversed)[s] > 0);
    const std::int64_t taps = at(shape.rhs, shape.rhs_spatial[s]), out = at(shape.out, shape.out_spatial[s]);
    if (w.size != taps) {
      values.report(value, "has size " + std::to_string(w.size) + " along spatial dimension " +
                               std::to_string(s) + "; rhs has " + std::to_string(taps));
      return false;
    }
    const std::int64_t room =
        (w.input - 1) * w.base_dilation + w.pad_low + w.pad_high - (w.size - 1) * w.dilation;
    const std::int64_t outputs = room < 0 ? 0 : room / w.stride + 1;
    if (outputs == out) continue;
    values.report(value, "gives " + std::to_string(outputs) + " outputs along spatial dimension " +
                             std::to_string(s) + "; the output has " + std::to_string(out));
    return false;
  }
  return true;
}

// Batches and features are those of lhs, shared out among groups.
bool channels_fit(ShardCaseValues& values, std::int32_t value, const ConvolutionShape& s) {
  const auto require = [&](const char* key, std::int64_t found, std::int64_t wanted,
                           const std::string& what) {
    if (found == wanted) return true;
    values.report(values.find(value, key),
                  "has " + std::to_string(found) + " " + what + ", not " + std::to_string(wanted));
    return false;
  };
  return require("lhs", at(s.lhs, s.lhs_feature), at(s.rhs, s.rhs_in) * s.feature_groups,
                 "features (rhs's input features x feature groups)") &&
         require("output", at(s.out, s.out_feature), at(s.rhs, s.rhs_out),
                 "features (rhs's output features)") &&
         require("lhs", at(s.lhs, s.lhs_batch), at(s.out, s.out_batch) * s.batch_groups,
                 "batches (the output's x batch groups)") &&
         require("rhs", at(s.rhs, s.rhs_out) % (s.feature_groups * s.batch_groups), 0,
                 "output features left over by its groups");
}

}  // namespace

std::optional<Question> read_convolution(ShardCaseValues& values, std::int32_t value, const Mesh& mesh) {
  ConvolutionQuestion question;
  ConvolutionShape& shape = question.shape;
  const double bytes = values.element_bytes_in(value);
  const auto tensor = [&](const char* key) {
    const std::int32_t found = values.require(value, key);
    return found == kMissing ? std::nullopt : values.tensor(found, mesh, bytes);
  };
  const auto lhs = tensor("lhs"), rhs = tensor("rhs"), output = tensor("output");
  const std::int32_t labels = values.require(value, "dim_labels"), window = values.require(value, "window");
  const auto features = values.whole(values.find(value, "feature_group_count"), 1, 1 << 20),
             batches = values.whole(values.find(value, "batch_group_count"), 1, 1 << 20);
  if (!lhs || !rhs || !output || window == kMissing || !read_labels(values, labels, shape))
    return std::nullopt;
  const std::size_t rank = shape.lhs_spatial.size() + 2;
  for (const auto& [found, key] :
       {std::pair{&*lhs, "lhs"}, std::pair{&*rhs, "rhs"}, std::pair{&*output, "output"}}) {
    if (found->dims.size() == rank) continue;
    values.report(values.find(value, key), "has " + std::to_string(found->dims.size()) +
                                               " dimensions; the labels give it " + std::to_string(rank));
    return std::nullopt;
  }
  shape.lhs = lhs->dims;
  shape.rhs = rhs->dims;
  shape.out = output->dims;
  shape.feature_groups = static_cast<int>(features.value_or(1));
  shape.batch_groups = static_cast<int>(batches.value_or(1));
  if (shape.feature_groups > 1 && shape.batch_groups > 1) {
    values.report(values.find(value, "batch_group_count"), "must not stand beside feature groups");
    return std::nullopt;
  }
  if (!channels_fit(values, value, shape) || !read_windows(values, window, question)) return std::nullopt;
  question.lhs = *lhs;
  question.rhs = *rhs;
  question.output = *output;
  return question;
}

std::optional<Question> read_shift(ShardCaseValues& values, std::int32_t value, const std::string& op,
                                   const Mesh& mesh) {
  const double bytes = values.element_bytes_in(value);
  const std::int32_t inputs = values.require(value, "inputs"), result = values.require(value, "output");
  if (inputs == kMissing || result == kMissing) return std::nullopt;
  const auto listed = values.array(inputs);
  if (listed.size() != 1) {
    values.report(inputs, "must be one tensor");
    return std::nullopt;
  }
  const auto input = values.tensor(listed[0], mesh, bytes), output = values.tensor(result, mesh, bytes);
  if (!input || !output) return std::nullopt;
  const std::size_t rank = input->dims.size();
  if (output->dims.size() != rank) {
    values.report(result, "must have as many dimensions as the input, " + std::to_string(rank));
    return std::nullopt;
  }
  const auto list = [&](const char* key, std::int64_t least, std::int64_t most, std::int64_t fallback) {
    return values.per_dim(values.find(value, key), rank, "the input", least, most, fallback);
  };
  auto low = list("low", -kMostSize, kMostSize, 0);
  const auto high = list("high", -kMostSize, kMostSize, 0), interior = list("interior", 0, kMostInterior, 0),
             start = list("start", 0, kMostSize, 0), limit = list("limit", 0, kMostSize, -1),
             stride = list("stride", 1, kMostStride, 1);
  if (!low || !high || !interior || !start || !limit || !stride) return std::nullopt;
  const std::vector<std::string> geometry = {"low", "high", "interior", "start", "limit"};
  const bool shifting_buffer =
      op == "pad_then_slice" && std::all_of(geometry.begin(), geometry.end(), [&](const std::string& key) {
        return values.find(value, key) == kMissing;
      });
  if (shifting_buffer && rank > 0) (*low)[0] = 1;
  ShiftQuestion question{*input, *output, {}};
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t padded = (input->dims[d] - 1) * ((*interior)[d] + 1) + 1 + (*low)[d] + (*high)[d];
    // Without a limit all is kept; of a shifting buffer, as much as the output has.
    const std::int64_t end = (*limit)[d] >= 0  ? (*limit)[d]
                             : shifting_buffer ? (*start)[d] + output->dims[d]
                                               : padded;
    const std::int64_t kept = end > padded ? -1 : (end - (*start)[d] + (*stride)[d] - 1) / (*stride)[d];
    if (kept != output->dims[d]) {
      values.report(result, "has " + std::to_string(output->dims[d]) + " along dimension " +
                                std::to_string(d) + "; of " + std::to_string(padded) + " after padding, " +
                                (kept < 0 ? "there are not that many up to " + std::to_string(end)
                                          : std::to_string(kept) + " are kept"));
      return std::nullopt;
    }
    Window& w = question.windows.emplace_back();
    w.dim = static_cast<int>(d);
    w.input = input->dims[d];
    w.stride = (*stride)[d];
    w.base_dilation = (*interior)[d] + 1;
    w.pad_low = (*low)[d] - (*start)[d];
    w.pad_high = (*high)[d];
  }
  return question;
}

}  // namespace podsim
