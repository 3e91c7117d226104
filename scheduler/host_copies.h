// Copies between the memory of chips and that of their hosts.
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "engine/event_queue.h"
#include "scheduler/running.h"

namespace podsim {

// On a chip copies to the host run one after another, and so do those from the host, each once all copies to
// the host that were launched before it have ended: it may fetch what they bring. The end of a copy is a
// kCopied event on the queue.
class HostCopies {
 public:
  // REQUIRES: `queue` outlives this object.
  HostCopies(std::size_t chips, EventQueue<Event>& queue) : queue_(queue), chips_(chips) {}

  // REQUIRES: copies(stream).
  void launch(std::int32_t chip, Stream stream, Time now, Time duration);

  // The first copy of the stream is over. Returns when it began.
  Time end(std::int32_t chip, Stream stream, Time now);

  int unfinished(std::int32_t chip, Stream stream) const;

  // Of scheduler/steady_state.h.
  template <class Visitor>
  void visit(Visitor& state) {
    for (const Chip& chip : chips_) {
      state.fixed(static_cast<std::int64_t>(chip.sends.size()));
      for (const Time duration : chip.sends) state.fixed(duration.ps);
      state.fixed(static_cast<std::int64_t>(chip.fetches.size()));
      for (const Fetch& fetch : chip.fetches) {
        state.fixed(fetch.duration.ps);
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

  EventQueue<Event>& queue_;
  std::vector<Chip> chips_;
};

}  // namespace podsim
