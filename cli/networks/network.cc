// --fabric, --chips, --shape and their like.
#include "cli/networks/network.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>

#include "cli/options/numbers.h"
#include "cli/scenarios/batch.h"
#include "proto/scenario/chosen_fabric.h"
#include "proto/text/quantities.h"

namespace podsim {

void add_network_options(CLI::App& verb, NetworkOptions& options) {
  verb.add_option("--fabric", options.fabric, "Fabric of the catalogue (see podsim catalog fabrics)")
      ->type_name("NAME");
  whole_number(
      verb.add_option("--chips", options.chips, "Chips in all; may be left out when --shape is given"), 1,
      INT32_MAX)
      ->type_name("N");
  verb.add_option("--shape", options.shape, "Shape of one torus slice, such as 8x8x8")->type_name("SHAPE");
  whole_number(verb.add_option("--slices", options.slices, "Slices joined by the data-centre network"), 1,
               INT32_MAX)
      ->type_name("N");
  verb.add_flag("--twisted", options.twisted, "Twisted torus");
  verb.add_option("--routing", options.routing,
                  "How transfers choose among shortest paths; as the fabric says")
      ->check(CLI::IsMember({"adaptive", "dimension_order", "ecmp", "static"}));
  verb.add_option("--transport", options.transport,
                  "How fairly flows of one path share links (see podsim catalog transports)")
      ->type_name("NAME");
  whole_number(verb.add_option("--routing-seed", options.routing_seed, "Of ecmp"))->type_name("N");
}

std::string question_words(const NetworkOptions& options) {
  std::string words = options.fabric + " " + std::to_string(options.chips) + " [" + options.shape + "] " +
                      std::to_string(options.slices) + (options.twisted ? " twisted" : "") + " [" +
                      options.routing + "] [" + options.transport + "]";
  if (options.routing_seed) words += " " + std::to_string(*options.routing_seed);
  return words;
}

bool names_network(const NetworkOptions& options) {
  return !options.fabric.empty() || options.chips > 0 || !options.shape.empty() || options.slices != 1 ||
         options.twisted || !options.routing.empty() || options.routing_seed || !options.transport.empty();
}

namespace {

// Options that change nothing beside the others.
void warn_of_idle_options(const FabricSpec& spec, const NetworkOptions& options) {
  if (!options.transport.empty() && !spec.transport.is_ideal() && spec.routing == Routing::kAdaptive)
    spdlog::warn(
        "--transport has no effect: under adaptive routing flows are spread over all paths and do "
        "not collide; --routing ecmp gives each flow one path");
  if (options.routing_seed && spec.routing != Routing::kEcmp)
    spdlog::warn("--routing-seed has no effect: only --routing ecmp draws paths by a seed");
}

}  // namespace

std::optional<FabricSpec> choose_network(const Catalog& catalog, const NetworkOptions& options) {
  FabricChoice choice{options.fabric,       options.chips,    {},
                      options.slices,       options.twisted,  options.routing,
                      options.routing_seed, options.transport};
  if (!options.shape.empty()) {
    const auto shape = parse_shape(options.shape);
    if (!shape) {
      spdlog::error("--shape \"{}\": expected lengths such as 8x8x8", options.shape);
      return std::nullopt;
    }
    choice.shape = *shape;
  }
  auto [spec, problems] = chosen_fabric(catalog, choice);
  print_problems(problems);
  if (spec) warn_of_idle_options(*spec, options);
  return spec;
}

}  // namespace podsim
