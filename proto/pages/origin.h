// Where the result on a page comes from: a scenario, what holds where it says nothing, and which numbers
// behind its names nobody has published or measured.
#pragma once

#include <string>
#include <vector>

#include "proto/catalog/catalog.h"
#include "proto/pages/page.h"
#include "proto/text/override.h"

namespace podsim {

// Of a text that has been loaded, as `name`, with these overrides. What is wrong with it is left out.
PageOrigin origin_of(const std::string& name, const std::string& text, const Catalog& catalog,
                     const std::vector<Override>& overrides);

}  // namespace podsim
