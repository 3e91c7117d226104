// A scenario at several sizes: how well it scales, as a table, JSON and a page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/comparisons/scale_page.h"
#include "cli/scenarios/sweep.h"
#include "report/answer/report.h"
#include "report/figures/scaling_figures.h"
#include "scheduler/question/cluster.h"

namespace podsim {

// Reports of one setting stand together; their efficiency is to the first of them.
struct Scaling {
  std::vector<Report> reports = {};
  Settings settings;                    // [report]
  std::vector<std::size_t> first = {};  // [report] the first of its setting
  std::vector<BatchCut> cuts = {};      // [report]
  std::vector<double> tokens = {};      // [report] to be trained; empty where nobody says
  std::vector<Cluster> clusters = {};   // [report]
  std::vector<bool> strong = {};        // [report]
  bool several_files = false, both_ways = false;

  const char* way_of(std::size_t i) const { return strong[i] ? "strong" : "weak"; }
  // "strong, job.recompute=full", or the scenario's name where there are several files.
  std::string of(std::size_t i) const;
  // What tells the reports apart: the settings, and how they scale where they do both ways.
  Settings columns() const;
  std::optional<WholeRun> run_of(std::size_t i) const;
  ScaledSize size_of(std::size_t i) const;
  // Throughput per chip over that of the first chip count: 1 = perfect.
  double efficiency_of(std::size_t i) const {
    return reports[i].tokens_per_s_per_chip / reports[first[i]].tokens_per_s_per_chip;
  }
};

std::string scaling_table(const Scaling& scaling);
std::string scaling_json(const Scaling& scaling);
std::string scaling_textproto(const Scaling& scaling);
std::string scaling_csv(const Scaling& scaling);
Page scaling_page(const Scaling& scaling);

}  // namespace podsim
