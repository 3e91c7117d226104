// Runs predictions on a pool of threads; each writes only its own place, so that order and bytes do not
// depend on the pool.
#include "cli/batch.h"

#include <utility>
// Boost.Asio 1.74 uses std::exchange without including it: <utility> stands above.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <exception>
#include <iostream>
#include <thread>

#include "cli/progress.h"
#include "proto/read_file.h"

namespace podsim {

void print_problems(const std::vector<Problem>& problems) {
  for (const Problem& problem : problems) {
    std::string text = format_problem(problem);
    if (text.empty() || text.back() != '\n') text += '\n';
    std::cerr << text;
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

std::optional<std::vector<Spec>> load_scenarios(const std::vector<std::string>& files,
                                                const LoadOptions& options) {
  const std::optional<Catalog> catalog = open_catalog(options.catalog_directories);
  const auto overrides = options.overrides();
  if (!catalog || !overrides) return std::nullopt;
  std::vector<Spec> specs;
  for (const std::string& file : files) {
    LoadResult loaded;
    if (const auto input = read_input(file, loaded.problems))
      loaded = load_scenario(input->name, input->text, *catalog, *overrides);
    print_problems(loaded.problems);
    if (!loaded.spec) continue;
    for (const Problem& warning : loaded.warnings) spdlog::warn("{}", format_problem(warning));
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

namespace {

// The user's wish, or as many as the machine has.
std::size_t threads_of(int wanted) {
  return wanted > 0 ? static_cast<std::size_t>(wanted) : std::max(1u, std::thread::hardware_concurrency());
}

// f(0) ... f(count - 1); the first failure in this order is thrown again.
void on_pool(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& f) {
  std::vector<std::exception_ptr> failures(count);
  boost::asio::thread_pool pool(std::max<std::size_t>(1, std::min(threads, count)));
  for (std::size_t i = 0; i < count; ++i) {
    boost::asio::post(pool, [&, i] {
      try {
        f(i);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    });
  }
  pool.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace

void in_parallel(std::size_t count, int threads, bool quiet, const std::function<void(std::size_t)>& f) {
  Progress progress(count, "scenarios", quiet);
  on_pool(count, threads_of(threads), [&](std::size_t i) {
    f(i);
    progress.one_done();
  });
}

std::vector<Prediction> predict_all(std::span<const Spec> specs, const RunOptions& options) {
  std::vector<Prediction> predictions(specs.size());
  std::size_t simulations = 0;
  for (const Spec& spec : specs) simulations += std::max<std::int64_t>(1, draws_told(spec));
  Progress progress(simulations, simulations == specs.size() ? "scenarios" : "simulations", options.quiet);
  const std::size_t threads = threads_of(options.threads);
  PredictOptions each = options.predict();
  each.threads = static_cast<int>(std::max<std::size_t>(1, threads / std::max<std::size_t>(1, specs.size())));
  each.draw_done = [&] { progress.one_done(); };
  if (specs.size() == 1) each.share_done = [&](double share) { progress.share_done(share); };
  on_pool(specs.size(), threads, [&](std::size_t i) {
    predictions[i] = predict_step(specs[i], each);
    if (draws_told(specs[i]) == 0) progress.one_done();
  });
  return predictions;
}

}  // namespace podsim
