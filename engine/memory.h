// What the process does with memory that it has given back.
#pragma once

namespace podsim {

// From now on freed memory is kept for the next tables instead of being returned to the system, whose pages
// have to be asked for and cleared anew: simulations one after another allocate the same tables again and
// again. Does nothing where the C library has no such setting.
void keep_freed_memory();

}  // namespace podsim
