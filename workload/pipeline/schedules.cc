// Every pipeline schedule: its order, when it can run, its row in the table.
#include "workload/pipeline/schedules.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

namespace podsim {
namespace {

// The k-th forward (or backward) pass of a stage: groups of `stages` microbatches visit the chunks in turn,
// backward in reverse order of chunks.
PipelineTask nth(Pass pass, int k, const PipelineShape& shape) {
  if (shape.chunks == 1) return {pass, k, 0};
  const int group = k / (shape.stages * shape.chunks), within = k % (shape.stages * shape.chunks);
  const int chunk = within / shape.stages;
  return {pass, group * shape.stages + within % shape.stages,
          pass == Pass::kForward ? chunk : shape.chunks - 1 - chunk};
}

void append_backward_in_reverse(std::vector<PipelineTask>& order) {
  for (std::size_t k = order.size(); k-- > 0;)
    order.push_back({Pass::kBackward, order[k].microbatch, order[k].chunk});
}

std::vector<PipelineTask> gpipe_order(const PipelineShape& shape, int) {
  std::vector<PipelineTask> order;
  for (int k = 0; k < shape.microbatches; ++k) order.push_back({Pass::kForward, k, 0});
  append_backward_in_reverse(order);
  return order;
}

std::vector<PipelineTask> shifting_order(const PipelineShape& shape, int stage) {
  std::vector<PipelineTask> order;
  for (int t = 0; t < shape.microbatches * shape.chunks + shape.stages - 1; ++t)
    order.push_back({Pass::kForward, t, shifting_pass(shape, stage, t) / shape.microbatches});
  append_backward_in_reverse(order);
  return order;
}

// Warm-up forwards, then one forward and one backward in turn, then the backwards that are left.
std::vector<PipelineTask> one_forward_one_backward(const PipelineShape& shape, int stage) {
  const int passes = shape.microbatches * shape.chunks, behind = shape.stages - stage - 1;
  const int warm_up =
      std::min(passes, shape.chunks == 1 ? behind : 2 * behind + (shape.chunks - 1) * shape.stages);
  std::vector<PipelineTask> order;
  for (int k = 0; k < warm_up; ++k) order.push_back(nth(Pass::kForward, k, shape));
  for (int k = 0; k < passes; ++k) {
    if (warm_up + k < passes) order.push_back(nth(Pass::kForward, warm_up + k, shape));
    order.push_back(nth(Pass::kBackward, k, shape));
  }
  return order;
}

// Writes the order of a stage. The passes of a chunk come in the order of its microbatches.
class OrderWriter {
 public:
  // Chunk c begins with microbatch first[c].
  explicit OrderWriter(const std::vector<int>& first) : forward_(first), backward_(first) {}

  void forward(int chunk);
  void backward(int chunk);
  void input_gradient(int chunk);  // its weight gradient waits
  void weight_gradient();          // the one that waits longest
  void together(int forward_chunk, int backward_chunk);
  int waiting() const { return static_cast<int>(waiting_.size()); }  // weight gradients

  std::vector<PipelineTask> take() { return std::move(order_); }

 private:
  std::vector<int> forward_, backward_;  // [chunk] next microbatch
  std::deque<PipelineTask> waiting_;
  std::vector<PipelineTask> order_;
};

void OrderWriter::forward(int chunk) { order_.push_back({Pass::kForward, forward_[chunk]++, chunk}); }

void OrderWriter::backward(int chunk) { order_.push_back({Pass::kBackward, backward_[chunk]++, chunk}); }

void OrderWriter::input_gradient(int chunk) {
  const int microbatch = backward_[chunk]++;
  order_.push_back({Pass::kInputGradient, microbatch, chunk});
  waiting_.push_back({Pass::kWeightGradient, microbatch, chunk});
}

void OrderWriter::weight_gradient() {
  order_.push_back(waiting_.front());
  waiting_.pop_front();
}

void OrderWriter::together(int forward_chunk, int backward_chunk) {
  forward(forward_chunk);
  order_.back().with_next = true;
  backward(backward_chunk);
}

std::vector<PipelineTask> zero_bubble_h1_order(const PipelineShape& shape, int stage) {
  OrderWriter order({0});
  const int microbatches = shape.microbatches, warm_up = std::min(microbatches, shape.stages - stage - 1);
  for (int k = 0; k < warm_up; ++k) order.forward(0);
  for (int k = 0; k < microbatches; ++k) {
    if (warm_up + k < microbatches) order.forward(0);
    order.input_gradient(0);
    if (order.waiting() > stage) order.weight_gradient();
  }
  while (order.waiting() > 0) order.weight_gradient();
  return order.take();
}

std::vector<PipelineTask> zero_bubble_v_order(const PipelineShape& shape, int stage) {
  OrderWriter order({0, 0});
  const auto backward = [&](int chunk) {
    order.input_gradient(chunk);
    order.weight_gradient();
  };
  const int behind = shape.stages - stage - 1;
  for (int k = 0; k < 2 * behind; ++k) order.forward(0);
  for (int k = 0; k <= stage; ++k) {
    order.forward(0);
    order.forward(1);
  }
  for (int k = 0; k < behind; ++k) {
    backward(1);
    order.forward(1);
  }
  for (int k = 0; k < shape.microbatches - shape.stages - behind; ++k) {
    backward(1);
    backward(0);
    order.forward(0);
    order.forward(1);
  }
  for (int k = 0; k < behind; ++k) {
    backward(1);
    backward(0);
    order.forward(1);
  }
  for (int k = 0; k <= stage; ++k) {
    order.input_gradient(1);
    order.input_gradient(0);
  }
  for (int k = 0; k < behind; ++k) {
    order.weight_gradient();
    order.input_gradient(0);
  }
  while (order.waiting() > 0) order.weight_gradient();
  return order.take();
}

// The last backward passes of DualPipe: of `near` chunks, which began here, and of `far` ones. In the second
// half weight gradients are kept back to fill the waits of the drain.
void drain_dualpipe(OrderWriter& order, int near, int far, int from_end, int behind) {
  const int half = (from_end + 1) / 2;
  const auto backward = [&](int chunk, bool kept_back) {
    if (kept_back) return order.input_gradient(chunk);
    order.backward(chunk);
  };
  const bool odd = from_end % 2 == 1;
  for (int k = 0; k <= from_end; ++k) {
    backward(far, k > half || (k == half && odd));
    backward(near, k >= half);
  }
  for (int k = 0; k < behind; ++k) {
    order.weight_gradient();
    order.input_gradient(near);
  }
  while (order.waiting() > 0) order.weight_gradient();
}

std::vector<PipelineTask> dualpipe_order(const PipelineShape& shape, int stage) {
  const int half_stages = shape.stages / 2, half_microbatches = shape.microbatches / 2;
  const int from_end = std::min(stage, shape.stages - 1 - stage), behind = half_stages - from_end - 1;
  const int near = stage < half_stages ? 0 : 1, far = 1 - near;
  OrderWriter order({0, half_microbatches});
  for (int k = 0; k < 2 * behind; ++k) order.forward(near);
  for (int k = 0; k <= from_end; ++k) {
    order.forward(near);
    order.forward(far);
  }
  for (int k = 0; k < behind; ++k) {
    order.input_gradient(far);
    order.weight_gradient();
    order.forward(far);
  }
  for (int k = 0; k < half_microbatches - shape.stages + from_end + 1; ++k) {
    if (k == 0 && behind == 0) {
      // The middle stages send the activation on before the first backward pass.
      order.forward(near);
      order.backward(far);
    } else {
      order.together(near, far);
    }
    order.together(far, near);
  }
  for (int k = 0; k < behind; ++k) {
    order.backward(far);
    order.together(far, near);
  }
  drain_dualpipe(order, near, far, from_end, behind);
  return order.take();
}

std::string count(int value, const char* what) { return std::to_string(value) + what; }

std::string explain_interleaved(const PipelineShape& shape) {
  if (shape.chunks == 1 || shape.microbatches % shape.stages == 0) return "";
  return count(shape.microbatches, " microbatches are not divisible by ") +
         count(shape.stages, " stages, as the interleaved schedule needs");
}

std::string explain_shifting(const PipelineShape& shape) {
  if (shape.chunks == 1 || shape.microbatches >= shape.stages) return "";
  return count(shape.microbatches, " microbatches are fewer than the ") +
         count(shape.stages, " stages through which they go round");
}

std::string explain_two_rounds(const PipelineShape& shape) {
  if (shape.microbatches >= 2 * shape.stages) return "";
  return count(shape.microbatches, " microbatches are fewer than twice the ") +
         count(shape.stages, " stages, as this schedule needs");
}

std::string explain_dualpipe(const PipelineShape& shape) {
  if (shape.stages % 2 == 0 && shape.microbatches % 2 == 0) return explain_two_rounds(shape);
  return count(shape.microbatches, " microbatches on ") +
         count(shape.stages, " stages: DualPipe needs an even number of both");
}

// In the order of PipelineSchedule.
constexpr ScheduleTraits kTraits[] = {
    {.name = "gpipe", .chunks = 1, .passes_as_recorded = true, .holds_all = true, .order = gpipe_order},
    {.name = "one_f_one_b",
     .chunks = 1,
     .passes_as_recorded = true,
     .tried_unasked = true,
     .order = one_forward_one_backward},
    {.name = "interleaved",
     .passes_as_recorded = true,
     .tried_unasked = true,
     .of_one_chunk = PipelineSchedule::k1F1B,
     .explain_invalid = explain_interleaved,
     .order = one_forward_one_backward},
    {.name = "shifting",
     .shifts = true,
     .holds_all = true,
     .explain_invalid = explain_shifting,
     .order = shifting_order},
    {.name = "zero_bubble_h1", .chunks = 1, .splits_backward = true, .order = zero_bubble_h1_order},
    {.name = "zero_bubble_v",
     .chunks = 2,
     .layout = PieceLayout::kDownAndUp,
     .splits_backward = true,
     .explain_invalid = explain_two_rounds,
     .order = zero_bubble_v_order},
    {.name = "dualpipe",
     .chunks = 2,
     .layout = PieceLayout::kFromBothEnds,
     .splits_backward = true,
     .takes_turns = true,
     .explain_invalid = explain_dualpipe,
     .order = dualpipe_order},
};

}  // namespace

std::span<const ScheduleTraits> all_schedules() { return kTraits; }

const ScheduleTraits& schedule_traits(PipelineSchedule schedule) {
  return kTraits[static_cast<std::size_t>(schedule)];
}

std::optional<PipelineSchedule> schedule_named(std::string_view name) {
  const auto found = std::find_if(std::begin(kTraits), std::end(kTraits),
                                  [&](const ScheduleTraits& traits) { return traits.name == name; });
  if (found == std::end(kTraits)) return std::nullopt;
  return static_cast<PipelineSchedule>(found - std::begin(kTraits));
}

// In iteration t the stage has what the first stage began with `stage` iterations earlier: all microbatches
// of chunk 0, then all of chunk 1, and so on; padding before and after, which counts as the pass next to it.
int shifting_pass(const PipelineShape& shape, int stage, int iteration) {
  return std::clamp(iteration - stage, 0, shape.microbatches * shape.chunks - 1);
}

}  // namespace podsim
