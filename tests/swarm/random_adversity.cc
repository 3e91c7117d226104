// What goes wrong: slow and failed parts, background traffic, and what chance does to steps.
#include <algorithm>

#include "proto/scenario.pb.h"
#include "tests/swarm/random_scenario.h"

namespace podsim::testing {
namespace {

class AdversityDrawer {
 public:
  AdversityDrawer(Draw& draw, const DrawnCluster& cluster, schema::Adversity& adversity)
      : draw_(draw), cluster_(cluster), adversity_(adversity) {}

  void run() {
    const int count = draw_.of({1, 1, 1, 2, 2, 3, 5});
    for (int i = 0; i < count; ++i) draw_one();
  }

 private:
  int chip() { return draw_.below(cluster_.chips); }
  double speed() { return draw_.of({0.1, 0.5, 0.8, 0.9, 0.99, 1.0}); }

  // A kind of link that a chip has.
  std::string link_kind() {
    if (!cluster_.gpu) return "ici";
    if (cluster_.chips <= cluster_.unit) return "nvlink";
    return cluster_.unit == 1 ? "nic" : draw_.of({"nic", "nic", "nvlink"});
  }

  void draw_one();
  void draw_failure();
  void draw_slow();
  void draw_jitter();
  void draw_late();
  void selector(bool computes, schema::PartSelector& which);
  void season(schema::Season& season);

  Draw& draw_;
  const DrawnCluster& cluster_;
  schema::Adversity& adversity_;
};

void AdversityDrawer::draw_one() {
  switch (draw_.below(12)) {
    case 0:
    case 1: {
      schema::SlowChipFault& fault = *adversity_.add_slow_chip();
      fault.set_chip(chip());
      fault.set_speed_fraction(speed());
      break;
    }
    case 2: {
      schema::SlowLinkFault& fault = *adversity_.add_slow_link();
      fault.set_chip(chip());
      fault.set_kind(link_kind());
      fault.set_speed_fraction(speed());
      break;
    }
    case 3:
    case 4:
      draw_failure();
      break;
    case 5:
    case 6:
    case 7:
      draw_slow();
      break;
    case 8:
      draw_late();
      break;
    case 9: {
      schema::GarbageCollection& collection = *adversity_.mutable_garbage_collection();
      if (draw_.chance(0.6)) collection.set_of(schema::Jitter::Entity(draw_.between(1, schema::Jitter::job)));
      collection.set_every_steps(draw_.of({1.0, 2.0, 7.5}));
      collection.set_pause_ms(draw_.of({0.1, 3.0, 100.0}));
      if (draw_.chance(0.3)) collection.set_coefficient_of_variation(draw_.real(0, 1));
      break;
    }
    case 10:
      adversity_.mutable_input_stall()->set_probability(draw_.real(0, 1));
      adversity_.mutable_input_stall()->set_mean_ms(draw_.of({0.5, 20.0}));
      break;
    default:
      draw_jitter();
  }
}

void AdversityDrawer::draw_failure() {
  if (draw_.chance(0.3)) {
    schema::FailedPort& port = *adversity_.add_failed_port();
    port.set_chip(chip());
    port.set_kind(link_kind());
  } else if (cluster_.gpu) {
    schema::FailedSwitch& failed = *adversity_.add_failed_switch();
    failed.set_kind(draw_.of({"leaf", "spine", "spine", "core", "nvswitch"}));
    failed.set_index(draw_.below(3));
  } else if (cluster_.ocs && draw_.chance(0.5)) {
    schema::FailedOcs& failed = *adversity_.add_failed_ocs();
    failed.set_dimension(draw_.below(3));
    failed.set_position_i(draw_.below(4));
    failed.set_position_j(draw_.below(4));
  } else if (cluster_.ocs && draw_.chance(0.2)) {
    adversity_.add_failed_cube()->set_index(draw_.below(4));
  } else {
    schema::FailedLink& failed = *adversity_.add_failed_link();
    failed.set_chip(chip());
    failed.set_to_chip(std::min(failed.chip() + draw_.of({1, 1, 2, 4}), cluster_.chips - 1));
  }
}

void AdversityDrawer::selector(bool computes, schema::PartSelector& which) {
  if (computes) {
    which.set_kind(draw_.of({"chip", "chip", "host"}));
  } else if (cluster_.gpu) {
    which.set_kind(cluster_.chips <= cluster_.unit
                       ? "nvlink"
                       : draw_.of({"nic", "nic", "nvlink", "leaf", "leaf_uplink"}));
  } else {
    which.set_kind(cluster_.chips > cluster_.unit ? draw_.of({"ici", "dcn"}) : "ici");
  }
  if (draw_.chance(0.4)) which.add_index(which.kind() == "chip" ? chip() : 0);
  if (draw_.chance(0.15)) {
    schema::NumberRange& range = *which.add_indices();
    range.set_first(0);
    range.set_last(which.kind() == "chip" ? chip() : 0);
  }
  if (draw_.chance(0.1)) which.add_data_rank(0);
  if (draw_.chance(0.05)) which.add_stage(draw_.below(2));
  if (draw_.chance(0.2)) which.set_random_fraction(draw_.real(0, 1));
  if (draw_.chance(0.15)) which.set_together(draw_.of({"host", "all"}));
}

void AdversityDrawer::season(schema::Season& season) {
  const double period = draw_.of({0.001, 0.02, 0.5, 10.0});
  switch (draw_.below(3)) {
    case 0: {
      schema::TimeWindow& window = *season.add_window();
      window.set_from_s(draw_.chance(0.3) ? 0 : period / 4);
      window.set_to_s(period / 2);
      if (draw_.chance(0.6)) season.set_repeat_every_s(period);
      break;
    }
    case 1:
      season.mutable_swing()->set_amplitude(draw_.real(0.01, 0.9));
      season.mutable_swing()->set_period_s(period);
      if (draw_.chance(0.5)) season.mutable_swing()->set_levels(draw_.between(1, 6));
      break;
    default:
      season.mutable_on_off()->set_share(draw_.real(0, 1));
      season.mutable_on_off()->set_slot_s(period);
  }
}

void AdversityDrawer::draw_slow() {
  switch (draw_.below(5)) {
    case 0: {
      schema::BackgroundLoad& load = *adversity_.add_background();
      selector(false, *load.mutable_which());
      load.set_taken_fraction(draw_.real(0, 0.9));
      if (draw_.chance(0.4)) season(*load.mutable_when());
      load.set_compose(schema::multiply);
      break;
    }
    case 1: {
      schema::NicFlap& flap = *adversity_.add_nic_flap();
      selector(false, *flap.mutable_which());
      flap.set_at_s(draw_.of({0.0, 0.01, 1.0}));
      flap.set_down_s(draw_.of({0.001, 0.1, 2.0}));
      flap.set_library_timeout_s(draw_.of({0.0, 0.05, 60.0}));
      break;
    }
    default: {
      schema::SlowParts& slow = *adversity_.add_slow();
      selector(draw_.chance(0.6), *slow.mutable_which());
      if (draw_.chance(0.4)) season(*slow.mutable_when());
      if (draw_.chance(0.3)) {
        schema::SpeedDistribution& speed = *slow.mutable_speed();
        speed.set_shape(schema::SpeedDistribution::Shape(draw_.between(1, 3)));
        speed.set_mean(draw_.real(0.5, 1));
        speed.set_coefficient_of_variation(draw_.real(0, 0.3));
        speed.set_low(0.3);
      } else if (!slow.when().has_swing() || draw_.chance(0.5)) {
        slow.set_speed_fraction(speed());
      }
      if (draw_.chance(0.7)) slow.set_compose(draw_.of({schema::multiply, schema::multiply, schema::refuse}));
      if (draw_.chance(0.2)) slow.set_draw(draw_.below(3));
    }
  }
}

void AdversityDrawer::draw_jitter() {
  if (draw_.chance(0.3)) adversity_.set_jitter("typical");
  if (draw_.chance(0.4)) adversity_.set_jitter_coefficient_of_variation(draw_.of({0.0, 0.02, 0.3}));
  schema::Jitter& jitter = *adversity_.mutable_jitter_override();
  if (draw_.chance(0.4)) jitter.set_of_chip_step(draw_.of({0.01, 0.2}));
  if (draw_.chance(0.4)) jitter.set_of_host_step(draw_.of({0.01, 0.2}));
  if (draw_.chance(0.4)) jitter.set_of_step(0.05);
  if (draw_.chance(0.2)) jitter.set_of_run(0.05);
  if (draw_.chance(0.3)) {
    schema::Hiccup& hiccup = *jitter.add_hiccup();
    hiccup.set_of(schema::Jitter::Entity(draw_.between(1, schema::Jitter::job)));
    hiccup.set_probability(draw_.real(0, 0.5));
    hiccup.set_mean_share(draw_.of({0.1, 2.0}));
  }
}

void AdversityDrawer::draw_late() {
  schema::LateLaunch& late = *adversity_.add_late_launch();
  late.set_chip(chip());
  late.set_late_ms(draw_.of({0.01, 1.0, 50.0}));
  if (draw_.chance(0.4)) late.set_more_each_step_ms(draw_.of({0.1, 1.0}));
  if (draw_.chance(0.4)) late.set_random_ms(draw_.of({0.1, 1.0}));
}

}  // namespace

void draw_adversity(Draw& draw, const DrawnCluster& cluster, schema::Adversity& adversity) {
  AdversityDrawer(draw, cluster, adversity).run();
}

}  // namespace podsim::testing
