// The main figures of a step: what tables of layouts and of sweeps show, and what a store has in columns.
#pragma once

#include <compare>

#include "report/answer/report.h"

namespace podsim {

struct MainFigures {
  Time step_time, compute, exposed_communication, pipeline_bubble, optimizer, skew_wait;
  double memory_gib = 0;  // of the fullest chip
  bool fits = false;
  double tokens_per_s = 0, tokens_per_s_per_chip = 0, mfu_causal = 0;
  double cost_usd_per_million_tokens = 0, energy_j_per_token = 0;
  friend bool operator==(const MainFigures&, const MainFigures&) = default;
};

inline MainFigures main_figures(const Report& report) {
  return {report.step_time,
          report.compute,
          report.exposed_communication,
          report.pipeline_bubble,
          report.optimizer,
          report.skew_wait,
          report.memory.total,
          report.memory.fits,
          report.tokens_per_s,
          report.tokens_per_s_per_chip,
          report.mfu_causal,
          report.cost_usd_per_million_tokens,
          report.energy_j_per_token};
}

}  // namespace podsim
