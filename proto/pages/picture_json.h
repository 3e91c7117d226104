// Pictures as JSON, for the scripts of a page.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "report/pictures/drawing.h"
#include "report/pictures/picture.h"

namespace podsim {

// What the figure of this key is, or nothing.
using MeaningOf = std::function<std::string(const std::string& key)>;

// A list of objects, safe within an element of HTML: no character of it ends or begins one.
std::string pictures_json(std::span<const Picture> pictures, const MeaningOf& meaning_of = {});

// Likewise what the boxes of drawings tell.
std::string drawings_json(std::span<const Drawing* const> drawings);

}  // namespace podsim
