// Reads selectors and holds them against the fabric.
#include "prediction/selectors.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/number_text.h"
#include "engine/spelling.h"
#include "report/text/text.h"
#include "scheduler/question/degradation.h"
#include "scheduler/question/spec.h"
#include "topology/failures.h"
#include "topology/parts.h"

namespace podsim {
namespace {

const std::vector<std::string> kSlowKinds = {"chip",  "node",         "nic",  "nvlink",
                                             "ici",   "dcn",          "leaf", "leaf_uplink",
                                             "spine", "spine_uplink", "core", "nvswitch"};
constexpr const char* kSlowForms =
    "expected chip:137=0.9x, node:17=0.9x, nic:node17/nic3=0.5x, nvlink:3=0.5x or ici:3=0.5x";
constexpr const char* kFailForms =
    "expected link:4-5, nic:node17/nic3, nvlink:3, ici:3, leaf:2, spine:2, core:2, nvswitch:2, ocs:x/0/1, "
    "node:17 or cube:12";

std::optional<int> whole(std::string_view text) {
  const auto value = whole_text_as<int>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

// As small as in a scenario.
constexpr double kLeastSpeed = 1e-4;

// "0.5", "0.5x" and "50%", from the least speed to 1.
std::optional<double> speed_of(std::string_view text) {
  const bool percent = !text.empty() && text.back() == '%';
  if (percent || (!text.empty() && text.back() == 'x')) text.remove_suffix(1);
  const auto number = whole_text_as<double>(text);
  if (!number) return std::nullopt;
  const double value = percent ? *number / 100 : *number;
  return value >= kLeastSpeed && value <= 1 ? std::optional(value) : std::nullopt;
}

// What stands before and after the first separator; the second is empty where there is none.
std::pair<std::string, std::string> cut(const std::string& text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string::npos) return {text, ""};
  return {text.substr(0, at), text.substr(at + 1)};
}

std::optional<int> numbered(const std::string& text, std::string_view word) {
  if (text.compare(0, word.size(), word) != 0) return std::nullopt;
  return whole(std::string_view(text).substr(word.size()));
}

// A chip by number, or by host and place in it.
std::optional<ChipId> chip_at(const FabricSpec& fabric, const std::string& where) {
  const auto [host_text, place_text] = cut(where, '/');
  std::optional<int> chip;
  if (place_text.empty()) {
    chip = whole(where);
  } else {
    const auto host = numbered(host_text, "node");
    std::optional<int> place;
    for (const char* word : {"nic", "gpu", "chip"})
      if (!place) place = numbered(place_text, word);
    if (host && place && *host < host_count(fabric)) {
      const std::vector<ChipId> chips = chips_of_host(fabric, *host);
      if (std::cmp_less(*place, chips.size())) chip = chips[static_cast<std::size_t>(*place)];
    }
  }
  return chip && *chip < fabric.chips ? chip : std::nullopt;
}

std::string no_chip(const FabricSpec& fabric, const std::string& where) {
  return "there is no chip \"" + where + "\" among " + std::to_string(fabric.chips) + " chips, " +
         std::to_string(fabric.chips_per_host) + " on a host; both count from 0";
}

const std::vector<std::pair<std::string, LinkKind>>& port_kinds() {
  static const std::vector<std::pair<std::string, LinkKind>> kKinds = {
      {"nic", LinkKind::kNic}, {"nvlink", LinkKind::kNvlink}, {"ici", LinkKind::kIci}};
  return kKinds;
}

std::optional<LinkKind> port_named(const std::string& name) {
  for (const auto& [known, kind] : port_kinds())
    if (known == name) return kind;
  return std::nullopt;
}

bool has_port(const Fabric& fabric, ChipId chip, LinkKind kind) {
  return std::ranges::any_of(fabric.out(chip), [&](const Link& link) { return is_of_kind(link, kind); });
}

std::optional<NodeKind> switch_named(const std::string& name) {
  for (const NodeKind kind : {NodeKind::kNvSwitch, NodeKind::kLeaf, NodeKind::kSpine, NodeKind::kCore})
    if (to_string(kind) == name) return kind;
  return std::nullopt;
}

std::optional<FailedOcs> ocs_at(const std::string& where) {
  const auto [dimension, position] = cut(where, '/');
  const auto [first, second] = cut(position, '/');
  const auto i = whole(first), j = whole(second);
  const std::size_t d = std::string("xyz").find(dimension);
  if (dimension.size() != 1 || d == std::string::npos || !i || !j) return std::nullopt;
  return FailedOcs{static_cast<int>(d), {*i, *j}};
}

// The failure that the text names, or nothing and why.
std::optional<Failure> failure_named(const FabricSpec& fabric, const std::string& kind,
                                     const std::string& where, std::string& why) {
  if (const auto port = port_named(kind)) {
    if (const auto chip = chip_at(fabric, where)) return FailedPort{*chip, *port};
    why = no_chip(fabric, where);
  } else if (kind == "link") {
    const auto [from, to] = cut(where, '-');
    const auto a = chip_at(fabric, from), b = chip_at(fabric, to);
    if (a && b) return FailedCable{*a, *b};
    why = no_chip(fabric, a ? to : from);
  } else if (const auto node = switch_named(kind)) {
    if (const auto index = whole(where)) return FailedSwitch{*node, *index};
    why = kFailForms;
  } else if (kind == "ocs") {
    if (const auto ocs = ocs_at(where)) return *ocs;
    why = kFailForms;
  } else {
    const std::string close = closest_name(
        kind, {"link", "nic", "nvlink", "ici", "nvswitch", "leaf", "spine", "core", "ocs", "node", "cube"});
    why = close.empty() ? kFailForms : "did you mean \"" + close + "\"?";
  }
  return std::nullopt;
}

// Links of a host or of a switch.
std::string add_slow_part(Spec& spec, const std::string& name, const std::string& where, double speed) {
  int kind = static_cast<int>(PartKind::kDcn);
  while (kind < kPartKinds && to_string(static_cast<PartKind>(kind)) != name) ++kind;
  if (kind == kPartKinds) {
    const std::string close = closest_name(name, kSlowKinds);
    return close.empty() ? kSlowForms : "did you mean \"" + close + "\"?";
  }
  Degradation slow;
  slow.which.kind = static_cast<PartKind>(kind);
  slow.factor.mean = speed;
  slow.multiply = true;
  const Fabric fabric = build_fabric(spec.cluster.fabric);
  const int count = Parts(fabric, spec.cluster.fabric.chips_per_host).count(slow.which.kind);
  const auto number = whole(where);
  if (!number || *number >= count)
    return "there is no " + name + " \"" + where + "\" among " + std::to_string(count) +
           "; they count from 0";
  slow.which.numbers = {{*number, *number}};
  spec.adversities.add(slow);
  return "";
}

}  // namespace

std::string add_slow(Spec& spec, const std::string& text) {
  const FabricSpec& fabric = spec.cluster.fabric;
  const auto [part, speed_text] = cut(text, '=');
  const auto [kind, where] = cut(part, ':');
  const auto speed = speed_of(speed_text);
  if (where.empty() || speed_text.empty()) return kSlowForms;
  if (!speed)
    return "\"" + speed_text + "\" is no speed: expected a share of the healthy one, from " +
           significant(kLeastSpeed, 1) + " to 1";
  if (kind == "node") {
    const auto host = whole(where);
    if (!host || *host >= host_count(fabric))
      return "there is no host \"" + where + "\" among " + std::to_string(host_count(fabric));
    for (const ChipId chip : chips_of_host(fabric, *host))
      spec.adversities.add(Degradation::of_chip(chip, *speed));
    return "";
  }
  const auto port = port_named(kind);
  if (kind != "chip" && !port) return add_slow_part(spec, kind, where, *speed);
  const auto chip = chip_at(fabric, where);
  if (!chip) return no_chip(fabric, where);
  if (!port) {
    spec.adversities.add(Degradation::of_chip(*chip, *speed));
    return "";
  }
  const Fabric built = build_fabric(fabric);
  if (!has_port(built, *chip, *port))
    return "chip " + std::to_string(*chip) + " of " + fabric.name + " has no " + kind;
  spec.adversities.add(Degradation::of_link(*chip, *port, *speed));
  return "";
}

std::string add_failure(Spec& spec, const std::string& text) {
  const auto [kind, where] = cut(text, ':');
  if (where.empty()) return kFailForms;
  std::string why;
  const auto failure = failure_named(spec.cluster.fabric, kind, where, why);
  if (!failure) return why;
  std::vector<Failure> all = spec.adversities.failures;
  all.push_back(*failure);
  why = explain_impossible(build_fabric(spec.cluster.fabric), all);
  if (why.empty()) spec.adversities.failures = std::move(all);
  return why;
}

}  // namespace podsim
