// Rules of pipeline orders.
#include "workload/pipeline/pipeline.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

namespace podsim::pipeline_test {
namespace {

// All shapes of a schedule with up to 6 stages.
std::vector<PipelineShape> shapes_of(PipelineSchedule schedule) {
  std::vector<PipelineShape> shapes;
  for (int stages = 1; stages <= 6; ++stages)
    for (int chunks = 1; chunks <= 3; ++chunks)
      for (int microbatches : {1, 2, 4, 7, 12, 18, 60}) {
        const PipelineShape shape{schedule, stages, chunks, microbatches};
        if (explain_invalid(shape).empty()) shapes.push_back(shape);
      }
  return shapes;
}

std::vector<std::tuple<Pass, int, int>> numbers_of(const std::vector<PipelineTask>& order) {
  std::vector<std::tuple<Pass, int, int>> numbers;
  for (const PipelineTask& task : order) numbers.emplace_back(task.pass, task.microbatch, task.chunk);
  return numbers;
}

constexpr PipelineSchedule kSchedules[] = {PipelineSchedule::kGpipe,       PipelineSchedule::k1F1B,
                                           PipelineSchedule::kInterleaved, PipelineSchedule::kZeroBubbleH1,
                                           PipelineSchedule::kZeroBubbleV, PipelineSchedule::kDualPipe};

TEST(PipelineOrder, every_microbatch_passes_every_piece_once_in_each_direction) {
  for (const PipelineSchedule schedule : kSchedules) {
    ASSERT_FALSE(shapes_of(schedule).empty());
    for (const PipelineShape& shape : shapes_of(schedule)) {
      std::set<std::pair<int, int>> forward, inputs, weights;  // (microbatch, piece)
      for (int stage = 0; stage < shape.stages; ++stage) {
        for (const PipelineTask& task : pipeline_order(shape, stage)) {
          const std::pair<int, int> key{task.microbatch, piece_at(shape, {stage, task.chunk})};
          const bool whole = task.pass == Pass::kBackward;
          bool once = true;
          if (task.pass == Pass::kForward) once = forward.insert(key).second;
          if (whole || task.pass == Pass::kInputGradient)
            once = forward.count(key) && inputs.insert(key).second;
          if (whole || task.pass == Pass::kWeightGradient)
            once = once && inputs.count(key) && weights.insert(key).second;
          EXPECT_TRUE(once);
        }
      }
      const std::size_t all = static_cast<std::size_t>(shape.microbatches) * piece_count(shape);
      EXPECT_EQ(forward.size(), all);
      EXPECT_EQ(inputs.size(), all);
      EXPECT_EQ(weights.size(), all);
    }
  }
}

// What an order shows of a schedule is what its row of the table says.
TEST(PipelineOrder, has_the_traits_of_its_schedule) {
  for (std::size_t s = 0; s < all_schedules().size(); ++s) {
    const auto schedule = static_cast<PipelineSchedule>(s);
    const ScheduleTraits& traits = schedule_traits(schedule);
    bool splits = false, turns = false, holds_all = true;
    for (const PipelineShape& shape : shapes_of(schedule)) {
      for (int stage = 0; stage < shape.stages; ++stage) {
        bool backward = false;
        for (const PipelineTask& task : pipeline_order(shape, stage)) {
          splits |= task.pass == Pass::kWeightGradient;
          turns |= task.with_next;
          holds_all &= !backward || task.pass != Pass::kForward;
          backward |= task.pass != Pass::kForward;
        }
      }
    }
    EXPECT_EQ(splits, traits.splits_backward) << traits.name;
    EXPECT_EQ(turns, traits.takes_turns) << traits.name;
    EXPECT_EQ(holds_all, traits.holds_all) << traits.name;
    if (!traits.of_one_chunk) continue;
    EXPECT_FALSE(traits.chunks) << traits.name << " has as many chunks as are chosen";
    for (const PipelineShape& shape : shapes_of(*traits.of_one_chunk))
      for (int stage = 0; stage < shape.stages; ++stage)
        EXPECT_EQ(numbers_of(pipeline_order({schedule, shape.stages, 1, shape.microbatches}, stage)),
                  numbers_of(pipeline_order(shape, stage)))
            << traits.name;
  }
}

// (direction, from stage, to stage): what is handed over, in order.
using StageTransfersTest = std::map<std::tuple<bool, int, int>, std::vector<std::pair<int, int>>>;

// Receives and sends of all stages; a value is (microbatch, piece that it leaves).
std::pair<StageTransfersTest, StageTransfersTest> handovers(const PipelineShape& shape) {
  StageTransfersTest received, sent;
  for (int stage = 0; stage < shape.stages; ++stage) {
    for (const PipelineTask& task : pipeline_order(shape, stage)) {
      if (task.pass == Pass::kWeightGradient) continue;
      const bool forward = task.pass == Pass::kForward;
      const PipelinePlace here{stage, task.chunk};
      const auto from = forward ? place_before(shape, here) : place_after(shape, here);
      const auto to = forward ? place_after(shape, here) : place_before(shape, here);
      if (from && from->stage != stage)
        received[{forward, from->stage, stage}].emplace_back(task.microbatch, piece_at(shape, *from));
      if (to && to->stage != stage)
        sent[{forward, stage, to->stage}].emplace_back(task.microbatch, piece_at(shape, here));
    }
  }
  return {received, sent};
}

TEST(PipelineOrder, a_stage_receives_in_the_order_in_which_its_neighbour_sends) {
  for (const PipelineSchedule schedule : kSchedules) {
    for (const PipelineShape& shape : shapes_of(schedule)) {
      const auto [received, sent] = handovers(shape);
      EXPECT_EQ(received, sent) << shape.stages << " stages, " << shape.microbatches << " microbatches";
      for (const auto& [way, what] : sent) {
        const int apart = std::abs(std::get<1>(way) - std::get<2>(way));
        EXPECT_TRUE(apart == 1 || apart == shape.stages - 1) << "to neighbours only";
      }
    }
  }
}

TEST(PipelinePlaces, v_turns_on_the_last_stage_and_dualpipe_holds_every_piece_twice) {
  const PipelineShape v{PipelineSchedule::kZeroBubbleV, 4, 2, 8};
  EXPECT_EQ(piece_count(v), 8);
  EXPECT_EQ(piece_at(v, {1, 1}), 6);
  EXPECT_EQ(place_after(v, {3, 0}), (PipelinePlace{3, 1}));
  EXPECT_EQ(place_before(v, {1, 1}), (PipelinePlace{2, 1}));
  EXPECT_EQ(place_after(v, {0, 1}), std::nullopt);
  const PipelineShape dual{PipelineSchedule::kDualPipe, 4, 2, 8};
  EXPECT_EQ(piece_count(dual), 4);
  EXPECT_EQ(piece_at(dual, {1, 0}), 1);
  EXPECT_EQ(piece_at(dual, {1, 1}), 2);
  EXPECT_EQ(place_after(dual, {1, 1}), (PipelinePlace{0, 1}));
  EXPECT_EQ(place_before(dual, {3, 1}), std::nullopt);
}

TEST(PipelineShape, what_cannot_run_is_said_with_the_numbers) {
  EXPECT_EQ(explain_invalid({PipelineSchedule::kZeroBubbleV, 4, 2, 7}),
            "7 microbatches are fewer than twice the 4 stages, as this schedule needs");
  EXPECT_EQ(explain_invalid({PipelineSchedule::kDualPipe, 3, 2, 8}),
            "8 microbatches on 3 stages: DualPipe needs an even number of both");
  EXPECT_EQ(explain_invalid({PipelineSchedule::kZeroBubbleH1, 4, 2, 8}),
            "2 chunks per stage, where this schedule has 1");
  EXPECT_EQ(explain_invalid({PipelineSchedule::kShifting, 4, 2, 3}),
            "3 microbatches are fewer than the 4 stages through which they go round");
}

TEST(PipelineOrder, a_1f1b_stage_holds_at_most_as_many_microbatches_as_stages_follow_it) {
  for (int stage = 0; stage < 4; ++stage)
    EXPECT_EQ(most_held(pipeline_order({PipelineSchedule::k1F1B, 4, 1, 16}, stage), {1}), 4 - stage);
}

TEST(PipelineOrder, a_shifting_buffer_runs_the_same_iterations_on_every_stage) {
  const auto first = pipeline_order({PipelineSchedule::kShifting, 4, 1, 16}, 0);
  EXPECT_EQ(first.size(), 2u * 19);
  for (int stage = 1; stage < 4; ++stage) {
    const auto order = pipeline_order({PipelineSchedule::kShifting, 4, 1, 16}, stage);
    ASSERT_EQ(order.size(), first.size());
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i].microbatch, first[i].microbatch);
  }
}

// Padding counts as the pass next to it, so that an iteration is never slower than a pass of some stage.
TEST(PipelineOrder, the_documents_of_a_shifting_buffer_move_on_by_one_stage_in_every_iteration) {
  for (const int chunks : {1, 3}) {
    const PipelineShape shape{PipelineSchedule::kShifting, 4, chunks, 5};
    for (int stage = 0; stage < shape.stages; ++stage) {
      std::vector<int> documents;
      for (const PipelineTask& task : pipeline_order(shape, stage))
        if (task.pass == Pass::kForward) documents.push_back(documents_of(shape, stage, task));
      std::vector<int> expected(static_cast<std::size_t>(stage), 0);
      for (int pass = 0; pass < 5 * chunks; ++pass) expected.push_back(pass % 5);
      expected.resize(static_cast<std::size_t>(5 * chunks + 3), 4);
      EXPECT_EQ(documents, expected) << "stage " << stage << ", " << chunks << " chunks";
    }
  }
}

TEST(PipelineOrder, chunks_make_as_many_passes_as_are_told_of_them) {
  for (const ScheduleTraits& traits : all_schedules())
    for (const PipelineShape& shape : shapes_of(*schedule_named(traits.name)))
      for (int stage = 0; stage < shape.stages; ++stage) {
        std::vector<int> forward(static_cast<std::size_t>(shape.chunks), 0), backward = forward;
        for (const PipelineTask& task : pipeline_order(shape, stage)) {
          if (task.pass == Pass::kForward) ++forward[static_cast<std::size_t>(task.chunk)];
          if (task.pass == Pass::kBackward || task.pass == Pass::kInputGradient)
            ++backward[static_cast<std::size_t>(task.chunk)];
        }
        EXPECT_EQ(passes_of_chunks(shape, stage), forward) << traits.name << ", stage " << stage;
        EXPECT_EQ(passes_of_chunks(shape, stage), backward) << traits.name << ", stage " << stage;
      }
}

TEST(PipelineOrder, every_task_has_documents_of_a_microbatch_that_is_there) {
  for (const PipelineShape& shape :
       {PipelineShape{PipelineSchedule::kGpipe, 4, 1, 8}, PipelineShape{PipelineSchedule::k1F1B, 4, 1, 3},
        PipelineShape{PipelineSchedule::kInterleaved, 4, 3, 8},
        PipelineShape{PipelineSchedule::kShifting, 4, 1, 2},
        PipelineShape{PipelineSchedule::kShifting, 4, 3, 4},
        PipelineShape{PipelineSchedule::kZeroBubbleH1, 4, 1, 8},
        PipelineShape{PipelineSchedule::kZeroBubbleV, 4, 2, 8},
        PipelineShape{PipelineSchedule::kDualPipe, 4, 2, 8}})
    for (int stage = 0; stage < shape.stages; ++stage)
      for (const PipelineTask& task : pipeline_order(shape, stage)) {
        EXPECT_GE(documents_of(shape, stage, task), 0);
        EXPECT_LT(documents_of(shape, stage, task), shape.microbatches);
      }
}

TEST(MostHeld, chunks_in_flight_follow_the_schedule) {
  const auto held = [](PipelineSchedule schedule, int stage, int chunks, int microbatches) {
    return most_held(pipeline_order({schedule, 8, chunks, microbatches}, stage),
                     std::vector<double>(static_cast<std::size_t>(chunks), 1));
  };
  EXPECT_EQ(held(PipelineSchedule::k1F1B, 0, 1, 64), 8);
  EXPECT_EQ(held(PipelineSchedule::k1F1B, 7, 1, 64), 1);
  EXPECT_EQ(held(PipelineSchedule::k1F1B, 0, 1, 4), 4);
  EXPECT_EQ(held(PipelineSchedule::kGpipe, 7, 1, 64), 64);
  // Korthikanti et al. (arXiv 2205.05198), section 4.2.3: L (1 + (p - 1) / (p m)) layers on the first stage.
  EXPECT_EQ(held(PipelineSchedule::kInterleaved, 0, 3, 64), 8 * 3 + 8 - 1);
  for (int stage = 0; stage < 8; ++stage) {
    EXPECT_EQ(held(PipelineSchedule::kZeroBubbleH1, stage, 1, 64), 8) << "Qi et al. (arXiv 2401.10241)";
    EXPECT_EQ(held(PipelineSchedule::kZeroBubbleV, stage, 2, 64), 2 * 8) << "halves of a stage";
    EXPECT_EQ(held(PipelineSchedule::kDualPipe, stage, 2, 64), 8 + 1) << "arXiv 2412.19437, table 2";
  }
}

TEST(MostHeld, only_what_weight_gradients_read_is_held_behind_the_input_gradient) {
  const std::vector<PipelineTask> order = {{Pass::kForward, 0, 0},
                                           {Pass::kForward, 1, 0},
                                           {Pass::kInputGradient, 0, 0},
                                           {Pass::kForward, 2, 0},
                                           {Pass::kWeightGradient, 0, 0}};
  EXPECT_EQ(most_held(order, {10}), 30);
  EXPECT_EQ(most_held(order, {10}, {4}), 10 + 10 + 4);
  EXPECT_EQ(most_held(order, {10}, {12}), 10 + 10 + 12) << "gradients may outweigh what is given back";
}

TEST(PipelineOrder, a_circular_buffer_takes_all_microbatches_through_one_chunk_after_the_other) {
  const auto order = pipeline_order({PipelineSchedule::kShifting, 4, 2, 8}, 3);
  ASSERT_EQ(order.size(), 2u * (2 * 8 + 3));
  for (int iteration = 0; iteration < 19; ++iteration)
    EXPECT_EQ(order[static_cast<std::size_t>(iteration)].chunk, iteration < 3 + 8 ? 0 : 1);
}

}  // namespace
}  // namespace podsim::pipeline_test
