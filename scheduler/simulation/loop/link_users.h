// Who ever loads each link of a system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/uncontended_collectives.h"

namespace podsim {

// Not for several threads at once.
class LinkUsers {
 public:
  // REQUIRES: both outlive this object.
  LinkUsers(const System& system, UncontendedCollectives& uncontended)
      : system_(system), uncontended_(uncontended) {}

  // A message and the stream that it is launched on.
  using Launched = std::pair<std::int32_t, Stream>;
  struct User {  // of a link
    std::int32_t group;
    Stream stream;
    bool from_source;  // goes as soon as its source has come
    friend bool operator==(const User&, const User&) = default;
  };
  // Looks at all programs, the first time.
  void list();
  // REQUIRES: list() has been called, here and below.
  std::span<const User> of(std::int32_t link) const { return users_[static_cast<std::size_t>(link)]; }

  // What a program launches, each once, in its order.
  const std::vector<Launched>& launched(int program) const {
    return launched_[static_cast<std::size_t>(program)];
  }

  // Which of those that one is.
  std::int32_t number_of(int program, Launched launched) const {
    return numbers_[static_cast<std::size_t>(program)][place_of(launched)];
  }

  // Whether no other stream of any chip ever loads a link that the group's message loads on this one.
  bool exclusive(std::int32_t group, Stream stream, std::int32_t message);

  // Who has to launch on a stream for an operation of another one to load a link that the group's message
  // loads on this one; each once. Stops at one more than `most`.
  struct Launcher {
    std::int32_t chip;
    Stream stream;
    friend bool operator==(const Launcher&, const Launcher&) = default;
  };
  std::vector<Launcher> others(std::int32_t group, Stream stream, std::int32_t message, std::size_t most);

 private:
  static std::size_t place_of(Launched launched) {
    return static_cast<std::size_t>(launched.first) * kNetworkStreams +
           static_cast<std::size_t>(launched.second);
  }
  void list_launches(const StageProgram& program);

  const System& system_;
  UncontendedCollectives& uncontended_;
  std::vector<std::vector<Launched>> launched_;     // [program]
  std::vector<std::vector<std::int32_t>> numbers_;  // [program][place_of] in launched_, or -1
  std::vector<std::vector<User>> users_;            // [link]
};

}  // namespace podsim
