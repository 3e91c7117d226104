// The readers of the project and what each promises.
#include "tests/fuzz/readers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "calibration/calibration_table.h"
#include "engine/check.h"
#include "ingest/chakra/import_chakra.h"
#include "ingest/file_kind.h"
#include "ingest/hlo/account.h"
#include "ingest/hlo/parse.h"
#include "ingest/hlo/summary.h"
#include "ingest/kineto/import_kineto.h"
#include "ingest/nccl_tests.h"
#include "ingest/partitioning/import_modules.h"
#include "ingest/stablehlo/import_stablehlo.h"
#include "prediction/selectors.h"
#include "proto/cases/load_flows.h"
#include "proto/cases/load_shard_cases.h"
#include "proto/scenario/load.h"
#include "proto/scenario/load_availability.h"
#include "proto/scenario/load_plan.h"
#include "proto/scenario/load_reliability.h"
#include "proto/scenario/load_space.h"
#include "proto/scenario/scenario_kind.h"
#include "proto/text/quantities.h"
#include "tests/fuzz/certificate_reader.h"
#include "tests/fuzz/trace_readers.h"
#include "validation/expression.h"
#include "validation/measured_collectives.h"
#include "validation/run_rules.h"
#include "validation/run_scenario.h"
#include "validation/run_table.h"
#include "validation/suite.h"

namespace podsim::testing {
namespace {

constexpr std::size_t kMostTold = 20;

const Catalog& catalog() {
  static const Catalog built_in;
  return built_in;
}

void check_told(const std::vector<Problem>& problems, std::size_t most = kMostTold) {
  PODSIM_CHECK(problems.size() <= most, std::to_string(problems.size()) + " problems");
  for (const Problem& problem : problems) {
    PODSIM_CHECK(!problem.message.empty(), "a problem says nothing");
    PODSIM_CHECK(problem.line >= 0 && problem.column >= 0, "a problem has no place");
    PODSIM_CHECK(format_problem(problem).size() < 10'000, "a problem of many pages");
  }
}

void check_either(bool read, const std::vector<Problem>& problems) {
  check_told(problems);
  PODSIM_CHECK(read == problems.empty(), "a result or problems, not both");
}

void load_all(const std::string& file, const std::string& text, const std::vector<Override>& overrides) {
  const ScenarioKind kind = scenario_kind(file, text);
  const LoadResult step = load_scenario(file, text, catalog(), overrides);
  check_either(step.spec.has_value(), step.problems);
  check_told(step.warnings, 1'000);
  const LoadPlanResult plan = load_plan(file, text, catalog(), overrides);
  check_either(plan.plan.has_value(), plan.problems);
  if (kind.search) {
    const LoadSearchResult layouts = load_search(file, text, catalog(), overrides);
    check_either(layouts.question.has_value(), layouts.problems);
  }
  if (kind.availability) {
    const LoadAvailabilityResult slices = load_availability(file, text, catalog(), overrides);
    check_either(slices.question.has_value(), slices.problems);
  }
  if (kind.reliability) {
    const LoadReliabilityResult weeks = load_reliability(file, text, catalog(), overrides);
    check_either(weeks.question.has_value(), weeks.problems);
  }
}

void scenario_text(const std::string& bytes) { load_all("input.textproto", bytes, {}); }
void scenario_json(const std::string& bytes) { load_all("input.json", bytes, {}); }
void scenario_binary(const std::string& bytes) { load_all("input.pb", bytes, {}); }

constexpr const char* kJobOf8 = R"(cluster { chip: "h100" fabric: "dgx_h100" chips: 16 }
job { model: "llama3_8b" stack: "torchtitan" mesh { name: "fsdp" size: 8 } mesh { name: "tensor" size: 2 }
  sharding: "fsdp" sharding: "megatron" global_batch_sequences: 16 microbatch_sequences: 1 sequence_tokens: 2048 }
adversity { slow_chip { chip: 3 speed_fraction: 0.9 } })";

// Lines "path=value", all of them set at once.
void overrides(const std::string& bytes) {
  std::vector<Override> set;
  std::istringstream lines(bytes);
  for (std::string line; std::getline(lines, line) && set.size() < 100;) {
    const std::size_t equals = std::min(line.find('='), line.size());
    set.push_back({line.substr(0, equals), line.substr(std::min(equals + 1, line.size()))});
  }
  load_all("input.textproto", kJobOf8, set);
}

// Rows become scenarios, which then must load or say why not.
void runs_csv(const std::string& bytes) {
  is_run_table(bytes);
  const RunTable table = read_run_table("input.csv", bytes);
  check_told(table.problems);
  check_told(read_run_rules("input.csv", bytes).problems);
  if (!table.problems.empty()) return;
  for (std::size_t row = 0; row < std::min<std::size_t>(table.rows.size(), 3); ++row) {
    const RunScenario made = run_scenario(table.rows[row], builtin_run_rules(), catalog());
    if (made.skipped.empty()) load_all("row.textproto", made.text, {});
  }
}

void collectives_csv(const std::string& bytes) {
  if (is_nccl_tests(bytes))
    check_told(collectives_of_nccl_tests("input.txt", bytes, {}).problems, bytes.size());
  is_collective_table(bytes);
  for (const bool fabric_given : {false, true}) {
    const MeasuredCollectives read = read_collective_table("input.csv", bytes, fabric_given);
    check_told(read.problems);
    for (const MeasuredCollective& row : read.rows)
      PODSIM_CHECK(row.gpus >= 2 && row.collective.bytes.value > 0 && row.time_s > 0, row.id);
  }
}

void suites_csv(const std::string& bytes) {
  const Suite suite = read_suite("input.csv", bytes);
  check_told(suite.problems);
  for (const SuiteRow& row : suite.rows) {
    const Evaluated expected = evaluate(row.expected);
    PODSIM_CHECK(expected.value.has_value() == expected.problem.empty(), row.expected);
  }
  CalibrationTable table;
  check_told(add_calibration_lines("input.csv", bytes, catalog(), table));
}

void flow_cases(const std::string& bytes) {
  const LoadFlowsResult result = load_flow_case("input.json", bytes);
  check_either(result.file.has_value(), result.problems);
}

void shard_cases(const std::string& bytes) {
  const LoadShardCasesResult result = load_shard_cases("input.json", bytes);
  check_either(result.cases.has_value(), result.problems);
}

void quantities(const std::string& text) {
  if (const auto bytes = parse_bytes(text)) PODSIM_CHECK(std::isfinite(*bytes) && *bytes > 0, text);
  if (const auto sizes = parse_byte_range(text))
    PODSIM_CHECK(!sizes->empty() && sizes->size() <= 1'000, text);
  if (const auto counts = parse_count_range(text))
    PODSIM_CHECK(!counts->empty() && counts->size() <= 1'000, text);
  if (const auto indices = parse_index_list(text))
    PODSIM_CHECK(!indices->empty() && indices->size() <= std::size_t{kMostIndices}, text);
  parse_shape(text);
  evaluate(text);
}

Spec spec_of(const char* text) { return *load_scenario("job.textproto", text, catalog(), {}).spec; }

// A part that is slow and one that fails, as users of whatif name them.
void selectors(const std::string& text) {
  static const Spec gpus = spec_of(kJobOf8);
  static const Spec torus = spec_of(R"(cluster { chip: "tpu_v4" fabric: "v4_pod" slice_shape: [4, 4, 4] }
job { model: "llama3_8b" stack: "maxtext_2025" mesh { name: "fsdp" size: 64 } sharding: "fsdp"
  global_batch_sequences: 64 sequence_tokens: 2048 })");
  for (const Spec* spec : {&gpus, &torus}) {
    for (const auto add : {add_slow, add_failure}) {
      Spec changed = *spec;
      changed.adversities = {};
      PODSIM_CHECK(add(changed, text).empty() != (changed.adversities.none()), text);
    }
  }
}

void hlo_modules(const std::string& text) {
  std::vector<Problem> problems;
  const auto modules = hlo::parse_modules("input.hlo", text, problems);
  check_either(modules.has_value(), problems);
  if (!modules) return;
  for (const hlo::Module& module : *modules) {
    const hlo::Summary summary = hlo::summarize(module);
    PODSIM_CHECK(summary.executed.flops >= 0 && summary.executed.bytes >= 0, "work is less than nothing");
    hlo::account_of(module);
  }
  std::vector<Problem> refused;
  check_either(explain_modules({"input.hlo", text}, {}, "", refused).has_value(), refused);
  Stated stated;
  stated.partition = true;
  PODSIM_CHECK(import_hlo_module({{"input.hlo", text}}, stated, problems).has_value(), "it was read before");
}

void chakra_traces(const std::string& bytes) {
  std::vector<Problem> problems;
  is_chakra(bytes);
  std::vector<InputText> files = {{"input.0.et", bytes}};
  const bool read = import_chakra(files, {}, problems).has_value();
  check_either(read, problems);
}

void stablehlo_modules(const std::string& text) {
  std::vector<Problem> problems;
  const bool read = import_stablehlo({{"input.mlir", text}}, {}, problems).has_value();
  check_either(read, problems);
  std::vector<Problem> refused;
  if (read) check_either(explain_modules({"input.mlir", text}, {}, "", refused).has_value(), refused);
}

void kineto_profiles(const std::string& text) {
  std::vector<Problem> problems;
  is_kineto(text);
  const bool read = import_kineto({{"input.json", text}}, {}, problems).has_value();
  check_either(read, problems);
}

void nccl_tests(const std::string& text) {
  std::vector<Problem> problems;
  const auto tests = read_nccl_tests("input.txt", text, problems);
  check_either(tests.has_value(), problems);
  if (!tests) return;
  std::int64_t lines = tests->used_lines;
  for (const auto& [reason, passed] : tests->passed_over) lines += passed;
  PODSIM_CHECK(lines == tests->lines, "lines are lost");
}

// Configurations and clusters: whatever the bytes look like, and all that they could be taken for.
void imports(const std::string& text) {
  Stated stated;
  stated.chips = 64;
  stated.chip = "h100";
  stated.fabric = "dgx_h100";
  for (const char* name : {"xplane", "nsight", "megatron", "torchtitan", "maxtext", "deepspeed", "hf",
                           "slurm", "ibnetdiscover", "nccl-topo", "nvidia-smi", "nccl-log"}) {
    const FileKind* kind = file_kind_named(name);
    std::vector<Problem> problems;
    std::vector<InputText> files = {{"input", text}};
    const auto imported = import_files(*kind, files, stated, problems);
    check_either(imported.has_value(), problems);
    if (imported) PODSIM_CHECK(!imported->figures.empty() && !imported->text.empty(), name);
  }
}

constexpr std::array kReaders = {Reader{"scenario_text", scenario_text},
                                 Reader{"scenario_json", scenario_json},
                                 Reader{"scenario_binary", scenario_binary},
                                 Reader{"overrides", overrides},
                                 Reader{"runs_csv", runs_csv},
                                 Reader{"collectives_csv", collectives_csv},
                                 Reader{"suites_csv", suites_csv},
                                 Reader{"traces", traces},
                                 Reader{"traces_gzip", traces_gzip},
                                 Reader{"flow_cases", flow_cases},
                                 Reader{"shard_cases", shard_cases},
                                 Reader{"quantities", quantities},
                                 Reader{"selectors", selectors},
                                 Reader{"hlo_modules", hlo_modules},
                                 Reader{"imports", imports},
                                 Reader{"nccl_tests", nccl_tests},
                                 Reader{"chakra_traces", chakra_traces},
                                 Reader{"kineto_profiles", kineto_profiles},
                                 Reader{"stablehlo_modules", stablehlo_modules},
                                 Reader{"certificate", certificate}};

}  // namespace

std::span<const Reader> readers() { return kReaders; }

const Reader* reader_named(const std::string& name) {
  const auto found = std::ranges::find(kReaders, name, &Reader::name);
  return found == kReaders.end() ? nullptr : &*found;
}

}  // namespace podsim::testing
