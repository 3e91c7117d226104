// Completes pages with where they are from.
#include "cli/page_output.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>

#include "cli/command_words.h"
#include "cli/output.h"
#include "proto/text/read_file.h"

namespace podsim {

void add_html_option(CLI::App& verb, std::string& path) {
  verb.add_option("--html", path, "Also write a page to look at, which opens from disk without a network")
      ->type_name("PAGE.html");
}

void write_page(Page page, const std::string& file, const std::string& path) {
  if (const auto* words = CommandWords::current()) {
    page.command = "podsim";
    for (const std::string& word : *words) page.command += " " + in_shell(word);
  }
  std::vector<Problem> problems;
  if (!file.empty() && file != "-") {
    if (const auto input = read_input(file, problems)) page.scenario = input->text;
  }
  write_whole(path, html_page(page));
  if (!has_page_scripts())
    spdlog::warn(
        "the pictures of {} are still: this podsim was built without npm, which gets what they need to "
        "answer the pointer",
        path);
}

}  // namespace podsim
