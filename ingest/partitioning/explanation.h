// What a module's operations need, for programs and for people.
#pragma once

#include <string>
#include <vector>

#include "ingest/imported/imported.h"
#include "ingest/partitioning/module_file.h"

namespace podsim::partitioning {

// Of operations whose name contains `operation`; sums are of all.
Figure module_figure(const TakenModule& taken, const std::string& operation);
std::string module_text(const TakenModule& taken, const std::string& operation);

// Collectives by kind and size of group: of this module, and of the one that a compiler partitioned.
Imported beside(const std::string& file, const TakenModule& taken, const std::string& other_file,
                const TakenModule& other);

}  // namespace podsim::partitioning
