// Scripts of Megatron-LM as people write them: what is an argument, and what a shell does with it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ingest/launchers/launchers.h"
#include "ingest/launchers/shell.h"
#include "tests/ingest/launcher_answer.h"

namespace podsim::megatron_scripts_test {
namespace {

using nlohmann::json;
using testing::LauncherAnswer;

const std::string kTraining =
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 "
    "--seq-length 4096 --micro-batch-size 1 --vocab-size 32000 ";

LauncherAnswer read(const std::string& text) { return testing::answer_of(import_megatron, text); }

// What a script means: mesh, precision and the rest, without the account.
json meaning(const LauncherAnswer& answer) {
  EXPECT_TRUE(answer.problems.empty()) << (answer.problems.empty() ? "" : answer.problems.front());
  json figures = json::parse(answer.figures);
  if (figures.is_object()) figures.erase("account");
  return figures;
}

TEST(MegatronScripts, may_redirect_what_they_print) {
  const std::string training = kTraining + "--bf16 --tensor-model-parallel-size 8";
  const json plain = meaning(read(training + "\n"));
  EXPECT_EQ(plain["mesh_outer_to_inner"][3], json({"tensor", 8}));
  for (const char* behind : {" 2>&1 | tee log.txt", " > log.txt", " &> log.txt", " >>log.txt 2>&1 &",
                             " 2> errors 1>log", " > >(tee log.txt) 2>&1", " < /dev/null"})
    EXPECT_EQ(meaning(read(training + behind + "\n")), plain) << behind;
  EXPECT_EQ(meaning(read("cat > run.sh <<EOF\n" + training + "\nEOF\nbash run.sh\n")), plain);
}

TEST(MegatronScripts, may_end_with_arguments_that_nobody_knows_and_say_so) {
  for (const char* arguments : {"--bf16", "--bf16 --tensor-model-parallel-size 8"}) {
    const LauncherAnswer plain = read(kTraining + arguments + "\n");
    EXPECT_TRUE(plain.imported.notes.empty());
    for (const char* more :
         {"\"$@\"", "$EXTRA_ARGS", "${EXTRA_ARGS}", "\"${EXTRA[@]}\"", "$(cat more.txt)"}) {
      const LauncherAnswer answer = read(kTraining + arguments + " " + more + "\n");
      EXPECT_EQ(meaning(answer), meaning(plain)) << more;
      ASSERT_EQ(answer.imported.notes.size(), 1u) << more;
      EXPECT_EQ(answer.imported.notes[0].find("file: nothing says what $"), 0u) << answer.imported.notes[0];
    }
  }
  const LauncherAnswer value = read(kTraining + "--tensor-model-parallel-size $TP\n");
  EXPECT_EQ(meaning(value)["needs"].back(), "tensor-model-parallel-size: $TP");
  EXPECT_TRUE(value.imported.notes.empty()) << "which is asked for";
}

TEST(MegatronScripts, give_a_shell_within_the_shell_an_array_as_one_text) {
  const std::string sizes = "ARGS=(--num-layers 32 --hidden-size 4096 --sequence-parallel)\n";
  const std::string rest =
      " --num-attention-heads 32 --seq-length 4096 --micro-batch-size 1 --tensor-model-parallel-size 8 "
      "--bf16 "
      "--vocab-size 32000";
  const json plain = meaning(read(sizes + "torchrun --nproc_per_node 8 pretrain_gpt.py ${ARGS[@]}" + rest));
  EXPECT_EQ(plain["sequence_parallel"], true);
  EXPECT_EQ(meaning(read(sizes + "srun bash -c \"torchrun --nproc_per_node 8 pretrain_gpt.py ${ARGS[*]}" +
                         rest + " > log 2>&1\"\n")),
            plain);
}

TEST(MegatronScripts, of_megatron_deepspeed_have_its_heads_and_sequences) {
  const LauncherAnswer answer = read(
      "torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
      "--num-attention-heads 32 --seq-length 4096 --micro-batch-size 1 --global-batch-size 128 --bf16 "
      "--num-key-value-heads 8 --ds-sequence-parallel-size 4\n");
  const json figures = meaning(answer);
  EXPECT_EQ(figures["model"]["kv_heads"], 8);
  EXPECT_EQ(figures["mesh_outer_to_inner"][1], json({"data", 8 * 4 / 4}));
  EXPECT_EQ(figures["mesh_outer_to_inner"][2], json({"context", 4}));
  EXPECT_EQ(figures["batch"]["microbatches"], 128 / (8 * 4 / 4));
  EXPECT_NE(answer.imported.text.find("not simulated: heads exchanged for sequences"), std::string::npos);
}

std::vector<std::string> words_of(const std::string& text) {
  Document document("file", text);
  const ShellScript script = read_shell(document, {});
  std::vector<std::string> words;
  if (!script.commands.empty())
    for (const ShellWord& word : script.commands[0]) words.push_back(word.text);
  return words;
}

TEST(Shell, takes_a_value_for_a_variable_that_is_set_and_none_for_one_that_is_not) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words_of("run ${A:+--a $A} end"), (Words{"run", "end"}));
  EXPECT_EQ(words_of("A=3\nrun ${A:+--a $A} end"), (Words{"run", "--a", "3", "end"}));
}

TEST(Shell, knows_a_word_that_is_nothing_but_what_nobody_sets) {
  for (const char* word : {"$A", "${A}", "$@", "${A[@]}", "$(cat x y)", "`cat x`", "${A:0:$B}"})
    EXPECT_TRUE(is_unknown_word(word)) << word;
  for (const char* word : {"", "$", "8", "$A/x", "${A}/${B}", "$(a) $(b)", "x$A"})
    EXPECT_FALSE(is_unknown_word(word)) << word;
}

}  // namespace
}  // namespace podsim::megatron_scripts_test
