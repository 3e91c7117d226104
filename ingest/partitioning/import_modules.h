// podsim import and podsim explain of modules, those included that no compiler has partitioned.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ingest/imported/imported.h"

namespace podsim {

// import_hlo and import_stablehlo. With stated.partition a module that is not partitioned gets its
// collectives from podsim's own partitioner, where its mesh is known: it then runs on a machine, and goes
// beside a dump of its compiler.
std::optional<Imported> import_hlo_module(const std::vector<InputText>& files, const Stated& stated,
                                          std::vector<Problem>& problems);
std::optional<Imported> import_stablehlo_module(const std::vector<InputText>& files, const Stated& stated,
                                                std::vector<Problem>& problems);

// What each operation of the modules needs; only those whose name contains `operation` are told. Nothing, and
// problems, where the file cannot be read, no operation is called so, or no module can be partitioned.
std::optional<Imported> explain_modules(const InputText& file, const Stated& stated,
                                        const std::string& operation, std::vector<Problem>& problems);

}  // namespace podsim
