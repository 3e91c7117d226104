// Small plots below a table, where a person reads it on a terminal.
#pragma once

#include <string>

#include "report/pictures/picture.h"

namespace CLI {
class App;
}

namespace podsim {

// --color.
void add_color_option(CLI::App& verb, std::string& color);

// Whether plots are drawn: on a terminal unless never, elsewhere where they are always wanted.
bool draws_plots(const std::string& color);

// The plot on standard output. REQUIRES: draws_plots(color).
void emit_plot(const Picture& picture, const std::string& color);

}  // namespace podsim
