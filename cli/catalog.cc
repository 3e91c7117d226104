// podsim catalog: which chips, fabrics, models, stacks and prices are known, and what each says.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/app.h"
#include "cli/batch.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/verbs.h"

namespace podsim {
namespace {

struct CatalogVerb {
  std::string section;
  std::string name;
  std::vector<std::string> directories;
  OutputOptions output;
};

struct NamedSection {
  const char* name;
  Catalog::Section section;
};
constexpr std::array<NamedSection, 9> kSections = {{{"chips", Catalog::Section::kChips},
                                                    {"fabrics", Catalog::Section::kFabrics},
                                                    {"jitters", Catalog::Section::kJitters},
                                                    {"lengths", Catalog::Section::kLengths},
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

std::string list_names(const Catalog& catalog, const std::vector<NamedSection>& sections,
                       const std::string& format) {
  nlohmann::ordered_json json;
  std::string text;
  for (const NamedSection& section : sections) {
    const std::vector<std::string> names = catalog.names(section.section);
    json[section.name] = names;
    text += (text.empty() ? "" : "\n") + std::string(section.name) + "\n";
    for (const std::string& name : names) text += "  " + name + "\n";
  }
  return format == "json" ? json.dump(2) + "\n" : text;
}

int show(const CatalogVerb& verb) {
  const auto catalog = open_catalog(verb.directories);
  if (!catalog) return kInputError;
  const std::vector<NamedSection> sections = chosen_sections(verb.section);
  if (verb.name.empty()) {
    emit(list_names(*catalog, sections, verb.output.format), verb.output.out);
    return kDone;
  }
  const auto text = catalog->text(sections.front().section, verb.name);
  if (!text) {
    const std::string close = nearest(verb.name, catalog->names(sections.front().section));
    spdlog::error("no entry \"{}\" among {}{}", verb.name, verb.section,
                  close.empty() ? "" : "; did you mean \"" + close + "\"?");
    return kInputError;
  }
  emit(*text, verb.output.out);
  return kDone;
}

}  // namespace

void add_catalog(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand("catalog",
                                       "List the known chips, fabrics, jitters, lengths, models, prices, "
                                       "stacks, transports and failures, or show one");
  const auto options = std::make_shared<CatalogVerb>();
  verb.add_option("SECTION", options->section, "Part of the catalogue; all without it")
      ->check(CLI::IsMember({"chips", "fabrics", "jitters", "lengths", "models", "prices", "stacks",
                             "transports", "failures"}));
  verb.add_option("NAME", options->name, "Entry to show, as text format");
  add_catalog_option(verb, options->directories);
  add_output_options(verb, options->output, {"table", "json"});
  verb.footer(
      "Examples:\n"
      "  podsim catalog\n"
      "  podsim catalog models\n"
      "  podsim catalog chips h100");
  verb.callback([options, &exit_code] { exit_code = show(*options); });
}

}  // namespace podsim
