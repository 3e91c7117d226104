// The models of the catalogue: what they count against published_models.csv, and that each can be laid out.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "proto/catalog/catalog.h"
#include "proto/scenario/load.h"
#include "proto/text/csv_table.h"
#include "workload/model/model_program.h"
#include "workload/partition/model_flops.h"
#include "workload/partition/program.h"

namespace podsim::published_models_test {
namespace {

const Catalog& built_in() {
  static const Catalog catalog;
  return catalog;
}

CsvTable published() {
  const std::string path = std::string(PODSIM_SOURCE_DIR) + "/tests/prediction/published_models.csv";
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return CsvTable(path, text.str());
}

// One sequence on each of eight GPUs.
Job job_of(const std::string& model, int sequence) {
  const std::string text = R"(
cluster { chip: "h100" fabric: "dgx_h100" chips: 8 }
job {
  stack: "torchtitan"
  mesh { name: "fsdp" size: 8 }
  sharding: "fsdp"
  global_batch_sequences: 8
  model: ")" + model +
                           "\"\n  sequence_tokens: " + std::to_string(sequence) + "\n}\n";
  const LoadResult result = load_scenario("job.textproto", text, built_in(), {});
  for (const Problem& problem : result.problems) ADD_FAILURE() << model << ": " << format_problem(problem);
  return result.spec ? result.spec->job : Job{};
}

TEST(PublishedModels, parameters_and_flops_are_the_published_ones) {
  CsvTable table = published();
  ASSERT_GT(table.rows().size(), 40u);
  for (const CsvRow& row : table.rows()) {
    const auto number = [&](const char* column) {
      return table.number(row, column, CsvNumber::kPositive).value_or(0);
    };
    const std::string name = table.cell(row, "model").text;
    const Job job = job_of(name, static_cast<int>(number("sequence")));
    if (job.mesh.axes.empty()) continue;
    const ModelProgram program = model_program(job);
    EXPECT_NEAR(parameter_count(program) / number("parameters"), 1, number("parameters_tolerance"))
        << name << " counts " << static_cast<std::int64_t>(parameter_count(program));
    if (!table.cell(row, "active").text.empty()) {
      EXPECT_NEAR(active_parameters(job, program) / number("active"), 1, number("active_tolerance"))
          << name << " counts " << active_parameters(job, program);
    }
    const double forward_gflop = flops_per_token(job, program).full.value / 3e9;
    EXPECT_NEAR(forward_gflop / number("gflop_per_token"), 1, number("gflop_tolerance"))
        << name << " counts " << forward_gflop;
    EXPECT_FALSE(table.cell(row, "source").text.empty()) << name;
  }
  for (const Problem& problem : table.problems()) ADD_FAILURE() << format_problem(problem);
}

TEST(PublishedModels, every_model_of_the_catalogue_can_be_laid_out_on_eight_gpus) {
  for (const std::string& name : built_in().names(Catalog::Section::kModels)) {
    const auto model = built_in().model(name);
    const Job job = job_of(name, model && model->vision ? model->learned_positions : 256);
    if (job.mesh.axes.empty()) continue;
    const StepProgram program = partition(job);
    EXPECT_FALSE(program.parts.empty()) << name;
    EXPECT_GT(program.parameters, 0) << name;
    EXPECT_GT(program.flops_per_token.full.value, 0) << name;
  }
}

}  // namespace
}  // namespace podsim::published_models_test
