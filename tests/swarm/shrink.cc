// Greedy: from the whole to its parts, until nothing can be left out any more.
#include "tests/swarm/shrink.h"

#include <google/protobuf/text_format.h>

#include <cmath>
#include <vector>

#include "engine/check.h"
#include "proto/scenario.pb.h"
#include "tests/swarm/fields.h"

namespace podsim::testing {
namespace {

class Shrinker {
 public:
  Shrinker(const std::string& text, const std::function<bool(const std::string&)>& still, int most_tries)
      : still_(still), tries_left_(most_tries) {
    PODSIM_CHECK(google::protobuf::TextFormat::ParseFromString(text, &now_), text);
  }

  std::string run() {
    for (std::string before; tries_left_ > 0 && before != text_of(now_);) {
      before = text_of(now_);
      leave_out();
      halve();
      halve_pairs();
    }
    return text_of(now_);
  }

 private:
  static std::string text_of(const schema::Scenario& scenario) {
    std::string text;
    google::protobuf::TextFormat::PrintToString(scenario, &text);
    return text;
  }

  // Keeps the change where the finding stays.
  template <class Change>
  bool keeps(Change change) {
    if (tries_left_ <= 0) return false;
    schema::Scenario next = now_;
    change(field_places(next));
    if (text_of(next) == text_of(now_)) return false;
    --tries_left_;
    if (!still_(text_of(next))) return false;
    now_ = next;
    return true;
  }

  std::size_t places() { return field_places(now_).size(); }

  void leave_out() {
    for (std::size_t i = 0; i < places();)
      if (!keeps([&](const auto& all) { all[i].remove(); })) ++i;
  }

  static double half(double value) { return std::abs(value) < 1 ? 0 : std::trunc(value / 2); }

  void halve() {
    for (std::size_t i = 0; i < places();) {
      const FieldPlace place = field_places(now_)[i];
      const bool smaller = place.is_number() && place.number() > 0 &&
                           keeps([&](const auto& all) { all[i].set_number(half(all[i].number())); });
      if (!smaller) ++i;
    }
  }

  // Sizes that belong together: chips and a mesh axis, a mesh axis and the batch.
  void halve_pairs() {
    const auto even = [&](std::size_t i) {
      const FieldPlace place = field_places(now_)[i];
      return place.is_number() && place.number() >= 2 && std::fmod(place.number(), 2) == 0;
    };
    for (std::size_t i = 0; i < places(); ++i) {
      for (std::size_t j = i + 1; j < places(); ++j) {
        if (!even(i) || !even(j)) continue;
        keeps([&](const auto& all) {
          all[i].set_number(all[i].number() / 2);
          all[j].set_number(all[j].number() / 2);
        });
      }
    }
  }

  const std::function<bool(const std::string&)>& still_;
  int tries_left_;
  schema::Scenario now_;
};

}  // namespace

std::string shrink(const std::string& text, const std::function<bool(const std::string&)>& still,
                   int most_tries) {
  return Shrinker(text, still, most_tries).run();
}

}  // namespace podsim::testing
