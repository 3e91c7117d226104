// Scenarios: parsed once to see whether they are any, and loaded when they are evaluated.
#include <algorithm>
#include <utility>

#include "api/asked.h"
#include "api/errors.h"
#include "api/evaluators.h"
#include "api/podsim/podsim.h"
#include "api/report_content.h"
#include "engine/check.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/load.h"
#include "proto/text/override.h"
#include "proto/text/parse.h"
#include "proto/text/ranges.h"
#include "proto/text/read_file.h"

namespace podsim {
namespace {

// What is wrong with the form of a text, and with what was set.
std::vector<Problem> problems_of_form(const Scenario& scenario) {
  Document document(scenario.name(), scenario.text());
  schema::Scenario message;
  if (parse(document, message)) {
    apply_overrides(overrides_of(scenario), message, document);
    check_ranges(message, "", document);
  }
  return document.problems();
}

// Tells the watch what is done, one call at a time, and throws where all is to end.
class Told {
 public:
  Told(const Effort& effort, std::int64_t total) : effort_(effort), total_(total) {}

  void share(double share) { tell({share, 0, 0, ""}); }
  void one_done() {
    const std::int64_t done = ++done_;
    tell({static_cast<double>(done) / static_cast<double>(std::max<std::int64_t>(1, total_)), done, total_,
          std::to_string(done) + " of " + std::to_string(total_) + " draws"});
  }

 private:
  void tell(const Advance& advance) {
    if (!goes_on(effort_, advance)) throw CancelledByWatch();
  }
  const Effort& effort_;
  const std::int64_t total_;
  std::int64_t done_ = 0;  // draws are told one at a time
};

Expected<StepReport> evaluated(const Scenario& scenario, const Effort& effort) {
  LoadResult loaded =
      load_scenario(scenario.name(), scenario.text(), shared_catalog(), overrides_of(scenario));
  if (!loaded.spec) return input_error(loaded.problems);
  PredictOptions options;
  options.threads = effort.threads;
  Told told(effort, draws_told(*loaded.spec));
  if (effort.watch || effort.stop != nullptr) {
    options.share_done = [&](double share) { told.share(share); };
    options.draw_done = [&] { told.one_done(); };
  }
  LentEvaluator evaluator;
  Prediction prediction = evaluator->predict(*loaded.spec, options);
  evaluator.give_back();
  return report_of(scenario, std::move(prediction), diagnostics_of(loaded.warnings));
}

}  // namespace

Prediction predicted_again(const Scenario& scenario, const PredictOptions& options) {
  const LoadResult loaded =
      load_scenario(scenario.name(), scenario.text(), shared_catalog(), overrides_of(scenario));
  PODSIM_CHECK(loaded.spec, "a scenario that was predicted can be loaded");
  return predict_step(*loaded.spec, options);
}

std::vector<Override> overrides_of(const Scenario& scenario) {
  std::vector<Override> all;
  for (const auto& [path, value] : scenario.settings()) all.push_back({path, value});
  return all;
}

inline namespace v0 {

Expected<Scenario> Scenario::parse(std::string text, std::string name) {
  return guarded<Scenario>([&]() -> Expected<Scenario> {
    Scenario scenario(std::move(text), std::move(name));
    const std::vector<Problem> problems = problems_of_form(scenario);
    if (!problems.empty()) return input_error(problems);
    return scenario;
  });
}

Expected<Scenario> Scenario::load(const std::string& path) {
  return guarded<Scenario>([&]() -> Expected<Scenario> {
    std::vector<Problem> problems;
    auto text = read_file(path, problems);
    if (!text) return input_error(problems);
    return parse(*std::move(text), path);
  });
}

std::optional<Error> Scenario::set(const std::string& path, const std::string& value) {
  const Expected<bool> done = guarded<bool>([&]() -> Expected<bool> {
    Scenario changed = *this;
    const auto known =
        std::ranges::find(changed.settings_, path, &std::pair<std::string, std::string>::first);
    if (known != changed.settings_.end()) {
      known->second = value;
    } else {
      changed.settings_.emplace_back(path, value);
    }
    const std::vector<Problem> problems = problems_of_form(changed);
    if (!problems.empty()) return input_error(problems);
    *this = std::move(changed);
    return true;
  });
  if (done) return std::nullopt;
  return done.error();
}

Expected<StepReport> Scenario::evaluate(const Effort& effort) const {
  return guarded<StepReport>([&] { return evaluated(*this, effort); });
}

}  // namespace v0
}  // namespace podsim
