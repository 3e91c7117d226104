// Operations of sharding cases without windows: einsums, lookups, training patterns, propagation.
#include "proto/cases/shard_case_questions.h"

#include <algorithm>
#include <map>

#include "proto/text/assign.h"
#include "report/text/text.h"

namespace podsim {
namespace {

constexpr std::int64_t kMostParameters = std::int64_t{1} << 50, kMostMicrobatches = 1 << 16;
constexpr std::int64_t kMostStages = 1 << 20;

const std::map<std::string, std::vector<std::string>>& operations() {
  static const std::map<std::string, std::vector<std::string>> keys = {
      {"reshard", {"input", "output"}},
      {"einsum", {"equation", "sizes", "lhs", "rhs", "output"}},
      {"propagate", {"rule", "tensors"}},
      {"convolution",
       {"dim_labels", "window", "lhs", "rhs", "output", "batch_group_count", "feature_group_count"}},
      {"embedding", {"table", "indices", "output"}},
      {"concatenate", {"dim", "inputs", "output"}},
      {"pad", {"low", "high", "interior", "inputs", "output"}},
      {"slice", {"start", "limit", "stride", "inputs", "output"}},
      {"pad_then_slice", {"low", "high", "interior", "start", "limit", "stride", "inputs", "output"}},
      {"softmax", {"softmax_dim", "input", "output"}},
      {"optimizer_step", {"params", "param_dtype", "grad_dtype", "zero_stage"}},
      {"ring_attention_fwd", {"q", "kv"}},
      {"ulysses_attention_fwd", {"q", "kv"}},
      {"gspmd_pipeline_fwd", {"stages", "microbatches", "state", "expected_iterations", "bubble_fraction"}},
      {"gather", {"table", "indices", "output"}},
      {"reshape", {"input", "inputs", "output"}},
      {"transpose", {"permutation", "input", "inputs", "output"}},
      {"reduce", {"dims", "input", "inputs", "output"}},
      {"allgather_attention_fwd", {"q", "kv"}},
      {"sequence", {"steps", "sizes"}},
      {"parse_hlo", {}}};
  return keys;
}

bool equal_dims(ShardCaseValues& values, std::int32_t value, const CaseTensor& a, const std::string& name_a,
                const CaseTensor& b, const std::string& name_b) {
  if (a.dims == b.dims) return true;
  values.report(values.find(value, name_b), "must have the sizes of \"" + name_a + "\"");
  return false;
}

std::optional<Question> read_reshard(ShardCaseValues& values, std::int32_t value, const Mesh& mesh) {
  const auto from = values.tensor_in(value, "input", mesh), to = values.tensor_in(value, "output", mesh);
  if (!from || !to || !equal_dims(values, value, *from, "input", *to, "output")) return std::nullopt;
  return ReshardQuestion{*from, *to};
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// "ik,kj->ij" into its terms; nothing, and a problem, for anything else.
std::optional<std::pair<std::vector<std::string>, std::vector<std::string>>> terms_of(ShardCaseValues& values,
                                                                                      std::int32_t value,
                                                                                      bool brackets) {
  const auto said = values.text(value);
  if (!said) return std::nullopt;
  std::vector<std::string> sides[2] = {{""}, {""}};
  int side = 0;
  bool open = false, sound = true;
  for (std::size_t i = 0; i < said->size() && sound; ++i) {
    const char c = (*said)[i];
    if (is_letter(c) && (open || !brackets)) {
      std::string& term = sides[side].back();
      if (term.find(c) != std::string::npos) {
        values.report(value, std::string("has the letter '") + c + "' twice on one tensor");
        return std::nullopt;
      }
      term += c;
    } else if (brackets && (c == '(' || c == ')')) {
      sound = open == (c == ')');
      open = c == '(';
    } else if (c == ',' && !open) {
      sides[side].emplace_back();
    } else if (c == '-' && side == 0 && !open && i + 1 < said->size() && (*said)[i + 1] == '>') {
      side = 1;
      ++i;
    } else if (c != ' ' || !brackets || open) {
      sound = false;
    }
  }
  if (sound && !open && side == 1) return std::pair{sides[0], sides[1]};
  values.report(value, "must be an equation such as \"" +
                           std::string(brackets ? "(ik),(kj)->(ij)" : "ik,kj->ij") + "\", not \"" + *said +
                           "\"");
  return std::nullopt;
}

// Sizes of letters, as the file says them and as tensors have them.
using LetterSizes = std::map<char, std::int64_t>;

std::optional<LetterSizes> letter_sizes(ShardCaseValues& values, std::int32_t value,
                                        const std::vector<std::string>& terms) {
  LetterSizes sizes;
  if (value == kMissing) return sizes;
  std::string letters;
  for (const std::string& term : terms) letters += term;
  const auto given = values.entries(value);
  if (!given) return std::nullopt;
  for (const auto& [letter, v] : *given) {
    if (letter.size() != 1 || letters.find(letter) == std::string::npos) {
      values.report(v, "is the size of a letter that the equation does not have");
      return std::nullopt;
    }
    const auto size = values.whole(v, 1, std::int64_t{1} << 40);
    if (!size) return std::nullopt;
    sizes[letter[0]] = *size;
  }
  return sizes;
}

bool letters_fit(ShardCaseValues& values, std::int32_t value, const std::string& letters,
                 const CaseTensor& tensor, LetterSizes& sizes) {
  if (letters.size() != tensor.dims.size()) {
    values.report(value, "has " + std::to_string(tensor.dims.size()) +
                             " dimensions; the equation gives it \"" + letters + "\"");
    return false;
  }
  for (std::size_t d = 0; d < letters.size(); ++d) {
    const auto [at, fresh] = sizes.emplace(letters[d], tensor.dims[d]);
    if (at->second == tensor.dims[d]) continue;
    values.report(value, std::string("has size ") + std::to_string(tensor.dims[d]) + " for '" + letters[d] +
                             "', which is " + std::to_string(at->second) + " elsewhere");
    return false;
  }
  return true;
}

std::optional<Question> read_einsum(ShardCaseValues& values, std::int32_t value, const Mesh& mesh) {
  const std::int32_t equation = values.require(value, "equation");
  const auto terms = equation == kMissing ? std::nullopt : terms_of(values, equation, false);
  const auto lhs = values.tensor_in(value, "lhs", mesh), rhs = values.tensor_in(value, "rhs", mesh),
             output = values.tensor_in(value, "output", mesh);
  if (!terms || !lhs || !rhs || !output) return std::nullopt;
  const auto& [operands, results] = *terms;
  if (operands.size() != 2 || results.size() != 1) {
    values.report(equation, "must have two operands and one result");
    return std::nullopt;
  }
  for (const char c : results[0]) {
    if (operands[0].find(c) != std::string::npos || operands[1].find(c) != std::string::npos) continue;
    values.report(equation, std::string("has the letter '") + c + "' in its result and in no operand");
    return std::nullopt;
  }
  auto sizes = letter_sizes(values, values.find(value, "sizes"), operands);
  if (!sizes || !letters_fit(values, values.find(value, "lhs"), operands[0], *lhs, *sizes) ||
      !letters_fit(values, values.find(value, "rhs"), operands[1], *rhs, *sizes) ||
      !letters_fit(values, values.find(value, "output"), results[0], *output, *sizes))
    return std::nullopt;
  EinsumQuestion question{operands, results[0], *lhs, *rhs, *output};
  const std::int32_t options = values.find(value, "options");
  question.windowed = values.boolean(values.find(options, "windowed_einsum")).value_or(false);
  question.window_threshold_bytes =
      values.number(values.find(options, "threshold_mib"), 0, 1e9).value_or(0) * (1 << 20);
  return question;
}

std::optional<Question> read_propagate(ShardCaseValues& values, std::int32_t value, const Mesh& mesh) {
  const std::int32_t rule = values.require(value, "rule"), tensors = values.require(value, "tensors");
  if (rule == kMissing || tensors == kMissing) return std::nullopt;
  const bool reshape = values.text(rule).value_or("") == "reshape";
  const auto given =
      values.object(tensors, reshape ? std::vector<std::string>{"shardings", "in_dims", "out_dims"}
                                     : std::vector<std::string>{"shardings", "sizes"});
  if (!given) return std::nullopt;
  PropagateQuestion question;
  if (reshape) {
    const auto in = values.sizes(values.require(tensors, "in_dims"));
    const auto out = values.sizes(values.require(tensors, "out_dims"));
    if (!in || !out) return std::nullopt;
    question.dims = {*in, *out};
  } else {
    const auto terms = terms_of(values, rule, true);
    if (!terms) return std::nullopt;
    question.operand_letters = terms->first;
    question.result_letters = terms->second;
    std::vector<std::string> all = terms->first;
    all.insert(all.end(), terms->second.begin(), terms->second.end());
    const std::int32_t given_sizes = values.require(tensors, "sizes");
    const auto sizes = letter_sizes(values, given_sizes, all);
    if (given_sizes == kMissing || !sizes) return std::nullopt;
    for (const std::string& term : all) {
      std::vector<std::int64_t>& dims = question.dims.emplace_back();
      for (const char c : term) {
        if (sizes->count(c) == 0) {
          values.report(given_sizes, std::string("lacks the letter '") + c + "'");
          return std::nullopt;
        }
        dims.push_back(sizes->at(c));
      }
    }
  }
  const std::int32_t shardings = values.require(tensors, "shardings");
  const auto listed = values.array(shardings);
  if (shardings == kMissing || listed.size() != question.dims.size()) {
    if (shardings != kMissing)
      values.report(shardings,
                    "must be one for each of " + std::to_string(question.dims.size()) + " tensors");
    return std::nullopt;
  }
  for (std::size_t t = 0; t < listed.size(); ++t) {
    const auto said = values.text(listed[t]);
    if (!said) return std::nullopt;
    const ParsedAnnotation parsed = parse_annotation(mesh, question.dims[t].size(), *said);
    if (parsed.problem) {
      values.report(listed[t],
                    "is \"" + *said + "\"; at character " + std::to_string(parsed.problem->column) + ": " +
                        parsed.problem->message,
                    parsed.problem->hint);
      return std::nullopt;
    }
    question.annotations.push_back(parsed.annotation);
  }
  return question;
}

// {"name", "equation", "lhs", "rhs", "out"} with axes, and the sizes of all letters beside the steps.
std::optional<Question> read_sequence(ShardCaseValues& values, std::int32_t value, const Mesh& mesh) {
  const std::int32_t sizes_at = values.find(value, "sizes");
  if (sizes_at == kMissing) return Unplanned{"the steps of a sequence state no sizes", true};
  SequenceQuestion sequence;
  LetterSizes sizes;
  const auto given = values.entries(sizes_at);
  if (!given) return std::nullopt;
  for (const auto& [letter, v] : *given) {
    const auto size = values.whole(v, 1, kMostSize);
    if (!size) return std::nullopt;
    if (letter.size() == 1) sizes[letter[0]] = *size;
  }
  for (const std::int32_t step : values.array(values.require(value, "steps"))) {
    const auto name = values.text(values.require(step, "name"));
    const std::int32_t equation = values.find(step, "equation");
    if (!name) return std::nullopt;
    if (equation == kMissing) return Unplanned{"step " + *name + " has no equation"};
    const auto terms = terms_of(values, equation, false);
    if (!terms) return std::nullopt;
    if (terms->first.size() != 2 || terms->second.size() != 1) {
      values.report(equation, "must have two operands and one result");
      return std::nullopt;
    }
    const auto operand = [&](const char* key, const std::string& letters) -> std::optional<CaseTensor> {
      std::vector<std::int64_t> dims;
      for (const char c : letters) {
        if (sizes.count(c) == 0) {
          values.report(sizes_at, std::string("lacks the letter '") + c + "'");
          return std::nullopt;
        }
        dims.push_back(sizes.at(c));
      }
      const std::int32_t axes = values.require(step, key);
      return axes == kMissing ? std::nullopt
                              : values.sharded(axes, dims, mesh, values.element_bytes_in(value));
    };
    const auto lhs = operand("lhs", terms->first[0]), rhs = operand("rhs", terms->first[1]),
               out = operand("out", terms->second[0]);
    if (!lhs || !rhs || !out) return std::nullopt;
    sequence.steps.emplace_back(*name, EinsumQuestion{terms->first, terms->second[0], *lhs, *rhs, *out});
  }
  return sequence;
}

std::optional<Question> read_embedding(ShardCaseValues& values, std::int32_t value, const Mesh& mesh) {
  const auto table = values.tensor_in(value, "table", mesh), output = values.tensor_in(value, "output", mesh);
  auto indices = values.tensor_in(value, "indices", mesh);
  if (!table || !indices || !output) return std::nullopt;
  indices->element_bytes = 4;
  std::vector<std::int64_t> dims = indices->dims;
  if (!table->dims.empty()) dims.insert(dims.end(), table->dims.begin() + 1, table->dims.end());
  if (table->dims.empty() || output->dims != dims) {
    values.report(values.find(value, "output"),
                  "must have the sizes of the indices, then those of the table without its rows");
    return std::nullopt;
  }
  return EmbeddingQuestion{*table, *indices, *output};
}

std::optional<Question> read_softmax(ShardCaseValues& values, std::int32_t value, const Mesh& mesh) {
  const auto input = values.tensor_in(value, "input", mesh), output = values.tensor_in(value, "output", mesh);
  if (!input || !output || !equal_dims(values, value, *input, "input", *output, "output"))
    return std::nullopt;
  const auto dim = values.index(values.require(value, "softmax_dim"),
                                static_cast<std::int32_t>(input->dims.size()), "a dimension");
  if (!dim) return std::nullopt;
  return SoftmaxQuestion{*input, *output, *dim};
}

std::optional<Question> read_optimizer_step(ShardCaseValues& values, std::int32_t value) {
  OptimizerStepQuestion question;
  const auto parameters = values.whole(values.require(value, "params"), 1, kMostParameters);
  const auto stage = values.index(values.require(value, "zero_stage"), 4, "a stage of ZeRO");
  question.parameter_bytes = values.element_bytes_in(value, "param_dtype");
  question.gradient_bytes = values.element_bytes_in(value, "grad_dtype");
  if (!parameters || !stage) return std::nullopt;
  question.parameters = *parameters;
  question.zero_stage = *stage;
  return question;
}

// Queries and, where they differ, keys and values: [batch, sequence, heads, head dimension].
template <class Attention>
std::optional<Question> read_attention(ShardCaseValues& values, std::int32_t value, const Mesh& mesh) {
  const auto q = values.tensor_in(value, "q", mesh);
  const std::int32_t keys = values.find(value, "kv");
  const auto kv = keys == kMissing ? q : values.tensor(keys, mesh, values.element_bytes_in(value));
  if (!q || !kv) return std::nullopt;
  for (const auto& [given, name] : {std::pair{&*q, "q"}, std::pair{&*kv, "kv"}}) {
    if (given->dims.size() == 4 && given->layout.unreduced.empty()) continue;
    values.report(values.find(value, name), "must be whole sums of [batch, sequence, heads, head dimension]");
    return std::nullopt;
  }
  if (q->dims[0] != kv->dims[0] || q->dims[3] != kv->dims[3] || q->dims[2] % kv->dims[2] != 0) {
    values.report(keys,
                  "must have the batch and head dimension of q, and a number of heads that divides q's");
    return std::nullopt;
  }
  return Attention{*q, *kv};
}

std::optional<Question> read_pipeline(ShardCaseValues& values, std::int32_t value, const Mesh& mesh) {
  const auto state = values.tensor_in(value, "state", mesh);
  const auto microbatches = values.whole(values.require(value, "microbatches"), 1, kMostMicrobatches);
  if (!state || !microbatches) return std::nullopt;
  const std::int32_t stages = values.find(value, "stages");
  if (!state->dims.empty() && state->dims[0] > kMostStages) {
    values.report(values.find(value, "state"), "has more than 2^20 stages");
    return std::nullopt;
  }
  if (state->dims.empty() ||
      (stages != kMissing && values.number(stages, 1, 1e12) != static_cast<double>(state->dims[0]))) {
    values.report(values.find(value, "state"), "must have one slot per stage along its first dimension");
    return std::nullopt;
  }
  return ShiftPipelineQuestion{*state, *microbatches};
}

}  // namespace

std::vector<std::string> question_names() {
  std::vector<std::string> names;
  for (const auto& [name, keys] : operations()) names.push_back(name);
  return names;
}

std::vector<std::string> question_keys(const std::string& op) { return operations().at(op); }

std::optional<Question> read_question(ShardCaseValues& values, std::int32_t value, const std::string& op,
                                      const Mesh& mesh) {
  if (op == "reshard") return read_reshard(values, value, mesh);
  if (op == "einsum") return read_einsum(values, value, mesh);
  if (op == "propagate") return read_propagate(values, value, mesh);
  if (op == "convolution") return read_convolution(values, value, mesh);
  if (op == "embedding" || op == "gather") return read_embedding(values, value, mesh);
  if (op == "concatenate") return read_concatenate(values, value, mesh);
  if (op == "softmax") return read_softmax(values, value, mesh);
  if (op == "optimizer_step") return read_optimizer_step(values, value);
  if (op == "ring_attention_fwd") return read_attention<RingAttentionQuestion>(values, value, mesh);
  if (op == "ulysses_attention_fwd") return read_attention<UlyssesQuestion>(values, value, mesh);
  if (op == "allgather_attention_fwd") return read_attention<GatheredAttentionQuestion>(values, value, mesh);
  if (op == "reshape" || op == "transpose" || op == "reduce") return read_rearranged(values, value, op, mesh);
  if (op == "gspmd_pipeline_fwd") return read_pipeline(values, value, mesh);
  if (op == "sequence") return read_sequence(values, value, mesh);
  if (op == "parse_hlo") return Unplanned{"HLO text is not read here; podsim import reads it", true};
  return read_shift(values, value, op, mesh);
}

}  // namespace podsim
