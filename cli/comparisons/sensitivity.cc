// podsim sensitivity: which assumption moves a figure most, and which changes what is best.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/answers/render.h"
#include "cli/comparisons/field_range.h"
#include "cli/comparisons/verbs.h"
#include "cli/options/options.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "proto/writing/result_json.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

struct SensitivityVerb {
  std::vector<std::string> files;
  std::vector<std::string> vary;
  std::string figure = "cost_usd_per_million_tokens", format = "table";
  bool quiet = false;
  std::vector<std::string> catalogs;
};

// One assumption at both ends, [file] of each.
struct Swing {
  FieldRange range;
  std::vector<double> low, high;
  double width() const { return std::abs(high.front() - low.front()); }
};

std::size_t least_of(const std::vector<double>& figures) {
  return static_cast<std::size_t>(std::ranges::min_element(figures) - figures.begin());
}

struct Tornado {
  int exit_code = kDone;      // of what does not fit in memory
  std::vector<double> base;   // [file]
  std::vector<Swing> swings;  // widest first
  std::string sha256;         // of what was asked
};

// Of the figure as things are; nothing of one that is 0.
std::string share_of_base(double width, double base) {
  return base == 0 ? "-" : percent(width / std::abs(base));
}

Tornado tornado_of(const SensitivityVerb& verb, const std::vector<FieldRange>& ranges,
                   const Catalog& catalog) {
  std::vector<FieldFigures> files;
  for (const std::string& file : verb.files) files.emplace_back(file, catalog, verb.figure);
  Tornado tornado;
  std::string words = "sensitivity " + verb.figure;
  std::vector<std::string> texts;
  for (FieldFigures& file : files) {
    texts.push_back(file.input().text);
    tornado.base.push_back(file.at({}));
  }
  for (const FieldRange& range : ranges) {
    words += " " + range.text();
    Swing& swing = tornado.swings.emplace_back(Swing{range, {}, {}});
    for (FieldFigures& file : files) {
      swing.low.push_back(file.at({range.at(range.from)}));
      swing.high.push_back(file.at({range.at(range.to)}));
    }
  }
  std::ranges::stable_sort(tornado.swings,
                           [](const Swing& a, const Swing& b) { return a.width() > b.width(); });
  tornado.sha256 = question_sha256(words, texts);
  std::vector<const FieldFigures*> asked;
  for (const FieldFigures& file : files) asked.push_back(&file);
  tornado.exit_code = judge_fields(asked);
  return tornado;
}

std::string tornado_table(const SensitivityVerb& verb, const Tornado& tornado) {
  const bool several = verb.files.size() > 1;
  const std::size_t best = least_of(tornado.base);
  std::vector<std::vector<std::string>> rows = {
      {"field", "from", "to", verb.figure + " from", "to", "swing"}};
  if (several) rows.front().insert(rows.front().end(), {"least from", "least to"});
  for (const Swing& swing : tornado.swings) {
    rows.push_back({swing.range.path, shortest(swing.range.from), shortest(swing.range.to),
                    significant(swing.low.front(), 4), significant(swing.high.front(), 4),
                    share_of_base(swing.width(), tornado.base.front())});
    if (several)
      rows.back().insert(rows.back().end(),
                         {verb.files[least_of(swing.low)], verb.files[least_of(swing.high)]});
  }
  std::string text = verb.files.front() + ": " + verb.figure + " " + significant(tornado.base.front(), 4) +
                     "; one field at a time\n\n" + align(rows) + "\n";
  if (!several) return text;
  bool flips = false;
  for (const Swing& swing : tornado.swings)
    flips = flips || least_of(swing.low) != best || least_of(swing.high) != best;
  return text + verb.files[best] + " has the least as things are" +
         (flips ? ", and not at every end: podsim breakeven finds where that changes.\n"
                : ", and at every end.\n");
}

std::string tornado_csv(const SensitivityVerb& verb, const Tornado& tornado) {
  std::string text = "path,from,to,file,figure_from,figure_to,figure_base\n";
  for (const Swing& swing : tornado.swings)
    for (std::size_t f = 0; f < verb.files.size(); ++f)
      text += csv_text_cell(swing.range.path) + "," + shortest(swing.range.from) + "," +
              shortest(swing.range.to) + "," + csv_text_cell(verb.files[f]) + "," + shortest(swing.low[f]) +
              "," + shortest(swing.high[f]) + "," + shortest(tornado.base[f]) + "\n";
  return text;
}

std::string tornado_json(const SensitivityVerb& verb, const Tornado& tornado) {
  auto json = result_json<nlohmann::ordered_json>(tornado.sha256);
  json["figure"] = verb.figure;
  json["fields"] = nlohmann::ordered_json::array();
  for (const Swing& swing : tornado.swings) {
    nlohmann::ordered_json files = nlohmann::ordered_json::array();
    for (std::size_t f = 0; f < verb.files.size(); ++f)
      files.push_back({{"file", verb.files[f]},
                       {"figure_from", swing.low[f]},
                       {"figure_to", swing.high[f]},
                       {"figure_base", tornado.base[f]}});
    json["fields"].push_back({{"path", swing.range.path},
                              {"from", swing.range.from},
                              {"to", swing.range.to},
                              {"files", std::move(files)}});
  }
  return json.dump(2) + "\n";
}

int vary_fields(const SensitivityVerb& verb) {
  if (verb.quiet) spdlog::set_level(spdlog::level::err);
  std::vector<FieldRange> ranges;
  for (const std::string& vary : verb.vary) {
    const auto range = field_range("--vary", vary);
    if (!range) return kInputError;
    ranges.push_back(*range);
  }
  const auto catalog = open_catalog(verb.catalogs);
  if (!catalog) return kInputError;
  try {
    const Tornado tornado = tornado_of(verb, ranges, *catalog);
    emit(
        answer_text(verb.format,
                    {[&] { return tornado_table(verb, tornado); },
                     [&] { return tornado_json(verb, tornado); }, [&] { return tornado_csv(verb, tornado); }},
                    "SensitivityAnswer"),
        "");
    return tornado.exit_code;
  } catch (const NoFigure& problem) {
    tell_no_figure(problem);
    return kInputError;
  }
}

}  // namespace

void add_sensitivity(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "sensitivity", "Tell which field moves a figure most within its range, and whether the best changes");
  const auto options = std::make_shared<SensitivityVerb>();
  verb.add_option("FILE", options->files, "Scenario files; of several it is told which has the least")
      ->required();
  verb.add_option("--vary", options->vary, "Field and range: cluster.usd_per_chip_hour=1.5..4; one or more")
      ->required()
      ->type_name("PATH=FROM..TO");
  verb.add_option("--figure", options->figure, "What is told, by its name in the JSON report")
      ->capture_default_str()
      ->type_name("FIGURE");
  verb.add_option("--format", options->format, "Form of the answer")->check(CLI::IsMember(report_formats()));
  verb.add_flag("-q,--quiet", options->quiet, "No warnings");
  add_catalog_option(verb, options->catalogs);
  verb.footer(
      "Examples:\n"
      "  podsim sensitivity scenarios/qwen3_14b_8_h100.textproto --vary cluster.usd_per_chip_hour=1.5..4 "
      "--vary "
      "job.global_batch_sequences=16..64\n"
      "  podsim sensitivity scenarios/qwen3_14b_8_h100.textproto scenarios/mixtral_8x7b_64_h100.textproto "
      "--vary "
      "cluster.usd_per_kwh=0.05..0.4");
  verb.callback([options, &exit_code] { exit_code = vary_fields(*options); });
}

}  // namespace podsim
