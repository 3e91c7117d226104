// Predicts measured collectives by the network as it is, and takes their median.
#include "calibration/anchor_collectives.h"

#include <algorithm>
#include <cmath>

#include "engine/order_statistics.h"
#include "ingest/nccl_tests.h"
#include "report/text/text.h"
#include "validation/validate_collectives.h"

namespace podsim {
namespace {

constexpr double kLatencyBelow = 64.0 * (1 << 20);  // bytes

Problem problem_of(const std::string& file, const std::string& message, const std::string& hint) {
  Problem problem;
  problem.file = file;
  problem.message = message;
  problem.hint = hint;
  return problem;
}

bool has_large_rows(const std::string& file, const std::string& text) {
  std::vector<Problem> ignored;  // they are told of all that is read
  return std::ranges::any_of(texts_of_tests(text), [&](std::string_view piece) {
    const auto tests = read_nccl_tests(file, piece, ignored);
    return tests && std::ranges::any_of(tests->rows, [](const NcclRow& row) {
             return row.usable() && static_cast<double>(row.bytes) >= kLatencyBelow;
           });
  });
}

// Why the ranks of the output say nothing of the scenario's network; nothing where they do.
std::optional<Problem> unusable(const std::string& file, const ListedRanks& listed,
                                const FabricSpec& fabric) {
  if (listed.ranks == 0 || listed.hosts == 0)
    return problem_of(file, "does not list its ranks and their hosts",
                      "keep the lines \"# Rank 0 ... on HOST device 0\"");
  if (!listed.kind_known)
    return problem_of(file, "does not say which collective it measured",
                      "keep a line that names the program, such as \"# all_gather_perf\"");
  if (!fabric.gpu)
    return problem_of(file, "is of servers of GPUs, and " + fabric.name + " is a torus",
                      "expected a scenario of GPUs");
  Problem problem;
  const auto placed = place_measured_group(fabric, listed.ranks, listed.hosts, problem);
  if (!placed) return problem_of(file, problem.message, problem.hint);
  if (placed->spec.chips <= fabric.gpu->gpus_per_domain)
    return problem_of(
        file, "lies within one NVLink domain of " + fabric.name + ", whose share is no number of a stack",
        "expected ranks in several domains");
  return std::nullopt;
}

}  // namespace

ReadAnchorKernels read_anchor_collectives(const std::string& file, const std::string& text,
                                          const ListedRanks& listed, const Spec& spec) {
  ReadAnchorKernels result;
  auto problem = unusable(file, listed, spec.cluster.fabric);
  if (!problem && !has_large_rows(file, text))
    problem =
        problem_of(file, "has no row of 64 MiB and more", "below them latency counts: measure with -e 1G");
  if (problem) {
    result.problems.push_back(*std::move(problem));
    return result;
  }
  MeasuredCollectives measured = collectives_of_nccl_tests(file, text, {listed.ranks, listed.hosts, {}});
  std::erase_if(measured.rows,
                [](const MeasuredCollective& row) { return row.collective.bytes.value < kLatencyBelow; });
  result.problems = std::move(measured.problems);
  const CollectiveValidation made = validate_collectives(measured.rows, spec.cluster.fabric);
  result.problems.insert(result.problems.end(), made.problems.begin(), made.problems.end());
  std::vector<double> errors;
  for (const PredictedCollective& row : made.rows)
    errors.push_back(std::log(row.predicted_s / (row.measured.time_s * spec.job.stack.network_share)));
  if (!result.problems.empty()) return result;
  AnchorKernels made_of{"collectives of " + file,
                        "network_share",
                        spec.job.stack,
                        true,
                        static_cast<int>(errors.size()),
                        median(errors),
                        {}};
  made_of.text = made_of.id + " " + std::to_string(made_of.rows) + " " + shortest(made_of.error);
  result.kernels.push_back(std::move(made_of));
  return result;
}

}  // namespace podsim
