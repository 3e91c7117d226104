// How often loops run, as annotated, as computed, and where nobody can tell.
#include "ingest/hlo/summary.h"
#include "ingest/hlo/trip_counts.h"
#include "tests/ingest/hlo_texts.h"

namespace podsim::hlo_trips_test {
namespace {

using testing::module_of;

// i from `begin` by `step` while i `direction` `limit`.
std::string loop(const std::string& begin, const std::string& step, const std::string& compare,
                 const std::string& attributes = "") {
  return "HloModule m\nplus {\n  p = s32[] parameter(0)\n  o = s32[] constant(" + step +
         ")\n  ROOT s = s32[] add(p, o)\n}\nbody {\n  t = (s32[], f32[8]) parameter(0)\n"
         "  i = s32[] get-tuple-element(t), index=0\n  x = f32[8] get-tuple-element(t), index=1\n"
         "  j = s32[] fusion(i), kind=kLoop, calls=%plus\n  k = s32[] copy(j)\n  y = f32[8] negate(x)\n"
         "  ROOT r = (s32[], f32[8]) tuple(k, y)\n}\ncond {\n  t = (s32[], f32[8]) parameter(0)\n"
         "  i = s32[] get-tuple-element(t), index=0\n" +
         compare + "}\nENTRY e {\n  x = f32[8] parameter(0)\n  z = s32[] constant(" + begin +
         ")\n  c = s32[] copy(z)\n  t = (s32[], f32[8]) tuple(c, x)\n"
         "  ROOT w = (s32[], f32[8]) while(t), condition=%cond, body=%body" +
         attributes + "\n}\n";
}

std::string against(const std::string& direction, const std::string& limit, bool limit_first = false) {
  return "  n = s32[] constant(" + limit + ")\n  ROOT c = pred[] compare(" + (limit_first ? "n, i" : "i, n") +
         "), direction=" + direction + "\n";
}

hlo::TripCount trips_of(const std::string& text) {
  const hlo::Module module = module_of(text);
  return hlo::loop_counts(module).by_name.at("w");
}

TEST(HloTrips, follow_from_the_comparison_the_step_and_the_begin) {
  EXPECT_EQ(trips_of(loop("0", "1", against("LT", "126"))).trips, 126);
  EXPECT_EQ(trips_of(loop("0", "1", against("GT", "126", true))).trips, 126);
  EXPECT_EQ(trips_of(loop("2", "3", against("LE", "11"))).trips, 4);
  EXPECT_EQ(trips_of(loop("9", "-2", against("GE", "1"))).trips, 5);
  EXPECT_EQ(trips_of(loop("9", "-2", against("GT", "1"))).trips, 4);
  EXPECT_EQ(trips_of(loop("0", "4", against("NE", "12"))).trips, 3);
  EXPECT_EQ(trips_of(loop("5", "1", against("LT", "5"))).trips, 0);
  EXPECT_EQ(trips_of(loop("0", "1", against("LT", "126"))).how, hlo::TripCount::How::kComputed);
}

TEST(HloTrips, are_as_annotated_first) {
  const hlo::TripCount found =
      trips_of(loop("0", "1", against("LT", "3"), ", backend_config={\"known_trip_count\":{\"n\":\"80\"}}"));
  EXPECT_EQ(found.trips, 80);
  EXPECT_EQ(found.how, hlo::TripCount::How::kAnnotated);
}

// The counter among what one fusion makes, and the tuple held back by a barrier.
TEST(HloTrips, are_found_behind_barriers_and_fusions_of_several_results) {
  const std::string text =
      "HloModule m\nboth {\n  p = s32[] parameter(0)\n  q = f32[8] parameter(1)\n  o = s32[] constant(1)\n"
      "  s = s32[] add(p, o)\n  n = f32[8] negate(q)\n  ROOT r = (s32[], f32[8]) tuple(s, n)\n}\n"
      "body {\n  t = (s32[], f32[8]) parameter(0)\n  b = (s32[], f32[8]) opt-barrier(t)\n"
      "  i = s32[] get-tuple-element(b), index=0\n  x = f32[8] get-tuple-element(b), index=1\n"
      "  ROOT f = (s32[], f32[8]) fusion(i, x), kind=kLoop, calls=both\n}\n"
      "cond {\n  t = (s32[], f32[8]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n" +
      against("LT", "7") +
      "}\nENTRY e {\n  x = f32[8] parameter(0)\n  z = s32[] constant(0)\n  t = (s32[], f32[8]) tuple(z, x)\n"
      "  b = (s32[], f32[8]) opt-barrier(t)\n  ROOT w = (s32[], f32[8]) while(b), condition=cond, "
      "body=body\n}\n";
  EXPECT_EQ(trips_of(text).trips, 7);
}

TEST(HloTrips, that_never_end_or_depend_on_data_are_unknown_and_count_once) {
  const std::string away = loop("0", "-1", against("LT", "3"));
  const std::string by_data =
      loop("0", "1",
           "  x = f32[8] get-tuple-element(t), index=1\n  f = f32[1] slice(x), slice={[0:1]}\n"
           "  g = f32[] reshape(f)\n  n = s32[] convert(g)\n  ROOT c = pred[] "
           "compare(i, n), direction=LT\n");
  for (const std::string& text : {away, by_data}) {
    EXPECT_EQ(trips_of(text).how, hlo::TripCount::How::kUnknown);
    const hlo::Module module = module_of(text);
    const hlo::Summary summary = hlo::summarize(module);
    EXPECT_EQ(summary.executed.flops, summary.once.flops);
  }
}

TEST(HloTrips, can_be_stated) {
  const hlo::Module module = module_of(loop("0", "-1", against("LT", "3")));
  const hlo::Summary summary = hlo::summarize(module, {{"w", 7}});
  EXPECT_EQ(summary.loops.by_name.at("w").how, hlo::TripCount::How::kStated);
  EXPECT_EQ(summary.executions.opcodes.at("negate"), 7);
}

// The body as often as it runs, the condition once more.
TEST(HloTrips, multiply_the_work_of_the_body) {
  const hlo::Module module = module_of(loop("0", "1", against("LT", "10")));
  const hlo::Summary summary = hlo::summarize(module);
  EXPECT_EQ(summary.once.flops, 8 + 1 + 1);
  EXPECT_EQ(summary.executed.flops, 10 * (8 + 1) + 11);
}

// Names are of a computation.
TEST(HloTrips, of_loops_that_share_a_name_are_told_apart) {
  const auto loop_to = [](const std::string& limit, const std::string& mark) {
    const auto text = [&](const std::string& name, const std::string& instructions) {
      return name + mark + " {\n  t = (s32[]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n" +
             instructions + "}\n";
    };
    return text("body", "  o = s32[] constant(1)\n  j = s32[] add(i, o)\n  ROOT r = (s32[]) tuple(j)\n") +
           text("cond",
                "  n = s32[] constant(" + limit + ")\n  ROOT c = pred[] compare(i, n), direction=LT\n") +
           "run" + mark +
           " {\n  z = s32[] constant(0)\n  t = (s32[]) tuple(z)\n  ROOT w = (s32[]) while(t), "
           "condition=%cond" +
           mark + ", body=%body" + mark + "\n}\n";
  };
  const hlo::Module module = module_of("HloModule m\n" + loop_to("3", "1") + loop_to("8", "2") +
                                       "ENTRY e {\n  a = (s32[]) call(), to_apply=%run1\n  ROOT b = (s32[]) "
                                       "call(), to_apply=%run2\n}\n");
  const hlo::Summary summary = hlo::summarize(module);
  EXPECT_EQ(summary.loops.by_name.at("run1/w").trips, 3);
  EXPECT_EQ(summary.loops.by_name.at("run2/w").trips, 8);
  EXPECT_EQ(summary.executions.opcodes.at("add"), 11);
}

}  // namespace
}  // namespace podsim::hlo_trips_test
