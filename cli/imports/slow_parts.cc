// Numbers on both sides of an equals sign.
#include "cli/imports/slow_parts.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/number_text.h"

namespace podsim {
namespace {

// What stands before the last mark and behind it; nothing without it.
std::optional<std::pair<std::string_view, std::string_view>> parted(std::string_view text, char mark) {
  const std::size_t at = text.rfind(mark);
  if (at == std::string_view::npos) return std::nullopt;
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

bool names_links(std::string_view word) { return word.find(':') != std::string_view::npos; }

std::optional<LinkKind> link_kind_named(std::string_view name) {
  for (const LinkKind kind : {LinkKind::kNic, LinkKind::kNvlink, LinkKind::kIci})
    if (to_string(kind) == name) return kind;
  return std::nullopt;
}

}  // namespace

std::optional<SlowedRanks> slowed_ranks(const std::vector<std::string>& words) {
  SlowedRanks slowed;
  for (const std::string& word : words) {
    if (names_links(word)) continue;
    const auto parts = parted(word, '=');
    const auto rank = parts ? whole_text_as<std::int64_t>(parts->first) : std::nullopt;
    const auto factor = parts ? whole_text_as<double>(parts->second) : std::nullopt;
    if (!rank || *rank < 0 || !factor || !(*factor >= 0.01 && *factor <= 1000)) {
      spdlog::error(
          "--slow \"{}\": expected a rank and how many times as long it computes, such as 3=1.5, or "
          "links, such as nic:3=0.5x",
          word);
      return std::nullopt;
    }
    slowed.emplace_back(*rank, *factor);
  }
  return slowed;
}

std::optional<std::vector<SlowLink>> slow_links_in(const std::vector<std::string>& words) {
  std::vector<SlowLink> links;
  for (const std::string& word : words) {
    if (!names_links(word)) continue;
    const auto parts = parted(word, '=');
    const auto place = parts ? parted(parts->first, ':') : std::nullopt;
    const auto kind = place ? link_kind_named(place->first) : std::nullopt;
    const auto chip = place ? whole_text_as<ChipId>(place->second) : std::nullopt;
    const std::string_view left = parts ? parts->second : std::string_view();
    const auto share = whole_text_as<double>(left.ends_with('x') ? left.substr(0, left.size() - 1) : left);
    if (!chip || *chip < 0 || !kind || !share || !(*share >= 1e-4 && *share <= 1)) {
      spdlog::error(
          "--slow \"{}\": expected links of a kind (nic, nvlink, ici) at a chip and the share of their "
          "bandwidth "
          "that is left, such as nic:3=0.5x",
          word);
      return std::nullopt;
    }
    links.push_back({*chip, *kind, *share});
  }
  return links;
}

bool are_of(const Fabric& fabric, const std::vector<SlowLink>& links) {
  return std::ranges::all_of(links, [&](const SlowLink& slow) {
    const bool there = slow.chip < fabric.chips &&
                       std::ranges::any_of(fabric.out(slow.chip),
                                           [&](const Link& link) { return is_of_kind(link, slow.kind); });
    if (!there)
      spdlog::error("--slow names links ({}) of chip {}, which {} of {} chips does not have",
                    to_string(slow.kind), slow.chip, fabric.name, fabric.chips);
    return there;
  });
}

}  // namespace podsim
