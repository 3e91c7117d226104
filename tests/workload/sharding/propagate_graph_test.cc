// Propagation over the graph of a transformer layer: rules, annotations, and tensors that nobody spoke of.
#include "workload/sharding/propagate_graph.h"

#include <gtest/gtest.h>

#include "tests/workload/models.h"
#include "workload/model/annotate.h"
#include "workload/model/autodiff.h"
#include "workload/model/model_program.h"
#include "workload/model/transformer.h"
#include "workload/sharding/sharding.h"

namespace podsim::testing::propagate_graph_test {
namespace {

// A layer of a model over data x tensor, its backward operations included.
struct Layer {
  explicit Layer(const std::vector<std::string>& presets, bool constrained = true)
      : job(job_of(llama3_8b(), {{"data", 4}, {"tensor", 2}}, presets)), graph(layer_graph(job)) {
    if (!constrained) {
      for (Tensor& tensor : graph.tensors) tensor.constrained = false;
    }
    backward = differentiate(graph, 4);
  }

  TensorId id(const std::string& name) const {
    for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
      if (graph.tensors[i].name == name) return static_cast<TensorId>(i);
    }
    ADD_FAILURE() << "no tensor " << name;
    return 0;
  }
  void annotate(const std::string& name, const std::string& text) {
    Tensor& tensor = graph.tensors[static_cast<std::size_t>(id(name))];
    const ParsedAnnotation parsed = parse_annotation(job.mesh, tensor.dims.size(), text);
    ASSERT_FALSE(parsed.problem) << text;
    tensor.annotation = parsed.annotation;
  }
  PropagatedGraph run() const { return propagate_graph(job, graph, backward.operations); }
  std::string of(const PropagatedGraph& result, const std::string& name) const {
    return to_string(job.mesh, result.annotations[static_cast<std::size_t>(id(name))]);
  }

  Job job;
  Graph graph;
  Backward backward;
};

TEST(PropagateGraph, constrained_tensors_are_closed_on_what_the_rules_say) {
  const Layer layer({"data", "megatron"});
  const PropagatedGraph result = layer.run();
  EXPECT_EQ(layer.of(result, "layer input"), "[{data},{},{}]");
  EXPECT_EQ(layer.of(result, "q"), "[{data},{},{tensor},{}]");
  EXPECT_EQ(layer.of(result, "ffn up weight"), "[{},{},{tensor}]");
  const auto& origins = result.origins[static_cast<std::size_t>(layer.id("q"))];
  EXPECT_EQ(origins, (std::vector<std::string>{"rule batch", "", "rule heads", ""}));
  EXPECT_EQ(result.origin(layer.id("q")), "rule batch, rule heads");
}

TEST(PropagateGraph, annotated_weights_and_input_give_the_activations_of_tensor_parallelism) {
  Layer layer({"data", "megatron"}, false);
  layer.annotate("layer input", "[{data},{},{}]");
  layer.annotate("qkv weight", "[{},{tensor},{}]");
  layer.annotate("ffn up weight", "[{},{},{tensor}]");
  const PropagatedGraph result = layer.run();
  for (const std::string name : {"norm 1", "attention out", "middle", "norm 2", "ffn down", "layer output"})
    EXPECT_EQ(layer.of(result, name), "[{data,?},{?},{?}]") << name;
  for (const std::string name : {"qkv", "q", "kv", "context", "d context", "d q"})
    EXPECT_EQ(layer.of(result, name), "[{data,?},{?},{tensor,?},{?}]") << name;
  EXPECT_EQ(layer.of(result, "ffn activation"), "[{data,?},{?},{tensor,?}]");
  EXPECT_EQ(layer.of(result, "attention out weight"), "[{tensor,?},{?},{?}]");
  EXPECT_EQ(layer.of(result, "ffn down weight"), "[{tensor,?},{?}]");
  EXPECT_EQ(layer.of(result, "d ffn up weight"), "[{?},{?},{tensor,?}]");
  EXPECT_EQ(result.origins[static_cast<std::size_t>(layer.id("qkv"))][2], "from qkv weight by qkv");
  EXPECT_EQ(result.origins[static_cast<std::size_t>(layer.id("layer input"))][0], "annotation");
}

TEST(PropagateGraph, weights_cut_along_the_batch_axis_leave_the_batch_to_the_activations) {
  Layer layer({"data"}, false);
  layer.annotate("layer input", "[{data},{},{}]");
  for (const std::string name : {"qkv weight", "ffn up weight"}) layer.annotate(name, "[{data},{},{}]");
  layer.annotate("norm 1 weight", "[{data}]");
  const PropagatedGraph result = layer.run();
  for (const std::string name : {"norm 1", "middle", "layer output", "d norm 1", "d layer output"})
    EXPECT_EQ(layer.of(result, name), "[{data,?},{?},{?}]") << name;
  EXPECT_EQ(layer.of(result, "context"), "[{data,?},{?},{?},{?}]");
  EXPECT_TRUE(result.conflicts.empty());  // weights are gathered
}

TEST(PropagateGraph, rules_for_parameters_and_the_ends_of_a_layer_give_what_rules_for_all_say) {
  for (const std::string preset : {"data", "fsdp", "zero3", "megatron"}) {
    const Layer layer({"data", preset});
    Graph open = layer.graph;
    for (std::size_t t = 0; t < open.tensors.size(); ++t) {
      const auto id = static_cast<TensorId>(t);
      const bool end = id == open.input || id == open.output;
      if (open.tensors[t].role == TensorRole::kActivation && !end) open.tensors[t].constrained = false;
    }
    const PropagatedGraph result = propagate_graph(layer.job, open, layer.backward.operations);
    for (std::size_t t = 0; t < open.tensors.size(); ++t) {
      const Layout ruled = ruled_layout(layer.job, layer.graph.tensors[t]);
      EXPECT_EQ(to_string(layer.job.mesh, layout_of(result.annotations[t])), to_string(layer.job.mesh, ruled))
          << preset << " " << open.tensors[t].name;
    }
  }
}

TEST(PropagateGraph, the_batch_of_the_input_alone_reaches_every_activation_of_every_model) {
  for (const Model& model : {gpt3_175b(), llama3_8b(), palm_540b(), bert_large()}) {
    const Job job = job_of(model, {{"data", 4}}, {"data"});
    for (ModelPart& part : model_program(job).parts) {
      Graph& graph = part.graph;
      for (Tensor& tensor : graph.tensors) {
        tensor.constrained = false;
        const bool first = graph.input < 0 ? tensor.role == TensorRole::kIndex
                                           : &tensor == &graph.tensors[static_cast<std::size_t>(graph.input)];
        if (!first) continue;
        tensor.annotation = unset(tensor.dims.size());
        tensor.annotation->dims[0] = {.axes = {whole_axis(job.mesh, 0)}, .open = false};
      }
      const Backward backward = differentiate(graph, 4);
      const PropagatedGraph result = propagate_graph(job, graph, backward.operations);
      for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
        const Tensor& tensor = graph.tensors[t];
        const bool batched = !tensor.dims.empty() && tensor.dims[0].logical == "batch";
        for (std::size_t d = 0; d < tensor.dims.size(); ++d) {
          EXPECT_EQ(result.annotations[t].dims[d].axes.size(), batched && d == 0 ? 1u : 0u)
              << model.name << " " << tensor.name << " is " << to_string(job.mesh, result.annotations[t]);
        }
      }
      EXPECT_TRUE(result.conflicts.empty());
    }
  }
}

TEST(PropagateGraph, without_rules_and_annotations_nothing_is_cut) {
  Layer layer({"data"});
  layer.job.rules.clear();
  const PropagatedGraph result = layer.run();
  for (const Annotation& annotation : result.annotations)
    EXPECT_EQ(to_string(layer.job.mesh, annotation), "unset");
}

TEST(PropagateGraph, closed_annotations_that_disagree_are_told_with_the_names_of_their_dimensions) {
  Layer layer({"data"}, false);
  layer.annotate("layer input", "[{data},{},{}]");
  layer.annotate("norm 1", "[{tensor},{},{}]");
  const std::vector<Conflict> mistakes = conflicting_annotations(layer.job.mesh, layer.graph);
  ASSERT_EQ(mistakes.size(), 1u);
  EXPECT_EQ(mistakes[0].tensor, layer.id("layer input"));
  EXPECT_EQ(mistakes[0].other, layer.id("norm 1"));
  EXPECT_EQ(mistakes[0].text,
            "norm 1: layer input has data on dimension batch, norm 1 has tensor on it; one of them must "
            "change or be "
            "open (annotated [{data},{},{}] and [{tensor},{},{}])");
}

TEST(PropagateGraph, a_weight_may_lie_otherwise_than_the_activations_it_meets) {
  Layer layer({"data"}, false);
  layer.annotate("norm 1", "[{},{},{tensor}]");
  layer.annotate("qkv weight", "[{data},{},{}]");
  EXPECT_TRUE(conflicting_annotations(layer.job.mesh, layer.graph).empty());
  EXPECT_TRUE(layer.run().conflicts.empty());
}

TEST(PropagateGraph, annotations_of_a_job_that_disagree_are_told_at_the_later_one) {
  Job job = job_of(llama3_8b(), {{"data", 4}, {"tensor", 2}}, {"data"});
  ModelProgram model = model_program(job);
  const std::vector<TensorAnnotation> annotations = {{"", "layer input", "[{data},{},{}]"},
                                                     {"", "ffn up", "[{?},{?},{?},{?}]"},
                                                     {"layer", "norm 1", "[{tensor},{},{}]"}};
  const std::vector<ProgramProblem> problems = annotate(job.mesh, annotations, "annotation", model);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].path, "annotation[2].sharding");
  EXPECT_EQ(
      problems[0].message.find("norm 1: layer input has data on dimension batch, norm 1 has tensor on it"),
      0u);
}

}  // namespace
}  // namespace podsim::testing::propagate_graph_test
