// What of collectives nothing computes beside: between trips of a loop, and of asynchronous ones.
#include "ingest/hlo/waits.h"
#include "tests/ingest/hlo_machine.h"

namespace podsim::hlo_waits_test {
namespace {

using testing::step_on;

constexpr int kTrips = 8;

const std::string kCarried = "(s32[], bf16[4096,4096], bf16[4096,4096], bf16[4096,4096])";

std::string dot(const std::string& name, const std::string& left, const std::string& right) {
  return "  " + name + " = bf16[4096,4096] dot(" + left + ", " + right +
         "), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";
}

// Between two servers, of every GPU of one with that of the other: it takes longer than three products.
std::string sum(const std::string& name, const std::string& of) {
  return "  " + name + " = bf16[4096,4096] all-reduce(" + of +
         "), channel_id=1, replica_groups=[8,2]<=[2,8]T(1,0), use_global_device_ids=true, to_apply=add\n";
}

// A loop that carries x, y and weights w; `results` are the next x and y.
hlo::ModuleStep looped(const std::string& trip, const std::string& results) {
  const std::string loop = "body {\n  t = " + kCarried +
                           " parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
                           "  x = bf16[4096,4096] get-tuple-element(t), index=1\n"
                           "  y = bf16[4096,4096] get-tuple-element(t), index=2\n"
                           "  w = bf16[4096,4096] get-tuple-element(t), index=3\n" +
                           trip +
                           "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  ROOT r = " + kCarried +
                           " tuple(j, " + results + ", w)\n}\ncond {\n  t = " + kCarried +
                           " parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  n = s32[] constant(" +
                           std::to_string(kTrips) + ")\n  ROOT c = pred[] compare(i, n), direction=LT\n}\n";
  return step_on(16,
                 "  x = bf16[4096,4096] parameter(0)\n  y = bf16[4096,4096] parameter(1)\n"
                 "  w = bf16[4096,4096] parameter(2)\n  z = s32[] constant(0)\n  t = " +
                     kCarried + " tuple(z, x, y, w)\n  ROOT l = " + kCarried +
                     " while(t), condition=cond, body=body\n",
                 loop);
}

// Six products, one after the other, and the sum of what they give.
std::string chain(const std::string& from, const std::string& n = "") {
  return dot("a" + n, from, "w") + dot("b" + n, "a" + n, "w") + dot("c" + n, "b" + n, "w") +
         dot("d" + n, "c" + n, "w") + dot("e" + n, "d" + n, "w") + dot("f" + n, "e" + n, "w") +
         sum("s" + n, "f" + n);
}

TEST(HloWaits, a_sum_that_the_next_trip_begins_with_is_hidden_by_nothing_as_in_a_loop_written_out) {
  const hlo::ModuleStep loop = looped(chain("x"), "s, y");
  std::string text = "  x = bf16[4096,4096] parameter(0)\n  w = bf16[4096,4096] parameter(1)\n", last = "x";
  for (int trip = 0; trip < kTrips; ++trip) {
    text += chain(last, std::to_string(trip));
    last = "s" + std::to_string(trip);
  }
  const hlo::ModuleStep written_out = step_on(16, text + "  ROOT g = bf16[4096,4096] negate(" + last + ")\n");
  // No product needs the last one.
  EXPECT_NEAR(loop.exposed_seconds, loop.communication_seconds * (kTrips - 1) / kTrips, 1e-9);
  EXPECT_NEAR(loop.exposed_seconds, written_out.exposed_seconds, 1e-9);
  EXPECT_NEAR(loop.seconds, written_out.seconds - written_out.others.seconds, 1e-9);
}

TEST(HloWaits, a_sum_that_the_next_trip_needs_late_is_hidden_by_what_comes_before_it) {
  // y is needed by q, behind p.
  const hlo::ModuleStep late =
      looped(dot("p", "x", "w") + dot("o", "p", "w") + dot("q", "y", "w") + sum("s", "q"), "o, s");
  const double sum_s = late.communication_seconds / kTrips, product_s = late.matmuls.seconds / kTrips / 3;
  ASSERT_GT(sum_s, 2 * product_s);
  // Nothing needs the last sum, beside which its whole trip is computed.
  EXPECT_NEAR(late.exposed_seconds,
              (kTrips - 1) * (sum_s - 2 * product_s) + std::max(0.0, sum_s - 3 * product_s), 1e-9);
}

TEST(HloWaits, a_weight_that_a_trip_gathers_for_the_next_is_hidden) {
  const hlo::ModuleStep step = looped(
      "  part = bf16[512,4096] slice(w), slice={[0:512],[0:4096]}\n"
      "  g = bf16[4096,4096] all-gather(part), channel_id=1, replica_groups=[1,8]<=[8], "
      "use_global_device_ids=true, dimensions={0}\n" +
          dot("p", "x", "y") + dot("q", "p", "y"),
      "q, g");
  EXPECT_NEAR(step.seconds, std::max(step.matmuls.seconds + step.others.seconds, step.communication_seconds),
              1e-9);
}

TEST(HloWaits, an_asynchronous_collective_takes_no_longer_than_the_same_in_place) {
  const std::string scatter =
      " reduce-scatter(G), channel_id=1, replica_groups=[1,8]<=[8], use_global_device_ids=true, "
      "dimensions={0}, to_apply=add\n";
  const std::string parameters = "  a = bf16[4096,4096] parameter(0)\n  g = bf16[32768,4096] parameter(1)\n";
  const auto with = [&](std::string text, const std::string& operand) {
    return text.replace(text.find("G"), 1, operand);
  };
  const std::string products = dot("d", "a", "a") + dot("e", "d", "a");
  const std::string result = "  ROOT t = (bf16[4096,4096], bf16[4096,4096]) tuple(r, e)\n";
  const hlo::ModuleStep in_place =
      step_on(8, parameters + "  r = bf16[4096,4096]" + with(scatter, "g") + products + result);
  const hlo::ModuleStep asynchronous = step_on(
      8,
      parameters + "  s = ((bf16[32768,4096]), bf16[4096,4096], u32[]) async-start(g), calls=wrapped\n" +
          products + "  r = bf16[4096,4096] async-done(s)\n" + result,
      "wrapped {\n  p = bf16[32768,4096] parameter(0)\n  ROOT r = bf16[4096,4096]" + with(scatter, "p") +
          "}\n");
  EXPECT_DOUBLE_EQ(asynchronous.seconds, in_place.seconds);
  EXPECT_DOUBLE_EQ(asynchronous.exposed_seconds, in_place.exposed_seconds);
  EXPECT_DOUBLE_EQ(asynchronous.communication_seconds, in_place.communication_seconds);
}

}  // namespace
}  // namespace podsim::hlo_waits_test
