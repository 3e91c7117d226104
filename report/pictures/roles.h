// What marks stand for, the same on every picture, and the colours of it: told apart in grey and by those who
// see no red or no green.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace podsim {

struct Role {
  std::string_view name;
  std::string_view light, dark;  // colour on light and on dark paper
  bool hatched = false;          // time in which nothing is done
};

// In descending order of how much a picture is about them.
inline constexpr std::array<Role, 31> kRoles = {{
    {"compute", "#2f6db5", "#5b9bdf"},
    {"forward", "#4f93d8", "#6fb0ee"},
    {"backward", "#1d4f8c", "#3f7ac0"},
    {"weight-gradient", "#8fbbe6", "#a9cdf2"},
    {"optimizer", "#17807a", "#35b0a7"},
    {"tensor", "#e8960c", "#f4ae3d"},
    {"data", "#7b4fb0", "#a884d6"},
    {"expert", "#4c9a2a", "#7cc45a"},
    {"context", "#c9568f", "#e583b1"},
    {"pipeline", "#a8551e", "#d08752"},
    {"other", "#8a7f5c", "#b8ac85"},
    {"bubble", "#c4c9d2", "#5a6472", true},
    {"straggler", "#c0282d", "#ef6a6a", true},
    {"input", "#6b4a2b", "#a98259"},
    {"offload", "#3e6b70", "#6fa1a6"},
    {"skew", "#e2b8c8", "#8f6a78", true},
    {"evaluation", "#9aa52f", "#c5d05c"},
    {"idle", "#e6e8ec", "#39414d", true},
    {"weights", "#1d4f8c", "#3f7ac0"},
    {"gradients", "#7b4fb0", "#a884d6"},
    {"state", "#17807a", "#35b0a7"},
    {"activations", "#e8960c", "#f4ae3d"},
    {"logits", "#4c9a2a", "#7cc45a"},
    {"buffers", "#c9568f", "#e583b1"},
    {"fragmentation", "#c4c9d2", "#5a6472", true},
    {"limit", "#c0282d", "#ef6a6a"},
    {"mean", "#8fbbe6", "#a9cdf2"},
    {"room-least", "#5b1668", "#c98fe0"},
    {"room-little", "#31688e", "#6aa6d6"},
    {"room-some", "#2a9d6a", "#58d69a"},
    {"room-much", "#c9a400", "#f2dc4c"},
}};

// Of the i-th of several series that stand for nothing else: each has a colour of its own, up to seven.
inline std::string role_of_series(std::size_t i) {
  constexpr std::array<const char*, 7> kOf = {"compute", "tensor",   "data", "expert",
                                              "context", "pipeline", "other"};
  return kOf[i % kOf.size()];
}

}  // namespace podsim
