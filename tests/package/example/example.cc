// Reads a scenario, changes a field and prints the report; says what is wrong on standard error.
#include <podsim/podsim.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  podsim::Expected<podsim::Scenario> scenario = podsim::Scenario::load(argv[1]);
  if (!scenario) {
    std::fprintf(stderr, "%s\n", scenario.error().text().c_str());
    return 2;
  }
  scenario->set("job.microbatch_sequences", "2");
  const podsim::Expected<podsim::StepReport> report = scenario->evaluate();
  if (!report) {
    std::fprintf(stderr, "%s\n", report.error().text().c_str());
    return 2;
  }
  std::fputs(report->json().c_str(), stdout);
  return 0;
}
