// Rooflines of one replica, the largest batch that fits, and the replica that serves most tokens per chip.
#include "prediction/inference.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "collectives/collective.h"
#include "engine/binary_units.h"
#include "engine/unit_factors.h"
#include "prediction/replica_sizes.h"
#include "scheduler/placement/subcluster.h"
#include "workload/model/model_program.h"
#include "workload/partition/model_flops.h"

namespace podsim {
namespace {

// Of one token and the whole model.
struct TokenCosts {
  double parameters = 0, expert_parameters = 0;  // the second: of all experts, within the first
  double looked_up = 0, row = 0;  // parameters of tables of which each token reads a row, and of these rows
  double flops = 0;               // of matmuls, without attention
  double experts = 0, experts_per_token = 0;
  double kv_elements = 0;  // of a token that was read, in all layers
  // Of attention in all layers, for each token that one attends to.
  double flops_per_token_in_prompt = 0, flops_per_token_in_cache = 0;
  double local = 0;   // share of the layers that see no further back than the window
  double window = 0;  // tokens

  // In the mean over layers: tokens that the next one attends to behind so many, and whose keys are kept.
  double attended(double before) const { return (1 - local) * before + local * std::min(before, window); }
  // The same in the mean over the tokens of a prompt.
  double attended_in_prompt(double prompt) const {
    const double seen = std::min(prompt, window);
    return (1 - local) * prompt / 2 + local * (prompt > 0 ? seen - seen * seen / (2 * prompt) : 0);
  }
};

// A table that the logits share is read as a whole.
void add_tables(const Model& model, const ModelProgram& program, TokenCosts& costs) {
  for (const ModelPart& part : program.parts)
    for (const Operation& op : part.graph.operations) {
      if (op.kind != OperationKind::kEmbedding) continue;
      for (const Operand& input : op.inputs) {
        const Tensor& table = part.graph.tensors[static_cast<std::size_t>(input.tensor)];
        if (!is_parameter(table)) continue;
        const TensorDim& rows = table.dims.front();
        costs.row += elements(table) / static_cast<double>(rows.blocks.front().size);
        if (!model.tied_embedding || rows.logical != "param_vocabulary") costs.looked_up += elements(table);
      }
    }
}

void add_attention(const Model& model, TokenCosts& costs) {
  int local = 0;
  for (int layer = 0; layer < model.layers; ++layer) local += is_local(model, layer);
  costs.local = static_cast<double>(local) / model.layers;
  costs.window = model.attention_window;
  const double layers = model.layers, heads = model.heads;
  if (model.latent) {
    // A prompt attends by keys and values of every head; against the cache queries and sums are of the
    // latents, which are shared by all heads (DeepSeek-V2, arXiv 2405.04434, section 2.1.2).
    const LatentAttention& latent = *model.latent;
    costs.kv_elements = layers * (latent.kv_rank + latent.rotary_dim);
    costs.flops_per_token_in_prompt =
        2 * layers * heads * (latent.plain_dim + latent.rotary_dim + latent.value_dim);
    costs.flops_per_token_in_cache = 2 * layers * heads * (2 * latent.kv_rank + latent.rotary_dim);
  } else {
    costs.kv_elements = 2 * layers * model.kv_heads * model.head_dim;
    costs.flops_per_token_in_prompt = costs.flops_per_token_in_cache = 4 * layers * heads * model.head_dim;
  }
}

// Modules that predict further tokens are for training: nothing is drafted ahead.
TokenCosts costs_of(Job job) {
  job.model.prediction_layers = 0;
  const ModelProgram program = model_program(job);
  TokenCosts costs;
  costs.parameters = parameter_count(program);
  costs.flops = forward_flops_without_scores(job, program).value;
  if (job.model.experts) {
    costs.experts = job.model.experts->experts;
    costs.experts_per_token = job.model.experts->experts_per_token;
    costs.expert_parameters = expert_parameters(program);
  }
  add_tables(job.model, program, costs);
  add_attention(job.model, costs);
  return costs;
}

// One replica of `tensor` chips, the first of a domain.
class Replica {
 public:
  Replica(const InferenceQuestion& question, const TokenCosts& costs, const Fabric& domain, int tensor)
      : question_(question),
        costs_(costs),
        chip_(question.cluster.chip),
        domain_(domain),
        tensor_(tensor),
        group_(static_cast<std::size_t>(tensor)) {
    std::iota(group_.begin(), group_.end(), 0);
    const MatmulRate& rate = chip_.matmul.at(question.weights);
    flops_ = rate.peak.value * rate.sustained * tensor * question.reached;
    bytes_per_s_ = chip_.hbm.value * chip_.hbm_efficiency * tensor * question.reached;
  }

  double weight_bytes() const { return costs_.parameters * bytes_per_element(question_.weights); }
  double kv_bytes_per_token() const { return costs_.kv_elements * question_.kv_bytes; }
  double kv_bytes_per_sequence() const {  // at the end of its answer
    return kv_bytes_per_token() * costs_.attended(question_.prompt_tokens + question_.output_tokens);
  }

  std::int64_t most_sequences() const {
    const double room = question_.memory_share * chip_.hbm_capacity.value * tensor_ - weight_bytes();
    return static_cast<std::int64_t>(std::max(0.0, std::floor(room / kv_bytes_per_sequence())));
  }

  // Tokens in one pass, with the attention of each.
  struct Pass {
    double compute_s = 0, memory_s = 0, communication_s = 0;
    double seconds() const { return std::max(compute_s, memory_s) + communication_s; }
  };
  Pass pass(double tokens, double attention_flops, double cached_tokens) const {
    const double flops = tokens * (costs_.flops + attention_flops);
    const double bytes = weights_read(tokens) + cached_tokens * kv_bytes_per_token();
    return {flops / flops_, bytes / bytes_per_s_, all_reduces_s(tokens)};
  }
  Pass prefill() const {
    const double prompt = question_.prompt_tokens;
    return pass(prompt, costs_.flops_per_token_in_prompt * costs_.attended_in_prompt(prompt), 0);
  }
  Pass decode(double sequences) const {
    const double read = costs_.attended(question_.prompt_tokens + question_.output_tokens / 2.0);
    return pass(sequences, costs_.flops_per_token_in_cache * read, sequences * read);
  }
  // From one token of an answer to the next: while the others' answers are made, as many prompts are read.
  double token_s(double sequences) const {
    return decode(sequences).seconds() + sequences * prefill().seconds() / question_.output_tokens;
  }
  double tokens_per_s(double sequences) const { return sequences / token_s(sequences); }

 private:
  // Weights of experts that no token is sent to stay unread; which are, is taken as even chance. So do rows
  // of tables that no token looks up.
  double weights_read(double tokens) const {
    double read = costs_.parameters - costs_.looked_up + tokens * costs_.row;
    if (costs_.experts > 0)
      read -= std::pow(1 - costs_.experts_per_token / costs_.experts, tokens) * costs_.expert_parameters;
    return read * bytes_per_element(question_.weights);
  }

  // Two in each layer, of activations; none is hidden.
  double all_reduces_s(double tokens) const {
    const Model& model = question_.job.model;
    const Collective asked = {CollectiveKind::kAllReduce,
                              {tokens * model.d_model * question_.activation_bytes}};
    return 2 * model.layers * predict(domain_, plan(domain_, asked, group_)).in_seconds();
  }

  const InferenceQuestion& question_;
  const TokenCosts& costs_;
  const Chip& chip_;
  const Fabric& domain_;
  int tensor_;
  std::vector<ChipId> group_;
  double flops_ = 0, bytes_per_s_ = 0;
};

// The most sequences, up to `most`, whose answers are as quick as asked; 0 where none is.
std::int64_t quick_enough(const Replica& replica, std::int64_t most, double most_ms) {
  const auto is_quick = [&](std::int64_t sequences) {
    return replica.token_s(static_cast<double>(sequences)) * 1e3 <= most_ms;
  };
  if (most_ms <= 0 || is_quick(most)) return most;
  std::int64_t quick = 0, slow = most;
  while (slow - quick > 1) {
    const std::int64_t middle = quick + (slow - quick) / 2;
    (is_quick(middle) ? quick : slow) = middle;
  }
  return quick;
}

// None reaches from one domain into another.
std::int64_t replicas_on(std::int64_t chips, const InferenceReport& report) {
  return chips / report.chips_per_domain * (report.chips_per_domain / report.tensor) +
         chips % report.chips_per_domain / report.tensor;
}

InferenceReport report_of(const InferenceQuestion& question, const Replica& replica, int tensor,
                          std::int64_t sequences) {
  const Cluster& cluster = question.cluster;
  InferenceReport report;
  report.scenario = question.name;
  report.model = question.job.model.name;
  report.chip = cluster.chip.name;
  report.tensor = tensor;
  report.chips = cluster.fabric.chips;
  report.chips_per_domain = chips_per_domain(cluster.fabric);
  report.replicas = replicas_on(report.chips, report);
  report.sequences = sequences;
  report.sequences_that_fit = replica.most_sequences();
  report.weight_gib_per_chip = replica.weight_bytes() / tensor / kBytesPerGib;
  report.kv_kib_per_token = replica.kv_bytes_per_token() / kBytesPerKib;
  const auto under_way = static_cast<double>(sequences);
  report.kv_gib_per_chip = replica.kv_bytes_per_sequence() * under_way / tensor / kBytesPerGib;
  const auto prefill = replica.prefill(), decode = replica.decode(under_way);
  report.prefill_s = prefill.seconds();
  report.prefill_by_compute = prefill.compute_s >= prefill.memory_s;
  report.decode_step_s = decode.seconds();
  report.decode_by_compute = decode.compute_s >= decode.memory_s;
  report.decode_communication_s = decode.communication_s;
  report.ms_per_token = replica.token_s(under_way) * 1e3;
  report.output_tokens_per_s = static_cast<double>(report.replicas) * replica.tokens_per_s(under_way);
  const double kw = report.chips *
                    with_host_w(cluster.chip, cluster.chip.power_busy_w, cluster.fabric.chips_per_host) *
                    cluster.price.pue / 1e3;
  const double usd_per_hour = report.chips * cluster.price.usd_per_chip_hour + kw * cluster.price.usd_per_kwh;
  report.usd_per_million_tokens = usd_per_hour / kSecondsPerHour / report.output_tokens_per_s * 1e6;
  report.j_per_token = kw * 1e3 / report.output_tokens_per_s;
  if (cluster.carbon)
    report.kg_per_million_tokens =
        cluster.carbon->kg(kw, report.chips) / kSecondsPerHour / report.output_tokens_per_s * 1e6;
  return report;
}

// Of the size that has room for the most sequences, or for none.
std::string explain_no_room(const InferenceQuestion& question, int tensor, std::int64_t most) {
  const std::string chips = std::to_string(tensor) + " " + question.cluster.chip.name;
  if (most == 0) return "weights and cache do not fit into the memory of " + chips;
  return "beside the weights, the memory of " + chips + " has room for the cache of " + std::to_string(most) +
         " sequences, not of " + std::to_string(*question.sequences);
}

}  // namespace

std::string explain_invalid(const InferenceQuestion& question) {
  if (!question.tensor) return "";
  return explain_invalid_replica(question.job.model, question.cluster.fabric, *question.tensor);
}

std::optional<InferenceReport> estimate_inference(const InferenceQuestion& question, std::string& why) {
  const TokenCosts costs = costs_of(question.job);
  const std::vector<int> sizes = question.tensor ? std::vector{*question.tensor}
                                                 : replica_sizes(question.job.model, question.cluster.fabric);
  const FabricSpec& fabric = question.cluster.fabric;
  const Fabric domain = build_fabric(subcluster(fabric, chips_per_domain(fabric)));
  std::optional<InferenceReport> best;
  std::int64_t most = 0;
  bool fits = false;
  for (const int tensor : sizes) {
    const Replica replica(question, costs, domain, tensor);
    const std::int64_t room = replica.most_sequences();
    most = std::max(most, room);
    if (room == 0 || question.sequences.value_or(1) > room) continue;
    fits = true;
    const std::int64_t sequences =
        quick_enough(replica, question.sequences.value_or(room), question.most_ms_per_token);
    if (sequences == 0) continue;
    const InferenceReport report = report_of(question, replica, tensor, sequences);
    if (!best || report.output_tokens_per_s > best->output_tokens_per_s) best = report;
  }
  if (!best)
    why = fits ? "no replica answers within " + std::to_string(question.most_ms_per_token) + " ms a token"
               : explain_no_room(question, sizes.back(), most);
  return best;
}

std::int64_t chips_to_serve(const InferenceReport& report, double output_tokens_per_s) {
  const double per_replica = report.output_tokens_per_s / report.replicas;
  constexpr double kMostReplicas = 1e12;
  const auto replicas =
      static_cast<std::int64_t>(std::min(std::ceil(output_tokens_per_s / per_replica), kMostReplicas));
  const std::int64_t of_domain = report.chips_per_domain / report.tensor;
  return replicas / of_domain * report.chips_per_domain + replicas % of_domain * report.tensor;
}

}  // namespace podsim
