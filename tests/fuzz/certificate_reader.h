// Proofs of searches from any bytes.
#pragma once

#include <string>

namespace podsim::testing {

// The bytes are a certificate, and what comes after the first line of one of a small search.
void certificate(const std::string& bytes);

}  // namespace podsim::testing
