// Reads the shape columns and looks for the same shape in the catalogue.
#include "validation/run_model.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "proto/catalog/catalog.h"
#include "report/text/text.h"
#include "validation/mesh_text.h"
#include "workload/job/job.h"
#include "workload/model/model_program.h"
#include "workload/partition/job_validity.h"

namespace podsim {
namespace {

// "llama3.1-70b" and "llama3_1_70b" are one name.
std::string plain_name(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      text += static_cast<char>(c - 'A' + 'a');
    } else {
      text += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
    }
  }
  return text;
}

// Parameters, in billions, as its graphs have them; nothing of a shape that no model has.
std::optional<double> billions(const Model& model) {
  constexpr int kMostLayers = 10'000;  // of an entry of the catalogue
  Job job;
  job.model = model;
  job.mesh.axes = {{"data", 1}};
  job.global_batch = job.microbatch = job.sequence = 1;
  if (model.layers > kMostLayers || !explain_invalid(job).empty()) return std::nullopt;
  return parameter_count(model_program(job)) * 1e-9;
}

// Without a column of its own the feed-forward block of the dense layers is as wide as what one token passes
// in the others.
Model shape_of(const RunRow& row) {
  Model model;
  model.layers = row.whole("layers", 0);
  model.d_model = row.whole("hidden", 0);
  model.name = row.has("model") ? row.text("model")
                                : "gpt_" + std::to_string(model.layers) + "x" + std::to_string(model.d_model);
  model.heads = row.whole("heads", 0);
  model.kv_heads = row.whole("kv_heads", model.heads);
  model.head_dim = row.whole("head_dim", model.heads > 0 ? model.d_model / model.heads : 0);
  model.ffn = row.whole("ffn_hidden", 4 * model.d_model);
  model.gated_ffn = row.whole("ffn_matrices", model.ffn == 4 * model.d_model ? 2 : 3) == 3;
  model.vocabulary = row.whole("vocab", 0);
  if (row.whole("n_experts", 0) > 0) {
    MixtureOfExperts experts;
    experts.experts = row.whole("n_experts", 0);
    experts.experts_per_token = row.whole("topk", 1);
    experts.expert_ffn = model.ffn;
    experts.shared_ffn = row.whole("shared_expert_ffn", 0);
    experts.dense_layers = row.whole("dense_layers", 0);
    model.ffn =
        bounded_count(std::int64_t{experts.expert_ffn} * experts.experts_per_token + experts.shared_ffn);
    model.experts = experts;
  }
  return model;
}

// Of what the table leaves open, whatever comes nearest to the stated number of weights.
void fit_to_weights(const RunRow& row, Model& model) {
  const auto stated = row.number("params_total_b");
  if (!stated) {
    model.tied_embedding = !model.gated_ffn;
    return;
  }
  double best = std::numeric_limits<double>::infinity();
  const Model open = model;
  for (const bool gated : {false, true}) {
    if (row.has("ffn_matrices") && gated != open.gated_ffn) continue;
    for (const bool tied : {false, true}) {
      for (const int every : {1, 2}) {
        if (every > 1 && !open.experts) continue;
        Model candidate = open;
        candidate.gated_ffn = gated;
        candidate.tied_embedding = tied;
        if (candidate.experts) candidate.experts->every = every;
        const auto weights = billions(candidate);
        if (!weights || std::abs(*weights - *stated) >= best) continue;
        best = std::abs(*weights - *stated);
        model = candidate;
      }
    }
  }
}

bool same_experts(const RunRow& row, const Model& entry, const Model& wanted) {
  if (entry.experts.has_value() != wanted.experts.has_value()) return false;
  if (!wanted.experts)
    return entry.ffn == wanted.ffn && (!row.has("ffn_matrices") || entry.gated_ffn == wanted.gated_ffn);
  const MixtureOfExperts &a = *entry.experts, &b = *wanted.experts;
  return a.experts == b.experts && a.experts_per_token == b.experts_per_token &&
         a.expert_ffn == b.expert_ffn && (!row.has("shared_expert_ffn") || a.shared_ffn == b.shared_ffn) &&
         (!row.has("dense_layers") || a.dense_layers == b.dense_layers);
}

bool same_shape(const RunRow& row, const Model& entry, const Model& wanted) {
  return !entry.masked && !entry.decoder && !entry.vision && entry.layers == wanted.layers &&
         entry.d_model == wanted.d_model && entry.heads == wanted.heads &&
         entry.kv_heads == wanted.kv_heads && (entry.latent || entry.head_dim == wanted.head_dim) &&
         same_experts(row, entry, wanted);
}

// The entry of this shape: one of the same name first, then one of the same vocabulary. A vocabulary that the
// entry pads to a multiple of 128 is the same.
std::optional<Model> known_model(const RunRow& row, const Catalog& catalog, const Model& wanted) {
  const auto named = catalog.canonical(Catalog::Section::kModels, wanted.name);
  std::optional<Model> found;
  for (const std::string& name : catalog.names(Catalog::Section::kModels)) {
    const auto entry = catalog.model(name);
    if (!entry || !same_shape(row, *entry, wanted)) continue;
    const int padding = entry->vocabulary - wanted.vocabulary;
    if (name == named) return entry;
    if (!found && padding >= 0 && padding < 128) found = entry;
  }
  return found;
}

std::string field(const char* name, int value) {
  return std::string("    ") + name + ": " + std::to_string(value) + "\n";
}

std::string flag(const char* name, bool value) {
  return value ? std::string("    ") + name + ": true\n" : "";
}

std::string whole_shape(const Model& m) {
  std::string text = "    name: \"" + plain_name(m.name) + "\"\n";
  text += field("layers", m.layers) + field("d_model", m.d_model) + field("heads", m.heads) +
          field("kv_heads", m.kv_heads) + field("head_dim", m.head_dim) + field("ffn", m.ffn) +
          flag("gated_ffn", m.gated_ffn) + field("vocabulary", m.vocabulary) +
          flag("tied_embedding", m.tied_embedding);
  if (!m.experts) return text;
  const MixtureOfExperts& e = *m.experts;
  text += "    experts {\n";
  for (const auto& [name, value] : {std::pair("experts", e.experts),
                                    {"experts_per_token", e.experts_per_token},
                                    {"expert_ffn", e.expert_ffn},
                                    {"shared_ffn", e.shared_ffn},
                                    {"dense_layers", e.dense_layers},
                                    {"every", e.every}})
    if (value > 0) text += "  " + field(name, value);
  return text + "    }\n";
}

std::string override_block(const std::string& changes) {
  return changes.empty() ? "" : "  model_override {\n" + changes + "  }\n";
}

}  // namespace

RunModel run_model(const RunRow& row, const Catalog& catalog, int tensor) {
  RunModel result;
  if (row.has("catalog_model")) {
    const std::string written = row.text("catalog_model");
    const std::string name = catalog.canonical(Catalog::Section::kModels, written).value_or(written);
    const std::string changes = row.has("model_fields") ? "    " + row.text("model_fields") + "\n" : "";
    return {"  model: \"" + name + "\"\n" + override_block(changes), name, {}, ""};
  }
  for (const char* column : {"layers", "hidden", "heads", "vocab"})
    if (row.whole(column, 0) <= 0) return {"", "", {}, std::string("no ") + column};
  if (row.text("arch") == "hybrid")
    return {"", "", {}, "layers of several kinds, which the table does not tell"};

  Model wanted = shape_of(row);
  if (wanted.experts && !row.has("topk"))
    result.assumptions.push_back("experts per token are not stated, 1 assumed");
  fit_to_weights(row, wanted);
  std::string changes;
  int vocabulary = wanted.vocabulary;
  const auto entry = known_model(row, catalog, wanted);
  if (entry && entry->vocabulary >= vocabulary && entry->vocabulary - vocabulary < 128)
    vocabulary = entry->vocabulary;
  if (vocabulary % tensor != 0) {
    const std::int64_t multiple = std::int64_t{128} * tensor;
    vocabulary = bounded_count((vocabulary + multiple - 1) / multiple * multiple);
    result.assumptions.push_back("vocabulary padded to a multiple of 128 x tensor");
  }
  if (!entry) {
    wanted.vocabulary = vocabulary;
    changes = whole_shape(wanted);
  } else {
    const int sequence = row.whole("seq_len", 0);
    if (entry->vocabulary != vocabulary) changes += field("vocabulary", vocabulary);
    if (entry->learned_positions > 0 && entry->learned_positions < sequence)
      changes += field("learned_positions", sequence);
  }
  if (row.has("model_fields")) changes += "    " + row.text("model_fields") + "\n";
  result.name = entry ? entry->name : plain_name(wanted.name);
  if (entry) result.lines = "  model: \"" + entry->name + "\"\n";
  result.lines += override_block(changes);
  return result;
}

}  // namespace podsim
