// How many ranks a launcher of Megatron-LM starts, by torchrun and by Slurm.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ingest/launchers/launchers.h"
#include "tests/ingest/launcher_answer.h"

namespace podsim::launched_ranks_test {
namespace {

using nlohmann::json;

const std::string kTraining =
    "pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
    "--micro-batch-size 1 --vocab-size 32000 --bf16\n";

// The number of chips, or what is needed to know it.
std::string ranks_of(const std::string& before, const std::string& launcher) {
  const auto answer = testing::answer_of(import_megatron, before + launcher + " " + kTraining);
  EXPECT_TRUE(answer.problems.empty()) << launcher;
  const json figures = json::parse(answer.figures);
  if (!figures["chips"].is_null()) return std::to_string(figures["chips"].get<int>());
  return figures["needs"].at(0);
}

TEST(LaunchedRanks, are_asked_for_where_the_number_of_nodes_is_not_known) {
  for (const char* nodes : {"$NNODES", "${PET_NNODES}", "$SLURM_NNODES", "4:8"})
    EXPECT_EQ(ranks_of("", "torchrun --nproc_per_node 8 --nnodes " + std::string(nodes)),
              "chips: nnodes is " + std::string(nodes));
  EXPECT_EQ(ranks_of("#SBATCH --nodes=2-16\n", "torchrun --nproc_per_node 8 --nnodes $SLURM_NNODES"),
            "chips: nnodes is $SLURM_NNODES");
  EXPECT_EQ(ranks_of("#SBATCH --nodes=2-16\n#SBATCH --ntasks-per-node=8\n", "srun python"),
            "chips: nodes is 2-16");
  EXPECT_EQ(ranks_of("", "torchrun --nproc_per_node 8"), "8") << "one node is the default of torchrun";
}

TEST(LaunchedRanks, have_the_nodes_of_slurm_where_torchrun_has_a_variable) {
  EXPECT_EQ(ranks_of("#SBATCH --nodes=16\nNODES=$(scontrol show hostnames $LIST | wc -l)\n",
                     "torchrun --nproc_per_node 8 --nnodes $NODES"),
            std::to_string(16 * 8));
  EXPECT_EQ(ranks_of("#SBATCH -N 4\n", "torchrun --nproc_per_node 8 --nnodes $SLURM_NNODES"),
            std::to_string(4 * 8));
}

TEST(LaunchedRanks, of_torchrun_are_the_gpus_of_a_node_and_not_the_tasks_of_slurm) {
  const std::string nodes = "#SBATCH -N 16\n#SBATCH --ntasks-per-node 1\n";
  for (const char* each : {"gpu", "auto", "$SLURM_GPUS_ON_NODE", "$(nvidia-smi -L | wc -l)"}) {
    const std::string launcher =
        "srun torchrun --nproc_per_node " + std::string(each) + " --nnodes $SLURM_NNODES";
    for (const char* gpus : {"--gres=gpu:h100:8", "--gres=gpu:8(S:0-1)", "--gpus-per-node=8",
                             "--gpus-per-node=h100:8", "--gres=nvme:1,gpu:8"})
      EXPECT_EQ(ranks_of(nodes + "#SBATCH " + gpus + "\n", launcher), std::to_string(16 * 8))
          << each << " " << gpus;
    EXPECT_EQ(ranks_of(nodes, launcher), "chips: nproc-per-node is " + std::string(each));
  }
  EXPECT_EQ(ranks_of(nodes, "srun torchrun"), "chips");
}

TEST(LaunchedRanks, are_the_tasks_of_slurm_without_another_launcher) {
  const std::string nodes = "#SBATCH --nodes=16\n#SBATCH --ntasks-per-node=8\n";
  EXPECT_EQ(ranks_of(nodes, "srun python"), std::to_string(16 * 8));
  EXPECT_EQ(ranks_of(nodes, "srun -N 2 --ntasks-per-node=4 python"), std::to_string(2 * 4));
  EXPECT_EQ(ranks_of(nodes, "srun -l -N2 --ntasks-per-node=4 python -u"), std::to_string(2 * 4));
  EXPECT_EQ(ranks_of(nodes, "srun --nodes 2 --ntasks-per-node 4 python"), std::to_string(2 * 4));
  EXPECT_EQ(ranks_of("", "srun -n 64 python"), "64");
  EXPECT_EQ(ranks_of("", "srun -n 64 -N 8 --ntasks-per-node=8 python"), "64");
  EXPECT_EQ(ranks_of("", "srun -n 64 -N 4 --ntasks-per-node=8 python"),
            "chips: ntasks is 64, and nodes x ntasks-per-node 4 x 8");
}

TEST(LaunchedRanks, read_the_gpus_of_a_task_as_no_misspelling) {
  EXPECT_EQ(ranks_of("", "srun -n 8 --gpus-per-task=1 python"), "8");
}

}  // namespace
}  // namespace podsim::launched_ranks_test
