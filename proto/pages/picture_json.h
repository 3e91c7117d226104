// Pictures as JSON, for the scripts of a page.
#pragma once

#include <span>
#include <string>

#include "report/pictures/picture.h"

namespace podsim {

// A list of objects, safe within an element of HTML: no character of it ends or begins one.
std::string pictures_json(std::span<const Picture> pictures);

}  // namespace podsim
