// Adds up simulated runs.
#include "report/summary/summarize_runs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "economics/bill.h"
#include "engine/check.h"
#include "engine/order_statistics.h"
#include "engine/unit_factors.h"
#include "scheduler/reliability/weeks/closed_forms.h"

namespace podsim {
namespace {

// Chip-time as a double.
double time_in(const RunResult& result, RunBucket bucket) {
  return static_cast<double>(result.accounts[bucket]);
}

double training_ms(const RunResult& result) {
  double sum = 0;
  for (const RunBucket bucket : {RunBucket::kProductive, RunBucket::kStraggler, RunBucket::kInput,
                                 RunBucket::kSlowedDown, RunBucket::kRecompute})
    sum += time_in(result, bucket);
  return sum;
}

double energy_mwh(const RunResult& result, const ChipRates& rates) {
  const double training = training_ms(result);
  const double rest =
      static_cast<double>(result.accounts.total()) - training - time_in(result, RunBucket::kTakenAway);
  return (training * rates.training_w + rest * rates.idle_w) / kMsPerHour / 1e6;
}

template <class F>
Spread spread(std::span<const RunResult> results, F f) {
  std::vector<double> values;
  values.reserve(results.size());
  for (const RunResult& result : results) values.push_back(f(result));
  return spread_of(std::move(values));
}

void add_figures(const TrainingRun& run, std::span<const RunResult> results, const ChipRates& rates,
                 ReliabilityReport& report) {
  ReliabilityFigures& figures = report.figures;
  const auto job_time = [&](const RunResult& r) {
    return static_cast<double>(run.job_chips()) * static_cast<double>(r.end.ms);
  };
  const auto provided = [&](const RunResult& r) {
    return static_cast<double>(r.accounts.of_job()) - time_in(r, RunBucket::kWaiting) -
           time_in(r, RunBucket::kScheduling);
  };
  const auto work = [](const RunResult& r) { return static_cast<double>(r.work_chip_ms); };
  figures.ettr = spread(results, [&](const RunResult& r) { return work(r) / job_time(r); });
  figures.goodput = spread(results, [](const RunResult& r) {
    return time_in(r, RunBucket::kProductive) / static_cast<double>(r.accounts.total());
  });
  figures.scheduling_goodput = spread(results, [&](const RunResult& r) { return provided(r) / job_time(r); });
  figures.runtime_goodput =
      spread(results, [&](const RunResult& r) { return provided(r) > 0 ? work(r) / provided(r) : 0; });
  figures.program_goodput = report.mfu;
  figures.ml_productivity_goodput = figures.ettr.mean * report.mfu;
  figures.failures = spread(results, [](const RunResult& r) {
    std::int64_t sum = 0;
    for (const std::int64_t count : r.failures) sum += count;
    return static_cast<double>(sum);
  });
  figures.uninterrupted =
      static_cast<double>(std::count_if(results.begin(), results.end(),
                                        [](const RunResult& r) { return r.interruptions == 0; })) /
      static_cast<double>(results.size());
  figures.interruptions =
      spread(results, [](const RunResult& r) { return static_cast<double>(r.interruptions); });
  figures.checkpoints =
      spread(results, [](const RunResult& r) { return static_cast<double>(r.checkpoints); });
  figures.days =
      spread(results, [](const RunResult& r) { return static_cast<double>(r.end.ms) / kMsPerDay; });
  figures.energy_mwh = spread(results, [&](const RunResult& r) { return energy_mwh(r, rates); });
  if (rates.carbon)
    figures.carbon_t = spread(results, [&](const RunResult& r) {
      const auto held_ms = static_cast<double>(r.accounts.total()) - time_in(r, RunBucket::kTakenAway);
      return rates.carbon->kg(energy_mwh(r, rates) * 1e3, held_ms / kMsPerHour) / 1e3;
    });
}

// What is paid, and for what: each run's bill, and energy where it comes on top.
void add_bills(const TrainingRun& run, std::span<const RunResult> results, const ChipRates& rates,
               ReliabilityReport& report) {
  std::vector<RunBill> bills;
  std::vector<double> totals;
  double energy_usd = 0, unpaid_chip_h = 0, moved_gb = 0;
  for (const RunResult& result : results) {
    bills.push_back(bill_of(result.accounts, run.chips(), result.end.ms, rates.price,
                            egress_mb(rates.egress, result.end.ms, result.checkpoints)));
    moved_gb += static_cast<double>(bills.back().egress_mb) / 1e3;
    const double on_top = energy_mwh(result, rates) * 1e3 * rates.price.usd_per_kwh;
    totals.push_back(bills.back().total().value() + on_top);
    energy_usd += on_top;
    unpaid_chip_h += static_cast<double>(bills.back().unpaid_chip_ms) / kMsPerHour;
  }
  report.figures.cost_usd = spread_of(std::move(totals));
  const auto runs = static_cast<double>(results.size());
  for (std::size_t i = 0; i < kBillItems; ++i) {
    Usd usd;
    double chip_h = 0;
    for (const RunBill& bill : bills) {
      usd += bill.usd[i];
      chip_h += static_cast<double>(bill.chip_ms[i]) / kMsPerHour;
    }
    report.bill.push_back(
        {std::string(to_string(static_cast<BillItem>(i))), chip_h / runs, usd.value() / runs});
  }
  report.bill.push_back({"energy", 0, energy_usd / runs});
  report.unpaid_chip_hours = unpaid_chip_h / runs;
  report.egress_gb = moved_gb / runs;
  report.usd_per_egress_gb = rates.price.egress_usd_per_gb;
}

void add_run_buckets(std::span<const RunResult> results, ReliabilityReport& report) {
  double all = 0;
  for (const RunResult& result : results) all += static_cast<double>(result.accounts.total());
  const auto runs = static_cast<double>(results.size());
  for (std::size_t b = 0; b < kRunBuckets; ++b) {
    const auto bucket = static_cast<RunBucket>(b);
    double sum = 0;
    for (const RunResult& result : results) sum += time_in(result, bucket);
    report.buckets.push_back({std::string(to_string(bucket)), std::string(ml_goodput_name(bucket)),
                              sum / runs / kMsPerHour, all > 0 ? sum / all : 0});
  }
}

void add_components(const TrainingRun& run, std::span<const RunResult> results, ReliabilityReport& report) {
  std::map<Component, double> counts;
  double all = 0;
  for (std::size_t s = 0; s < run.failures.size(); ++s) {
    double sum = 0;
    for (const RunResult& result : results) sum += static_cast<double>(result.failures[s]);
    counts[run.failures[s].component] += sum;
    all += sum;
  }
  const auto runs = static_cast<double>(results.size());
  for (const auto& [component, count] : counts)
    report.components.push_back({std::string(to_string(component)), count / runs, all > 0 ? count / all : 0});
  std::stable_sort(report.components.begin(), report.components.end(),
                   [](const auto& a, const auto& b) { return a.mean > b.mean; });
}

// Goodput and ETTR of a job that goes back to a checkpoint each `mttf` seconds.
void add_kept_shares(const TrainingRun& run, double interval_s, double mttf, ReliabilityClosedForms& forms) {
  const Checkpoints& checkpoints = run.checkpoints;
  const double save_s = mean_save_s(checkpoints), persist_s = checkpoints.persist.in_seconds();
  if (!checkpoints.replicas) {
    forms.goodput = checkpointed_goodput(interval_s, save_s, forms.recovery_s, mttf, persist_s);
    forms.ettr = expected_ettr(interval_s, save_s, forms.recovery_s + persist_s, mttf);
    return;
  }
  const MemoryCopies copies = {interval_s,
                               save_s,
                               checkpoints.replicas->saves_per_storage_save,
                               persist_s,
                               mean_recovery_from_memory_s(run),
                               forms.recovery_s};
  const double share_lost = lost_copies_per_s(run) / rollbacks_per_s(run);
  forms.goodput = goodput_with_copies(copies, mttf, share_lost);
  const double lost_more_s = (copies.saves_per_storage_save - 1) * interval_s / 2 + persist_s;
  const double restart_s =
      share_lost * (copies.storage_restart_s + lost_more_s) + (1 - share_lost) * copies.memory_restart_s;
  forms.ettr = expected_ettr(interval_s, save_s, restart_s, mttf);
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  PODSIM_CHECK(!values.empty(), "a spread is of something");
  const auto n = static_cast<double>(values.size());
  Spread spread;
  double sum = 0;  // of differences, so that equal values have exactly their mean and do not vary
  for (const double value : values) sum += value - values[0];
  spread.mean = values[0] + sum / n;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  if (values.size() > 1) spread.standard_deviation = std::sqrt(squares / (n - 1));
  spread.standard_error = spread.standard_deviation / std::sqrt(n);
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) { return values[nearest_rank(values.size(), share)]; };
  spread.p05 = at(0.05);
  spread.p10 = at(0.1);
  spread.p50 = at(0.5);
  spread.p90 = at(0.9);
  spread.p95 = at(0.95);
  return spread;
}

void summarize_runs(const TrainingRun& run, std::span<const RunResult> results, const ChipRates& rates,
                    ReliabilityReport& report) {
  add_figures(run, results, rates, report);
  add_bills(run, results, rates, report);
  add_run_buckets(results, report);
  add_components(run, results, report);
}

double mean_save_s(const Checkpoints& checkpoints) {
  const double pause_s = checkpoints.pause.in_seconds();
  if (!checkpoints.replicas) return pause_s;
  return checkpoints.replicas->pause.in_seconds() + pause_s / checkpoints.replicas->saves_per_storage_save;
}

ReliabilityClosedForms closed_forms_of(const TrainingRun& run, double interval_s) {
  ReliabilityClosedForms forms;
  forms.recovery_s = mean_recovery_s(run);
  const double per_s = failures_per_s(run), lost_per_s = rollbacks_per_s(run);
  forms.failures_per_day = per_s * kSecondsPerDay;
  forms.rollbacks_per_day = lost_per_s * kSecondsPerDay;
  forms.failures_per_1000_node_days = forms.failures_per_day / run.job_nodes() * 1000;
  if (per_s > 0) forms.mttf_h = 1 / per_s / kSecondsPerHour;
  forms.nodes_in_repair = mean_nodes_in_repair(run);
  forms.spares_99 = poisson_quantile(forms.nodes_in_repair, 0.99);
  forms.spares_99_9 = poisson_quantile(forms.nodes_in_repair, 0.999);
  const double save_s = mean_save_s(run.checkpoints);
  if (lost_per_s == 0) {
    forms.goodput = forms.ettr = interval_s / (interval_s + save_s);
  } else {
    const double mttf = 1 / lost_per_s;
    forms.young_s = young_interval_s(save_s, mttf);
    forms.daly_s = daly_interval_s(save_s, mttf);
    forms.best_interval_s = best_interval_s(save_s, mttf);
    add_kept_shares(run, interval_s, mttf, forms);
  }
  const double stopped = stopped_without_rollback(run), speed = mean_speed(run);
  forms.goodput *= std::exp(-stopped) * speed;  // recoveries can fail too, as in checkpointed_goodput
  forms.ettr *= std::max(0.0, 1 - stopped) * speed;
  return forms;
}

}  // namespace podsim
