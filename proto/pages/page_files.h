// The style sheet and scripts of pages, and the schema of scenarios, which are part of the binary. The build
// writes the .cc.
#pragma once

#include <span>
#include <string_view>

#include "proto/catalog/builtin_catalog.h"

namespace podsim {

// "page.css", "page.js", and "charts.js" where the build had what it takes.
std::span<const CatalogFile> page_files();
std::string_view page_file(std::string_view name);  // its text, empty where there is none

}  // namespace podsim
