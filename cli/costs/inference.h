// Options of an estimate of what a cluster serves, which verbs share.
#pragma once

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
  std::optional<int> tensor, sequences;
  double most_ms_per_token = 0;
};

void add_inference_options(CLI::App& verb, InferenceOptions& options);

// The options as words, for the digest of a question.
std::string inference_words(const InferenceOptions& options);

// Nothing, and a message, where the scenario's model or chip cannot be asked so.
std::optional<InferenceReport> inference_of(const Spec& spec, const InferenceOptions& options);

}  // namespace podsim
