// Pages of results to files.
#pragma once

#include <string>

#include "proto/pages/page.h"

namespace CLI {
class App;
}

namespace podsim {

void add_html_option(CLI::App& verb, std::string& path);

// Writes the page, with the command and the text of the scenario `file`, where there is one that is no
// standard input. Says on standard error when its pictures are still.
void write_page(Page page, const std::string& file, const std::string& path);

}  // namespace podsim
