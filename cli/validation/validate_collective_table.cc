// Collectives of podsim validate: tables of them, and the output of nccl-tests.
#include <spdlog/spdlog.h>

#include <optional>

#include "cli/options/names.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "cli/validation/validate_output.h"
#include "cli/validation/validate_verb.h"
#include "engine/words.h"
#include "ingest/nccl_tests.h"
#include "proto/text/question_digest.h"
#include "proto/writing/result_json.h"

namespace podsim {
namespace {

// Nothing where the file is of no kind that can be validated; the reason is on standard error.
std::optional<MeasuredCollectives> read_collectives(const ValidateVerb& verb, const InputText& file) {
  if (is_collective_table(file.text))
    return read_collective_table(file.name, file.text, !verb.fabric.empty());
  if (is_nccl_tests(file.text)) {
    StatedTest stated{verb.gpus, verb.nodes, {}};
    if (!verb.kind.empty()) stated.kind = value_named(verb.kind, CollectiveKind::kBarrier);
    if (!verb.fabric.empty()) return collectives_of_nccl_tests(file.name, file.text, stated);
    spdlog::error(
        "{} is the output of nccl-tests: say where it ran with --fabric NAME --gpus N, the latter "
        "where it lists no ranks",
        file.name);
    return std::nullopt;
  }
  spdlog::error(
      "{} is neither a table of training runs (columns layers or catalog_model, global_batch_seqs, ...), nor "
      "of collectives "
      "(columns system,gpus,nodes,network,collective,algo,bytes,time_us,busbw_GBps,source, or "
      "chip,software,dtype,gpus,bytes,collective,latency_ms), nor of kernels (columns chip, dtype, "
      "latency_ms, ...; or chip, nodes, dispatch_us, combine_us, ...), nor the output of nccl-tests",
      file.name);
  return std::nullopt;
}

}  // namespace

int no_rows(const ValidateVerb& verb) {
  std::string which = verb.explain + verb.scenario;
  if (!which.empty()) which = " \"" + which;
  for (const std::string& part : verb.only) which += (which.empty() ? " with \"" : "\" and \"") + part;
  spdlog::error("{} has no row{}", separated(verb.files, ", "), which.empty() ? "" : which + '"');
  return kInputError;
}

int validate_collective_table(const ValidateVerb& verb, const InputText& file, const Catalog& catalog) {
  const LookedUpEntries entries;
  auto measured = read_collectives(verb, file);
  if (!measured) return kInputError;
  print_problems(measured->problems);
  if (measured->wrong_rows > 0)
    spdlog::warn("{}: rows left out whose results are wrong: {}", file.name, measured->wrong_rows);
  if (measured->empty_rows > 0)
    spdlog::warn("{}: rows left out that have no bytes or no time: {}", file.name, measured->empty_rows);
  for (const std::string& part : verb.only)
    std::erase_if(measured->rows, [&](const auto& row) { return row.id.find(part) == std::string::npos; });
  if (!measured->problems.empty()) return kInputError;
  if (measured->rows.empty()) return no_rows(verb);
  std::string words = "validate [" + verb.fabric + "] " + std::to_string(verb.gpus) + " " +
                      std::to_string(verb.nodes) + " " +
                      hyphenated(verb.kind.empty() ? "all-reduce" : verb.kind);
  for (const std::string& part : verb.only) words += " --only " + part;
  const CollectiveValidation made = validate_collectives(measured->rows, catalog, verb.fabric);
  print_problems(made.problems);
  if (!made.problems.empty()) return kInputError;
  emit(collective_errors(made.rows, verb.output.format, entries.digest(question_sha256(words, {file.text}))),
       verb.output.out);
  return kDone;
}

}  // namespace podsim
