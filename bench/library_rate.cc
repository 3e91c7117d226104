// Evaluations a second of CPU through the library, one field changed each time: podsim_library_rate SCENARIO
// TIMES.
#include <podsim/podsim.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  podsim::Expected<podsim::Scenario> scenario = podsim::Scenario::load(argv[1]);
  if (!scenario) return 2;
  const int times = std::atoi(argv[2]);
  double sum = 0;
  const auto evaluate = [&](int i) {
    scenario->set("job.global_batch_sequences", i % 2 == 0 ? "512" : "1024");
    const auto report = scenario->evaluate();
    if (report) sum += report->number("step_time_s");
  };
  for (int i = 0; i < 2; ++i) evaluate(i);
  const std::clock_t begin = std::clock();
  for (int i = 0; i < times; ++i) evaluate(i);
  const double taken = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("C++: %.1f evaluations a second of CPU (sum %.6f s)\n", times / taken, sum);
}
