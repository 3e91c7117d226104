// Copies between the memory of chips and that of their hosts.
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "engine/indexed_event_queue.h"
#include "scheduler/folding/system.h"

namespace podsim {

// On a chip copies to the host run one after another, and so do those from the host, each once all copies to
// the host that were launched before it have ended: it may fetch what they bring. The end of a copy is an
// event of one of two slots of the chip.
class HostCopies {
 public:
  // How many slots of the event queue it needs: none where no program copies.
  static std::size_t slots(const System& system);

  // Its slots follow one another from `first_slot`. REQUIRES: `event queue` outlives this object.
  HostCopies(std::size_t chips, IndexedEventQueue& event_queue, std::size_t first_slot)
      : event_queue_(event_queue), first_slot_(first_slot), chips_(chips) {}

  struct Copy {
    std::int32_t chip;
    Stream stream;
  };
  Copy of_slot(std::size_t slot) const {
    return {static_cast<std::int32_t>((slot - first_slot_) / 2),
            (slot - first_slot_) % 2 == 0 ? Stream::kToHost : Stream::kFromHost};
  }

  std::size_t slot_of(const Copy& copy) const {
    return first_slot_ + 2 * static_cast<std::size_t>(copy.chip) + (copy.stream == Stream::kToHost ? 0 : 1);
  }

  // REQUIRES: copies(stream).
  void launch(std::int32_t chip, Stream stream, Time now, Time duration);

  // The first copy of the stream is over. Returns when it began.
  Time end(std::int32_t chip, Stream stream, Time now);

  int unfinished(std::int32_t chip, Stream stream) const;

  // Of state_capture.h.
  template <class Visitor>
  void visit(Visitor& state) {
    for (const Chip& chip : chips_) {
      state.fixed(chip.sends.size());
      for (const Time duration : chip.sends) state.fixed(duration);
      state.fixed(chip.fetches.size());
      for (const Fetch& fetch : chip.fetches) {
        state.fixed(fetch.duration);
        state.fixed(fetch.after - chip.sent);
      }
    }
  }

 private:
  struct Fetch {
    Time duration;
    std::int64_t after;  // this many copies to the host
  };
  struct Chip {
    std::list<Time> sends;
    std::list<Fetch> fetches;
    std::int64_t sent = 0;  // of all that have been launched
  };

  void begin_send(std::int32_t chip, Time now);
  void begin_fetch(std::int32_t chip, Time now);

  IndexedEventQueue& event_queue_;
  const std::size_t first_slot_;
  std::vector<Chip> chips_;
};

}  // namespace podsim
