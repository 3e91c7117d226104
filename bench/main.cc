// Runs the benchmarks in a process that treats memory as podsim does.
#include <benchmark/benchmark.h>

#include "engine/memory.h"

int main(int argc, char** argv) {
  podsim::keep_freed_memory();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
