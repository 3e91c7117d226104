// Loops whose periods are known.
#include <gtest/gtest.h>
