// A library of collectives whose protocols differ in all that they can.
#pragma once

#include <cstddef>

#include "topology/fabric_spec.h"

namespace podsim::some_protocols {

inline constexpr double kUs = 1e-6;

inline Time us(double value) { return Time::seconds(value * kUs); }

inline ProtocolSpec& of(LibrarySpec::Part& part, Protocol protocol) {
  return part[static_cast<std::size_t>(protocol)];
}

// With flags, chunks and landing, each of which decides for some size.
inline LibrarySpec library() {
  LibrarySpec made;
  of(made.domain, Protocol::kLl) = {.efficiency = 0.05, .step = us(0.25)};
  of(made.domain, Protocol::kLl128) = {.efficiency = 0.4, .step = us(0.5)};
  of(made.domain, Protocol::kSimple) = {0.8, us(5), us(2), {16e6}, us(1)};
  of(made.domain, Protocol::kExchangeLl) = {.efficiency = 0.02, .setup = us(1)};
  of(made.domain, Protocol::kExchange) = {.efficiency = 0.7, .setup = us(6)};
  of(made.domain, Protocol::kReduction) = {0.5, us(7), {}, {1e6}, us(0.5)};
  of(made.network, Protocol::kLl) = {.efficiency = 0.3, .step = us(5)};
  of(made.network, Protocol::kSimple) = {.efficiency = 0.9, .step = us(14)};
  of(made.network, Protocol::kExchangeLl) = {.efficiency = 0.3, .setup = us(3)};
  of(made.network, Protocol::kExchange) = {.efficiency = 0.8, .setup = us(10)};
  of(made.network, Protocol::kReduction) = {.efficiency = 0.9, .setup = us(40), .step = us(9)};
  made.landing = {900e9};
  return made;
}

}  // namespace podsim::some_protocols
