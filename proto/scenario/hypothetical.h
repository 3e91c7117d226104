// Chips and fabrics that nobody sells: those of the catalogue times factors.
#pragma once

#include <string>

#include "proto/catalog/catalog.h"
#include "proto/text/document.h"
#include "scheduler/question/spec.h"

namespace podsim {

namespace schema {
class ClusterChoice;
class Hypothetical;
}  // namespace schema

// The factors that hold for this cluster: none where they are of another chip.
const schema::Hypothetical& hypothetical_of(const schema::ClusterChoice& choice,
                                            const Catalog::Entries& entries);

// Reports a chip that is unknown, and warns of factors that hold for another chip than `chip`.
void check_hypothetical(const schema::ClusterChoice& choice, const std::string& chip,
                        const Catalog::Entries& entries, const std::string& path, Document& document);

// Missing factors are 1. A chip with a factor of its own is named after it: it has never been measured.
void scale(const schema::Hypothetical& factors, Chip& chip);
void scale(const schema::Hypothetical& factors, FabricSpec& fabric);
void scale(const schema::Hypothetical& factors, Price& price);

}  // namespace podsim
