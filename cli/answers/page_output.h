// Pages of results to files.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "cli/options/options.h"
#include "proto/pages/page.h"

namespace CLI {
class App;
}

namespace podsim {

void add_html_option(CLI::App& verb, std::string& path);

// Scenarios that a page is of, as they were read.
struct PageSources {
  std::span<const std::string> files;
  const LoadOptions& load;
};

// Writes the page, with the command, and the scenarios that are no standard input with what is assumed of
// them. Says on standard error when its pictures are still.
void write_page(Page page, const std::optional<PageSources>& sources, const std::string& path);

}  // namespace podsim
