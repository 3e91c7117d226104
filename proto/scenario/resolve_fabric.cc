// The network of a cluster block: a catalogue fabric at a chip count or slice shape.
#include <algorithm>
#include <cstdint>

#include "proto/catalog.pb.h"
#include "proto/catalog/convert.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/hypothetical.h"
#include "proto/scenario/resolve.h"
#include "proto/text/assign.h"
#include "proto/text/ranges.h"
#include "topology/fabric.h"
#include "topology/fat_tree.h"
#include "topology/shape.h"

namespace podsim {
namespace {

using Choice = schema::ClusterChoice;

// One fabric choice on its way to a FabricSpec.
class FabricResolver {
 public:
  FabricResolver(const Choice& choice, const Catalog::Entries& entries, const std::string& path,
                 Document& document)
      : choice_(choice), entries_(entries), path_(path), document_(document) {}

  std::optional<FabricSpec> resolve();

 private:
  std::string at(const char* field) const { return join_path(path_, field); }
  bool find_entry();
  bool torus_size();
  bool given_shape();
  bool chosen_shape();
  bool gpu_size();
  void fat_tree_size();
  bool dcn();
  bool oversubscription();
  void routing();
  bool library();
  void warn_of_nic_kind(const schema::Library& library);
  bool transport();
  bool buildable();

  const Choice& choice_;
  const Catalog::Entries& entries_;
  const std::string& path_;
  Document& document_;
  schema::Fabric fabric_;
  FabricSpec spec_;
};

bool FabricResolver::find_entry() {
  if (!choice_.has_fabric() && !choice_.has_fabric_override()) {
    report_missing(at("fabric"), "\"dgx_h100\"", document_);
    return false;
  }
  if (choice_.has_fabric()) {
    const schema::Fabric* entry = find_fabric(entries_, choice_.fabric());
    if (!entry) {
      report_unknown_name(entries_, Catalog::Section::kFabrics, choice_.fabric(), at("fabric"), document_);
      return false;
    }
    warn_of_loose_name(entries_, Catalog::Section::kFabrics, choice_.fabric(), at("fabric"), document_);
    fabric_ = *entry;
  }
  merge_override(choice_.fabric_override(), fabric_);
  check_required(fabric_, at("fabric_override"), document_);
  if (fabric_.network_case() == schema::Fabric::NETWORK_NOT_SET) {
    document_.report(at("fabric_override"), at("fabric_override") + " has no network",
                     "write torus { ... } or gpu_cluster { ... }");
  }
  return document_.clean_below(at("fabric_override"));
}

// The slice's lengths as the user wrote them; trailing lengths of 1 may be left out.
bool FabricResolver::given_shape() {
  const auto& lengths = choice_.slice_shape_size() > 0 ? choice_.slice_shape() : fabric_.torus().shape();
  const int dimensions = spec_.torus->dimensions;
  std::int64_t per_slice = 1;
  for (int d = 0; d < lengths.size(); ++d) {
    if (d >= dimensions && lengths[d] != 1) {
      document_.report(at("slice_shape"), at("slice_shape") + " has " + std::to_string(lengths.size()) +
                                              " lengths, but " + spec_.name + " has " +
                                              std::to_string(dimensions) + " dimensions");
      return false;
    }
    if (d < 3) spec_.torus->shape[static_cast<std::size_t>(d)] = lengths[d];
    per_slice *= lengths[d];
    if (per_slice * spec_.slices > kMaxChips) {
      document_.report(at("slice_shape"),
                       at("slice_shape") + " has more than " + std::to_string(kMaxChips) + " chips");
      return false;
    }
  }
  const auto product = static_cast<int>(per_slice * spec_.slices);
  if (choice_.has_chips() && choice_.chips() != product) {
    document_.report(at("chips"),
                     at("chips") + " is " + std::to_string(choice_.chips()) + ", but the slice shape has " +
                         std::to_string(product) + " chips in " + std::to_string(spec_.slices) +
                         (spec_.slices == 1 ? " slice" : " slices"),
                     "leave one of them out");
    return false;
  }
  spec_.chips = product;
  return true;
}

// Only the chip count is given: the most cubic slice of that many chips.
bool FabricResolver::chosen_shape() {
  if (!choice_.has_chips()) {
    document_.report(at("chips"), at("chips") + " is missing",
                     "write, for example, chips: 512 or slice_shape: [8, 8, 8]");
    return false;
  }
  spec_.chips = choice_.chips();
  if (spec_.chips % spec_.slices != 0) {
    document_.report(at("slices"), std::to_string(spec_.chips) + " chips cannot be divided into " +
                                       std::to_string(spec_.slices) + " equal slices");
    return false;
  }
  const int per_slice = spec_.chips / spec_.slices;
  const auto makeable = [&](int chips) {
    const auto shape = most_cubic_shape(*spec_.torus, chips);
    if (!shape) return false;
    FabricSpec candidate = spec_;
    candidate.chips = chips * spec_.slices;
    candidate.torus->shape = *shape;
    return explain_invalid(candidate).empty();
  };
  if (makeable(per_slice)) {
    spec_.torus->shape = *most_cubic_shape(*spec_.torus, per_slice);
    return true;
  }
  constexpr int kSearch = 128;  // chip counts looked at on each side
  std::string near;
  for (int chips = per_slice - 1; chips > 0 && chips > per_slice - kSearch && near.empty(); --chips) {
    if (makeable(chips)) near = std::to_string(chips);
  }
  for (int chips = per_slice + 1; chips < per_slice + kSearch; ++chips) {
    if (!makeable(chips)) continue;
    near += (near.empty() ? "" : " or ") + std::to_string(chips);
    break;
  }
  std::string hint = near.empty() ? "" : "a slice of " + near + " chips is possible";
  if (spec_.torus->max_chips > 0 && per_slice > spec_.torus->max_chips) {
    hint = "a slice has at most " + std::to_string(spec_.torus->max_chips) + " chips: use more slices";
  }
  document_.report(at("chips"),
                   spec_.name + " cannot make a slice of " + std::to_string(per_slice) + " chips", hint);
  return false;
}

bool FabricResolver::dcn() {
  if (!fabric_.has_dcn()) {
    if (spec_.slices == 1) return true;
    document_.report(at("slices"),
                     spec_.name + " has no DCN that could join " + std::to_string(spec_.slices) + " slices");
    return false;
  }
  spec_.chips_per_host = fabric_.dcn().chips_per_host();
  spec_.dcn = to_link(fabric_.dcn().host());
  if (fabric_.dcn().has_oversubscription()) spec_.dcn_oversubscription = fabric_.dcn().oversubscription();
  return true;
}

bool FabricResolver::torus_size() {
  spec_.torus = to_torus(fabric_.torus());
  if (choice_.has_twisted()) spec_.torus->twisted = choice_.twisted();
  if (choice_.has_slices()) spec_.slices = choice_.slices();
  if (!dcn()) return false;
  const bool given = choice_.slice_shape_size() > 0 || fabric_.torus().shape_size() > 0;
  return given ? given_shape() : chosen_shape();
}

bool FabricResolver::gpu_size() {
  spec_.gpu = to_gpu_cluster(fabric_.gpu_cluster());
  const schema::GpuCluster& cluster = fabric_.gpu_cluster();
  spec_.chips_per_host = cluster.has_gpus_per_host() ? cluster.gpus_per_host() : cluster.gpus_per_domain();
  const auto only_torus = [&](const char* field) {
    document_.report(at(field), at(field) + " is for tori, and " + spec_.name + " is a GPU cluster",
                     "leave it out");
  };
  if (choice_.slice_shape_size() > 0) only_torus("slice_shape");
  if (choice_.has_slices() && choice_.slices() > 1) only_torus("slices");
  if (choice_.twisted()) only_torus("twisted");
  if (!choice_.has_chips()) report_missing(at("chips"), "512", document_);
  spec_.chips = choice_.chips();
  fat_tree_size();
  return choice_.has_chips() && choice_.slice_shape_size() == 0 && choice_.slices() <= 1 &&
         !choice_.twisted();
}

// A tree that is too small for the cluster grows as it would be built, and says so.
void FabricResolver::fat_tree_size() {
  const std::vector<FatTreeTier>& tiers = spec_.gpu->tiers;
  const bool as_stated = std::ranges::all_of(tiers, [](const FatTreeTier& tier) { return tier.down > 0; });
  if (!as_stated || spec_.chips <= spec_.gpu->gpus_per_domain) return;
  const std::size_t stated = tiers.size();
  const int most = fat_tree_capacity(*spec_.gpu), added = add_missing_tiers(*spec_.gpu, spec_.chips);
  if (added == 0) return;
  document_.warn(at("chips"),
                 "the fat-tree of " + spec_.name + " joins at most " + std::to_string(most) +
                     " GPUs with its " + std::to_string(stated) + (stated == 1 ? " tier: " : " tiers: ") +
                     std::to_string(added) +
                     (added == 1 ? " tier like the last was added above them"
                                 : " tiers like the last were added above them"),
                 "to state them yourself, write fabric_override { gpu_cluster { tier { down: 32 "
                 "oversubscription: 1 } ... } } with all tiers");
}

bool FabricResolver::oversubscription() {
  if (!choice_.has_oversubscription()) return true;
  const std::string field = at("oversubscription");
  if (spec_.torus && spec_.slices > 1) {
    spec_.dcn_oversubscription = choice_.oversubscription();
  } else if (spec_.gpu && spec_.chips > spec_.gpu->gpus_per_domain && !spec_.gpu->tiers.empty()) {
    spec_.gpu->tiers[0].oversubscription = choice_.oversubscription();
  } else {
    document_.report(field, field + " is of switches between servers or slices, and this cluster has none",
                     "leave it out");
    return false;
  }
  return true;
}

void FabricResolver::routing() {
  if (fabric_.has_routing()) spec_.routing = to_routing(fabric_.routing());
  if (fabric_.has_routing_seed()) spec_.routing_seed = fabric_.routing_seed();
  if (choice_.has_routing()) spec_.routing = to_routing(choice_.routing());
  if (choice_.has_routing_seed()) spec_.routing_seed = choice_.routing_seed();
}

bool FabricResolver::library() {
  if (!spec_.gpu) {
    if (fabric_.has_library())
      document_.warn_idle(at("fabric_override") + ".library",
                          "collectives of a torus are carried by its links as they are");
    return true;
  }
  const std::string name = fabric_.has_library() ? fabric_.library() : "nccl";
  const schema::Library* entry = find_library(entries_, name);
  if (entry == nullptr) {
    const std::string field = at("fabric_override") + ".library";
    report_unknown_name(entries_, Catalog::Section::kLibraries, name, field, document_);
    return false;
  }
  warn_of_nic_kind(*entry);
  spec_.library = to_library(*entry, fabric_.gpu_cluster());
  if (!fabric_.has_collective_launch_us()) spec_.collective_launch = launch_of(*entry, fabric_.gpu_cluster());
  return true;
}

// A kind without numbers of its own has those of kinds without a name.
void FabricResolver::warn_of_nic_kind(const schema::Library& library) {
  const std::string& kind = fabric_.gpu_cluster().nic_kind();
  std::vector<std::string> kinds;
  for (const schema::LibraryPart& network : library.network())
    if (network.has_name()) kinds.push_back(network.name());
  if (kind.empty() || std::ranges::find(kinds, kind) != kinds.end()) return;
  document_.warn_idle(at("fabric_override") + ".gpu_cluster.nic_kind",
                      "library " + library.name() + " has no numbers of its own for \"" + kind + "\"",
                      kinds.empty() ? "" : suggest(kind, kinds, "its kinds of NICs"));
}

bool FabricResolver::transport() {
  const std::string name = choice_.has_transport() ? choice_.transport() : fabric_.transport();
  if (name.empty()) return true;
  const schema::Transport* entry = find_transport(entries_, name);
  if (entry == nullptr) {
    report_unknown_name(entries_, Catalog::Section::kTransports, name, at("transport"), document_);
    return false;
  }
  spec_.transport = to_transport(*entry);
  return true;
}

bool FabricResolver::buildable() {
  const std::string why = explain_invalid(spec_);
  if (why.empty()) return true;
  FabricSpec adaptive = spec_;
  adaptive.routing = Routing::kAdaptive;
  if (explain_invalid(adaptive).empty()) {
    document_.report(at(choice_.has_routing() ? "routing" : "fabric"), why);
    return false;
  }
  const bool shaped = choice_.slice_shape_size() > 0;
  document_.report(at(shaped ? "slice_shape" : choice_.twisted() ? "twisted" : "chips"), why);
  return false;
}

std::optional<FabricSpec> FabricResolver::resolve() {
  if (!find_entry()) return std::nullopt;
  for (const char* field :
       {"chips", "slice_shape", "slices", "oversubscription", "routing", "routing_seed"}) {
    if (!document_.clean_below(at(field))) return std::nullopt;
  }
  spec_.name = fabric_.name();
  spec_.collective_launch = Time::seconds(fabric_.collective_launch_us() * 1e-6);
  routing();
  for (const schema::Channel& channel : fabric_.channel()) spec_.channels.push_back(to_channel(channel));
  const bool sized = spec_.gpu || fabric_.has_gpu_cluster() ? gpu_size() : torus_size();
  if (!sized || !oversubscription() || !library() || !transport() || !buildable()) return std::nullopt;
  return spec_;
}

}  // namespace

std::optional<FabricSpec> resolve_fabric(const Choice& choice, const Catalog::Entries& entries,
                                         const std::string& path, Document& document) {
  auto spec = FabricResolver(choice, entries, path, document).resolve();
  if (spec) scale(hypothetical_of(choice, entries), *spec);
  if (spec && choice.has_chip()) {
    const schema::Fabric* entry = find_fabric(entries, choice.fabric());
    const schema::Chip* chip = find_chip(entries, choice.chip());
    const bool meant =
        !entry || !chip || entry->chip_size() == 0 ||
        std::find(entry->chip().begin(), entry->chip().end(), chip->name()) != entry->chip().end();
    if (!meant) {
      document.warn(join_path(path, "fabric"),
                    entry->name() + " is built of " + entry->chip(0) + ", not of " + chip->name(),
                    "fine for a what-if: the links keep their bandwidth");
    }
  }
  return spec;
}

}  // namespace podsim
