// Lines of scenarios that come from launchers' configurations.
#include "ingest/launchers/scenario_text.h"

#include "engine/check.h"
#include "proto/catalog/catalog.h"
#include "proto/scenario/chosen_fabric.h"
#include "report/text/text.h"

namespace podsim {
namespace {

// Slices are of tori; what a launcher calls so on GPUs are its servers.
bool has_slices(const std::string& fabric) {
  static const Catalog catalog;
  const auto [spec, problems] = chosen_fabric(catalog, {fabric, 1, {}, 1, false});
  return spec && spec->torus;
}

}  // namespace

std::string said_of(const std::map<std::string, std::string>& from, const std::string& field) {
  const auto found = from.find(field);
  return found == from.end() ? "" : found->second;
}

void ScenarioText::comment(const std::string& words) {
  text_ += std::string(2 * static_cast<std::size_t>(depth_), ' ') + "# " + words + "\n";
}

void ScenarioText::line(const std::string& text, const std::string& from) {
  std::string comment;
  for (const char c : from) comment += c == '\n' || c == '\r' ? ' ' : c;
  text_ += std::string(2 * static_cast<std::size_t>(depth_), ' ') + text +
           (comment.empty() ? "" : "  # " + comment) + "\n";
}

void ScenarioText::open(const std::string& name, const std::string& from) {
  line(name + " {", from);
  ++depth_;
}

void ScenarioText::close() {
  --depth_;
  line("}");
}

std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + "\"";
}

namespace {

// Fields of a model, each with where it is from; of a known model those alone that are others.
class ModelWriter {
 public:
  ModelWriter(ScenarioText& text, const ModelSizes& sizes, const ModelSizes* known, const std::string& file)
      : text_(text), sizes_(sizes), known_(known), file_(file) {}

  void write() {
    number("layers", &ModelSizes::layers);
    number("d_model", &ModelSizes::d_model);
    number("heads", &ModelSizes::heads);
    // Where a file leaves these out they follow from others.
    const bool follow = known_ != nullptr &&
                        (sizes_.heads != known_->heads || sizes_.d_model != known_->d_model) &&
                        !sizes_.latent;
    number("kv_heads", &ModelSizes::kv_heads, follow);
    number("head_dim", &ModelSizes::head_dim, follow);
    number("ffn", &ModelSizes::ffn);
    flag("gated_ffn", &ModelSizes::gated_ffn);
    number("vocabulary", &ModelSizes::vocabulary);
    flag("tied_embedding", &ModelSizes::tied_embedding);
    number("learned_positions", &ModelSizes::learned_positions);
    flag("biases", &ModelSizes::biases);
    if (sizes_.biases) flag("rms_norm", &ModelSizes::rms_norm);  // without biases norms have no offset anyhow
    flag("qk_norm", &ModelSizes::qk_norm);
    flag("post_norms", &ModelSizes::post_norms);
    flag("dropout", &ModelSizes::dropout);
    number("attention_window", &ModelSizes::attention_window);
    number("full_every", &ModelSizes::full_every);
    flag("attention_sinks", &ModelSizes::attention_sinks);
    number("prediction_layers", &ModelSizes::prediction_layers);
    if (sizes_.experts && (known_ == nullptr || sizes_.experts != known_->experts)) write_experts();
    if (sizes_.latent && (known_ == nullptr || sizes_.latent != known_->latent)) write_latent();
  }

 private:
  template <typename Part>
  using Numbers = std::vector<std::pair<const char*, std::optional<std::int64_t> Part::*>>;

  std::string from(const char* field) const {
    const std::string said = said_of(sizes_.from, field);
    return said.empty() ? "default, " + file_ : said;
  }

  // Fields of a part, of which the known model may have none.
  template <typename Part>
  void numbers(const Part& part, const Part* known, const Numbers<Part>& fields) {
    for (const auto& [field, member] : fields)
      if (part.*member && (known == nullptr || part.*member != known->*member))
        text_.line(std::string(field) + ": " + std::to_string(*(part.*member)), from(field));
  }

  void number(const char* field, std::optional<std::int64_t> ModelSizes::*member, bool always = false) {
    numbers<ModelSizes>(sizes_, always ? nullptr : known_, {{field, member}});
  }

  void flag(const char* field, bool ModelSizes::*member) {
    if (known_ == nullptr ? sizes_.*member : sizes_.*member != known_->*member)
      text_.line(std::string(field) + (sizes_.*member ? ": true" : ": false"), from(field));
  }

  void write_experts() {
    using E = ModelSizes::Experts;
    E experts = *sizes_.experts;
    const E* known = known_ != nullptr && known_->experts ? &*known_->experts : nullptr;
    if (known == nullptr) {
      for (auto member : {&E::shared_ffn, &E::dense_layers})
        if (experts.*member == 0) (experts.*member).reset();
      if (experts.every == 1) experts.every.reset();
    }
    text_.open("experts");
    numbers<E>(experts, known,
               {{"experts", &E::experts},
                {"experts_per_token", &E::experts_per_token},
                {"expert_ffn", &E::expert_ffn},
                {"shared_ffn", &E::shared_ffn},
                {"dense_layers", &E::dense_layers},
                {"every", &E::every},
                {"most_groups", &E::most_groups}});
    if (experts.capacity_factor.value_or(0) > 0 &&
        (known == nullptr || experts.capacity_factor != known->capacity_factor))
      text_.line("capacity_factor: " + shortest(*experts.capacity_factor), from("capacity_factor"));
    if (experts.router_bias && known == nullptr) text_.line("router_bias: true", from("router_bias"));
    text_.close();
  }

  void write_latent() {
    using L = ModelSizes::Latent;
    const L* known = known_ != nullptr && known_->latent ? &*known_->latent : nullptr;
    text_.open("latent_attention");
    numbers<L>(*sizes_.latent, known,
               {{"query_rank", &L::query_rank},
                {"kv_rank", &L::kv_rank},
                {"plain_dim", &L::plain_dim},
                {"rotary_dim", &L::rotary_dim},
                {"value_dim", &L::value_dim}});
    text_.close();
  }

  ScenarioText& text_;
  const ModelSizes& sizes_;
  const ModelSizes* known_;
  const std::string& file_;
};

}  // namespace

void add_model(ScenarioText& text, const std::string& name, const ModelSizes& sizes,
               const std::string& file) {
  PODSIM_CHECK(sizes.layers && sizes.d_model && sizes.heads && sizes.vocabulary,
               "every transformer has these sizes");
  text.open("model_override");
  text.line("name: " + in_quotes(name), file);
  ModelWriter(text, sizes, nullptr, file).write();
  text.close();
}

void add_model_changes(ScenarioText& text, const ModelSizes& sizes, const ModelSizes& known) {
  PODSIM_CHECK((sizes.experts || !known.experts) && (sizes.latent || !known.latent),
               "an override takes no block away");
  ModelSizes others = sizes;
  others.from = known.from;
  if (others == known) return;
  text.open("model_override");
  ModelWriter(text, sizes, &known, "").write();
  text.close();
}

void add_cluster(ScenarioText& text, const Stated& stated, std::int64_t chips, const std::string& chips_from,
                 std::int64_t slices, const std::string& slices_from) {
  text.open("cluster");
  text.line("chip: " + in_quotes(stated.chip), stated.chip_from);
  text.line("chips: " + std::to_string(chips), chips_from);
  text.line("fabric: " + in_quotes(stated.fabric), stated.fabric_from);
  if (slices > 1 && has_slices(stated.fabric)) text.line("slices: " + std::to_string(slices), slices_from);
  text.close();
}

void need_cluster(const Stated& stated, std::vector<Needed>& needs) {
  if (stated.chip.empty()) needs.push_back({"chip", "--chip"});
  if (stated.fabric.empty()) needs.push_back({"fabric", "--fabric"});
}

}  // namespace podsim
