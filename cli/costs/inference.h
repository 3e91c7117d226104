// Options of an estimate of what a cluster serves, which verbs share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "prediction/inference.h"
#include "scheduler/question/spec.h"

namespace CLI {
class App;
}

namespace podsim {

struct InferenceOptions {
  int prompt_tokens = 1024, output_tokens = 256;
  std::string weights;  // "bf16", "fp8", ...; empty = the smallest of 8 bits and more that the chip computes
  std::optional<double> kv_bytes, reached;
  std::optional<int> tensor;
  std::optional<std::int64_t> sequences;
  double most_ms_per_token = 0;
};

void add_inference_options(CLI::App& verb, InferenceOptions& options);

// The options as words, for the digest of a question.
std::string inference_words(const InferenceOptions& options);

// Nothing, a message and an exit code where the scenario's model, chip or network cannot be asked so, or no
// replica fits.
std::optional<InferenceReport> inference_of(const Spec& spec, const InferenceOptions& options,
                                            int& exit_code);

}  // namespace podsim
