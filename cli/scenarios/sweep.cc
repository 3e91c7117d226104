// Loads each text once for every combination of values.
#include "cli/scenarios/sweep.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/scenarios/batch.h"
#include "engine/number_text.h"
#include "engine/stage_timer.h"
#include "proto/scenario/load.h"
#include "proto/scenario/load_reliability.h"
#include "proto/scenario/sweep.h"
#include "proto/scenario/write_layout.h"
#include "proto/text/read_file.h"
#include "report/text/text.h"

namespace podsim {
namespace {

// What a loader made of a text.
template <class Thing>
struct Loaded {
  std::optional<Thing> thing;
  std::vector<Problem> problems, warnings;
};
template <class Thing>
using Loader = std::function<Loaded<Thing>(const std::string& name, const std::string& text,
                                           const Catalog& catalog, const std::vector<Override>& overrides)>;

// Several points of a sweep have the same warnings: each is told once.
class Warnings {
 public:
  void tell(const std::vector<Problem>& warnings) {
    for (const Problem& warning : warnings)
      if (told_.insert(format_problem(warning)).second) spdlog::warn("{}", format_problem(warning));
  }

 private:
  std::set<std::string> told_;
};

// A point of a sweep that the scenario cannot have.
struct LeftOut {
  std::string settings;
  std::vector<Problem> problems;
};

void warn_of(const std::string& file, const LeftOut& point) {
  for (const Problem& problem : point.problems)
    spdlog::warn("{} with {} is left out: {}", file, point.settings, format_problem(problem));
}

bool has(const std::vector<Problem>& problems, const Problem& wanted) {
  return std::ranges::any_of(
      problems, [&](const Problem& each) { return format_problem(each) == format_problem(wanted); });
}

// Of a text that has no point left: what is wrong whatever the settings, or what is wrong with each.
void tell_why_none(const std::string& file, const std::vector<LeftOut>& points) {
  std::vector<Problem> common = points.front().problems;
  for (const LeftOut& point : points)
    std::erase_if(common, [&](const Problem& problem) { return !has(point.problems, problem); });
  if (!common.empty()) return print_problems(common);
  for (const LeftOut& point : points) warn_of(file, point);
  spdlog::error("{} can have none of these settings", file);
}

// The scenarios of one text are added; false where there is none.
template <class Thing>
bool load_text(const InputText& input, const Catalog& catalog, const Sweep& sweep, const Loader<Thing>& load,
               Warnings& warnings, Swept<Thing>& swept) {
  const StageTimer timer("load " + input.name);
  std::vector<LeftOut> left_out;
  for (const SweepPoint& point : sweep.points) {
    Loaded<Thing> loaded = load(input.name, input.text, catalog, point.overrides);
    const std::string settings = settings_text(sweep.paths, point.values);
    if (!loaded.thing) {
      left_out.push_back({settings, std::move(loaded.problems)});
      continue;
    }
    warnings.tell(loaded.warnings);
    if (!settings.empty()) loaded.thing->name += " " + settings;
    swept.things.push_back(*std::move(loaded.thing));
    swept.settings.values.push_back(point.values);
  }
  if (left_out.size() == sweep.points.size()) {
    tell_why_none(input.name, left_out);
    return false;
  }
  for (const LeftOut& point : left_out) warn_of(input.name, point);
  return true;
}

template <class Thing>
std::optional<Swept<Thing>> load_points(const std::vector<std::string>& files, const LoadOptions& options,
                                        const Sweep& sweep, const Loader<Thing>& load) {
  const std::optional<Catalog> catalog = open_catalog(options.catalog_directories);
  if (!catalog) return std::nullopt;
  Swept<Thing> swept{{sweep.paths, {}}, {}};
  Warnings warnings;
  bool good = true;
  for (const std::string& file : files) {
    std::vector<Problem> problems;
    const auto input = read_input(file, problems);
    print_problems(problems);
    good = input && load_text(*input, *catalog, sweep, load, warnings, swept) && good;
  }
  if (!good) return std::nullopt;
  return swept;
}

template <class Thing>
std::optional<Swept<Thing>> load_all(const std::vector<std::string>& files, const LoadOptions& options,
                                     const Loader<Thing>& load) {
  const auto overrides = options.overrides();
  if (!overrides) return std::nullopt;
  const auto sweep = sweep_of(*overrides);
  if (!sweep) {
    spdlog::error("--set: the values have more than {} combinations", kMostPoints);
    return std::nullopt;
  }
  return load_points(files, options, *sweep, load);
}

// A value that is a number stays one.
std::string value_cell(const std::string& value) {
  return whole_text_as<double>(value) ? value : csv_text_cell(value);
}

}  // namespace

std::string settings_text(const std::vector<std::string>& paths, const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < paths.size(); ++i) text += (i ? ", " : "") + paths[i] + "=" + values[i];
  return text;
}

void Settings::add_to_table(std::vector<std::vector<std::string>>& rows) const {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::vector<std::string>& cells = row == 0 ? paths : values[row - 1];
    rows[row].insert(rows[row].begin(), cells.begin(), cells.end());
  }
}

std::string Settings::added_to_csv(const std::string& text) const {
  std::string out;
  std::size_t row = 0;
  bool begins = true, quoted = false;  // a line break in quotes ends no row
  for (const char c : text) {
    if (begins)
      for (const std::string& value : row == 0 ? paths : values[row - 1]) out += value_cell(value) + ",";
    out += c;
    if (c == '"') quoted = !quoted;
    begins = c == '\n' && !quoted;
    if (begins) ++row;
  }
  return out;
}

// By text: every digit of the figures stays.
std::string Settings::added_to_json(const std::string& object, std::size_t scenario) const {
  if (!any()) return object;
  nlohmann::ordered_json set;
  for (std::size_t i = 0; i < paths.size(); ++i) set[paths[i]] = values[scenario][i];
  const std::size_t last = object.find_last_not_of(" \n", object.rfind('}') - 1);
  return object.substr(0, last + 1) + ",\n  \"set\": " + set.dump() + "\n}\n";
}

std::string Settings::unset(const std::string& name, std::size_t scenario) const {
  return any() ? name.substr(0, name.size() - settings_text(paths, values[scenario]).size() - 1) : name;
}

std::optional<Swept<Spec>> load_swept(const std::vector<std::string>& files, const LoadOptions& options,
                                      const std::vector<std::string>& also_read) {
  return load_all<Spec>(
      files, options, [&](const auto& name, const auto& text, const auto& catalog, const auto& overrides) {
        LoadResult result = load_scenario(name, text, catalog, overrides);
        std::erase_if(result.warnings, [&](const Problem& warning) { return says_idle(warning, also_read); });
        return Loaded<Spec>{std::move(result.spec), std::move(result.problems), std::move(result.warnings)};
      });
}

std::optional<Swept<SweptScenario>> load_points(const std::string& file, const LoadOptions& options,
                                                const Sweep& sweep) {
  return load_points<SweptScenario>(
      {file}, options, sweep,
      [](const auto& name, const auto& text, const auto& catalog, const auto& overrides) {
        LoadResult result = load_scenario(name, text, catalog, overrides);
        Loaded<SweptScenario> loaded{{}, std::move(result.problems), std::move(result.warnings)};
        if (!result.spec) return loaded;
        const std::string own_name = result.spec->name;
        loaded.thing = {own_name, *std::move(result.spec), scenario_with_overrides(text, overrides)};
        return loaded;
      });
}

std::optional<Swept<ReliabilityQuestion>> load_swept_questions(const std::vector<std::string>& files,
                                                               const LoadOptions& options) {
  return load_all<ReliabilityQuestion>(
      files, options, [](const auto& name, const auto& text, const auto& catalog, const auto& overrides) {
        LoadReliabilityResult result = load_reliability(name, text, catalog, overrides);
        return Loaded<ReliabilityQuestion>{std::move(result.question), std::move(result.problems),
                                           std::move(result.warnings)};
      });
}

}  // namespace podsim
