// Random steps on random fabrics, for laws that must hold on all of them.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/random.h"
#include "tests/scheduler/fixture.h"

namespace podsim::testing {

// The random numbers of one round.
class Draw {
 public:
  explicit Draw(std::uint64_t round) : round_(round) {}
  int below(int n) { return static_cast<int>(random_bits(11, RandomPurpose::kTest, round_, count_++) % n); }
  double real() { return random_uniform(11, RandomPurpose::kTest, round_, count_++); }

 private:
  std::uint64_t round_, count_ = 0;
};

// Operations and collectives over any of the axes.
Block random_block(Draw& draw, AxisSet axes);

// A spec whose stack overlaps at random, and a program over the axes pipeline, data and tensor of these
// sizes.
struct RandomJob {
  Spec spec;
  StepProgram program;
};
RandomJob random_job(Draw& draw, int stages, int data, int tensor);

// Up to two slow chips and two slow links of a fabric.
Adversities random_adversities(Draw& draw, const FabricSpec& fabric);

// Up to three entries on parts of the fabric that are slow for a time, again and again, by chance or always;
// links may stand still in between.
std::vector<Degradation> random_slowness(Draw& draw, const Fabric& fabric);

// Chip-picoseconds in each bucket, over all chips together.
std::vector<std::int64_t> chip_time(const Timeline& timeline);

// Bytes carried by all links of a kind.
std::map<LinkKind, double> bytes_by_kind(const Timeline& timeline);

}  // namespace podsim::testing
