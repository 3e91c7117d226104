// What is drawn is worth drawing: most of it loads, and together it uses the whole language.
#include "tests/swarm/random_scenario.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "proto/scenario.pb.h"
#include "proto/scenario/load.h"
#include "tests/swarm/fields.h"

namespace podsim::testing::random_scenario_test {
namespace {

constexpr int kDrawn = 1'200;

schema::Scenario parsed(const std::string& text) {
  schema::Scenario scenario;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &scenario)) << text;
  return scenario;
}

// Fields by the names of their blocks: "JobChoice.mesh"; values of enumerations beside them.
std::set<std::string> used_by(schema::Scenario& scenario) {
  std::set<std::string> names;
  for (const FieldPlace& place : field_places(scenario)) {
    const std::string name = place.field->containing_type()->name() + "." + place.field->name();
    names.insert(name);
    if (!place.field->enum_type() || place.element >= 0) continue;
    names.insert(name + "=" + place.message->GetReflection()->GetEnum(*place.message, place.field)->name());
  }
  return names;
}

TEST(RandomScenario, the_same_seed_gives_the_same_scenario_and_another_one_another) {
  EXPECT_EQ(random_scenario(7), random_scenario(7));
  EXPECT_EQ(spoiled_scenario(7), spoiled_scenario(7));
  EXPECT_NE(random_scenario(7), random_scenario(8));
}

TEST(RandomScenario, two_in_three_load_and_use_every_field_of_a_job_a_cluster_and_an_adversity) {
  const Catalog catalog;
  int accepted = 0;
  std::set<std::string> used;
  for (int seed = 0; seed < kDrawn; ++seed) {
    const std::string text = random_scenario(seed);
    if (!load_scenario("drawn.textproto", text, catalog, {}).spec) continue;
    ++accepted;
    schema::Scenario scenario = parsed(text);
    used.merge(used_by(scenario));
  }
  EXPECT_GT(accepted, kDrawn * 2 / 3);
  for (const auto* block :
       {schema::ClusterChoice::descriptor(), schema::JobChoice::descriptor(), schema::Adversity::descriptor(),
        schema::PlacedJob::descriptor(), schema::Pipeline::descriptor(), schema::MeasuredLayer::descriptor(),
        schema::SlowParts::descriptor(), schema::PartSelector::descriptor(), schema::Season::descriptor()}) {
    for (int f = 0; f < block->field_count(); ++f) {
      const auto& field = *block->field(f);
      const std::string name = block->name() + "." + field.name();
      EXPECT_TRUE(used.count(name)) << name;
      if (!field.enum_type() || field.is_repeated() || name == "JobChoice.precision") continue;
      for (int v = 1; v < field.enum_type()->value_count(); ++v)
        EXPECT_TRUE(used.count(name + "=" + field.enum_type()->value(v)->name())) << name << " " << v;
    }
  }
}

TEST(RandomScenario, most_spoiled_ones_are_refused) {
  const Catalog catalog;
  int refused = 0;
  for (int seed = 0; seed < kDrawn / 3; ++seed)
    refused += load_scenario("spoiled.textproto", spoiled_scenario(seed), catalog, {}).spec ? 0 : 1;
  EXPECT_GT(refused, kDrawn / 3 / 2);
}

}  // namespace
}  // namespace podsim::testing::random_scenario_test
