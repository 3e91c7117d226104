// Questions that take one tensor to another: reshapes, transposes, reductions, joins.
#include <algorithm>

#include "proto/cases/shard_case_questions.h"
#include "proto/text/assign.h"

namespace podsim {
namespace {

// The one input, alone or as a list of one.
std::optional<CaseTensor> only_input(ShardCaseValues& values, std::int32_t value, const Mesh& mesh) {
  const std::int32_t inputs = values.find(value, "inputs");
  if (inputs == kMissing) return values.tensor_in(value, "input", mesh);
  const auto listed = values.array(inputs);
  if (listed.size() == 1) return values.tensor(listed[0], mesh, values.element_bytes_in(value));
  values.report(inputs, "must be one tensor");
  return std::nullopt;
}

// What the dims of the output have to be; nothing, and a problem, where the question has no such.
std::optional<std::vector<std::int64_t>> rearranged_dims(ShardCaseValues& values, std::int32_t value,
                                                         RearrangeQuestion& question) {
  const std::vector<std::int64_t>& in = question.input.dims;
  const auto rank = static_cast<std::int32_t>(in.size());
  const char* key = question.how == RearrangeQuestion::How::kTranspose ? "permutation" : "dims";
  const std::int32_t listed = values.require(value, key);
  if (listed == kMissing) return std::nullopt;
  for (const std::int32_t each : values.array(listed)) {
    const auto dim = values.index(each, rank, "a dimension");
    if (!dim) return std::nullopt;
    if (std::find(question.dims.begin(), question.dims.end(), *dim) != question.dims.end()) {
      values.report(each, "names a dimension again");
      return std::nullopt;
    }
    question.dims.push_back(*dim);
  }
  std::vector<std::int64_t> out;
  if (question.how == RearrangeQuestion::How::kTranspose) {
    for (const int dim : question.dims) out.push_back(in[static_cast<std::size_t>(dim)]);
    if (out.size() == in.size()) return out;
    values.report(listed, "must name every dimension once");
    return std::nullopt;
  }
  for (std::int32_t d = 0; d < rank; ++d)
    if (std::find(question.dims.begin(), question.dims.end(), d) == question.dims.end())
      out.push_back(in[static_cast<std::size_t>(d)]);
  return out;
}

}  // namespace

std::optional<Question> read_rearranged(ShardCaseValues& values, std::int32_t value, const std::string& op,
                                        const Mesh& mesh) {
  const auto input = only_input(values, value, mesh), output = values.tensor_in(value, "output", mesh);
  if (!input || !output) return std::nullopt;
  RearrangeQuestion question;
  question.input = *input;
  question.output = *output;
  if (op == "reshape") {
    const auto elements = [](const CaseTensor& of) {
      double all = 1;
      for (const std::int64_t size : of.dims) all *= static_cast<double>(size);
      return all;
    };
    if (elements(*input) == elements(*output)) return question;
    values.report(values.find(value, "output"), "must have as many elements as the input");
    return std::nullopt;
  }
  question.how = op == "transpose" ? RearrangeQuestion::How::kTranspose : RearrangeQuestion::How::kReduce;
  const auto dims = rearranged_dims(values, value, question);
  if (!dims) return std::nullopt;
  if (*dims == output->dims) return question;
  values.report(values.find(value, "output"), "must have the sizes of the input, " + op + "d");
  return std::nullopt;
}

std::optional<Question> read_concatenate(ShardCaseValues& values, std::int32_t value, const Mesh& mesh) {
  const auto output = values.tensor_in(value, "output", mesh);
  const std::int32_t inputs = values.require(value, "inputs"), along = values.require(value, "dim");
  if (!output || inputs == kMissing) return std::nullopt;
  const auto dim = values.index(along, static_cast<std::int32_t>(output->dims.size()), "a dimension");
  if (!dim) return std::nullopt;
  ConcatenateQuestion question{{}, *output, *dim};
  std::int64_t length = 0;
  for (const std::int32_t v : values.array(inputs)) {
    const auto input = values.tensor(v, mesh, output->element_bytes);
    if (!input) return std::nullopt;
    std::vector<std::int64_t> dims = output->dims;
    if (input->dims.size() == dims.size())
      dims[static_cast<std::size_t>(*dim)] = input->dims[static_cast<std::size_t>(*dim)];
    if (input->dims != dims) {
      values.report(v, "must have the sizes of the output but along dimension " + std::to_string(*dim));
      return std::nullopt;
    }
    length += dims[static_cast<std::size_t>(*dim)];
    question.inputs.push_back(*input);
  }
  if (length == output->dims[static_cast<std::size_t>(*dim)] && !question.inputs.empty()) return question;
  values.report(values.find(value, "output"),
                "has " + std::to_string(output->dims[static_cast<std::size_t>(*dim)]) + " along dimension " +
                    std::to_string(*dim) + "; the inputs have " + std::to_string(length) + " together");
  return std::nullopt;
}

}  // namespace podsim
