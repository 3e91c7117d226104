// What the parts of a program send each other where a window or a table is cut.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/proto/scenario.h"
#include "workload/model/model_program.h"
#include "workload/partition/program.h"

namespace podsim::program_exchange_test {
namespace {

Job job_of(const std::string& scenario) {
  std::ifstream in(std::string(PODSIM_SOURCE_DIR) + "/scenarios/" + scenario);
  std::ostringstream text;
  text << in.rdbuf();
  const LoadResult result = load(text.str());
  EXPECT_TRUE(result.spec.has_value());
  return result.spec ? result.spec->job : Job{};
}

// 16 images of 224 x 224 a shard; a window of 7 rows with padding 3 and stride 2 reads three rows before the
// cut and two behind it, one of 3 rows with padding 1 and stride 2 one row before it.
TEST(OwnProgram, images_cut_along_their_height_exchange_the_rows_that_windows_read) {
  const StepProgram program = partition(job_of("resnet50_spatial_64_v5p.textproto"));
  std::vector<double> exchanged;
  for (const ProgramOp& op : program.parts.front().forward) {
    const auto* collective = std::get_if<CollectiveOp>(&op);
    if (!collective) continue;
    EXPECT_EQ(collective->kind, CollectiveKind::kPermute);
    exchanged.push_back(collective->bytes.value);
  }
  const double image_row = 16 * 224 * 3 * 2, pooled_row = 16 * 112 * 64 * 2;
  EXPECT_EQ(exchanged, (std::vector<double>{3 * image_row, 2 * image_row, pooled_row}));
}

// Each device looks up all samples in its table; the rows travel once forward, their gradients once backward.
TEST(OwnProgram, whole_tables_on_each_device_send_rows_by_all_to_all) {
  const Job job = job_of("dlrm_8_h100.textproto");
  EXPECT_EQ(parameter_count(model_program(job)), 8e6 * 64 + 295'488 + 2'203'649);
  const StepProgram program = partition(job);
  for (const Block* block : {&program.parts.front().forward, &program.parts.front().backward}) {
    std::vector<double> exchanged;
    for (const ProgramOp& op : *block) {
      const auto* collective = std::get_if<CollectiveOp>(&op);
      if (!collective) continue;
      EXPECT_EQ(collective->kind, CollectiveKind::kAllToAll) << collective->tensor;
      exchanged.push_back(collective->bytes.value);
    }
    EXPECT_EQ(exchanged, std::vector<double>{16384.0 / 8 * 8 * 64 * 2});
  }
}

}  // namespace
}  // namespace podsim::program_exchange_test
