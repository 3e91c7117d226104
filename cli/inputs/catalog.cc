// podsim catalog: which chips, fabrics, models, stacks and prices are known, and what each says.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>

#include "cli/inputs/price_text.h"
#include "cli/inputs/verbs.h"
#include "cli/options/numbers.h"
#include "cli/options/options.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "planner/new_chip.h"
#include "proto/catalog/entry_name.h"
#include "proto/writing/figure_json.h"

namespace podsim {
namespace {

struct CatalogVerb {
  std::string section;
  std::string name;
  ChipSheet sheet;
  std::string like = "h100";
  std::vector<std::string> directories;
  OutputOptions output;
};

constexpr const char* kNewChip = "new-chip";

struct NamedSection {
  const char* name;
  Catalog::Section section;
};
constexpr std::array<NamedSection, 11> kSections = {{{"chips", Catalog::Section::kChips},
                                                     {"fabrics", Catalog::Section::kFabrics},
                                                     {"jitters", Catalog::Section::kJitters},
                                                     {"kernels", Catalog::Section::kKernels},
                                                     {"lengths", Catalog::Section::kLengths},
                                                     {"libraries", Catalog::Section::kLibraries},
                                                     {"models", Catalog::Section::kModels},
                                                     {"prices", Catalog::Section::kPrices},
                                                     {"stacks", Catalog::Section::kStacks},
                                                     {"transports", Catalog::Section::kTransports},
                                                     {"failures", Catalog::Section::kFailures}}};

// The sections whose names are wanted: one, or all.
std::vector<NamedSection> chosen_sections(const std::string& section) {
  std::vector<NamedSection> chosen;
  for (const NamedSection& candidate : kSections) {
    if (section.empty() || section == candidate.name) chosen.push_back(candidate);
  }
  return chosen;
}

// "a100_80 = A100, A100 80GB"
std::string with_aliases(const std::string& name, const std::vector<std::string>& aliases) {
  std::string text = name;
  for (std::size_t i = 0; i < aliases.size(); ++i) text += (i == 0 ? " = " : ", ") + aliases[i];
  return text;
}

std::string names_text(const Catalog& catalog, const std::vector<NamedSection>& sections) {
  std::string text;
  for (const NamedSection& section : sections) {
    text += (text.empty() ? "" : "\n") + std::string(section.name) + "\n";
    for (const std::string& name : catalog.names(section.section))
      text += "  " + with_aliases(name, catalog.aliases(section.section, name)) + "\n";
  }
  return text;
}

std::string names_json(const Catalog& catalog, const std::vector<NamedSection>& sections) {
  std::vector<Figure> parts, aliases;
  for (const NamedSection& section : sections) {
    const std::vector<std::string> names = catalog.names(section.section);
    parts.push_back(Figure::list(section.name, values_of(names)));
    std::vector<Figure> of_section;
    for (const std::string& name : names) {
      const std::vector<std::string> of_name = catalog.aliases(section.section, name);
      if (!of_name.empty()) of_section.push_back(Figure::list(name, values_of(of_name)));
    }
    if (!of_section.empty()) aliases.push_back(Figure::group(section.name, std::move(of_section)));
  }
  parts.push_back(Figure::group("aliases", std::move(aliases)));
  return json_text(result_figure("", std::move(parts)), JsonNumbers::kWithPoint);
}

// Rows of all lists, of one chip where it is named; of a slice what all its chips cost.
int show_prices(const CatalogVerb& verb, const Catalog& catalog) {
  const auto slice = named_slice(catalog, verb.name);
  auto chip = slice ? std::optional(slice->chip) : catalog.canonical(Catalog::Section::kChips, verb.name);
  if (!verb.name.empty() && !chip) {
    spdlog::error(
        "no price list, chip or slice \"{}\"; podsim catalog chips has the chips, and slices are called as "
        "v5p-8",
        verb.name);
    return kInputError;
  }
  std::vector<PriceRow> rows = price_rows(catalog);
  if (chip) std::erase_if(rows, [&](const PriceRow& row) { return row.chip != *chip; });
  const int chips = slice ? slice->chips : 1;
  emit(verb.output.format == "json" ? prices_json(rows, chips) : prices_table(rows, chips, verb.name),
       verb.output.out);
  return kDone;
}

// Entries are files to begin one's own with, sources and all, which JSON has no place for.
bool refuses_format(const CatalogVerb& verb) {
  if (verb.output.format != "json") return false;
  spdlog::error("--format json: lists of names and of prices have it, and an entry is text format");
  return true;
}

int begin_chip(const CatalogVerb& verb, Catalog& catalog) {
  if (refuses_format(verb)) return kInputError;
  const auto like = catalog.canonical(Catalog::Section::kChips, verb.like);
  if (!like) {
    spdlog::error("--like: no entry \"{}\" among chips; {}", verb.like,
                  catalog.hint(Catalog::Section::kChips, verb.like));
    return kInputError;
  }
  const std::string name = verb.name.empty() ? "my_chip" : verb.name;
  if (!can_name_entry(name)) {
    spdlog::error("NAME: no entry can be called {}; expected a name such as my_chip", name);
    return kInputError;
  }
  if (verb.sheet.compute_units && !catalog.number(Catalog::Section::kChips, *like, "compute_units")) {
    spdlog::error(
        "--compute-units: {} has no streaming multiprocessors; leave it out, or name another --like", *like);
    return kInputError;
  }
  const std::string text =
      new_chip_text(name, verb.sheet, *like, *catalog.text(Catalog::Section::kChips, *like));
  const std::vector<Problem> problems = catalog.add_text(name, text);
  print_problems(problems);
  if (!problems.empty()) return kInputError;
  emit(text, verb.output.out);
  return kDone;
}

int show(const CatalogVerb& verb) {
  auto catalog = open_catalog(verb.directories);
  if (!catalog) return kInputError;
  if (verb.section == kNewChip) return begin_chip(verb, *catalog);
  const std::vector<NamedSection> sections = chosen_sections(verb.section);
  if (verb.section == "prices" && (verb.name.empty() || !catalog->text(Catalog::Section::kPrices, verb.name)))
    return show_prices(verb, *catalog);
  if (verb.name.empty()) {
    emit(verb.output.format == "json" ? names_json(*catalog, sections) : names_text(*catalog, sections),
         verb.output.out);
    return kDone;
  }
  const auto text = catalog->text(sections.front().section, verb.name);
  if (!text) {
    spdlog::error("no entry \"{}\" among {}; {}", verb.name, verb.section,
                  catalog->hint(sections.front().section, verb.name));
    return kInputError;
  }
  if (refuses_format(verb)) return kInputError;
  emit(*text, verb.output.out);
  return kDone;
}

// Figures of a data sheet, of new-chip.
void add_chip_sheet(CLI::App& verb, CatalogVerb& options) {
  ChipSheet& sheet = options.sheet;
  verb.add_option("--like", options.like, "new-chip: chip whose figures hold where none is given")
      ->capture_default_str();
  real_number(verb.add_option("--peak-tflops", sheet.peak_tflops, "new-chip: dense peak in 16 bits, TFLOP/s"),
              1e-3, 1e6);
  real_number(
      verb.add_option("--peak-fp8-tflops", sheet.peak_fp8_tflops, "new-chip: dense peak in fp8, TFLOP/s"),
      1e-3, 1e6);
  real_number(verb.add_option("--hbm-gb", sheet.hbm_gb, "new-chip: memory, GB"), 1e-3, 1e6);
  real_number(verb.add_option("--hbm-gb-per-s", sheet.hbm_gb_per_s, "new-chip: its bandwidth, GB/s"), 0.01,
              1e7);
  real_number(verb.add_option("--power-w", sheet.power_w, "new-chip: power limit, W"), 1e-3, 1e5);
  whole_number(verb.add_option("--compute-units", sheet.compute_units, "new-chip: streaming multiprocessors"),
               1, 100'000);
}

}  // namespace

void add_catalog(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "catalog",
      "List the known chips, fabrics, jitters, kernels, lengths, libraries, models, prices, "
      "stacks, transports and failures, or show one");
  const auto options = std::make_shared<CatalogVerb>();
  verb.add_option("SECTION", options->section,
                  "Part of the catalogue, all without it; new-chip writes the entry of a chip that it lacks")
      ->check(CLI::IsMember({"chips", "fabrics", "jitters", "kernels", "lengths", "libraries", "models",
                             "prices", "stacks", "transports", "failures", kNewChip}));
  verb.add_option("NAME", options->name,
                  "Entry to show, by its name or an alias, as text format; of prices a list, or a chip or a "
                  "slice such as v5p-8, as a table");
  add_chip_sheet(verb, *options);
  add_catalog_option(verb, options->directories);
  add_output_options(verb, options->output, {"table", "json"});
  verb.footer(
      "Examples:\n"
      "  podsim catalog\n"
      "  podsim catalog models\n"
      "  podsim catalog prices h100\n"
      "  podsim catalog prices v5p-8\n"
      "  podsim catalog chips h100\n"
      "  podsim catalog models meta-llama/Llama-3.1-8B\n"
      "  podsim catalog new-chip my_chip --like h100 --peak-tflops 1200 --hbm-gb 96 --hbm-gb-per-s 4000");
  verb.callback([options, &exit_code] { exit_code = show(*options); });
}

}  // namespace podsim
