// Fields that stand beside a question that does not read them: weeks without a job, and availability.
#pragma once

#include "proto/text/document.h"

namespace podsim {

namespace schema {
class Scenario;
}

// Each warns of the fields that its question leaves without effect.
void warn_beside_weeks(const schema::Scenario& scenario, Document& document);
void warn_beside_availability(const schema::Scenario& scenario, Document& document);

}  // namespace podsim
