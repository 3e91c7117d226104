// Adversities that hit nothing, or change nothing of what they hit.
#pragma once

#include "proto/text/document.h"

namespace podsim {

struct Spec;

namespace schema {
class Scenario;
}

// Warns of each that the text has. REQUIRES: `spec` is what the scenario says.
void warn_of_idle_adversities(const schema::Scenario& scenario, const Spec& spec, Document& document);

}  // namespace podsim
