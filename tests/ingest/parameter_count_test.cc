// The closed form by which configurations are counted, against the graphs of the models of the catalogue.
#include "ingest/launchers/parameter_count.h"

#include <gtest/gtest.h>

#include "ingest/launchers/known_model.h"
#include "proto/catalog/catalog.h"
#include "workload/job/job.h"
#include "workload/model/model_program.h"

namespace podsim::parameter_count_test {
namespace {

// A class of the transformers library that makes what the model's entry says.
ModelFamily family_of(const Model& model) {
  ModelFamily family{.model_type = model.experts && model.biases ? "gpt_oss" : ""};
  family.norm = model.norm_offsets() ? ModelFamily::Norm::kLayer : ModelFamily::Norm::kRms;
  family.query_norm = ModelFamily::QueryNorm::kPerHead;
  return family;
}

double by_closed_form(const Model& model) {
  const ModelSizes sizes = sizes_of_model(model);
  const ModelFamily family = family_of(model);
  const int norms = (model.parallel_block ? 1 : 2) + (model.post_norms ? 2 : 0);
  std::vector<bool> has_experts;
  for (int layer = 0; model.experts && layer < model.layers; ++layer)
    has_experts.push_back(layer >= model.experts->dense_layers &&
                          (layer - model.experts->dense_layers + 1) % model.experts->every == 0);
  const auto count = parameter_count({sizes, family, norms, model.biases, model.biases, has_experts});
  return count ? static_cast<double>(count->all) : 0;
}

// Without modules that predict further tokens, as the form has it, and with sinks, a number for each head and
// layer, which graphs do not have.
double by_graph(Model model) {
  model.prediction_layers = 0;
  Job job;
  job.model = model;
  job.mesh.axes = {{"data", 1}};
  job.global_batch = job.microbatch = 1;
  job.sequence = 512;
  const double sinks = model.attention_sinks ? 1.0 * model.layers * model.heads : 0;
  return parameter_count(model_program(job)) + sinks;
}

// A configuration says of all blocks at once whether they are gated.
bool can_be_said(const Model& model) {
  const bool decoder = model.layers > 0 && !model.vision && !model.masked && !model.decoder;
  return decoder && (!model.experts || model.experts->gated == model.gated_ffn);
}

TEST(ParameterCount, is_that_of_the_graph_for_every_decoder_that_a_configuration_can_say) {
  const Catalog catalog;
  int compared = 0;
  for (const std::string& name : catalog.names(Catalog::Section::kModels)) {
    const auto model = catalog.model(name);
    if (!model || !can_be_said(*model)) continue;
    EXPECT_EQ(by_closed_form(*model) - by_graph(*model), 0) << name;
    ++compared;
  }
  EXPECT_GT(compared, 70);
}

}  // namespace
}  // namespace podsim::parameter_count_test
