// Draws scenarios and holds every law against each: ./dev swarm, and the commands that it prints.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "tests/swarm/apart.h"
#include "tests/swarm/better_hardware.h"
#include "tests/swarm/combinations.h"
#include "tests/swarm/laws.h"
#include "tests/swarm/random_scenario.h"
#include "tests/swarm/shrink.h"

namespace podsim::testing {
namespace {

struct Options {
  int count = 0;
  double seconds = 0;
  std::uint64_t seed = 1;
  int most_seconds = 20;
  int tries = 300;
  std::string out = ".", replay;
};

class Swarm {
 public:
  Swarm(const Options& options, const std::string& program) : options_(options), program_(program) {
    read_all(catalog_);
    begin_ = told_ = std::chrono::steady_clock::now();
  }

  int run() {
    for (std::uint64_t seed = options_.seed; !done(); ++seed) {
      look_at("seed_" + std::to_string(seed), swarm_scenario(seed));
      tell();
    }
    return sum_up();
  }

  int pairs() {
    const std::vector<ChoiceRow> rows = combination_rows();
    options_.count = static_cast<int>(rows.size());
    for (const ChoiceRow& row : rows) {
      look_at("pairs_" + std::to_string(drawn_), combination_scenario(row));
      tell();
    }
    return sum_up();
  }

  // Every improvement of every drawn job; one that makes the step slower than this share is a finding.
  int better() {
    constexpr double kSlower = 0.005;
    for (std::uint64_t seed = options_.seed; !done(); ++seed) {
      const std::optional<Spec> spec = drawn_job(catalog_, seed);
      if (!spec) continue;
      ++drawn_, ++accepted_;
      const double step = step_s(*spec);
      for (const Improvement& improvement : improvements_of(spec->cluster)) {
        const double loss = step_s(*spec, improvement) / step - 1;
        if (loss <= kSlower) continue;
        ++findings_;
        const double before = step_as_chosen_before_s(*spec, improvement) / step - 1;
        std::printf("seed %llu: %s: the step is %.2f %% slower, %.2f %% with what was chosen before\n",
                    static_cast<unsigned long long>(seed), improvement.name, 100 * loss, 100 * before);
        std::fflush(stdout);
      }
      tell();
    }
    return sum_up();
  }

  int replay() {
    std::ifstream in(options_.replay);
    if (!in) {
      std::fprintf(stderr, "swarm: cannot read %s\n", options_.replay.c_str());
      return 2;
    }
    const Judgement judged = judge({std::istreambuf_iterator<char>(in), {}}, catalog_);
    const char* const name = options_.replay.c_str();
    if (judged.finding) {
      std::printf("%s: %s: %s\n", name, judged.finding->law.c_str(), judged.finding->what.c_str());
      return 1;
    }
    if (!judged.accepted) {
      std::fprintf(stderr, "swarm: %s is refused, which breaks no law: podsim check tells why\n", name);
      return 2;
    }
    std::printf("%s: every law holds\n", name);
    return 0;
  }

 private:
  int sum_up() const {
    std::printf("%d scenarios, %d of them accepted, %d findings, %.0f s\n", drawn_, accepted_, findings_,
                seconds());
    return findings_ > 0 ? 1 : 0;
  }

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  double share() const {
    return options_.count > 0 ? double(drawn_) / options_.count : seconds() / options_.seconds;
  }
  bool done() const { return share() >= 1; }

  void tell() {
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ < std::chrono::seconds(10)) return;
    told_ = now;
    std::fprintf(stderr, "swarm: %d scenarios, %d findings, %.0f %% done\n", drawn_, findings_,
                 100 * share());
  }

  void look_at(const std::string& name, const std::string& text) {
    const Judgement judged = judge_apart(text, catalog_, options_.most_seconds);
    ++drawn_;
    accepted_ += judged.accepted ? 1 : 0;
    if (!judged.finding) return;
    ++findings_;
    const std::string law = judged.finding->law;
    std::printf("%s breaks the law \"%s\": %s\n", name.c_str(), law.c_str(), judged.finding->what.c_str());
    const auto still = [&](const std::string& smaller) {
      const Judgement again = judge_apart(smaller, catalog_, options_.most_seconds);
      return again.finding && again.finding->law == law;
    };
    const std::string file = options_.out + "/" + name + "_" + law + ".textproto";
    std::filesystem::create_directories(options_.out);
    std::ofstream(file) << shrink(text, still, options_.tries);
    std::printf("  replay: %s --replay %s\n", program_.c_str(), file.c_str());
    std::fflush(stdout);
  }

  Options options_;
  const std::string program_;
  const Catalog catalog_;
  std::chrono::steady_clock::time_point begin_, told_;
  int drawn_ = 0, accepted_ = 0, findings_ = 0;
};

}  // namespace
}  // namespace podsim::testing

int main(int argc, char** argv) {
  podsim::testing::Options options;
  CLI::App app{"Draws scenarios at random and holds rules against each that must hold on all"};
  auto* count = app.add_option("--count", options.count, "Draw so many")->check(CLI::PositiveNumber);
  auto* seconds = app.add_option("--seconds", options.seconds, "Draw for so long")
                      ->check(CLI::PositiveNumber)
                      ->excludes(count);
  app.add_option("--seed", options.seed, "The first; the next is one more");
  app.add_option("--most-seconds", options.most_seconds, "A scenario that takes longer is a finding");
  app.add_option("--tries", options.tries, "To make a scenario of a finding smaller");
  app.add_option("--out", options.out, "Folder for the scenarios of findings");
  auto* replay = app.add_option("--replay", options.replay, "Hold every law against this file only");
  bool pairs = false, better = false, show = false;
  app.add_flag("--pairs", pairs, "The scenarios in which every two things meet, instead");
  app.add_flag("--better", better, "Jobs without adversities on better hardware, instead: no step is slower");
  app.add_flag("--show", show, "Print the scenario of the seed, and judge nothing");
  CLI11_PARSE(app, argc, argv);
  if (!*count && !*seconds) options.count = 1'000;
  if (show) {
    const auto drawn = better ? podsim::testing::random_scenario : podsim::testing::swarm_scenario;
    std::printf("%s", drawn(options.seed).c_str());
    return 0;
  }
  podsim::testing::Swarm swarm(options, argv[0]);
  if (*replay) return swarm.replay();
  if (better) return swarm.better();
  return pairs ? swarm.pairs() : swarm.run();
}
