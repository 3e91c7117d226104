// podsim availability: how much of a pod or cluster can be used, and how long a job waits for a slice.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/answers/render.h"
#include "cli/options/options.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "cli/weeks/availability_json.h"
#include "cli/weeks/verbs.h"
#include "proto/scenario/load_availability.h"
#include "proto/text/read_file.h"
#include "report/tables/availability_text.h"

namespace podsim {
namespace {

struct AvailabilityVerb {
  std::vector<std::string> files;
  LoadOptions load;
  OutputOptions output;
};

// All questions, or nothing where one has problems; they are printed to standard error.
std::optional<std::vector<AvailabilityQuestion>> load_questions(const AvailabilityVerb& verb) {
  const auto catalog = open_catalog(verb.load.catalog_directories);
  const auto overrides = verb.load.overrides();
  if (!catalog || !overrides) return std::nullopt;
  std::vector<AvailabilityQuestion> questions;
  for (const std::string& file : verb.files) {
    LoadAvailabilityResult loaded;
    if (const auto input = read_input(file, loaded.problems))
      loaded = load_availability(input->name, input->text, *catalog, *overrides);
    print_problems(loaded.problems);
    for (const Problem& warning : loaded.warnings) spdlog::warn("{}", format_problem(warning));
    if (loaded.question) questions.push_back(*std::move(loaded.question));
  }
  if (questions.size() < verb.files.size()) return std::nullopt;
  return questions;
}

int availability(const AvailabilityVerb& verb) {
  const auto questions = load_questions(verb);
  if (!questions) return kInputError;
  const bool json = verb.output.format == "json";
  std::vector<NamedContent> answers;
  for (const AvailabilityQuestion& question : *questions) {
    const std::vector<SliceAvailability> rows = answer(question);
    answers.push_back(
        {question.name, json ? availability_json(question, rows) : availability_text(question, rows)});
  }
  if (is_folder(verb.output.out)) {
    emit_each(answers, extension(verb.output.format), verb.output.out);
  } else {
    emit(joined(answers, json), verb.output.out);
  }
  return kDone;
}

}  // namespace

void add_availability(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "availability", "How many slices of a pod can be used while hosts, cubes and switches fail");
  const auto options = std::make_shared<AvailabilityVerb>();
  verb.add_option("FILE", options->files, "Scenarios with an availability block; - is standard input")
      ->required();
  add_load_options(verb, options->load);
  add_output_options(verb, options->output, {"table", "json"});
  verb.footer(
      "docs/theory/availability.md has the model and the fields.\n"
      "Examples:\n"
      "  podsim availability scenarios/reliability/v4_pod_slices.textproto\n"
      "  podsim availability scenarios/reliability/v4_pod_slices.textproto --set "
      "availability.method=simulate\n"
      "  podsim availability scenarios/reliability/week_on_256_chips.textproto --format json");
  verb.callback([options, &exit_code] { exit_code = availability(*options); });
}

}  // namespace podsim
