// Whether a job stops, by what has failed, and what a stop costs.
#include "prediction/failed_link.h"

#include <algorithm>

#include "proto/catalog/usual_stop.h"
#include "report/text/text.h"
#include "scheduler/question/spec.h"
#include "topology/fabric_kind.h"

namespace podsim {
namespace {

// Above the leaves packets take another of many equal paths.
bool has_other_paths(const std::string& part) {
  return part.starts_with("spine:") || part.starts_with("core:");
}

}  // namespace

std::string told_of_failed_links(const Spec& spec, const std::vector<std::string>& failed) {
  const bool torus = !kind_of(spec.cluster.fabric).dimensions(spec.cluster.fabric).empty();
  const bool adaptive = spec.cluster.fabric.routing == Routing::kAdaptive;
  std::vector<std::string> stopping = failed;
  std::erase_if(stopping, [&](const std::string& part) { return adaptive && has_other_paths(part); });
  if (stopping.empty()) return "";
  const UsualStop stop = usual_stop();  // podsim reliability is told
  const double minutes = stop.timeout + stop.restart + stop.interval / 2;
  const int chips = spec.cluster.fabric.chips;
  std::string text = "The step above is that of a job that goes round " + stopping.front() +
                     (stopping.size() > 1 ? " and the others" : "") + ". When it fails the job stops: ";
  text +=
      torus
          ? "routes are set when a job starts, so it starts again with others"
          : "its collectives time out, and it starts again, in practice on another node if there is a spare";
  return text + ". With a timeout of " + fixed(stop.timeout, 0) + " min, a restart of " +
         fixed(stop.restart, 0) + " min and half of " + fixed(stop.interval, 0) +
         " min between checkpoints that is " + fixed(minutes / 60 * chips, 1) +
         " chip-hours; podsim reliability tells it with your own times.";
}

}  // namespace podsim
