// A network named on the command line, for verbs that need no job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "proto/catalog/catalog.h"
#include "topology/fabric_spec.h"

namespace CLI {
class App;
}

namespace podsim {

struct NetworkOptions {
  std::string fabric;
  int chips = 0;
  std::string shape;  // "8x8x8"
  int slices = 1;
  bool twisted = false;
  std::string routing;  // empty = as the fabric says
  std::optional<std::uint64_t> routing_seed;
  std::string transport;  // empty = as the fabric says
};

void add_network_options(CLI::App& verb, NetworkOptions& options);

// The options in words, the same for the same network.
std::string question_words(const NetworkOptions& options);

// Whether one of the options is given.
bool names_network(const NetworkOptions& options);

// The fabric these options ask for; nothing when they are wrong, and then the reason is on standard error.
std::optional<FabricSpec> choose_network(const Catalog& catalog, const NetworkOptions& options);

}  // namespace podsim
