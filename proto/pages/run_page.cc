// Puts a report's figures and pictures on panels, those first that answer its question.
#include "proto/pages/run_page.h"

#include <algorithm>
#include <numeric>

#include "proto/writing/write.h"
#include "report/figures/figures.h"
#include "report/figures/step_figures.h"
#include "report/pictures/detail_figures.h"
#include "report/pictures/run_pictures.h"
#include "report/summary/slow_entries.h"
#include "report/summary/verdict.h"
#include "report/tables/anchor_text.h"
#include "report/tables/memory_text.h"
#include "report/tables/what_if_text.h"
#include "report/tables/write.h"
#include "report/text/text.h"

namespace podsim {
namespace {

constexpr std::size_t kMostRows = 24;  // of a table of operations, collectives or links

std::string seconds_text(Time time) { return significant(time.in_seconds(), 4) + " s"; }

// "0.8333 ms"
std::string duration_text(double seconds) {
  if (seconds >= 1 || seconds == 0) return significant(seconds, 4) + " s";
  return seconds >= 1e-3 ? significant(seconds * 1e3, 4) + " ms" : significant(seconds * 1e6, 4) + " us";
}

std::vector<PageFigure> first_figures(const Report& report) {
  std::vector<PageFigure> figures = {
      {"step time", {seconds_text(report.step_time), "step_time_s"}, ""},
      {"tokens per second",
       {significant(report.tokens_per_s, 4), "tokens_per_s"},
       significant(report.tokens_per_s_per_chip, 4) + " per chip"},
      {"model FLOPs utilisation", {percent(report.mfu_causal), "mfu_causal"}, "attention counted causal"},
      {"USD per million tokens",
       {fixed(report.cost_usd_per_million_tokens, 4), "cost_usd_per_million_tokens"},
       report.price},
      {"energy per token",
       {significant(report.energy_j_per_token, 4) + " J", "energy_j_per_token"},
       significant(report.power_kw, 4) + " kW in all"}};
  if (!report.knows_flops())
    figures[2] = {"model FLOPs utilisation", {"not known", ""}, "no FLOPs per token"};
  if (report.band)
    figures[0].below =
        "eight runs in ten: " + seconds_text(report.band->low) + " to " + seconds_text(report.band->high);
  const MemoryReport& memory = report.memory;
  if (report.knows_memory())
    figures.push_back(
        {memory.fits ? "memory: fits" : "memory: does not fit",
         {fixed(memory.total, 2) + " GiB", "memory_per_chip_gib.total"},
         "of " + fixed(memory.capacity, 2) + " GiB, stage " + std::to_string(memory.worst_stage)});
  return figures;
}

// The buckets, with the parts of exposed communication below it.
PageTable bucket_table(const Report& report) {
  PageTable table{"", {"part of the step of the mean chip", "time, s", "share"}, {}};
  const auto share = [&](Time time) { return percent(time_share(time, report.step_time)); };
  for (const StepBucket& bucket : step_buckets()) {
    const Time time = report.*bucket.time;
    const bool parts = bucket.time == &Report::exposed_communication;
    const std::string key = bucket.key;
    table.rows.push_back(
        {{bucket.name}, {fixed(time.in_seconds(), 6), parts ? key + ".total" : key}, {share(time)}});
    for (std::size_t i = 0; parts && i < report.exposed.size(); ++i) {
      const ExposedCommunication& exposed = report.exposed[i];
      table.rows.push_back(
          {{"\u2003" + exposed.axes + " " + exposed.kind},
           {fixed(exposed.time.in_seconds(), 6), key + ".by[" + std::to_string(i) + "].time_s"},
           {share(exposed.time)}});
    }
  }
  table.rows.push_back({{"step time"}, {fixed(report.step_time.in_seconds(), 6), "step_time_s"}, {"100.0%"}});
  return table;
}

void add_picture(PagePanel& panel, const std::string& name, const Report& report, const StepDetail* detail) {
  if (auto picture = run_picture(name, report, detail)) panel.pictures.push_back(*std::move(picture));
}

PagePanel step_panel(const Report& report, const StepDetail* detail) {
  PagePanel panel{"step", "Where the step goes"};
  add_picture(panel, "breakdown", report, detail);
  panel.tables.push_back(bucket_table(report));
  add_picture(panel, "steps", report, detail);
  if (report.ensemble) {
    const EnsembleReport& e = *report.ensemble;
    panel.tables.push_back({"Steps of " + std::to_string(e.seeds) + " seeds",
                            {"figure", "s"},
                            {{{"shortest"}, {fixed(e.shortest.in_seconds(), 6), "ensemble.step_time_min_s"}},
                             {{"median"}, {fixed(report.step_time_p50.in_seconds(), 6), "step_time_p50_s"}},
                             {{"mean"}, {fixed(report.step_time.in_seconds(), 6), "step_time_s"}},
                             {{"99 of 100 are no longer than"},
                              {fixed(report.step_time_p99.in_seconds(), 6), "step_time_p99_s"}},
                             {{"longest"}, {fixed(e.longest.in_seconds(), 6), "ensemble.step_time_max_s"}}}});
  }
  return panel;
}

PagePanel memory_panel(const Report& report, const StepDetail* detail) {
  PagePanel panel{"memory", "Memory"};
  add_picture(panel, "memory", report, detail);
  add_picture(panel, "memory-over-step", report, detail);
  if (!report.memory.fits) panel.text = memory_verdict(report);
  return panel;
}

// What goes wrong, and who is slow for it.
PagePanel straggler_panel(const Report& report, const StepDetail* detail) {
  PagePanel panel{"stragglers", "Who is slow"};
  if (report.verdict) panel.sentences.push_back(verdict_sentence(*report.verdict));
  add_picture(panel, "heat", report, detail);
  PageTable costs{"What each adversity costs", {"adversity", "costs a step, s"}, {}};
  for (std::size_t i = 0; i < report.fault_costs.size(); ++i)
    costs.rows.push_back({{report.fault_costs[i].what},
                          {fixed(report.fault_costs[i].cost.in_seconds(), 6),
                           "fault_costs[" + std::to_string(i) + "].cost_s"}});
  if (costs.rows.size() > 1)
    costs.rows.push_back(
        {{"all together"}, {fixed(report.straggler_delay.in_seconds(), 6), "straggler_delay_s"}});
  if (!costs.rows.empty()) panel.tables.push_back(std::move(costs));
  PageTable parties{"Chip-seconds per step", {"who", "made others wait", "waited"}, {}};
  for (std::size_t i = 0; i < report.slow_parties.size(); ++i) {
    const SlowParty& party = report.slow_parties[i];
    const std::string key = "slow_parties[" + std::to_string(i) + "].";
    parties.rows.push_back({{party.who},
                            {significant(party.caused_chip_s, 4), key + "caused_chip_s"},
                            {significant(party.waited_chip_s, 4), key + "waited_chip_s"}});
  }
  if (!parties.rows.empty()) panel.tables.push_back(std::move(parties));
  if (report.what_if) panel.tables.push_back(worker_table(*report.what_if));
  if (!report.slow_entries.empty()) panel.text = slow_entries_table(report);
  if (report.what_if) panel.text += (panel.text.empty() ? "" : "\n") + what_if_tables(*report.what_if);
  return panel;
}

PagePanel network_panel(const Report& report, const StepDetail* detail) {
  PagePanel panel{"network", "Network"};
  add_picture(panel, "links", report, detail);
  if (detail && detail->network)
    panel.drawings.push_back(
        {"The network, its links coloured by the share of what they can carry that the step has "
         "them carry, from light for none to red for all.",
         *detail->network});
  if (!detail || detail->links.empty()) return panel;
  PageTable table{"Classes of links that carry the same, busiest first",
                  {"kind", "links of the class", "GB/s of one", "used over the step"},
                  {}};
  for (std::size_t i = 0; i < std::min(kMostRows, detail->links.size()); ++i) {
    const LinkClassUse& use = detail->links[i];
    const std::string key = "links_by_class[" + std::to_string(i) + "].";
    table.rows.push_back({{use.kind},
                          {std::to_string(use.links), key + "links"},
                          {significant(use.bandwidth.value * 1e-9, 4), key + "gb_per_s"},
                          {percent(use.share), key + "share"}});
  }
  panel.tables.push_back(std::move(table));
  return panel;
}

PagePanel operations_panel(const Report& report, const StepDetail& detail) {
  PagePanel panel{"operations", "Operations"};
  add_picture(panel, "roofline", report, &detail);
  std::vector<const OperationUse*> order;
  double all = 0;
  for (const OperationUse& use : detail.operations) {
    order.push_back(&use);
    all += use.seconds * use.times;
  }
  std::ranges::stable_sort(order, [](const OperationUse* a, const OperationUse* b) {
    return a->seconds * a->times > b->seconds * b->times;
  });
  PageTable table{
      "Of the mean chip in a step, longest first",
      {"operation", "shape", "times", "one takes", "share of all", "GFLOP", "MB of memory", "TFLOP/s"},
      {}};
  for (std::size_t i = 0; i < std::min(kMostRows, order.size()); ++i) {
    const OperationUse& use = *order[i];
    const std::string key = "operations[" + std::to_string(&use - detail.operations.data()) + "].";
    table.rows.push_back(
        {{operation_name(use)},
         {use.shape},
         {significant(use.times, 4), key + "times"},
         {duration_text(use.seconds), key + "time_s"},
         {percent(all > 0 ? use.seconds * use.times / all : 0)},
         {significant(use.flops * 1e-9, 4), key + "gflop"},
         {significant(use.hbm_bytes * 1e-6, 4), key + "memory_mb"},
         {use.seconds > 0 ? significant(use.flops / use.seconds * 1e-12, 4) : "-", key + "tflop_per_s"}});
  }
  panel.tables.push_back(std::move(table));
  return panel;
}

// Of all collectives over these axes and of this kind.
PageText exposed_of(const Report& report, const CollectiveUse& use) {
  for (std::size_t i = 0; i < report.exposed.size(); ++i)
    if (report.exposed[i].axes == use.axes && report.exposed[i].kind == use.kind)
      return {duration_text(report.exposed[i].time.in_seconds()),
              "exposed_communication_s.by[" + std::to_string(i) + "].time_s"};
  return {"none"};
}

std::string bus_text(const CollectiveUse& use) {
  const double rate = bus_bandwidth(use);
  return rate > 0 ? significant(rate * 1e-9, 4) : "-";
}

// "nic 83.2%": how much of the busiest link on its way it uses while it is under way.
std::string link_text(const CollectiveUse& use) {
  return use.link.empty() ? "-" : use.link + " " + percent(use.link_share);
}

PagePanel collectives_panel(const Report& report, const StepDetail& detail) {
  PagePanel panel{"collectives", "Collectives"};
  add_picture(panel, "collectives", report, &detail);
  PageTable table{"Of the mean chip in a step, longest under way first",
                  {"axes", "kind", "algorithm", "size", "times", "under way, each", "in all",
                   "exposed, all such", "bus bandwidth, GB/s", "share of the busiest link"},
                  {}};
  for (std::size_t i = 0; i < std::min(kMostRows, detail.collectives.size()); ++i) {
    const CollectiveUse& use = detail.collectives[i];
    const std::string key = "collectives[" + std::to_string(i) + "].";
    table.rows.push_back({{use.axes},
                          {use.kind},
                          {use.algorithm},
                          {binary_bytes(use.bytes), key + "bytes"},
                          {significant(use.times, 4), key + "times"},
                          {duration_text(use.under_way_s / use.times)},
                          {duration_text(use.under_way_s), key + "under_way_s"},
                          exposed_of(report, use),
                          {bus_text(use), key + "bus_bandwidth_gb_per_s"},
                          {link_text(use), key + "link_share"}});
  }
  panel.tables.push_back(std::move(table));
  return panel;
}

void add_rows_of(PageTable& table, const std::vector<Figure>& figures) {
  for (const Figure& figure : rows_of(figures))
    table.rows.push_back({{figure.label}, {figure.text, figure.key}});
}

PagePanel cost_panel(const Report& report, const StepDetail* detail) {
  PagePanel panel{"cost", "Cost, energy, and how sure"};
  PageTable table{report.price, {"figure", "value"}, {}};
  add_rows_of(table, throughput_figures(report));
  add_rows_of(table, cost_figures(report));
  panel.tables.push_back(std::move(table));
  if (report.band) {
    const StepTimeBand& band = *report.band;
    panel.sentences.push_back(
        "The band is from " + std::to_string(band.rows) +
        (band.kind == kAnchoredBand ? " steps of your own" : " measured runs (" + band.kind + ")") +
        ": of runs like this one, one in ten is faster than its low end, and one in ten "
        "slower than its high end.");
    panel.tables.push_back({"Step time, s",
                            {"low", "predicted", "high"},
                            {{{fixed(band.low.in_seconds(), 4), "step_time_low_s"},
                              {fixed(report.step_time.in_seconds(), 4), "step_time_s"},
                              {fixed(band.high.in_seconds(), 4), "step_time_high_s"}}}});
    add_picture(panel, "certainty", report, detail);
  } else {
    panel.sentences.push_back("No measured run is like it: how far the prediction may be off is not known.");
  }
  if (report.anchor) panel.text = anchor_table(*report.anchor);
  return panel;
}

void add_meanings(std::map<std::string, FigureMeaning>& meanings, std::span<const Figure> figures,
                  const std::string& prefix) {
  for (const Figure& figure : figures) {
    const std::string key = prefix + (prefix.empty() || figure.key.empty() ? "" : ".") + figure.key;
    if (!figure.definition.empty()) meanings[key] = {figure.unit, figure.definition};
    add_meanings(meanings, figure.parts, key);
  }
}

}  // namespace

PageTable worker_table(const WhatIf& what_if) {
  std::vector<std::size_t> order(what_if.by_worker.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return what_if.by_worker[a] > what_if.by_worker[b]; });
  PageTable table{"Workers that alone slow the job down most",
                  {"worker", "times as long by it alone", "by its data rank", "by its stage"},
                  {}};
  for (std::size_t i = 0; i < std::min(kMostRows, order.size()); ++i) {
    const Worker& worker = what_if.workers[order[i]];
    table.rows.push_back({{name_of(worker)},
                          {fixed(what_if.by_worker[order[i]], 4)},
                          {fixed(what_if.by_data_rank[static_cast<std::size_t>(worker.row)].mean, 4)},
                          {fixed(what_if.by_stage[order[i] % what_if.by_stage.size()].mean, 4)}});
  }
  return table;
}

std::map<std::string, FigureMeaning> meanings_of(std::span<const Figure> figures) {
  std::map<std::string, FigureMeaning> meanings;
  add_meanings(meanings, figures, "");
  return meanings;
}

Page run_page(const Report& report, const StepDetail* detail) {
  Page page{.title = report.scenario, .question = report.question};
  page.figures = first_figures(report);
  page.answer = report_answer(report);
  page.panels.push_back(step_panel(report, detail));
  if (detail) {
    PagePanel schedule{"schedule", "The step along time"};
    add_picture(schedule, "schedule", report, detail);
    page.panels.push_back(std::move(schedule));
  }
  if (report.knows_memory()) page.panels.push_back(memory_panel(report, detail));
  if (!report.fault_costs.empty() || !report.slow_entries.empty() || !report.slow_parties.empty())
    page.panels.push_back(straggler_panel(report, detail));
  if (!report.link_use.empty()) page.panels.push_back(network_panel(report, detail));
  if (detail && !detail->operations.empty()) page.panels.push_back(operations_panel(report, *detail));
  if (detail && !detail->collectives.empty()) page.panels.push_back(collectives_panel(report, *detail));
  page.panels.push_back(cost_panel(report, detail));
  page.json = report_json(report, detail);
  std::vector<Figure> all = figures(report);
  if (detail) append(all, detail_figures(*detail));
  page.meanings = meanings_of(all);
  return page;
}

}  // namespace podsim
