// Programs as graphs: letters, windows, FLOPs and bytes of each kind of operation, forward and backward.
#include "workload/model/program_graph.h"

#include <gtest/gtest.h>

#include "tests/workload/models.h"
#include "workload/model/autodiff.h"
#include "workload/partition/model_flops.h"

namespace podsim::testing::program_graph_test {
namespace {

ProgramOperation op(ProgramKind kind, std::vector<std::string> inputs, std::string output,
                    std::string dims = "") {
  ProgramOperation result;
  result.name = output;
  result.kind = kind;
  result.inputs = std::move(inputs);
  result.outputs = {output};
  if (!dims.empty()) result.dims = {dims};
  return result;
}

// A job whose program is one part: `image` and `x` as data, these parameters and operations, and a loss of
// `loss`.
Job job_with(std::vector<ProgramParameter> parameters, std::vector<ProgramOperation> operations,
             const std::string& loss) {
  Job job = job_of(llama3_8b(), {{"data", 4}}, {"data"}, 1);
  job.microbatch = 2;  // 8 samples over 4 batch shards
  ProgramPart part;
  part.name = "part";
  part.data = {{"image", "batch height=32 width=16 channels=3"}};
  part.parameters = std::move(parameters);
  part.operations = std::move(operations);
  part.operations.push_back(op(ProgramKind::kLoss, {loss}, "losses"));
  job.program.emplace().parts = {std::move(part)};
  return job;
}

ProgramOperation convolution(const std::string& from, const std::string& filter, const std::string& to,
                             std::int64_t stride, std::int64_t pad, int groups = 1) {
  ProgramOperation result = op(ProgramKind::kConvolution, {from, filter}, to);
  result.windows = {{.along = "", .stride = stride, .pad_low = pad, .pad_high = pad}};
  result.groups = groups;
  return result;
}

Graph graph_of(const Job& job) {
  const ProgramGraphs graphs = program_graphs(job);
  for (const ProgramProblem& problem : graphs.problems)
    ADD_FAILURE() << problem.path << ": " << problem.message;
  return graphs.model.parts.front().graph;
}

const Operation& named(const std::vector<Operation>& operations, const std::string& name) {
  for (const Operation& operation : operations) {
    if (operation.name == name) return operation;
  }
  ADD_FAILURE() << "no operation " << name;
  return operations.front();
}

std::vector<std::int64_t> sizes(const Graph& graph, const Operand& operand) {
  std::vector<std::int64_t> result;
  for (const TensorDim& dim : graph.tensors[static_cast<std::size_t>(operand.tensor)].dims)
    result.push_back(dim.blocks.front().size);
  return result;
}

StepProgram step_of(const Job& job) { return partition(job); }

TEST(Convolution, output_sizes_follow_from_windows) {
  const Graph graph =
      graph_of(job_with({{"f", "7 7 3 out=64"}}, {convolution("image", "f", "y", 2, 3)}, "y"));
  EXPECT_EQ(sizes(graph, graph.operations.front().outputs.front()),
            (std::vector<std::int64_t>{8, 16, 8, 64}));
}

TEST(Convolution, is_an_implicit_matmul_and_backward_takes_twice_its_flops) {
  const Job job = job_with({{"f", "3 3 3 out=8"}, {"g", "3 3 8 out=16"}},
                           {convolution("image", "f", "x", 1, 1), convolution("x", "g", "y", 2, 1)}, "y");
  const StepProgram program = step_of(job);
  const ComputeOp& forward = op_named(program.parts.front().forward, "y");
  EXPECT_EQ(std::tuple(forward.m, forward.n, forward.k), std::tuple(2.0 * 16 * 8, 16.0, 3.0 * 3 * 8));
  EXPECT_DOUBLE_EQ(forward.flops.value, 2.0 * 2 * 16 * 8 * 16 * 3 * 3 * 8);
  EXPECT_DOUBLE_EQ(forward.hbm.value, 2 * (2 * 32 * 16 * 8 + 3 * 3 * 8 * 16 + 2 * 16 * 8 * 16.0));
  const ComputeOp& image = op_named(program.parts.front().backward, "y dgrad");
  const ComputeOp& filter = op_named(program.parts.front().backward, "y wgrad");
  EXPECT_DOUBLE_EQ(image.flops.value, forward.flops.value);
  EXPECT_DOUBLE_EQ(filter.flops.value, forward.flops.value);
  EXPECT_EQ(std::tuple(filter.m, filter.n, filter.k), std::tuple(3.0 * 3 * 8, 16.0, 2.0 * 16 * 8));
  EXPECT_FALSE(has_op(program.parts.front().backward, "x dgrad"));  // data has no gradient
  EXPECT_EQ(forward.launches, 2.5);
}

TEST(Convolution, model_flops_are_those_of_output_pixels_times_filter) {
  const Job job = job_with({{"f", "5 5 3 out=8"}}, {convolution("image", "f", "y", 1, 2)}, "y");
  EXPECT_DOUBLE_EQ(flops_per_token(job, program_graphs(job).model).full.value,
                   3 * 2.0 * 32 * 16 * 5 * 5 * 3 * 8);
}

TEST(Convolution, groups_divide_the_flops) {
  const auto flops = [](int groups, const std::string& filter) {
    const Job job =
        job_with({{"f", "1 1 3 out=8"}, {"g", filter}},
                 {convolution("image", "f", "x", 1, 0), convolution("x", "g", "y", 1, 1, groups)}, "y");
    const StepProgram program = step_of(job);
    EXPECT_DOUBLE_EQ(op_named(program.parts.front().backward, "y dgrad").flops.value,
                     op_named(program.parts.front().forward, "y").flops.value);
    return op_named(program.parts.front().forward, "y").flops.value;
  };
  EXPECT_DOUBLE_EQ(flops(1, "3 3 8 out=8"), 2.0 * 2 * 32 * 16 * 9 * 8 * 8);
  EXPECT_DOUBLE_EQ(flops(2, "3 3 4 out=8"), flops(1, "3 3 8 out=8") / 2);
  EXPECT_DOUBLE_EQ(flops(8, "3 3 1 out=8"), flops(1, "3 3 8 out=8") / 8);
}

TEST(Convolution, windows_of_the_image_gradient_lead_back_to_the_size_of_the_image) {
  for (std::int64_t stride : {1, 2, 3}) {
    for (std::int64_t pad : {0, 1, 3}) {
      const Job job =
          job_with({{"f", "1 1 3 out=2"}, {"g", "5 4 2 out=2"}},
                   {convolution("image", "f", "x", 1, 0), convolution("x", "g", "y", stride, pad)}, "y");
      Graph graph = graph_of(job);
      const Backward backward = differentiate(graph, 4);
      const Operation& gradient = named(backward.operations, "y dgrad");
      ASSERT_EQ(gradient.windows.size(), 2u);
      for (std::size_t i = 0; i < 2; ++i) {
        const LetterWindow& w = gradient.windows[i];
        const std::int64_t in = sizes(graph, gradient.inputs[0])[i + 1],
                           out = sizes(graph, gradient.outputs[0])[i + 1];
        const std::int64_t spread = w.base_dilation * (in - 1) + 1 + w.pad_low + w.pad_high;
        EXPECT_EQ((spread - w.dilation * (w.size - 1) - 1) / w.stride + 1, out) << stride << ' ' << pad;
        EXPECT_EQ(w.base_dilation, stride);
      }
    }
  }
}

TEST(Convolution, the_filter_gradient_is_summed_over_batch_and_pixels) {
  const Job job = job_with({{"f", "3 3 3 out=8"}}, {convolution("image", "f", "y", 1, 1)}, "y");
  const StepProgram program = step_of(job);
  const auto sums = collectives(program.parts.front().gradient_reduce);
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums.front().kind, CollectiveKind::kAllReduce);
  EXPECT_DOUBLE_EQ(sums.front().bytes.value, 3 * 3 * 3 * 8 * job.stack.gradient_bytes);
}

TEST(Pool, keeps_what_it_chose_from_and_has_no_flops) {
  ProgramOperation pool = op(ProgramKind::kPool, {"x"}, "y");
  pool.windows = {{.along = "height", .size = 2, .stride = 2}, {.along = "width", .size = 2, .stride = 2}};
  const Job job = job_with({{"f", "1 1 3 out=8"}}, {convolution("image", "f", "x", 1, 0), pool}, "y");
  const StepProgram program = step_of(job);
  const ComputeOp& forward = op_named(program.parts.front().forward, "y");
  EXPECT_EQ(forward.op_class, OpClass::kMemoryBound);
  const double x = 2 * 32 * 16 * 8, y = x / 4;
  EXPECT_DOUBLE_EQ(forward.hbm.value, 2 * (x + y) * job.stack.elementwise_traffic);
  EXPECT_DOUBLE_EQ(op_named(program.parts.front().backward, "y backward").hbm.value,
                   2 * (y + x + x) * job.stack.elementwise_traffic);
}

TEST(Elementwise, costs_its_passes) {
  ProgramOperation twice = op(ProgramKind::kElementwise, {"x"}, "y");
  twice.passes = 2;
  const Job job = job_with({{"f", "1 1 3 out=8"}}, {convolution("image", "f", "x", 1, 0), twice}, "y");
  EXPECT_DOUBLE_EQ(op_named(step_of(job).parts.front().forward, "y").hbm.value,
                   2 * 2 * 2 * (2 * 32 * 16 * 8.0) * job.stack.elementwise_traffic);
}

TEST(Add, spreads_the_gradient_of_what_it_broadcasts) {
  ProgramOperation mean = op(ProgramKind::kReduce, {"x"}, "mean");
  mean.along = "height width";
  const Job job =
      job_with({{"f", "1 1 3 out=8"}},
               {convolution("image", "f", "x", 1, 0), mean, op(ProgramKind::kAdd, {"x", "mean"}, "y")}, "y");
  Graph graph = graph_of(job);
  const Backward backward = differentiate(graph, 4);
  const Operation& gradient = named(backward.operations, "mean gradient");
  EXPECT_EQ(sizes(graph, gradient.inputs.front()), (std::vector<std::int64_t>{8, 32, 16, 8}));
  EXPECT_EQ(sizes(graph, gradient.outputs.front()), (std::vector<std::int64_t>{8, 8}));
}

TEST(Reshape, cuts_both_sides_into_common_factors) {
  const Job job = job_with({{"f", "1 1 3 out=8"}},
                           {convolution("image", "f", "x", 1, 0),
                            op(ProgramKind::kReshape, {"x"}, "y", "batch pixels=512 channels=8"),
                            op(ProgramKind::kReshape, {"y"}, "z", "samples=4 2 pixels=512 channels=8")},
                           "z");
  const Graph graph = graph_of(job);
  EXPECT_EQ(named(graph.operations, "y").inputs.front().letters, "abcd");
  EXPECT_EQ(named(graph.operations, "y").outputs.front().letters, "a(bc)d");
  EXPECT_EQ(named(graph.operations, "z").inputs.front().letters, "(ab)cd");
  EXPECT_EQ(named(graph.operations, "z").outputs.front().letters, "abcd");
}

TEST(Reshape, has_a_letter_for_dimensions_of_size_one) {
  const Job job = job_with({{"f", "1 1 3 out=8"}},
                           {convolution("image", "f", "x", 1, 0),
                            op(ProgramKind::kReshape, {"x"}, "y", "batch 1 height=32 width=16 channels=8")},
                           "y");
  EXPECT_EQ(named(graph_of(job).operations, "y").outputs.front().letters, "aebcd");
}

TEST(Embedding, sums_bags_of_ids) {
  Job job = job_with({{"table", "rows=1000 width=64"}},
                     {op(ProgramKind::kEmbedding, {"table", "ids"}, "bags", "batch width=64")}, "bags");
  job.program->parts.front().data = {{"ids", "batch ids=10"}};
  const StepProgram program = step_of(job);
  EXPECT_DOUBLE_EQ(op_named(program.parts.front().forward, "bags").hbm.value, (10 + 1) * 2 * 64 * 2.0);
  EXPECT_DOUBLE_EQ(op_named(program.parts.front().backward, "bags backward").hbm.value,
                   (10 + 1) * 2 * 64 * 2.0);
}

TEST(Programs, are_refused_beyond_their_limits) {
  Job job = job_with({{"f", "1 1 3 out=8"}}, {convolution("image", "f", "x", 1, 0)}, "x");
  const auto problems = [&] { return program_graphs(job).problems.size(); };
  EXPECT_EQ(problems(), 0u);
  job.program->parts.front().repeat = 10'001;
  EXPECT_EQ(problems(), 1u);
  job.program->parts.front().repeat = 1;
  job.program->parts.front().parameters.push_back({"huge", "1000000000 1000000000"});
  EXPECT_EQ(problems(), 1u);
  job.program->parts.clear();
  EXPECT_EQ(problems(), 1u);
}

}  // namespace
}  // namespace podsim::testing::program_graph_test
