// Libraries and channels of collectives, out of the catalogue.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/binary_units.h"
#include "proto/catalog.pb.h"
#include "proto/catalog/convert.h"

namespace podsim {
namespace {

// As the command line spells it.
std::string hyphenated(std::string name) {
  std::ranges::replace(name, '_', '-');
  return name;
}

// Of this name that of the nearest bandwidth, as a ratio; nullptr where there is none.
const schema::LibraryPart* nearest_part(const google::protobuf::RepeatedPtrField<schema::LibraryPart>& parts,
                                        const schema::Link& link, const std::string& name) {
  const schema::LibraryPart* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const schema::LibraryPart& part : parts) {
    if (part.name() != name) continue;
    const double apart = std::abs(std::log(part.bandwidth_gb_per_s() / link.bandwidth_gb_per_s()));
    if (!nearest || apart < least) nearest = &part, least = apart;
  }
  return nearest;
}

std::vector<LibrarySpec::Offer> to_offers(const schema::LibraryPart& from) {
  std::vector<LibrarySpec::Offer> offers;
  for (const schema::LibraryOffer& offer : from.offer())
    for (const int algorithm : offer.algorithm())
      offers.push_back(
          {hyphenated(schema::Channel::Kind_Name(offer.kind())),
           hyphenated(schema::Channel::Algorithm_Name(static_cast<schema::Channel::Algorithm>(algorithm)))});
  return offers;
}

LibrarySpec::Part to_part(const schema::LibraryPart* from) {
  LibrarySpec::Part part;
  if (from == nullptr) return part;
  for (const schema::ProtocolCost& cost : from->cost()) {
    if (cost.protocol() == schema::ProtocolCost::no_protocol) continue;
    part[static_cast<std::size_t>(cost.protocol()) - 1] = {cost.efficiency(),
                                                           Time::microseconds(cost.setup_us()),
                                                           Time::microseconds(cost.step_us()),
                                                           {cost.chunk_mib() * kBytesPerMib},
                                                           Time::microseconds(cost.chunk_us())};
  }
  return part;
}

}  // namespace

std::optional<LibrarySpec> to_library(const schema::Library& from, const schema::GpuCluster& cluster) {
  if (from.domain().empty() && from.network().empty()) return std::nullopt;
  LibrarySpec library;
  const schema::LibraryPart* domain = nearest_part(from.domain(), cluster.nvlink(), "");
  library.domain = to_part(domain);
  if (domain) library.offers = to_offers(*domain);
  const auto* network = nearest_part(from.network(), cluster.nic(), cluster.nic_kind());
  library.network = to_part(network ? network : nearest_part(from.network(), cluster.nic(), ""));
  library.landing = {from.landing_gb_per_s() * 1e9};
  return library;
}

Time launch_of(const schema::Library& from, const schema::GpuCluster& cluster) {
  const schema::LibraryPart* part = nearest_part(from.domain(), cluster.nvlink(), "");
  return part ? Time::microseconds(part->launch_us()) : Time{};
}

ChannelSpec to_channel(const schema::Channel& from) {
  ChannelSpec channel;
  if (from.algorithm() != schema::Channel::each_algorithm)
    channel.algorithm = hyphenated(schema::Channel::Algorithm_Name(from.algorithm()));
  if (from.kind() != schema::Channel::each_kind)
    channel.kind = hyphenated(schema::Channel::Kind_Name(from.kind()));
  channel.twisted = from.twisted();
  channel.setup = Time::microseconds(from.setup_us());
  channel.chunk = {from.chunk_mib() * kBytesPerMib};
  channel.chunk_overhead = Time::microseconds(from.chunk_us());
  channel.nvlink_efficiency = from.nvlink_efficiency();
  channel.nic_efficiency = from.nic_efficiency();
  channel.ici_efficiency = from.ici_efficiency();
  return channel;
}

}  // namespace podsim
