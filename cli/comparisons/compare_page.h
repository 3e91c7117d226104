// The page of reports side by side.
#pragma once

#include <span>
#include <string>

#include "proto/pages/page.h"
#include "report/answer/report.h"

namespace podsim {

// Two or more; the JSON is a list of them.
Page compare_page(std::span<const Report> reports);

// Of reports before and after parts become slow; `text` has the tables.
Page whatif_page(std::span<const Report> reports, const std::string& text);

}  // namespace podsim
