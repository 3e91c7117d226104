// Which pipeline schedule a job runs.
#pragma once

namespace podsim {

enum class PipelineSchedule : unsigned char {
  kGpipe,
  k1F1B,
  kInterleaved,
  kShifting,  // GSPMD: every stage computes in every iteration, then all shift their activation by one stage
  kZeroBubbleH1,  // 1F1B whose weight gradients come apart and fill the drain (arXiv 2401.10241)
  kZeroBubbleV,   // two chunks per stage that run down and up the stages (arXiv 2401.10241, section 6)
  kDualPipe,      // microbatches enter at both ends; every stage holds two pieces (arXiv 2412.19437)
};

}  // namespace podsim
