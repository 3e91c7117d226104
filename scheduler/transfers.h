// The transfers of meetings on the links they share: how fast each goes, and when it is over.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/event_queue.h"
#include "engine/sharing.h"
#include "scheduler/running.h"
#include "scheduler/system.h"

namespace podsim {

// At most one transfer of each meeting at a time. Its end is a kDrained event on the queue; one whose version
// is out of date was overtaken by a change of rates.
class Transfers {
 public:
  // REQUIRES: both outlive this object.
  Transfers(const System& system, std::size_t meetings, EventQueue<Event>& queue);

  // `bytes` > 0 on the limiting link. `uses` outlives the transfer.
  void begin(std::int32_t meeting, Time now, std::span<const Use> uses, double bytes);

  // Whether this kDrained event ends the meeting's transfer.
  bool ends(const Event& event) const { return event.version == transfers_[event.index].version; }
  void end(std::int32_t meeting);

  // Solves for new rates and foresees when each changed transfer drains. To be called once all events of an
  // instant are done.
  void share(Time now);

 private:
  struct Transfer {
    ActivityId activity = -1;
    double left = 0;  // bytes on the limiting link
    double rate = 0;
    Time updated;
    std::uint32_t version = 0;
  };

  EventQueue<Event>& queue_;
  Sharing sharing_;
  std::vector<Transfer> transfers_;  // [meeting]
  std::vector<std::int32_t> meeting_of_activity_;
  std::vector<ActivityId> changed_;
};

}  // namespace podsim
