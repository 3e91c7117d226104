// podsim draw: a network as Graphviz text, as SVG, or its figures.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/networks/network.h"
#include "cli/networks/verbs.h"
#include "cli/options/options.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "prediction/predict.h"
#include "proto/scenario/load.h"
#include "report/pictures/network_drawing.h"
#include "report/text/align.h"
#include "report/text/text.h"
#include "scheduler/question/spec.h"
#include "topology/failures.h"
#include "topology/metrics.h"

namespace podsim {
namespace {

constexpr int kMostMeasuredChips = 4096;  // path lengths take chips x links steps

struct DrawVerb {
  std::string file;
  NetworkOptions network;
  LoadOptions load;
  bool metrics = false, svg = false, load_of_step = false;
  std::string out;
};

struct Network {
  FabricSpec spec;
  std::vector<Failure> failures;
  std::vector<SlowLink> slow;
  std::optional<Spec> scenario = {};
};

// The network of the scenario with what failed and which links are slow there, or the one that the options
// name.
std::optional<Network> network_of(const DrawVerb& verb) {
  if (!verb.file.empty() && names_network(verb.network)) {
    spdlog::error("draw takes a scenario file, or --fabric and its like, not both");
    return std::nullopt;
  }
  if (!verb.file.empty()) {
    const auto specs = load_scenarios({verb.file}, verb.load);
    if (!specs) return std::nullopt;
    const Spec& spec = specs->front();
    if (std::ranges::any_of(spec.adversities.degradations, &Degradation::by_selector))
      spdlog::warn(
          "what slow, background and flap entries choose by a selector is drawn as if it were whole: "
          "its speed is drawn with a seed or changes with time, and podsim run counts it");
    return Network{spec.cluster.fabric, spec.adversities.failures, slow_links(spec.adversities.degradations),
                   spec};
  }
  if (verb.network.fabric.empty()) {
    spdlog::error("draw needs a scenario file, or --fabric with --chips or --shape");
    return std::nullopt;
  }
  const auto catalog = open_catalog(verb.load.catalog_directories);
  auto spec = catalog ? choose_network(*catalog, verb.network) : std::nullopt;
  return spec ? std::optional(Network{*std::move(spec), {}, {}, {}}) : std::nullopt;
}

std::string metrics_table(const Fabric& fabric) {
  const FabricMetrics figures = measure(fabric);
  return align({{"fabric", fabric.name},
                {"chips", std::to_string(fabric.chips)},
                {"nodes", std::to_string(fabric.nodes.size())},
                {"links, both directions counted", std::to_string(fabric.links.size())},
                {"connected", figures.connected ? "yes" : "no"},
                {"diameter, hops", std::to_string(figures.diameter_hops)},
                {"mean distance, hops", fixed(figures.mean_hops, 3)},
                {"bisection, one direction, GB/s", fixed(figures.bisection.value / 1e9, 1)}});
}

int draw_svg(const DrawVerb& verb, const Network& network, const Fabric& whole, const Fabric& fabric) {
  std::string svg;
  if (verb.load_of_step) {
    if (!network.scenario || !network.scenario->jobs.empty()) {
      spdlog::error("--load: give a scenario with one job, whose step loads the links");
      return kInputError;
    }
    PredictOptions options;
    options.detail = true;
    svg = predict_step(*network.scenario, options).detail->network->svg;
  } else {
    svg = network_drawing(fabric, whole, {}).svg;
  }
  emit(svg, verb.out);
  return kDone;
}

int draw_network(const DrawVerb& verb) {
  if (verb.svg && verb.metrics) {
    spdlog::error("--svg draws, and --metrics measures: give one of them");
    return kInputError;
  }
  if (verb.load_of_step && !verb.svg) {
    spdlog::error("--load colours the links of a drawing: add --svg");
    return kInputError;
  }
  const auto network = network_of(verb);
  if (!network) return kInputError;
  if (verb.metrics && network->spec.chips > kMostMeasuredChips) {
    spdlog::error("--metrics measures at most {} chips, and this network has {}", kMostMeasuredChips,
                  network->spec.chips);
    return kInputError;
  }
  const Fabric whole = build_fabric(network->spec);
  const Fabric fabric = with_slow_links(with_failures(whole, network->failures), network->slow);
  if (verb.svg) return draw_svg(verb, *network, whole, fabric);
  emit(verb.metrics ? metrics_table(fabric) : draw(fabric), verb.out);
  return kDone;
}

}  // namespace

void add_draw(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "draw", "Draw a network as Graphviz text or SVG, or print its diameter and bisection");
  const auto options = std::make_shared<DrawVerb>();
  verb.add_option("FILE", options->file, "Scenario whose network to draw");
  add_network_options(verb, options->network);
  add_load_options(verb, options->load);
  verb.add_flag("--metrics", options->metrics, "Print distances and bisection instead");
  verb.add_flag("--svg", options->svg,
                "Draw it as SVG instead: tori plane by plane, of more than 4096 chips cube by cube, other "
                "networks tier by tier, with what failed crossed out");
  verb.add_flag("--load", options->load_of_step,
                "Colour links by how much of each the step of the scenario uses");
  verb.add_option("--out", options->out, "Write to this file")->type_name("FILE");
  verb.footer(
      "Examples:\n"
      "  podsim draw --fabric v5p_pod --shape 4x4x4 | dot -Tsvg > pod.svg\n"
      "  podsim draw --fabric dgx_h100 --chips 64 --metrics\n"
      "  podsim draw --fabric v5p_pod --shape 4x4x8 --svg --out pod.svg\n"
      "  podsim draw scenarios/qwen3_14b_8_h100.textproto --svg --load --out cluster.svg\n"
      "  podsim draw scenarios/llama3_70b_512_h100.textproto --out cluster.dot");
  verb.callback([options, &exit_code] { exit_code = draw_network(*options); });
}

}  // namespace podsim
