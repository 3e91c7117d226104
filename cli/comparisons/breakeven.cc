// podsim breakeven: at which value of a field one scenario becomes better than another.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/answers/render.h"
#include "cli/comparisons/field_range.h"
#include "cli/comparisons/verbs.h"
#include "cli/options/options.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "planner/plan/tie.h"
#include "proto/writing/result_json.h"
#include "report/text/text.h"

namespace podsim {
namespace {

struct BreakevenVerb {
  std::vector<std::string> files;
  std::string over, figure = "cost_usd_per_million_tokens", format = "table";
  bool both = false, quiet = false;
  std::vector<std::string> catalogs;
};

std::string tie_text(const BreakevenVerb& verb, const FieldRange& range, const Tie& tie, double first_below,
                     double second_below) {
  const std::string winner = first_below < second_below ? verb.files[0] : verb.files[1],
                    after = first_below < second_below ? verb.files[1] : verb.files[0];
  const std::string place =
      range.whole_numbers
          ? "Between " + range.path + " = " + significant(tie.below, 1) + " and " + significant(tie.above, 1)
          : "At " + range.path + " = " + significant((tie.below + tie.above) / 2, 4) + " (" +
                significant(tie.below, 5) + " to " + significant(tie.above, 5) + ")";
  return place + " the two have the same " + verb.figure + ".\nBelow it " + winner + " has less, above it " +
         after + (tie.again ? ", up to another tie: look from " + shortest(tie.above) + " on" : "") + ".\n";
}

std::string tie_json(const BreakevenVerb& verb, const FieldRange& range, const Tie& tie,
                     const std::vector<std::string>& texts) {
  auto json = result_json<nlohmann::ordered_json>(question_sha256(
      "breakeven " + verb.figure + " " + range.text() + (verb.both ? " of both" : ""), texts));
  json["path"] = range.path;
  json["figure"] = verb.figure;
  json["below"] = tie.below;
  json["above"] = tie.above;
  return json.dump(2) + "\n";
}

std::string tie_csv(const BreakevenVerb& verb, const FieldRange& range, const Tie& tie) {
  return "path,figure,below,above\n" + csv_text_cell(range.path) + "," + csv_text_cell(verb.figure) + "," +
         shortest(tie.below) + "," + shortest(tie.above) + "\n";
}

// The differences are those at both ends, of one sign or none.
void tell_no_tie(const BreakevenVerb& verb, const FieldRange& range, double at_from, double at_to) {
  const std::string from = shortest(range.from), to = shortest(range.to);
  const double difference = at_from != 0 ? at_from : at_to;
  if (difference == 0) {
    spdlog::error("{} and {} have the same {} at {} and at {}: neither has less", verb.files[0],
                  verb.files[1], verb.figure, from, to);
    return;
  }
  spdlog::error("{} has less {} at every value that was tried from {} to {}: there is no tie between",
                verb.files[difference < 0 ? 0 : 1], verb.figure, from, to);
}

// A value between both ends that a scenario cannot have is none to compare at; the first is told.
class ValuesBetween {
 public:
  ValuesBetween(const FieldRange& range, const std::function<double(double)>& difference)
      : range_(range), difference_(difference) {}

  std::optional<double> operator()(double value) {
    if (value <= range_.from || value >= range_.to) return difference_(value);
    try {
      return difference_(value);
    } catch (const NoFigure& problem) {
      if (!told_)
        spdlog::warn("{}: values that a scenario cannot have are left out, such as {}: {}", range_.path,
                     range_.at(value).value,
                     problem.problems.empty() ? problem.what() : problem.problems.front().message);
      told_ = true;
      return std::nullopt;
    }
  }

 private:
  const FieldRange& range_;
  const std::function<double(double)>& difference_;
  bool told_ = false;
};

int find_breakeven(const BreakevenVerb& verb) {
  if (verb.quiet) spdlog::set_level(spdlog::level::err);
  const auto range = field_range("--over", verb.over);
  const auto catalog = open_catalog(verb.catalogs);
  if (!range || !catalog) return kInputError;
  try {
    FieldFigures first(verb.files[0], *catalog, verb.figure), second(verb.files[1], *catalog, verb.figure);
    const auto of_first = [&](double value) { return first.at({range->at(value)}); };
    const auto of_second = [&](double value) {
      return verb.both ? second.at({range->at(value)}) : second.at({});
    };
    const std::function<double(double)> difference = [&](double value) {
      return of_first(value) - of_second(value);
    };
    ValuesBetween between(*range, difference);
    const auto tie =
        find_tie([&](double value) { return between(value); }, range->from, range->to, range->whole_numbers);
    if (!tie) {
      tell_no_tie(verb, *range, difference(range->from), difference(range->to));
      judge_fields({&first, &second});
      return kInfeasible;
    }
    const auto table = [&] {
      return tie_text(verb, *range, *tie, of_first(tie->below), of_second(tie->below));
    };
    emit(answer_text(verb.format,
                     {table,
                      [&] {
                        return tie_json(verb, *range, *tie, {first.input().text, second.input().text});
                      },
                      [&] { return tie_csv(verb, *range, *tie); }},
                     "BreakevenAnswer"),
         "");
    return judge_fields({&first, &second});
  } catch (const NoFigure& problem) {
    tell_no_figure(problem);
    return kInputError;
  }
}

}  // namespace

void add_breakeven(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "breakeven",
      "Find the value of a field at which two scenarios cost the same, or have any figure the same");
  const auto options = std::make_shared<BreakevenVerb>();
  verb.add_option("FILES", options->files, "Two scenario files; the field is of the first")
      ->required()
      ->expected(2);
  verb.add_option("--over", options->over, "Field and range: cluster.usd_per_chip_hour=0.5..10")
      ->required()
      ->type_name("PATH=FROM..TO");
  verb.add_option("--figure", options->figure, "What is to be the same, by its name in the JSON report")
      ->capture_default_str()
      ->type_name("FIGURE");
  verb.add_flag("--both", options->both, "Change the field in both scenarios");
  verb.add_option("--format", options->format, "Form of the answer")->check(CLI::IsMember(report_formats()));
  verb.add_flag("-q,--quiet", options->quiet, "No warnings");
  add_catalog_option(verb, options->catalogs);
  verb.footer(
      "The tie is found to a thousandth, or between two neighbours where the field is a whole number, of "
      "those "
      "that both scenarios can have. Where one has less at both ends, 15 values between are tried; where the "
      "figures cross more than once, the answer is one of the ties.\n"
      "Examples:\n"
      "  podsim breakeven scenarios/qwen3_14b_8_h100.textproto scenarios/mixtral_8x7b_64_h100.textproto "
      "--over "
      "cluster.usd_per_chip_hour=0.5..10\n"
      "Exit codes: 0 done, 1 podsim failed, 2 the input must be changed, 3 there is no tie in the range.");
  verb.callback([options, &exit_code] { exit_code = find_breakeven(*options); });
}

}  // namespace podsim
