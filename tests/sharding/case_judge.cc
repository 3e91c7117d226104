// Replays the steps of each kind of case, tensor by tensor.
#include "tests/sharding/case_judge.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/sharding/window_judge.h"

namespace podsim::testing {
namespace {

using nlohmann::json;
using Sizes = std::vector<std::int64_t>;

double element_bytes(const std::string& dtype) { return dtype == "bf16" ? 2 : 4; }

TensorShape shape_of(const Sizes& dims, double bytes) {
  TensorShape shape{.dims = {}, .element_bytes = bytes};
  for (const std::int64_t size : dims) shape.dims.push_back({.logical = {}, .blocks = {{.size = size}}});
  return shape;
}

class Judge {
 public:
  Judge(const Mesh& mesh, const std::string& question, const ReadPlan& plan)
      : mesh_(mesh), question_(json::parse(question)), plan_(plan) {}

  Faults run() {
    if (!plan_.error.empty()) return {"no plan: " + plan_.error};
    const auto op = question_.at("op").get<std::string>();
    if (op == "reshard") {
      reshard();
    } else if (op == "optimizer_step") {
      optimizer_step();
    } else if (op == "ring_attention_fwd" || op == "ulysses_attention_fwd") {
      attention();
    } else if (op == "gspmd_pipeline_fwd") {
      pipeline();
    } else if (op == "softmax") {
      softmax();
    } else if (op != "propagate") {
      operation(op);
    }
    total();
    return faults_;
  }

 private:
  void fault(const std::string& text) { faults_.push_back(text); }
  void add(const std::string& where, const Faults& faults) {
    for (const std::string& text : faults) fault(where + ": " + text);
  }

  double bytes() const { return element_bytes(question_.value("dtype", "bf16")); }
  Layout layout_of(const json& tensor) const {
    return read_layout(mesh_, tensor.at("sharding"), tensor.value("unreduced", std::vector<std::string>{}));
  }
  Sizes dims_of(const json& tensor) const { return tensor.at("dims").get<Sizes>(); }

  // The steps of a tensor, before the computation or after it.
  std::vector<PlanStep> steps_of(const std::string& tensor, bool after_compute = false) const {
    std::vector<PlanStep> steps;
    bool computed = false;
    for (const ReadStep& s : plan_.steps) {
      if (s.tensor == tensor && s.step.kind != StepKind::kCompute && computed == after_compute)
        steps.push_back(s.step);
      computed |= s.tensor == tensor && s.step.kind == StepKind::kCompute;
    }
    return steps;
  }

  // Replays and returns where the tensor ends; rings are judged as the gather or scatter that they carry out.
  Layout replay(const std::string& name, const TensorShape& shape, const Layout& from,
                const std::vector<PlanStep>& steps, const Layout* wanted = nullptr) {
    Replay replay(mesh_, shape, from);
    for (PlanStep step : steps) {
      const bool ring = step.kind == StepKind::kPermute &&
                        local_elements(shape, step.after) != local_elements(shape, replay.layout());
      if (ring) unroll(name, step, local_bytes(shape, replay.layout()), local_bytes(shape, step.after));
      replay.apply(step);
    }
    if (wanted != nullptr) replay.expect(*wanted);
    add(name, replay.faults());
    return replay.layout();
  }

  void unroll(const std::string& name, PlanStep& step, Bytes before, Bytes after) {
    const double n = shard_count(step.axes);
    const bool gather = after.value > before.value;
    const Bytes shard = gather ? before : after;
    if (step.count != n - 1) fault(name + ": a ring of " + std::to_string(n) + " takes n - 1 permutes");
    if (std::abs(step.operand.value - shard.value) > 1 || std::abs(step.sent.value - shard.value) > 1)
      fault(name + ": a ring passes on shards");
    step = {.kind = gather ? StepKind::kAllGather : StepKind::kReduceScatter,
            .axes = step.axes,
            .after = step.after,
            .operand = before,
            .result = after,
            .sent = (n - 1) * shard};
  }

  void reshard() {
    const Layout wanted = layout_of(question_.at("output"));
    std::vector<PlanStep> steps;
    for (const ReadStep& s : plan_.steps) steps.push_back(s.step);
    replay("x", shape_of(dims_of(question_.at("input")), bytes()), layout_of(question_.at("input")), steps,
           &wanted);
    flops(0);
  }

  std::vector<std::pair<std::string, json>> operands(const std::string& op) const {
    std::vector<std::pair<std::string, json>> named;
    if (op == "embedding") return {{"table", question_.at("table")}, {"indices", question_.at("indices")}};
    if (op == "einsum" || op == "convolution")
      return {{"lhs", question_.at("lhs")}, {"rhs", question_.at("rhs")}};
    const bool joined = op == "concatenate";
    for (const json& input : question_.at("inputs"))
      named.emplace_back(joined ? "input" + std::to_string(named.size()) : "input", input);
    return named;
  }

  // One computation with operands before it and the output behind it.
  void operation(const std::string& op) {
    std::vector<Layout> layouts;
    std::vector<Sizes> dims;
    for (const auto& [name, tensor] : operands(op)) {
      dims.push_back(dims_of(tensor));
      const double size = name == "indices" ? 4 : bytes();
      layouts.push_back(replay(name, shape_of(dims.back(), size), layout_of(tensor), steps_of(name)));
    }
    const json& output = question_.at("output");
    const Layout wanted = layout_of(output);
    const auto computed = std::count_if(plan_.steps.begin(), plan_.steps.end(),
                                        [](const ReadStep& s) { return s.step.kind == StepKind::kCompute; });
    if (computed != 1) return fault("an operation is computed once");
    const Layout natural = compute()->after;
    replay("output", shape_of(dims_of(output), bytes()), natural, steps_of("output", true), &wanted);
    const double per_point = op == "einsum" || op == "convolution" ? 2 : 0;
    const OpRule rule = rule_of_case(op, dims, layouts);
    const Computation done = check_compute(mesh_, rule, layouts, {natural}, {}, per_point);
    add("computation", done.faults);
    flops(done.flops);
  }

  OpRule rule_of_case(const std::string& op, const std::vector<Sizes>& dims,
                      const std::vector<Layout>& layouts) {
    const Sizes out = dims_of(question_.at("output"));
    if (op == "einsum") {
      const auto equation = question_.at("equation").get<std::string>();
      const std::size_t comma = equation.find(','), arrow = equation.find("->");
      return einsum_rule({equation.substr(0, comma), equation.substr(comma + 1, arrow - comma - 1)},
                         {equation.substr(arrow + 2)}, dims, {out});
    }
    if (op == "embedding") return gather_rule(dims[0], dims[1]);
    if (op == "concatenate") return concatenate_rule(dims, question_.at("dim").get<int>());
    std::vector<std::vector<PlanStep>> halos;
    for (const auto& [name, tensor] : operands(op)) halos.push_back(steps_of(name));
    const WindowVerdict verdict = op == "convolution"
                                      ? judge_convolution(question_.dump(), layouts, halos)
                                      : judge_shift(question_.dump(), op, layouts[0], halos[0]);
    add("halo", verdict.faults);
    return verdict.rule;
  }

  const PlanStep* compute(const std::string& tensor = "output") const {
    for (const ReadStep& s : plan_.steps) {
      if (s.tensor == tensor && s.step.kind == StepKind::kCompute) return &s.step;
    }
    return nullptr;
  }

  // The rows are computed where the input lies; their statistics are whole before they are used.
  void softmax() {
    const json &input = question_.at("input"), &output = question_.at("output");
    const auto along = question_.at("softmax_dim").get<std::ptrdiff_t>();
    Sizes dims = dims_of(input);
    const TensorShape shape = shape_of(dims, bytes());
    const Layout rows = replay("input", shape, layout_of(input), steps_of("input"));
    Layout partial = rows;
    partial.unreduced = canonical(rows.dims[static_cast<std::size_t>(along)]);
    partial.dims.erase(partial.dims.begin() + along);
    dims.erase(dims.begin() + along);
    for (const char* name : {"max", "sum"}) {
      const PlanStep* made = compute(name);
      if (made == nullptr || !same_layout(made->after, partial))
        return fault(std::string(name) + " is not as computed");
      Layout whole = partial;
      whole.unreduced.clear();
      replay(name, shape_of(dims, bytes()), partial, steps_of(name, true), &whole);
    }
    const Layout wanted = layout_of(output);
    if (compute() == nullptr || !same_layout(compute()->after, rows))
      return fault("output is not as computed");
    replay("output", shape, rows, steps_of("output", true), &wanted);
    flops(0);
  }

  // Gradients start as sums over all devices; cut parameters are gathered each time they are used.
  void optimizer_step() {
    AxisList all;
    for (std::size_t a = 0; a < mesh_.axes.size(); ++a) all.push_back(whole_axis(mesh_, static_cast<int>(a)));
    const int stage = question_.at("zero_stage");
    const Sizes size = {question_.at("params").get<std::int64_t>()};
    Layout whole = replicated(1), partial = whole, cut = whole;
    partial.unreduced = canonical(all);
    cut.dims[0] = all;
    replay("grads", shape_of(size, element_bytes(question_.at("grad_dtype"))), partial, steps_of("grads"),
           stage > 0 ? &cut : &whole);
    const auto gathers = steps_of("params");
    const std::size_t wanted = stage == 0 ? 0 : stage == 3 ? 2 : 1;
    if (gathers.size() != wanted)
      fault("parameters are gathered " + std::to_string(gathers.size()) + " times");
    for (const PlanStep& gather : gathers)
      replay("params", shape_of(size, element_bytes(question_.at("param_dtype"))), cut, {gather}, &whole);
    flops(0);
  }

  // Every query must meet every key: keys whole, or round a ring; then FLOPs follow from local queries.
  void attention() {
    const json& q = question_.at("q");
    const json kv = question_.value("kv", q);
    const Sizes dims = dims_of(q);
    const bool ring = question_.at("op") == "ring_attention_fwd";
    const Layout queries = replay("q", shape_of(dims, bytes()), layout_of(q), steps_of("q"));
    for (const std::string& name :
         ring ? std::vector<std::string>{"kv"} : std::vector<std::string>{"k", "v"}) {
      const double size = ring ? 2 * bytes() : bytes();
      const Layout keys = replay(name, shape_of(dims_of(kv), size), layout_of(kv), steps_of(name));
      if (!keys.dims[1].empty() || !keys.dims[3].empty()) fault(name + " is not whole where it is read");
      if (!same_layout({{keys.dims[0]}, {}}, {{queries.dims[0]}, {}}))
        fault(name + " has other batches than q");
    }
    if (compute() == nullptr || !same_layout(compute()->after, queries))
      return fault("output is not as computed");
    const Layout wanted = ring ? queries : layout_of(q);
    replay("output", shape_of(dims, bytes()), queries, steps_of("output", true), &wanted);
    flops(4 * local_elements(shape_of(dims, 1), queries) * static_cast<double>(dims_of(kv)[1]));
  }

  // Every iteration shifts the whole buffer by one stage.
  void pipeline() {
    const json& state = question_.at("state");
    const Sizes dims = dims_of(state);
    const Layout layout = layout_of(state);
    const auto steps = steps_of("state");
    const int iterations = question_.at("microbatches").get<int>() + static_cast<int>(dims[0]) - 1;
    for (const PlanStep& step : steps) {
      if (step.count != iterations) fault("a shift happens in every iteration");
    }
    std::vector<PlanStep> once = steps;
    for (PlanStep& step : once) step.count = 1;
    replay("state", shape_of(dims, bytes()), layout, once, &layout);
    const json shift = {{"inputs", {state}}, {"output", state}};
    add("halo", judge_shift(shift.dump(), "pad_then_slice", layout, once).faults);
    flops(0);
  }

  void flops(double wanted) {
    if (std::abs(plan_.flops - wanted) > 1e-9 * wanted)
      fault("computes " + std::to_string(plan_.flops) + " FLOPs, not " + std::to_string(wanted));
  }

  void total() {
    double sent = 0;
    for (const ReadStep& s : plan_.steps) sent += s.step.count * s.step.sent.value;
    if (sent != plan_.sent) fault("bytes sent are not the sum over steps");
  }

  const Mesh& mesh_;
  const json question_;
  const ReadPlan& plan_;
  Faults faults_;
};

}  // namespace

Faults judge(const Mesh& mesh, const std::string& question, const ReadPlan& plan) {
  return Judge(mesh, question, plan).run();
}

}  // namespace podsim::testing
