// podsim search: the best layouts of a job on its cluster, with a proof that there are no better ones.
#include "planner/search/search.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <span>

#include "cli/answers/page_output.h"
#include "cli/answers/render.h"
#include "cli/options/options.h"
#include "cli/options/store_option.h"
#include "cli/parts/part_progress.h"
#include "cli/parts/parts.h"
#include "cli/scenarios/batch.h"
#include "cli/search/search_page.h"
#include "cli/search/search_progress.h"
#include "cli/search/search_text.h"
#include "cli/search/verbs.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "engine/parallel_for.h"
#include "planner/search/certificate.h"
#include "planner/search/stored_steps.h"
#include "proto/scenario/load_space.h"
#include "proto/text/read_file.h"
#include "proto/writing/result_json.h"
#include "report/text/text.h"

namespace podsim {
namespace {

struct SearchVerb {
  std::string file;
  int top = 10;
  std::string within, gap;
  bool pareto = false, verbose = false, course = false;
  PartOptions parts;
  std::string store, certificate, progress;
  std::string why_not, out, html;
  std::string format = "table";
  LoadOptions load;
  int threads = 0;
  bool quiet = false;
};

// What was loaded, with the text that it came from.
struct Asked {
  SearchQuestion question;
  std::string file, text;
  std::vector<Override> overrides;
  Catalog catalog;
};

std::optional<Asked> load(const SearchVerb& verb) {
  auto catalog = open_catalog(verb.load.catalog_directories);
  const auto overrides = verb.load.overrides();
  if (!catalog || !overrides) return std::nullopt;
  LoadSearchResult loaded;
  const auto input = read_input(verb.file, loaded.problems);
  if (input) loaded = load_search(input->name, input->text, *catalog, *overrides);
  print_problems(loaded.problems);
  if (!loaded.question) return std::nullopt;
  for (const Problem& warning : loaded.warnings) spdlog::warn("{}", format_problem(warning));
  return Asked{*std::move(loaded.question), input->name, input->text, *overrides, *std::move(catalog)};
}

std::string command_of(const SearchVerb& verb) {
  std::string words = "podsim search " + verb.file;
  for (const std::string& set : verb.load.sets) words += " --set " + set;
  return words;
}

std::string row_as_scenario(const SearchVerb& verb, const Asked& asked, const FoundLayout& found,
                            std::size_t place) {
  const std::string which = place == 1 ? "The fastest layout" : "Layout " + std::to_string(place);
  const std::string comment = which + " that " + command_of(verb) + " found: " + to_string(found.layout) +
                              ".\nA step takes " + fixed(found.figures.step_time.in_seconds(), 4) +
                              " s and " + gib(found.memory) + " on the fullest chip.";
  return scenario_with_layout(asked.text, asked.overrides,
                              blocks_of(found.layout, context_preset(asked.question.spec.job)), comment);
}

// The fastest to a file, or all to a folder.
void write_found(const SearchVerb& verb, const Asked& asked, const std::vector<FoundLayout>& best) {
  if (verb.out.empty()) return;
  if (!is_folder(verb.out)) return write_whole(verb.out, row_as_scenario(verb, asked, best.front(), 1));
  std::vector<NamedContent> files;
  for (std::size_t i = 0; i < best.size(); ++i)
    files.push_back({"layout_" + std::to_string(i + 1), row_as_scenario(verb, asked, best[i], i + 1)});
  emit_each(files, "textproto", verb.out);
}

// Of the layouts that have what was asked for, the one that comes first by its bound.
int say_why_not(const SearchVerb& verb, const Space& space, const SearchAnswer& answer) {
  const auto wanted = asked_layout(space, verb.why_not, answer);
  if (!wanted.problem.empty()) {
    spdlog::error("--why-not \"{}\": {}", verb.why_not, wanted.problem);
    return kInputError;
  }
  const auto why = why_not(space, wanted.layout, answer);
  emit(answer_text(verb.format,
                   {[&] { return why.text + "\n"; }, [&] { return why_not_json(space, why, answer); },
                    [&] { return why_not_csv(why); }},
                   "SearchAnswer"),
       "");
  return kDone;
}

// The store, and what a search asks it.
class StoredSearch {
 public:
  StoredSearch(const SearchVerb& verb, const Asked& asked, SearchOptions& options)
      : store_(open_result_store(verb.store)) {
    if (!store_) return;
    const Spec& spec = asked.question.spec;
    layouts_.emplace(*store_, asked.file, asked.text, asked.overrides, asked.catalog, spec);
    options.evaluate = [this](const JobLayout& layout, const std::function<Report()>& simulate) {
      return layouts_->evaluate(layout, simulate);
    };
    study_ = store_->begin_study(
        {command_of(verb), question_sha256(options.words(), {spec.sha256}), options.shard, options.shards});
  }

  void end(const SearchAnswer& answer) {
    if (!store_) return;
    std::vector<StudyRow> rows;
    for (const FoundLayout& found : answer.best)
      rows.push_back({layouts_->scenario_of(found.layout).key, to_string(found.layout)});
    store_->end_study(study_, answer.proven ? StudyState::kComplete : StudyState::kStopped, answer.gap, rows);
  }

 private:
  std::unique_ptr<Store> store_;
  std::optional<StoredLayouts> layouts_;
  std::int64_t study_ = 0;
};

// Nothing where an option is wrong, which is said.
std::optional<SearchOptions> search_options(const SearchVerb& verb) {
  const auto within = share_of(verb.within), gap = share_of(verb.gap);
  if (!within || !gap) {
    spdlog::error("--{} \"{}\": expected a share such as 2% or 0.02", within ? "gap" : "within",
                  within ? verb.gap : verb.within);
    return std::nullopt;
  }
  const auto part = part_of(verb.parts);
  if (!part) return std::nullopt;
  SearchOptions options;
  options.top = verb.top;
  options.within = *within;
  options.gap = *gap;
  options.pareto = verb.pareto;
  options.threads = threads_or_cores(verb.threads);
  options.shard = part->number;
  options.shards = part->of;
  options.record = !verb.certificate.empty();
  return options;
}

SearchAnswer search_with_progress(const SearchVerb& verb, const Asked& asked, const Space& space,
                                  SearchOptions options, SearchCourse& course) {
  SearchProgressLine line(verb.quiet);
  PartProgress told(verb.progress);
  options.progress = [&](const SearchProgress& progress) {
    course.add(progress);
    line.show(progress);
    told.tell(progress);
  };
  StoredSearch stored(verb, asked, options);
  SearchAnswer answer = search(space, options);
  line.wipe();
  stored.end(answer);
  return answer;
}

// Says why there is no layout.
int nothing_found(const Space& space, const SearchOptions& options, const SearchAnswer& answer) {
  if (options.shards > 1 && answer.proven && answer.refused.empty()) {
    spdlog::warn("no layout of this part fits in memory");
    return kDone;
  }
  spdlog::error("{}", infeasible_text(space, answer));
  return answer.miss && answer.refused.empty() ? kInfeasible : answer.proven ? kInputError : kInternalError;
}

void write_certificate(const SearchVerb& verb, const Asked& asked, const SearchOptions& options,
                       const SearchAnswer& answer) {
  if (!options.record) return;
  if (!answer.proven) return spdlog::warn("the search was stopped, so that there is no proof to write");
  write_whole(verb.certificate,
              certificate_text({model_version(), scenario_with_overrides(asked.text, asked.overrides),
                                asked.question.spec.sha256, options.top, options.within, options.gap},
                               answer));
}

int search_layouts(const SearchVerb& verb) {
  if (verb.quiet) spdlog::set_level(spdlog::level::err);
  auto options = search_options(verb);
  if (!options) return kInputError;
  const auto asked = load(verb);
  if (!asked) return kInputError;
  if (const auto code = run_by_engine(verb.parts, {{verb.file}, verb.load.catalog_directories, verb.store}))
    return *code;
  const Space space(asked->question.spec, asked->question.space);
  if (space.stems().empty()) {
    spdlog::error("{}", empty_space_text(space));
    return kInputError;
  }
  if (options->record && (options->pareto || options->shards > 1)) {
    spdlog::error(
        "--certificate: a proof is of the fastest layouts of a whole space, without --pareto and --shard");
    return kInputError;
  }
  const Interrupt interrupt;
  options->stop = &interrupt.asked();
  SearchCourse course;
  const SearchAnswer answer = search_with_progress(verb, *asked, space, *options, course);
  if (answer.best.empty()) return nothing_found(space, *options, answer);
  write_certificate(verb, *asked, *options, answer);
  write_found(verb, *asked, answer.best);
  if (!verb.html.empty())
    write_page(search_page(space, answer, verb.course ? course.moments() : std::span<const SearchMoment>{}),
               PageSources{{&verb.file, 1}, verb.load}, verb.html);
  if (!verb.why_not.empty()) return say_why_not(verb, space, answer);
  emit(answer_text(verb.format,
                   {[&] { return search_table(space, answer, verb.verbose); },
                    [&] { return search_json(space, answer); }, [&] { return search_csv(answer); }},
                   "SearchAnswer"),
       "");
  return kDone;
}

// Which layouts: so many, or all that are near the best or on the front.
void add_what_is_found(CLI::App& verb, SearchVerb& wish) {
  verb.add_option("--top", wish.top, "How many layouts to find")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N");
  verb.add_option("--within", wish.within, "Find all layouts that are slower by so much at most: 2%")
      ->type_name("SHARE");
  verb.add_option("--gap", wish.gap,
                  "Stop where nothing can be faster than the best by more than this, 1%, with what is found "
                  "until then")
      ->excludes("--within")
      ->type_name("SHARE");
  verb.add_flag("--pareto", wish.pareto, "Find all layouts that no other beats in both step and memory")
      ->excludes("--top")
      ->excludes("--within")
      ->excludes("--gap");
}

}  // namespace

void add_search(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "search",
      "Find the fastest layouts of a job on its cluster, and prove that none is predicted to be faster");
  const auto options = std::make_shared<SearchVerb>();
  verb.add_option("FILE", options->file, "Scenario file; its layout counts as the first candidate")
      ->required();
  add_what_is_found(verb, *options);
  verb.add_option("--why-not", options->why_not,
                  "Say why not a layout with these values: tensor=8,pipeline=4")
      ->type_name("AXIS=N,...");
  verb.add_option(
          "--out", options->out,
          "Write the fastest layout as a scenario to this file; to a folder, FOLDER/, all that are shown")
      ->type_name("FILE");
  verb.add_option("--certificate", options->certificate,
                  "Write what became of every layout to this file; podsim certificate check goes through it")
      ->type_name("FILE");
  add_part_options(verb, options->parts);
  verb.add_option(
          "--progress", options->progress,
          "Write into this file now and then how far the search is; podsim store progress adds up parts")
      ->type_name("FILE");
  add_store_option(verb, options->store);
  verb.add_option("--format", options->format, "Form of the answer")->check(CLI::IsMember(report_formats()));
  verb.add_option("--threads", options->threads, "Threads; without it as many as the machine has cores")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  verb.add_flag("-v,--verbose", options->verbose, "Tell how near the bounds came to the simulated steps");
  verb.add_flag("-q,--quiet", options->quiet, "No progress and no warnings");
  add_load_options(verb, options->load);
  add_html_option(verb, options->html);
  verb.add_flag("--course", options->course,
                "Draw on the page how the search went over time, so that no two pages are the same")
      ->needs(verb.get_option("--html"));
  verb.footer(
      "What may vary is in the scenario's block space { }, by --set too; a missing list is chosen by rule, "
      "one "
      "value keeps an axis as it is. docs/guide/planning.md tells all of it, docs/theory/search.md why the "
      "answer "
      "is the best.\n"
      "Ctrl-C ends the search with the best so far, and how much better anything could still be.\n"
      "Exit code 3: no layout fits in memory; the message has the nearest miss.\n"
      "Examples:\n"
      "  podsim search scenarios/llama3_70b_512_h100.textproto --set space.tensor=4,8 --set "
      "space.schedule=interleaved --within 2% --out best.textproto\n"
      "  podsim search scenarios/qwen3_14b_8_h100.textproto --why-not tensor=4,sharding=zero1\n"
      "  podsim search scenarios/qwen3_14b_8_h100.textproto --pareto --format csv\n"
      "  podsim search scenarios/qwen3_14b_8_h100.textproto --store runs.db\n"
      "  podsim search scenarios/qwen3_14b_8_h100.textproto --shard 2/4 --store part-2.db\n"
      "  podsim search scenarios/qwen3_14b_8_h100.textproto --engine kubernetes --parts 4 --store runs.db");
  verb.callback([options, &exit_code] { exit_code = search_layouts(*options); });
}

}  // namespace podsim
