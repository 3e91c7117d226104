// Numbers of a stack by the paths of the catalogue, on the plain data.
#pragma once

#include <string>
#include <vector>

#include "workload/job/stack.h"

namespace podsim {

// A number in the unit of its field in the catalogue: host_launch_us in microseconds.
struct StackNumber {
  const char* path;
  double (*read)(const Stack&);
  void (*write)(Stack&, double);
  bool (*stated)(const Stack&);  // false: it follows another number by itself, and is not written
};

// Those that measured steps may move; a parameter that is to move another one needs it here.
const std::vector<StackNumber>& stack_numbers();

// Null for an unknown path.
const StackNumber* find_stack_number(const std::string& path);

}  // namespace podsim
