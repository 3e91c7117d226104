// Completes pages with where they are from.
#include "cli/answers/page_output.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>

#include "cli/scenarios/batch.h"
#include "cli/terminal/command_words.h"
#include "cli/terminal/output.h"
#include "proto/pages/origin.h"
#include "proto/text/read_file.h"

namespace podsim {

void add_html_option(CLI::App& verb, std::string& path) {
  verb.add_option("--html", path, "Also write a page to look at, which opens from disk without a network")
      ->type_name("PAGE.html");
}

namespace {

std::vector<PageOrigin> origins_of(const PageSources& sources) {
  const auto catalog = open_catalog(sources.load.catalog_directories);
  const auto overrides = sources.load.overrides();
  std::vector<PageOrigin> origins;
  if (!catalog || !overrides) return origins;
  std::vector<Problem> problems;  // told when the file was loaded
  for (const std::string& file : sources.files) {
    if (file == "-") continue;
    if (const auto input = read_input(file, problems))
      origins.push_back(origin_of(input->name, input->text, *catalog, *overrides));
  }
  return origins;
}

}  // namespace

void write_page(Page page, const std::optional<PageSources>& sources, const std::string& path) {
  if (const auto* words = CommandWords::current()) {
    page.command = "podsim";
    for (const std::string& word : *words) page.command += " " + in_shell(word);
  }
  if (sources) page.origins = origins_of(*sources);
  write_whole(path, html_page(page));
  if (!has_page_scripts())
    spdlog::warn(
        "the pictures of {} are still: this podsim was built without npm, which gets what they need to "
        "answer the pointer",
        path);
}

}  // namespace podsim
