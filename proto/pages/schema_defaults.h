// What a field of a scenario is where nobody says it, as the schema tells in the comment beside it.
#pragma once

#include <string>

namespace google::protobuf {
class FieldDescriptor;
}

namespace podsim {

// "none" of `optional RecomputeName recompute = 13;  // missing = none`; empty where its comment says
// nothing.
std::string schema_default(const google::protobuf::FieldDescriptor& field);

}  // namespace podsim
