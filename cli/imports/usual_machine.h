// The other half of a machine of which one half was named.
#pragma once

#include "ingest/imported/imported.h"

namespace podsim {

// A chip alone has the fabric that is usual for it, a fabric that is built for one chip alone, or
// named after one of several, has that; each says where it is from. What is not told stays empty.
void complete_machine(Stated& stated);

}  // namespace podsim
