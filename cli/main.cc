// The podsim program.
#include "cli/app.h"
#include "engine/memory.h"

int main(int argc, char** argv) {
  podsim::keep_freed_memory();
  return podsim::run_app(argc, argv);
}
