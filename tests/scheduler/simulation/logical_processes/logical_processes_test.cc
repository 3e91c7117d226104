// Tensor groups one by one: which parts of a system come apart, and that nothing else changes.
#include "scheduler/simulation/logical_processes/logical_processes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "scheduler/folding/laid_job.h"
#include "scheduler/simulation/logical_processes/lookahead.h"
#include "scheduler/simulation/logical_processes/lp_advance.h"
#include "scheduler/simulation/state/host_copies.h"
#include "tests/rounds.h"
#include "tests/scheduler/simulation/random_overlap.h"
#include "tests/scheduler/simulation/random_step.h"

namespace podsim::logical_processes_test {
namespace {

using testing::collective;

// Pipelines with two tensor ranks in each stage, every chip a class of its own.
System pipelines(int replicas, int stages = 2) {
  const Fabric fabric = build_fabric(testing::gpu_fabric(2 * stages * replicas, 2, 2));
  const Mesh mesh{{{"pipeline", stages}, {"data", replicas}, {"tensor", 2}}};
  constexpr AxisSet kData = 2, kTensor = 4;
  StepProgram program = testing::pipeline_program(mesh, PipelineSchedule::k1F1B, stages, 1, 4, 1, 2);
  testing::layer_of(program).forward.push_back(
      collective(CollectiveKind::kAllReduce, kTensor, 1e6, Purpose::kActivation));
  testing::layer_of(program).backward.push_back(
      collective(CollectiveKind::kAllReduce, kData, 1e6, Purpose::kGradient));
  const LaidJob job = testing::lay(testing::plain_spec(), program, fabric, 0);
  return assemble(fabric, {&job, 1}, {}, false);
}

TEST(LogicalProcesses, are_the_tensor_groups_of_a_data_parallel_pipeline) {
  const System system = pipelines(3);
  const StreamOperations lists(system);
  const LogicalProcesses processes = find_logical_processes(system, lists);
  ASSERT_EQ(processes.chips.size(), 6u);
  for (std::int32_t i = 0; i < 6; ++i) {
    const std::span<const std::int32_t> chips = processes.chips[i];
    EXPECT_EQ(std::vector(chips.begin(), chips.end()), (std::vector<std::int32_t>{2 * i, 2 * i + 1}));
    EXPECT_EQ(processes.of_chip[2 * i + 1], i);
  }
  for (std::size_t m = 0; m < lists.all_rendezvous().size(); ++m) {
    const bool inner = lists.all_rendezvous()[m].stream == Stream::kActivation;
    EXPECT_EQ(processes.shared(static_cast<std::int32_t>(m)), !inner);
    EXPECT_TRUE(processes.crossed[m].empty()) << "transfers and reductions leave NVLink alone";
  }
}

TEST(LogicalProcesses, of_one_group_are_none) {
  const System system = pipelines(1, 1);
  EXPECT_FALSE(find_logical_processes(system, StreamOperations(system)).any());
}

using Kind = Instruction::Kind;

Instruction on(Kind kind, Stream stream) {
  Instruction result{};
  result.kind = kind;
  result.stream = stream;
  return result;
}

Instruction compute(std::int64_t ps) {
  Instruction result{};
  result.kind = Kind::kCompute;
  result.duration = {ps};
  return result;
}

// [instruction] what is ahead of a chip at it, in a segment of these where activations are inner.
std::vector<std::pair<std::int64_t, int>> work_ahead(const std::vector<Instruction>& segment) {
  System system;
  StageProgram& program = system.step.stages.emplace_back();
  program.segments = {segment};
  program.order = {0};
  LogicalProcesses processes;
  processes.chips = Lists(std::vector<std::vector<std::int32_t>>{{0}});
  processes.inner_streams[static_cast<std::size_t>(Stream::kActivation)] = true;
  const Lookahead lookahead(system, processes);
  std::vector<std::pair<std::int64_t, int>> result;
  RunningChip chip;
  for (const Instruction& at : program.segments[0]) {
    chip.at = &at;
    const Lookahead::Work work = lookahead.after(chip);
    result.emplace_back(work.duration.ps, work.computations);
  }
  const Instruction pause = on(Kind::kPause, Stream::kActivation);
  chip.at = &pause;
  EXPECT_EQ(lookahead.after(chip).computations, 0) << "of a pause nothing is known";
  return result;
}

using Works = std::vector<std::pair<std::int64_t, int>>;

TEST(Lookahead, goes_over_inner_streams_and_ends_at_a_launch_on_a_shared_one) {
  EXPECT_EQ(
      work_ahead({compute(3), on(Kind::kLaunch, Stream::kActivation), on(Kind::kWait, Stream::kActivation),
                  compute(5), compute(6), on(Kind::kLaunch, Stream::kForwardNext), compute(7)}),
      (Works{{11, 2}, {11, 2}, {11, 2}, {6, 1}, {0, 0}, {7, 1}, {0, 0}}));
}

TEST(Lookahead, ends_where_a_chip_looks_at_a_shared_stream) {
  EXPECT_EQ(work_ahead({compute(3), on(Kind::kLaunch, Stream::kActivation), compute(4),
                        on(Kind::kReceive, Stream::kForwardNext), compute(5)}),
            (Works{{4, 1}, {4, 1}, {0, 0}, {5, 1}, {0, 0}}));
}

TEST(Lookahead, ends_before_a_computation_that_may_go_on_over_a_shared_wait) {
  EXPECT_EQ(work_ahead({compute(2), on(Kind::kLaunch, Stream::kActivation), compute(3),
                        on(Kind::kWait, Stream::kGradient), compute(4)}),
            (Works{{0, 0}, {0, 0}, {0, 0}, {4, 1}, {0, 0}}));
}

Instruction on(Kind kind, Stream stream, std::int32_t pending) {
  Instruction result = on(kind, stream);
  result.message = kind == Kind::kLaunch ? 0 : -1;
  result.pending = pending;
  return result;
}

TEST(StreamOperations, know_how_many_operations_of_a_stream_are_unfinished_at_once_at_most) {
  constexpr Stream kWaited = Stream::kActivation, kLeft = Stream::kGradient;
  System system;
  system.step.messages.resize(1);
  system.communicator_of = {0};
  StageProgram& program = system.step.stages.emplace_back();
  program.segments = {
      {on(Kind::kLaunch, kWaited, 0), on(Kind::kLaunch, kWaited, 0), on(Kind::kWait, kWaited, 1),
       on(Kind::kLaunch, kWaited, 0), on(Kind::kWait, kWaited, 0)},
      {on(Kind::kLaunch, kLeft, 0)}};
  program.order = {0, 1, 0};
  const StreamOperations lists(system);
  EXPECT_EQ(lists.lists_of(0)[lists.list_of(0, kWaited)].most_unfinished, 2);
  EXPECT_EQ(lists.lists_of(0)[lists.list_of(0, kLeft)].most_unfinished, StreamList::kManyUnfinished)
      << "a step leaves it to the next one";
}

TEST(StreamOperations, list_the_messages_of_each_rendezvous_in_the_order_of_the_program) {
  constexpr Stream kStream = Stream::kActivation;
  System system;
  system.step.messages.resize(3);
  system.communicator_of = {0, 1, 0};
  StageProgram& program = system.step.stages.emplace_back();
  const auto launch = [](std::int32_t message) {
    Instruction instruction = on(Kind::kLaunch, kStream, 0);
    instruction.message = message;
    return instruction;
  };
  program.segments = {{launch(2), launch(1), launch(0)}, {launch(2)}};
  program.order = {0, 1};
  const StreamOperations lists(system);
  const auto messages_at = [&](std::int32_t slot) {
    const std::vector<std::int32_t> messages = lists.messages_of({0, kStream, 0, slot});
    return std::vector<std::int32_t>(messages.begin(), messages.end());
  };
  EXPECT_EQ(messages_at(0), (std::vector<std::int32_t>{2, 0, 2})) << "of the first communicator";
  EXPECT_EQ(messages_at(1), (std::vector<std::int32_t>{1}));
}

bool any_crossed(const LogicalProcesses& processes) { return !processes.crossed.all().empty(); }

// Whether chips of its logical processes are taken on in program order, unless operations cross them.
bool in_program_order(const System& system, const SimulateOptions& options,
                      const LogicalProcesses& processes) {
  const StreamOperations lists(system);
  bool follows = HostCopies::slots(system) == 0 && options.variation.late.empty();
  for (std::size_t p = 0; p < system.step.stages.size(); ++p)
    for (const StreamList& queue : lists.lists_of(static_cast<int>(p)))
      follows = follows && (!processes.inner(queue.stream) || LpAdvance::follows(queue, processes));
  return follows;
}

// Whether chips of its logical processes may launch what they do together.
bool all_meet(const System& system, const LogicalProcesses& processes) {
  const StreamOperations lists(system);
  for (std::size_t m = 0; m < lists.all_rendezvous().size(); ++m) {
    const std::int32_t process = processes.of_rendezvous[m];
    if (process == LogicalProcesses::kShared) continue;
    if (system.groups[lists.all_rendezvous()[m].group].members.size() != processes.chips[process].size())
      return false;
  }
  return true;
}

TEST(LogicalProcessesLaw,
     one_by_one_equals_together_to_the_picosecond_on_1000_random_systems_that_come_apart) {
  const int wanted = testing::rounds(1000);
  int apart = 0, crossed = 0, followed = 0, together = 0;
  for (int round = 0; apart < wanted; ++round) {
    ASSERT_LT(round, 60 * wanted) << "too few come apart";
    testing::RandomOverlap random = testing::random_overlap(round);
    random.options.prefetch_from = 2;
    if (!random.options.may_use_processes(random.system)) continue;
    const LogicalProcesses processes = find_logical_processes(random.system, StreamOperations(random.system));
    if (!processes.any()) continue;
    const Timeline one_by_one = simulate(random.system, random.options).front();
    random.options.processes = false;
    random.options.prefetch_from = SIZE_MAX;
    const Timeline as_one = simulate(random.system, random.options).front();
    ASSERT_EQ(testing::figures(as_one), testing::figures(one_by_one)) << "round " << round;
    ASSERT_EQ(as_one.events, one_by_one.events) << "round " << round;
    ++apart;
    crossed += any_crossed(processes);
    const bool follows = in_program_order(random.system, random.options, processes);
    followed += follows;
    together += follows && all_meet(random.system, processes);
  }
  EXPECT_GE(crossed, wanted / 10) << "what nobody crosses proves little";
  EXPECT_GE(followed, wanted / 4) << "and so does what only events take on";
  EXPECT_LE(followed, wanted - wanted / 10);
  EXPECT_GE(together, wanted / 5) << "in few of them all chips meet";
  EXPECT_LE(together, followed - wanted / 40);
}

// A pipeline whose layers send activations among four tensor ranks that share an NVLink domain, and nothing
// else there.
System random_tensor_groups(testing::Draw& draw) {
  const int stages = 1 + draw.below(3), data = 2 + draw.below(2), tensor = 4;
  testing::RandomJob job = testing::random_job(draw, stages, data, tensor);
  Part& layer = testing::layer_of(job.program);
  for (Block* block : {&layer.forward, &layer.backward}) {
    *block = testing::random_block(draw, 4);
    std::erase_if(*block, [](const ProgramOp& each) { return std::holds_alternative<HostCopy>(each); });
    for (ProgramOp& each : *block)
      if (auto* sent = std::get_if<CollectiveOp>(&each)) sent->purpose = Purpose::kActivation;
  }
  job.spec.job.stack.host_copies = 0;
  const Fabric fabric = build_fabric(testing::gpu_fabric(stages * data * tensor, tensor, tensor));
  const LaidJob laid = testing::lay(job.spec, job.program, fabric, 0);
  return assemble(fabric, {&laid, 1}, {}, false);
}

TEST(LogicalProcessesLaw,
     groups_that_launch_together_equal_one_loop_to_the_picosecond_on_300_random_pipelines) {
  const int wanted = testing::rounds(300);
  int together = 0;
  for (int round = 0; together < wanted; ++round) {
    ASSERT_LT(round, 20 * wanted) << "too few launch together";
    testing::Draw draw(static_cast<std::uint64_t>(50000 + round));
    const System system = random_tensor_groups(draw);
    SimulateOptions options;
    options.jitter = 0.01 + 0.3 * draw.real();
    options.seed = static_cast<std::uint64_t>(round);
    options.prefetch_from = 2;
    const LogicalProcesses processes = find_logical_processes(system, StreamOperations(system));
    if (!processes.any() || !in_program_order(system, options, processes) || !all_meet(system, processes))
      continue;
    ++together;
    const Timeline one_by_one = simulate(system, options).front();
    options.lockstep = false;
    const Timeline alone = simulate(system, options).front();
    options.processes = false;
    options.prefetch_from = SIZE_MAX;
    const Timeline as_one = simulate(system, options).front();
    for (const Timeline* other : {&one_by_one, &alone}) {
      ASSERT_EQ(testing::figures(as_one), testing::figures(*other)) << "round " << round;
      ASSERT_EQ(as_one.events, other->events) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace podsim::logical_processes_test
