// Fields that stand beside a question that does not read them: steps, searches, weeks and availability.
#pragma once

#include "proto/text/document.h"

namespace podsim {

namespace schema {
class Scenario;
}

// Warns of blocks that ask another question than this one.
enum class AskedOf { kStep, kSearch, kWeeks };
void warn_of_other_questions(AskedOf asked, const schema::Scenario& scenario, Document& document);

// Each warns of the fields that its question leaves without effect.
void warn_beside_weeks(const schema::Scenario& scenario, Document& document);
void warn_beside_availability(const schema::Scenario& scenario, Document& document);

}  // namespace podsim
