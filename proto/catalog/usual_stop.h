// How long a stop of a job takes where nobody says: scenarios/reliability/stop.csv.
#pragma once

namespace podsim {

// In minutes.
struct UsualStop {
  double timeout = 0;   // until the collective library gives up
  double restart = 0;   // until processes have started and loaded the last checkpoint
  double interval = 0;  // between checkpoints: half of it is trained again
};

UsualStop usual_stop();

}  // namespace podsim
