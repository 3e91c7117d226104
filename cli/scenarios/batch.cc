// Loads what the command line names and predicts it side by side; results keep the order of the files.
#include "cli/scenarios/batch.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "cli/terminal/exit_codes.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "engine/parallel_for.h"
#include "engine/stage_timer.h"
#include "prediction/step_length.h"
#include "proto/scenario/load.h"
#include "scheduler/question/spec.h"

namespace podsim {

void print_problems(const std::vector<Problem>& problems) {
  for (const Problem& problem : problems) {
    std::string text = format_problem(problem);
    if (text.empty() || text.back() != '\n') text += '\n';
    tell(text);
  }
}

std::optional<Catalog> open_catalog(const std::vector<std::string>& directories) {
  Catalog catalog;
  bool usable = true;
  for (const std::string& directory : directories) {
    const std::vector<Problem> problems = catalog.add_directory(directory);
    print_problems(problems);
    usable = usable && problems.empty();
  }
  if (!usable) return std::nullopt;
  return catalog;
}

bool says_idle(const Problem& warning, const std::vector<std::string>& fields) {
  return std::ranges::any_of(
      fields, [&](const std::string& path) { return warning.message.starts_with(path + " has no effect"); });
}

std::optional<std::vector<Spec>> load_scenarios(const std::vector<std::string>& files,
                                                const LoadOptions& options) {
  std::vector<InputText> texts;
  return load_scenarios(files, options, texts);
}

std::optional<std::vector<Spec>> load_scenarios(const std::vector<std::string>& files,
                                                const LoadOptions& options, std::vector<InputText>& texts,
                                                const std::vector<std::string>& also_read) {
  const std::optional<Catalog> catalog = open_catalog(options.catalog_directories);
  const auto overrides = options.overrides();
  if (!catalog || !overrides) return std::nullopt;
  std::vector<Spec> specs;
  for (const std::string& file : files) {
    const StageTimer timer("load " + file);
    LoadResult loaded;
    const auto input = read_input(file, loaded.problems);
    if (input) loaded = load_scenario(input->name, input->text, *catalog, *overrides);
    print_problems(loaded.problems);
    if (!loaded.spec) continue;
    texts.push_back(*input);
    for (const Problem& warning : loaded.warnings)
      if (!says_idle(warning, also_read)) spdlog::warn("{}", format_problem(warning));
    specs.push_back(*std::move(loaded.spec));
  }
  if (specs.size() < files.size()) return std::nullopt;
  return specs;
}

bool have_one_job(std::span<const Spec> specs, const std::string& verb) {
  bool single = true;
  for (const Spec& spec : specs) {
    if (spec.jobs.empty()) continue;
    single = false;
    spdlog::error(
        "{} has jobs that share a cluster, and {} takes scenarios with one job: podsim run tells how "
        "they slow each other down",
        spec.name, verb);
  }
  return single;
}

std::vector<MemoryFit> fits_of(std::span<const Report> reports) {
  std::vector<MemoryFit> jobs;
  for (const Report& report : reports) jobs.push_back({report.scenario, report.memory.fits});
  return jobs;
}

int judge_fits(const std::vector<MemoryFit>& jobs) {
  const bool some = std::ranges::any_of(jobs, &MemoryFit::fits);
  for (const MemoryFit& job : jobs) {
    if (job.fits) continue;
    spdlog::log(some ? spdlog::level::warn : spdlog::level::err, "{} does not fit in the memory of its chips",
                job.name);
  }
  return some ? kDone : kInputError;
}

void tell_of_longest_shapes(std::span<const Report> reports) {
  for (const Report& report : reports)
    if (report.shapes)
      spdlog::warn(
          "{} pads its documents: its step here is that of the longest shape. The mean over all "
          "shapes, {:.4g} of it, is in the report of run",
          report.scenario, report.shapes->whole().in_seconds() / report.step_time.in_seconds());
}

void in_parallel(std::size_t count, int threads, bool quiet, const std::function<void(std::size_t)>& f) {
  Progress progress(count, "scenarios", quiet);
  parallel_for(count, threads, [&](std::size_t i) {
    f(i);
    progress.one_done();
  });
}

namespace {

std::vector<Prediction> predict_each(std::span<const Spec> specs, const RunOptions& options,
                                     LeftOutSteps* left_out) {
  std::vector<Prediction> predictions(specs.size());
  std::size_t simulations = 0;
  for (const Spec& spec : specs) simulations += std::max<std::int64_t>(1, draws_told(spec));
  Progress progress(simulations, simulations == specs.size() ? "scenarios" : "simulations", options.quiet);
  const int threads = threads_or_cores(options.threads);
  PredictOptions each = options.predict();
  each.threads = std::max(1, threads / std::max(1, static_cast<int>(specs.size())));
  each.draw_done = [&] { progress.one_done(); };
  if (specs.size() == 1) each.share_done = [&](double share) { progress.share_done(share); };
  parallel_for(specs.size(), threads, [&](std::size_t i) {
    try {
      predictions[i] = predict_step(specs[i], each);
    } catch (const StepTooLong& refusal) {
      if (left_out == nullptr) throw;
      (*left_out)[i] = refusal.what();
    }
    if (draws_told(specs[i]) == 0) progress.one_done();
  });
  return predictions;
}

}  // namespace

std::vector<Prediction> predict_all(std::span<const Spec> specs, const RunOptions& options) {
  return predict_each(specs, options, nullptr);
}

std::vector<Prediction> predict_all(std::span<const Spec> specs, const RunOptions& options,
                                    LeftOutSteps& left_out) {
  left_out.assign(specs.size(), "");
  return predict_each(specs, options, &left_out);
}

bool some_are_left(std::span<const Spec> specs, const LeftOutSteps& left_out) {
  std::vector<std::string> names;
  for (const Spec& spec : specs)
    names.push_back(spec.name + " on " + std::to_string(spec.cluster.fabric.chips) + " chips");
  return some_are_left(names, left_out);
}

bool some_are_left(const std::vector<std::string>& names, const LeftOutSteps& left_out) {
  const bool some = std::ranges::any_of(left_out, &std::string::empty);
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    if (left_out[i].empty()) continue;
    if (some)
      spdlog::warn("{} is left out: {}", names[i], left_out[i]);
    else
      spdlog::error("{}: {}", names[i], left_out[i]);
  }
  return some;
}

}  // namespace podsim
