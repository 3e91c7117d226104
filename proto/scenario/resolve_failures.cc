// What has failed: cables, ports, switches, optical circuit switches and cubes of the scenario's fabric.
#include <algorithm>

#include "engine/spelling.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/resolve.h"
#include "proto/text/assign.h"
#include "topology/fabric.h"
#include "topology/fabric_kind.h"

namespace podsim {
namespace {

// A failure and where the text has it.
struct Told {
  Failure failure;
  std::string path;
};

// Names of everything that an enumeration's to_string knows and this fabric has at `chip`, or at all.
std::vector<std::string> port_names(const Fabric& fabric, ChipId chip) {
  std::vector<std::string> names;
  for (const Link& link : fabric.out(chip)) {
    std::string name(to_string(link.kind == LinkKind::kIciOptical ? LinkKind::kIci : link.kind));
    if (std::ranges::count(names, name) == 0) names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::string> switch_names(const Fabric& fabric) {
  std::vector<std::string> names;
  for (const Node& node : fabric.nodes) {
    std::string name(to_string(node.kind));
    if (node.kind != NodeKind::kChip && (names.empty() || names.back() != name))
      names.push_back(std::move(name));
  }
  return names;
}

template <class Kind>
Kind named(const std::string& name, Kind last) {
  int kind = 0;
  while (kind < static_cast<int>(last) && to_string(static_cast<Kind>(kind)) != name) ++kind;
  return static_cast<Kind>(kind);
}

// What the text says, as far as the names in it exist.
class Teller {
 public:
  Teller(const Fabric& fabric, Document& document) : fabric_(fabric), document_(document) {}

  void tell(const schema::FailedLink& failed, const std::string& at) {
    if (chip_exists(failed.chip(), at, "chip") && chip_exists(failed.to_chip(), at, "to_chip"))
      told.push_back({FailedCable{failed.chip(), failed.to_chip()}, at});
  }

  void tell(const schema::FailedPort& failed, const std::string& at) {
    if (!chip_exists(failed.chip(), at, "chip")) return;
    const std::vector<std::string> names = port_names(fabric_, failed.chip());
    if (is_one_of(failed.kind(), names, "chip " + std::to_string(failed.chip()) + " has no link", at))
      told.push_back({FailedPort{failed.chip(), named(failed.kind(), LinkKind::kDcn)}, at});
  }

  void tell(const schema::FailedSwitch& failed, const std::string& at) {
    if (is_one_of(failed.kind(), switch_names(fabric_), fabric_.name + " has no switch", at))
      told.push_back({FailedSwitch{named(failed.kind(), NodeKind::kDcn), failed.index()}, at});
  }

  void tell(const schema::FailedOcs& failed, const std::string& at) {
    told.push_back({FailedOcs{failed.dimension(), {failed.position_i(), failed.position_j()}}, at});
  }

  std::vector<Told> told;

 private:
  bool chip_exists(ChipId chip, const std::string& at, const char* field) {
    if (chip < fabric_.chips) return true;
    document_.report(join_path(at, field),
                     join_path(at, field) + " must be below the " + std::to_string(fabric_.chips) +
                         " chips, not " + std::to_string(chip),
                     "chips count from 0");
    return false;
  }

  bool is_one_of(const std::string& name, const std::vector<std::string>& names, const std::string& what,
                 const std::string& at) {
    if (std::ranges::count(names, name) > 0) return true;
    if (!name.empty())
      document_.report(join_path(at, "kind"), what + " of kind \"" + name + "\"",
                       names.empty() ? "" : suggest(name, names, "it has"));
    return false;
  }

  const Fabric& fabric_;
  Document& document_;
};

template <class Messages>
void tell_all(const Messages& messages, const std::string& field, Teller& teller) {
  for (int i = 0; i < messages.size(); ++i) teller.tell(messages[i], field + "[" + std::to_string(i) + "]");
}

std::vector<Failure> first(const std::vector<Told>& told, std::size_t count) {
  std::vector<Failure> failures;
  for (std::size_t i = 0; i < count; ++i) failures.push_back(told[i].failure);
  return failures;
}

// Reports each failure that is impossible, alone or after those before it, and leaves it out.
std::vector<Failure> keep_possible(const Fabric& fabric, std::vector<Told> told, Document& document) {
  while (!document.full()) {
    if (explain_impossible(fabric, first(told, told.size())).empty()) break;
    std::size_t possible = 0, impossible = told.size();  // so many of the first
    while (impossible - possible > 1) {
      const std::size_t middle = possible + (impossible - possible) / 2;
      (explain_impossible(fabric, first(told, middle)).empty() ? possible : impossible) = middle;
    }
    document.report(told[possible].path, explain_impossible(fabric, first(told, impossible)));
    told.erase(told.begin() + static_cast<std::ptrdiff_t>(possible));
  }
  return first(told, told.size());
}

}  // namespace

std::vector<Failure> resolve_failures(const schema::Adversity& adversity, const FabricSpec& spec,
                                      const std::string& path, Document& document) {
  const int count = adversity.failed_link_size() + adversity.failed_port_size() +
                    adversity.failed_switch_size() + adversity.failed_ocs_size();
  if (count == 0) return {};
  const Fabric fabric = build_fabric(spec);
  Teller teller(fabric, document);
  tell_all(adversity.failed_link(), join_path(path, "failed_link"), teller);
  tell_all(adversity.failed_port(), join_path(path, "failed_port"), teller);
  tell_all(adversity.failed_switch(), join_path(path, "failed_switch"), teller);
  tell_all(adversity.failed_ocs(), join_path(path, "failed_ocs"), teller);
  return keep_possible(fabric, std::move(teller.told), document);
}

void resolve_failed_cubes(const schema::Adversity& adversity, FabricSpec& fabric, const std::string& path,
                          Document& document) {
  std::vector<int>* failed = kind_of(fabric).failed_blocks(fabric);
  for (int i = 0; i < adversity.failed_cube_size(); ++i) {
    const std::string at = join_path(path, "failed_cube[" + std::to_string(i) + "]");
    if (failed == nullptr) {
      document.report(at, fabric.name + " is a GPU cluster and has no cubes");
      return;
    }
    failed->push_back(adversity.failed_cube(i).index());
    const std::string why = explain_invalid(fabric);
    if (why.empty()) continue;
    document.report(at, why);
    failed->pop_back();
  }
  if (failed != nullptr && !failed->empty() && document.clean_below(path))
    document.warn(join_path(path, "failed_cube[0]"),
                  "the failed cubes cost nothing: enough healthy ones are left",
                  "the slice is made of these");
}

}  // namespace podsim
