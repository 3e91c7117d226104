// Fields of a program's operations that their kind does not use.
#pragma once

#include <string>

#include "proto/text/document.h"

namespace podsim {

namespace schema {
class Program;
}

// Warns of each that the text sets.
void warn_of_idle_operations(const schema::Program& program, const std::string& path, Document& document);

}  // namespace podsim
