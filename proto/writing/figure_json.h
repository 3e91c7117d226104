// Figures as JSON.
#pragma once

#include <string>
#include <vector>

#include "proto/writing/json_writer.h"
#include "report/figures/figure.h"

namespace podsim {

// Begins as every result does: with podsim's version, that of the schema and, where it is not empty, the
// SHA-256 of what was asked.
Figure result_figure(const std::string& sha256, std::vector<Figure> figures);

// Of a group or list that is a whole result, and ends with a line break.
std::string json_text(const Figure& whole, JsonNumbers numbers);

}  // namespace podsim
