// podsim import: what is in files that other tools have written.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/render.h"
#include "cli/imports/import_beside.h"
#include "cli/imports/import_files.h"
#include "cli/imports/import_fit.h"
#include "cli/imports/import_module.h"
#include "cli/imports/import_plan.h"
#include "cli/imports/import_scenario.h"
#include "cli/imports/import_step.h"
#include "cli/imports/usual_machine.h"
#include "cli/imports/verbs.h"
#include "cli/options/mesh_option.h"
#include "cli/scenarios/batch.h"
#include "cli/scenarios/question.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "engine/check.h"
#include "engine/number_text.h"
#include "ingest/file_kind.h"
#include "ingest/partitioning/module_file.h"
#include "proto/text/read_file.h"
#include "proto/writing/figure_json.h"

namespace podsim {
namespace {

struct ImportVerb {
  std::vector<std::string> files, trips, sets, mesh;
  std::int64_t chips = 0, slices = 0;  // 0 = not stated
  std::string model, chip, fabric, stack, shape;
  std::string as, format = "table", out, beside, compute = "recorded";
  std::vector<std::string> slow;
  std::vector<double> astra_ring;  // GB/s of 2^30, ns; empty = not asked for
  bool strict = false, run = false, fit = false, plan = false;
};

// Nothing where an option is wrong, which is said.
std::optional<Stated> stated(const ImportVerb& verb) {
  Stated stated;
  for (const std::string& text : verb.trips) {
    const std::size_t equals = text.rfind('=');
    const std::int64_t count =
        equals == std::string::npos ? -1 : whole_text_as<std::int64_t>(text.substr(equals + 1)).value_or(-1);
    if (count < 0) {
      spdlog::error("--trips \"{}\": expected the name of a loop and how often it runs, such as while.1=80",
                    text);
      return std::nullopt;
    }
    stated.trips[text.substr(0, equals)] = count;
  }
  for (const std::string& text : verb.sets) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      spdlog::error("--set \"{}\": expected a name of the file and its value, such as vocab-size=128256",
                    text);
      return std::nullopt;
    }
    if (!is_of_scenario(text)) stated.settings.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  auto mesh = mesh_axes(verb.mesh);
  if (!mesh) return std::nullopt;
  stated.mesh = *std::move(mesh);
  stated.partition = verb.run || !verb.beside.empty();
  if (verb.chips > 0) stated.chips = verb.chips;
  if (verb.slices > 0) stated.slices = verb.slices;
  stated.model = verb.model;
  stated.chip = verb.chip;
  stated.fabric = verb.fabric;
  stated.stack = verb.stack;
  stated.roofline = verb.compute == "roofline";
  complete_machine(stated);
  stated.plan = verb.plan;
  return stated;
}

// Whether each option of a kind of file has such a file; says which has none.
bool options_apply(const std::vector<std::string>& given, bool run, const std::vector<FileGroup>& groups) {
  std::set<std::string_view> used;
  for (const FileGroup& group : groups) used.insert(group.kind->options.begin(), group.kind->options.end());
  if (used.count("--fit") != 0 && std::count(given.begin(), given.end(), "--fit") > 0)
    used.insert({"--fabric", "--chips", "--set"});
  // Recorded computations do not need it: then it may name the machine that the fabric is of.
  if (used.count("--compute") != 0 && (run || std::count(given.begin(), given.end(), "--compute") > 0))
    used.insert("--chip");
  bool all = true;
  for (const std::string& option : given) {
    if (used.count(option) != 0) continue;
    spdlog::error("{} says nothing about {}, which is {}", option, groups.front().files.front().name,
                  groups.front().kind->description);
    all = false;
  }
  return all;
}

bool nothing_unknown(const std::string& file, const Imported& imported) {
  bool all = true;
  for (const Account& account : imported.accounts)
    for (const auto& [name, count] : account.unknown) {
      spdlog::error("{}: {} occurs {} times and is not known (--strict)", file, name, count);
      all = false;
    }
  return all;
}

// A file of another kind, that could be read all the same.
bool nothing_used(const Imported& imported) {
  return !imported.accounts.empty() && std::all_of(imported.accounts.begin(), imported.accounts.end(),
                                                   [](const Account& account) { return account.used == 0; });
}

std::optional<Imported> import_group(FileGroup& group, const ImportVerb& verb, const Stated& stated) {
  std::vector<Problem> problems;
  auto imported = import_files(*group.kind, group.files, stated, problems);
  print_problems(problems);
  if (imported)
    for (const std::string& note : imported->notes) spdlog::warn("{}", note);
  if (imported && nothing_used(*imported)) {
    spdlog::error("{}: nothing in it is known of {}", group.files.front().name, group.kind->description);
    return std::nullopt;
  }
  if (!imported || (verb.strict && !nothing_unknown(group.files.front().name, *imported)))
    return std::nullopt;
  return imported;
}

std::string json_of(const FileGroup& group, Imported imported, const ImportVerb& verb) {
  std::string words = "import";
  for (const auto& texts : {verb.trips, verb.sets, verb.mesh, verb.slow})
    for (const std::string& text : texts) words += " " + text;
  for (const std::string& text : {verb.model, verb.chip, verb.fabric, verb.stack}) words += " " + text;
  words += " " + std::to_string(verb.chips) + " " + std::to_string(verb.slices);
  if (verb.run) words += " run " + verb.shape;
  if (verb.fit) words += " fit";
  if (verb.compute != "recorded") words += " compute " + verb.compute;
  if (!verb.beside.empty()) words += " beside " + verb.beside;
  for (const double number : verb.astra_ring) words += " astra " + std::to_string(number);
  std::vector<std::string> files;
  for (const InputText& file : group.files) files.push_back(file.name);
  std::vector<Figure> whole = {{"file", files.front()}};
  if (files.size() > 1) whole.push_back(Figure::list("files", values_of(files)));
  append(whole, std::move(imported.figures));
  if (!imported.notes.empty()) whole.push_back(Figure::list("notes", values_of(imported.notes)));
  return json_text(result_figure(sha256_of_files(words, files), std::move(whole)), JsonNumbers::kShortest);
}

std::string joined_names(const FileGroup& group) {
  return group.files.front().name + (group.files.size() > 1 ? " and its sisters" : "");
}

// What the files hold becomes what their step does on the fabric; nothing where it cannot run, which is
// said. REQUIRES: it has a step.
std::optional<Imported> run_step(const FileGroup& group, const Imported& imported, const ImportVerb& verb,
                                 const Stated& stated) {
  PODSIM_CHECK(imported.step, "the files hold a step");
  const std::string& first = group.files.front().name;
  const std::string of = joined_names(group);
  const std::int64_t chips = verb.chips > 0 ? verb.chips : imported.ranks;
  const auto slowed = slowed_ranks(verb.slow);
  const auto slow_links = slow_links_in(verb.slow);
  if (!slowed || !slow_links) return std::nullopt;
  // What recorded its transfers runs as recorded unless another network is asked for.
  const std::string& fabric = imported.transfers_recorded ? verb.fabric : stated.fabric;
  if (!slow_links->empty() && fabric.empty()) {
    spdlog::error("{}: --slow with links needs the fabric that has them (--fabric)", first);
    return std::nullopt;
  }
  if (!verb.astra_ring.empty()) {
    AstraRing ring;
    ring.link_gib_per_s = verb.astra_ring[0];
    ring.latency_ns = static_cast<std::int64_t>(verb.astra_ring[1]);
    return run_on_astra_ring(of, imported, ring, chips, *slowed);
  }
  if (fabric.empty() && imported.transfers_recorded) return run_recorded_step(of, imported, chips, *slowed);
  if (fabric.empty()) {
    spdlog::error("{}: needs a fabric to run on (--fabric; podsim catalog fabrics lists them)", first);
    return std::nullopt;
  }
  if (!verb.chip.empty() && !stated.roofline && std::ranges::count(group.kind->options, "--compute") > 0)
    spdlog::warn(
        "{}: computations last as recorded; --compute roofline has those with operations timed on {}", first,
        verb.chip);
  NetworkOptions network;
  network.fabric = fabric;
  network.shape = verb.shape;
  if (verb.shape.empty()) network.chips = static_cast<int>(chips);
  return run_imported_step(of, imported, network, *slowed, *slow_links);
}

// The same of a compiled module. REQUIRES: it can be put on a machine.
std::optional<Imported> run_module(const FileGroup& group, const Imported& imported, const ImportVerb& verb,
                                   const Stated& stated) {
  PODSIM_CHECK(imported.on_machine, "the module can be put on a machine");
  const std::string& file = group.files.front().name;
  if (stated.chip.empty() || stated.fabric.empty()) {
    spdlog::error("{}: needs a chip and a fabric to run on (--chip, --fabric)", file);
    return std::nullopt;
  }
  NetworkOptions network;
  network.fabric = stated.fabric;
  network.shape = verb.shape;
  if (verb.shape.empty()) network.chips = static_cast<int>(verb.chips > 0 ? verb.chips : imported.ranks);
  return run_imported_module(file, imported, stated.chip, verb.stack, network);
}

// Modules beside a dump of their compiler, recorded runs beside their scenario.
std::optional<Imported> beside_of(const FileGroup& group, const Imported& imported, const ImportVerb& verb) {
  const std::string& file = group.files.front().name;
  if (!partitioning::is_module_kind(group.kind->name))
    return put_beside(joined_names(group), imported, verb.beside);
  if (!imported.beside) {
    spdlog::error("{}: {}", file,
                  imported.needs_to_run.empty()
                      ? "it was partitioned before; name the module it was made of first"
                      : needs_text(imported.needs_to_run));
    return std::nullopt;
  }
  const auto dump = read_import_file(verb.beside);
  if (!dump) return std::nullopt;
  std::vector<Problem> problems;
  auto answer = imported.beside(*dump, problems);
  print_problems(problems);
  return answer;
}

int import(const ImportVerb& verb, const std::vector<std::string>& options) {
  const auto said = stated(verb);
  if (!said) return kInputError;
  auto groups = groups_of_files(verb.files, verb.as);
  if (!groups || !options_apply(options, verb.run, *groups)) return kInputError;
  bool all = true;
  const bool json = verb.format == "json";
  std::vector<NamedContent> results;
  for (FileGroup& group : *groups) {
    auto imported = import_group(group, verb, *said);
    if (imported && verb.fit) imported = fit_imported_times(group.files.front().name, *imported, verb.fabric);
    if (imported &&
        (verb.plan || !verb.out.empty() || (verb.run && !imported->step && !imported->on_machine))) {
      const ImportedFile file{group.files.front().name, group.kind->description};
      const ScenarioWish wish{verb.sets, verb.out, verb.format, verb.run};
      if (groups->size() == 1)
        return verb.plan ? plan_imported(file, *imported, wish) : write_or_run(file, *imported, wish);
      spdlog::error("--out, --run and --plan are of one scenario; these are {}", groups->size());
      return kInputError;
    }
    if (imported && !verb.beside.empty()) imported = beside_of(group, *imported, verb);
    if (imported && verb.run)
      imported = imported->on_machine ? run_module(group, *imported, verb, *said)
                                      : run_step(group, *imported, verb, *said);
    all = all && imported;
    if (imported)
      results.push_back(
          {group.files.front().name, json ? json_of(group, *std::move(imported), verb) : imported->text});
  }
  if (!all) return kInputError;
  emit(joined(results, json), "");
  return kDone;
}

void add_what_is_read(CLI::App& verb, ImportVerb& options) {
  verb.add_option(
          "FILE", options.files,
          "What other tools have written, of any kind of --as; plain or compressed by gzip; a pattern "
          "such as 'step.*.et' is all files that fit, - is standard input")
      ->required();
  verb.add_option("--as", options.as, "What the files are, instead of by their content")
      ->check(CLI::IsMember(names_of_file_kinds()));
  verb.add_option("--trips", options.trips, "How often a loop runs that does not say so; may be given again")
      ->type_name("NAME=N")
      ->allow_extra_args(false);
  add_mesh_option(verb, options.mesh);
}

void add_what_it_ran_on(CLI::App& verb, ImportVerb& options) {
  verb.add_option("--chips", options.chips,
                  "How many chips, where the files do not say it; as many as there are traces by default")
      ->check(CLI::Range(1, 1'000'000));
  verb.add_option("--slices", options.slices, "How many slices they are in")->check(CLI::Range(1, 100'000));
  verb.add_option("--model", options.model, "The model of the catalogue that a configuration means");
  verb.add_option("--chip", options.chip, "The chip to run on");
  verb.add_option("--fabric", options.fabric, "The fabric to run on");
  verb.add_option("--shape", options.shape, "Shape of a torus to run on, such as 8x8x8")->type_name("SHAPE");
  verb.add_option(
          "--astra-ring", options.astra_ring,
          "With --run in place of a fabric: the ring of ASTRA-sim, its GB/s (of 2^30 bytes) and its ns of "
          "a link, such as 50,500")
      ->delimiter(',')
      ->expected(2)
      ->check(CLI::Range(1.0, 1e6))
      ->excludes("--fabric")
      ->type_name("GB/S,NS");
  verb.add_option(
          "--slow", options.slow,
          "With --run of recorded ranks: a rank and how many times as long it computes, 3=1.5, or links of a "
          "kind at a chip of the fabric and the share of their bandwidth that is left, nic:3=0.5x; may be "
          "given "
          "again")
      ->type_name("RANK=FACTOR|KIND:CHIP=SHARE")
      ->allow_extra_args(false);
  verb.add_option("--stack", options.stack, "The software stack, where the launcher's own is not meant");
  verb.add_option("--set", options.sets,
                  "A setting or variable of the file, instead of what it says; or with --run a field of the "
                  "scenario; may be given again")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

void add_what_is_asked(CLI::App& verb, ImportVerb& options) {
  verb.add_option("--out", options.out, "Write a scenario, or of a cluster its fabric, to this file");
  verb.add_flag("--run", options.run, "Run that scenario, or the recorded step, and print what comes out");
  verb.add_option(
          "--compute", options.compute,
          "With --run of Chakra traces: computations take as long as recorded, or what --chip (by default "
          "that of the fabric) needs for their operations and bytes")
      ->check(CLI::IsMember({"recorded", "roofline"}))
      ->capture_default_str()
      ->needs("--run");
  verb.add_flag(
          "--fit", options.fit,
          "The channel of --fabric that agrees with measured collectives, and its errors before and after")
      ->needs("--fabric")
      ->excludes("--run");
  verb.add_option("--beside", options.beside,
                  "The scenario of a recorded run: its prediction beside the recorded step; or what a "
                  "compiler made of a module: its collectives beside podsim's")
      ->type_name("FILE")
      ->excludes("--run")
      ->excludes("--out");
  verb.add_flag("--plan", options.plan,
                "Search the layouts of that scenario, and print the fastest; what a step has and nobody says "
                "is assumed, and told")
      ->excludes("--run")
      ->excludes("--fit")
      ->excludes("--beside");
  verb.add_flag("--strict", options.strict, "Fail where something is not known, instead of counting it");
  verb.add_option("--format", options.format, "How to write the result")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
}

constexpr const char* kImportFooter =
    "docs/guide/import.md has the figures and the JSON keys.\n"
    "Examples:\n"
    "  podsim import module_0042.after_optimizations.txt\n"
    "  podsim import all_reduce_perf.log\n"
    "  podsim import all_reduce_perf.log --fit --fabric dgx_h100\n"
    "  podsim import 'step.*.et'\n"
    "  podsim import 'step.*.et' --run --fabric dgx_h100\n"
    "  podsim import 'step.*.et' --run --compute roofline --chip h100\n"
    "  podsim import rank0.pt.trace.json.gz rank1.pt.trace.json.gz\n"
    "  podsim import 'rank*.pt.trace.json.gz' --run --fabric dgx_h200\n"
    "  podsim import 'rank*.pt.trace.json.gz' --run --slow 1=1.5\n"
    "  podsim import 'rank*.pt.trace.json.gz' --run --fabric dgx_h100 --chips 16 --slow nic:1=0.5x\n"
    "  podsim import 'rank*.pt.trace.json.gz' --beside job.textproto\n"
    "  podsim import module_0042.after_optimizations.txt --run --chip h100 --fabric dgx_h100\n"
    "  podsim import step.mlir --mesh data=16,model=8 --run --chip h100 --fabric dgx_h100\n"
    "  podsim import module_0042.before_optimizations.txt --beside module_0042.after_optimizations.txt\n"
    "  podsim import module.hlo.gz --trips while.1=80 --format json\n"
    "  podsim import train_llama3.sh --chips 64 --chip h100 --fabric dgx_h100 --out job.textproto\n"
    "  podsim import train_llama3.sh --chips 64 --chip h100 --fabric dgx_h100 --run\n"
    "  podsim import config.json --chips 256 --chip b200 --plan\n"
    "Exit codes: 0 done, 2 a file cannot be read, or with --strict has something unknown.";

}  // namespace

void add_import(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand("import", "Tell what is in files that other tools have written");
  const auto options = std::make_shared<ImportVerb>();
  add_what_is_read(verb, *options);
  add_what_it_ran_on(verb, *options);
  add_what_is_asked(verb, *options);
  verb.footer(kImportFooter);
  verb.callback([options, &verb, &exit_code] {
    std::vector<std::string> of_kinds;
    for (const char* name :
         {"--trips", "--chips", "--slices", "--model", "--chip", "--fabric", "--shape", "--astra-ring",
          "--stack", "--set", "--fit", "--beside", "--mesh", "--slow", "--compute"})
      if (verb.count(name) > 0) of_kinds.emplace_back(name);
    exit_code = import(*options, of_kinds);
  });
}

}  // namespace podsim
