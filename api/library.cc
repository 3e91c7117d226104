// libpodsim.so is made of the library of this folder and all below it; a shared library needs a source of its
// own.
#include "api/podsim/podsim.h"
