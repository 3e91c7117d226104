// Channels of a fabric: whether they can be, and their efficiencies as shares of what links carry.
#include <algorithm>
#include <array>
#include <sstream>
#include <tuple>

#include "topology/builders.h"
#include "topology/fabric_kind.h"

namespace podsim {
namespace {

// One efficiency of a channel beside that of the link class it is of; `cable` is null where the fabric has
// none.
struct Sustained {
  std::string_view name;
  double ChannelSpec::*efficiency;
  const LinkSpec* cable;
};

std::array<Sustained, 3> sustained_of(const FabricSpec& spec) {
  const std::vector<CableClass> cables = kind_of(spec).cables(spec);
  const auto cable = [&](LinkKind kind) {
    const auto found = std::ranges::find(cables, kind, &CableClass::kind);
    return found == cables.end() ? nullptr : found->cable;
  };
  return {{{"NVLink", &ChannelSpec::nvlink_efficiency, cable(LinkKind::kNvlink)},
           {"NIC", &ChannelSpec::nic_efficiency, cable(LinkKind::kNic)},
           {"ICI", &ChannelSpec::ici_efficiency, cable(LinkKind::kIci)}}};
}

std::string name_of(const ChannelSpec& channel) {
  std::string name = "the channel of ";
  name += channel.algorithm.empty() ? "every algorithm" : channel.algorithm;
  if (!channel.kind.empty()) name += " for " + channel.kind;
  return channel.twisted ? name + " on twisted slices" : name;
}

// The algorithm that serves every group, so that one is left whatever the group.
std::string_view algorithm_for_all(std::string_view kind) {
  if (kind == "all-to-all" || kind == "permute" || kind == "send-receive") return "direct";
  return kind == "barrier" ? "tree" : "ring";
}

auto scope_of(const ChannelSpec& channel) {
  return std::tie(channel.algorithm, channel.kind, channel.twisted);
}

std::string explain_channel(const FabricSpec& spec, const ChannelSpec& channel) {
  std::ostringstream why;
  why.imbue(std::locale::classic());
  for (const auto& [link, efficiency, cable] : sustained_of(spec)) {
    const double sustained = channel.*efficiency;
    if (cable && sustained > cable->efficiency)
      why << name_of(channel) << " sustains " << sustained << " of the " << link
          << " bandwidth, more than the " << cable->efficiency << " that the link carries";
    else if (!(sustained >= 0))
      why << name_of(channel) << " cannot sustain " << sustained << " of the " << link << " bandwidth";
    if (why.tellp() > 0) return why.str();
  }
  if (!(channel.chunk.value >= 0) || channel.setup < Time{} || channel.chunk_overhead < Time{})
    return name_of(channel) + " has a negative size or time";
  return {};
}

}  // namespace

std::string explain_channels(const FabricSpec& spec) {
  for (auto channel = spec.channels.begin(); channel != spec.channels.end(); ++channel) {
    if (auto why = explain_channel(spec, *channel); !why.empty()) return why;
    const auto same_scope = [&](const ChannelSpec& other) { return scope_of(other) == scope_of(*channel); };
    if (std::any_of(spec.channels.begin(), channel, same_scope)) return name_of(*channel) + " is given twice";
    if (channel->algorithm.empty() || channel->kind.empty()) continue;
    const std::string_view needed = algorithm_for_all(channel->kind);
    const auto is_needed = [&](const ChannelSpec& other) {
      return other.algorithm == needed && other.kind == channel->kind;
    };
    if (std::ranges::none_of(spec.channels, is_needed))
      return name_of(*channel) + " needs one of " + std::string(needed) +
             " beside it, the algorithm that serves every group";
  }
  return {};
}

std::vector<ChannelSpec> channels_of_payload(const FabricSpec& spec) {
  std::vector<ChannelSpec> channels = spec.channels;
  for (ChannelSpec& channel : channels)
    for (const auto& [name, efficiency, cable] : sustained_of(spec)) {
      double& share = channel.*efficiency;
      share = cable && share > 0 ? share / cable->efficiency : 1;
    }
  return channels;
}

std::optional<LibrarySpec> library_of_payload(const FabricSpec& spec) {
  std::optional<LibrarySpec> library = spec.library;
  if (!library || !spec.gpu) return std::nullopt;
  const auto as_share = [](LibrarySpec::Part& part, const LinkSpec& cable) {
    for (ProtocolSpec& protocol : part)
      protocol.efficiency = std::min(1.0, protocol.efficiency / cable.efficiency);
  };
  as_share(library->domain, spec.gpu->nvlink);
  as_share(library->network, spec.gpu->nic);
  return library;
}

}  // namespace podsim
