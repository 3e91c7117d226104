// podsim whatif: a scenario as it is, and with parts that are slow or have failed.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "cli/answers/page_output.h"
#include "cli/answers/render.h"
#include "cli/comparisons/compare_page.h"
#include "cli/comparisons/verbs.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "prediction/failed_link.h"
#include "prediction/lost_chips.h"
#include "prediction/selectors.h"
#include "proto/scenario/load.h"
#include "proto/writing/result_json.h"
#include "report/summary/verdict.h"
#include "report/tables/what_if_text.h"
#include "report/tables/write.h"
#include "report/text/text.h"
#include "scheduler/question/spec.h"

namespace podsim {
namespace {

struct WhatIfVerb {
  std::string file;
  std::vector<std::string> slow, failed;
  LoadOptions load;
  RunOptions run;
  OutputOptions output;
};

// Adds what the user named, or says what is wrong with it. Lost chips come last: the other parts are numbered
// with them.
bool add_adversities(const WhatIfVerb& verb, Spec& spec, std::string& note) {
  bool good = true;
  const auto add = [&](const char* option, const std::vector<std::string>& texts, auto&& add_one) {
    for (const std::string& text : texts) {
      const std::string why = add_one(spec, text);
      if (why.empty()) {
        spec.sha256 = question_sha256(std::string(option) + " " + text, {spec.sha256});
        continue;
      }
      spdlog::error("{} {}: {}", option, text, why);
      good = false;
    }
  };
  add("--slow", verb.slow, add_slow);
  std::vector<std::string> links = verb.failed, lost;
  std::erase_if(links, names_lost_chips);
  std::copy_if(verb.failed.begin(), verb.failed.end(), std::back_inserter(lost), names_lost_chips);
  add("--fail", links, add_failure);
  if (good) note = told_of_failed_links(spec, links);
  if (!good || lost.empty()) return good;
  note.clear();  // the job has stopped in any case
  const LostChips loss = lose_chips(spec, lost);
  if (!loss.why.empty()) spdlog::error("--fail {}", loss.why);
  note = loss.note;
  return loss.why.empty();
}

std::string verdict(const Report& before, const Report& after) {
  const double lost = after.step_time.in_seconds() / before.step_time.in_seconds() - 1;
  std::string text = "A step takes " + significant(before.step_time.in_seconds(), 5) + " s before and " +
                     significant(after.step_time.in_seconds(), 5) + " s after: " + percent(std::abs(lost)) +
                     (lost < 0 ? " shorter.\n" : " longer.\n");
  if (after.chips != before.chips)
    text += std::to_string(after.chips) + " chips instead of " + std::to_string(before.chips) + " train " +
            significant(after.tokens_per_s, 4) + " tokens/s instead of " +
            significant(before.tokens_per_s, 4) + ".\n";
  return text;
}

int whatif(const WhatIfVerb& verb) {
  if (verb.run.quiet) spdlog::set_level(spdlog::level::err);
  if (verb.slow.empty() && verb.failed.empty()) {
    spdlog::error("whatif needs at least one --slow or --fail");
    return kInputError;
  }
  auto specs = load_scenarios({verb.file}, verb.load);
  if (!specs || !have_one_job(*specs, "whatif")) return kInputError;
  specs->push_back(specs->front());
  std::string note;  // what the job does when the parts fail
  if (!add_adversities(verb, specs->back(), note)) return kInputError;
  specs->front().name += " before";
  specs->back().name += " after";
  std::vector<Report> reports;
  for (Prediction& prediction : predict_all(*specs, verb.run))
    reports.push_back(std::move(prediction.report));
  if (!verb.run.quiet) tell_of_longest_shapes({reports.data(), 1});
  std::string text = compare_table(reports) + "\n";
  if (reports.back().what_if) text += what_if_tables(*reports.back().what_if) + "\n";
  if (reports.back().verdict) text += verdict_table(*reports.back().verdict) + "\n";
  if (!note.empty()) text += note + "\n";
  text += verdict(reports.front(), reports.back());
  if (!verb.run.html.empty())
    write_page(whatif_page(reports, text), PageSources{{&verb.file, 1}, verb.load}, verb.run.html);
  if (verb.output.format == "table") {
    emit(text, verb.output.out);
    return judge_fits(fits_of(reports));
  }
  if (!note.empty()) spdlog::warn("{}", note);
  emit(render(reports, verb.output.format), verb.output.out);
  return judge_fits(fits_of(reports));
}

}  // namespace

void add_whatif(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "whatif", "Predict a scenario before and after parts of its cluster become slow or fail");
  const auto options = std::make_shared<WhatIfVerb>();
  verb.add_option("FILE", options->file, "Scenario file; - is standard input")->required();
  verb.add_option("--slow", options->slow,
                  "A part and its speed: chip:137=0.9x, node:17=0.9x, nic:node17/nic3=0.5x, nvlink:3=0.5x, "
                  "ici:3=0.5x; may be repeated")
      ->allow_extra_args(false)
      ->type_name("PART=SPEED");
  verb.add_option("--fail", options->failed,
                  "A part that has failed: link:4-5, nic:node17/nic3, nvlink:3, ici:3, leaf:2, spine:2, "
                  "core:2, nvswitch:2, ocs:x/0/1, or all chips of node:17 or cube:12; may be repeated")
      ->allow_extra_args(false)
      ->type_name("PART");
  add_load_options(verb, options->load);
  add_run_options(verb, options->run);
  add_output_options(verb, options->output, report_formats());
  add_html_option(verb, options->run.html);
  verb.footer(
      "JSON, CSV and textproto hold both reports, the one before first. Figures: docs/theory/stragglers.md.\n"
      "Examples:\n"
      "  podsim whatif scenarios/llama3_70b_512_h100.textproto --slow chip:137=0.9x\n"
      "  podsim whatif scenarios/llama3_70b_512_h100.textproto --slow nic:node17/nic3=0.5x --fail nic:0\n"
      "  podsim whatif scenarios/layers_96_512_torus.textproto --fail link:0-1 --format json\n"
      "  podsim whatif scenarios/llama3_70b_512_h100.textproto --fail node:17\n"
      "  podsim whatif scenarios/llama3_70b_512_v5p.textproto --fail cube:12");
  verb.callback([options, &exit_code] { exit_code = whatif(*options); });
}

}  // namespace podsim
