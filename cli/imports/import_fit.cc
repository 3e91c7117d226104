// Places the ranks, fits, and writes the block of a fabric.
#include "cli/imports/import_fit.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "calibration/channel_fit.h"
#include "cli/scenarios/batch.h"
#include "engine/binary_units.h"
#include "engine/order_statistics.h"
#include "report/text/align.h"
#include "report/text/text.h"
#include "validation/validate_collectives.h"

namespace podsim {
namespace {

constexpr std::size_t kLeastRows = 4;  // as many as there are numbers to fit

std::optional<CollectiveKind> collective_kind_named(const std::string& name) {
  for (const CollectiveKind kind :
       {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
        CollectiveKind::kAllToAll, CollectiveKind::kBroadcast})
    if (name == to_string(kind)) return kind;
  return std::nullopt;
}

bool says_enough(const std::string& file, const MeasuredTimes& times, const std::string& fabric) {
  const std::size_t before = times.rows.size();
  bool all = true;
  const auto needs = [&](bool missing, const char* what) {
    if (missing) spdlog::error("{}: --fit needs {}", file, what);
    all = all && !missing;
  };
  needs(fabric.empty(), "the fabric that it was measured on (--fabric; podsim catalog fabrics lists them)");
  needs(times.collective.empty(),
        "the collective, which the file does not tell (--set collective=all-gather)");
  needs(times.ranks < 2, "the number of ranks, which the file does not tell (--chips)");
  needs(before < kLeastRows, "at least 4 sizes that moved something, with right results");
  return all;
}

double error_of(double predicted_s, double measured_us) { return predicted_s / (measured_us * 1e-6) - 1; }

struct FitErrors {
  double median = 0, largest = 0;  // of absolute values
};

FitErrors errors_of(const MeasuredTimes& times, const std::vector<double>& predicted_s) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < times.rows.size(); ++i)
    errors.push_back(std::abs(error_of(predicted_s[i], times.rows[i].time_us)));
  return {median(errors), std::ranges::max(errors)};
}

// Names and values of the block, in the order of the schema; the share is of the nominal bandwidth.
std::vector<std::pair<std::string, double>> channel_numbers(const ChannelSpec& channel,
                                                            const PlacedGroup& placed) {
  std::vector<std::pair<std::string, double>> numbers = {
      {"setup_us", channel.setup.in_seconds() * 1e6},
      {"chunk_mib", channel.chunk.value / kBytesPerMib},
      {"chunk_us", channel.chunk_overhead.in_seconds() * 1e6}};
  const auto share = [&](const char* name, double of_payload, double efficiency) {
    if (of_payload < 1) numbers.emplace_back(name, of_payload * efficiency);
  };
  if (placed.spec.gpu) {
    share("nvlink_efficiency", channel.nvlink_efficiency, placed.spec.gpu->nvlink.efficiency);
    share("nic_efficiency", channel.nic_efficiency, placed.spec.gpu->nic.efficiency);
  }
  return numbers;
}

std::string block_of(std::string collective, const std::vector<std::pair<std::string, double>>& numbers,
                     const std::string& indent) {
  std::replace(collective.begin(), collective.end(), '-', '_');
  std::string text = indent + "channel {\n" + indent + "  kind: " + collective + "\n";
  for (const auto& [name, value] : numbers)
    text += indent + "  " + name + ": " + significant(value, 4) + "\n";
  return text + indent + "}\n";
}

// A fit, and how far it is from what was measured.
struct JudgedFit {
  ChannelFit fit;
  FitErrors before, after;
  std::vector<std::pair<std::string, double>> numbers;  // of the channel
};

JudgedFit judged_fit(const MeasuredTimes& times, const PlacedGroup& placed) {
  std::vector<CollectiveTiming> timings;
  for (const MeasuredTimes::Row& row : times.rows)
    timings.push_back({Bytes{static_cast<double>(row.bytes)}, row.time_us * 1e-6});
  const ChannelFit fit =
      fit_channel(placed.fabric, *collective_kind_named(times.collective), placed.group, timings);
  return {fit, errors_of(times, fit.before_s), errors_of(times, fit.after_s),
          channel_numbers(fit.channel, placed)};
}

std::vector<Figure> fit_figures(const MeasuredTimes& times, const std::string& fabric,
                                const JudgedFit& judged) {
  std::vector<Figure> fitted = {{"collective", times.collective}}, rows;
  for (const auto& [name, value] : judged.numbers) fitted.emplace_back(name, value);
  for (std::size_t i = 0; i < times.rows.size(); ++i)
    rows.push_back(Figure::group("", {{"bytes", times.rows[i].bytes},
                                      {"measured_s", times.rows[i].time_us * 1e-6},
                                      {"before_s", judged.fit.before_s[i]},
                                      {"after_s", judged.fit.after_s[i]}}));
  return {{"fabric", fabric},
          {"ranks", times.ranks},
          Figure::group("channel", std::move(fitted)),
          {"median_error_before", judged.before.median},
          {"median_error_after", judged.after.median},
          {"largest_error_before", judged.before.largest},
          {"largest_error_after", judged.after.largest},
          Figure::list("row", std::move(rows))};
}

std::string fit_table(const MeasuredTimes& times, const ChannelFit& fit) {
  std::vector<std::vector<std::string>> table = {
      {"bytes", "measured us", "before us", "error", "after us", "error"}};
  for (std::size_t i = 0; i < times.rows.size(); ++i) {
    const double time_us = times.rows[i].time_us;
    const auto percent = [&](double predicted_s) {
      return fixed(100 * error_of(predicted_s, time_us), 1) + " %";
    };
    table.push_back({count_text(times.rows[i].bytes), significant(time_us, 5),
                     significant(fit.before_s[i] * 1e6, 5), percent(fit.before_s[i]),
                     significant(fit.after_s[i] * 1e6, 5), percent(fit.after_s[i])});
  }
  return align(table);
}

std::string errors_text(const FitErrors& errors) {
  return "median " + fixed(100 * errors.median, 1) + " %, largest " + fixed(100 * errors.largest, 1) + " %";
}

}  // namespace

std::optional<Imported> fit_imported_times(const std::string& file, const Imported& imported,
                                           const std::string& fabric) {
  if (!imported.measured) {
    spdlog::error(
        "{}: --fit is of one collective, and this log has several tests: cut it at \"Collective test "
        "starting\"",
        file);
    return std::nullopt;
  }
  const MeasuredTimes& times = *imported.measured;
  const auto catalog = open_catalog({});
  if (!catalog || !says_enough(file, times, fabric)) return std::nullopt;
  Problem problem;
  const auto placed = place_measured_group(*catalog, fabric, static_cast<int>(times.ranks),
                                           static_cast<int>(times.hosts), problem);
  if (!placed || !placed->spec.gpu) {
    if (placed) problem.message = fabric + " is no fabric of GPUs";
    spdlog::error("{}: {}{}", file, problem.message, problem.hint.empty() ? "" : "; " + problem.hint);
    return std::nullopt;
  }
  const JudgedFit judged = judged_fit(times, *placed);
  Imported result;
  result.figures = fit_figures(times, placed->spec.name, judged);
  result.text = file + ": " + times.collective + " of " + std::to_string(times.ranks) + " ranks on " +
                placed->spec.name + "\n\n" + block_of(times.collective, judged.numbers, "") + "\n" +
                fit_table(times, judged.fit) + "\nErrors before: " + errors_text(judged.before) +
                "; after: " + errors_text(judged.after) + "\n" +
                "The channel serves all sizes of this collective on this fabric; --out writes it as a part "
                "of a scenario.\n";
  result.scenario = "# From " + file +
                    ", by podsim import --fit: a block of a scenario, to which a job is added.\n" +
                    "cluster {\n  fabric: \"" + fabric + "\"\n  fabric_override {\n" +
                    block_of(times.collective, judged.numbers, "    ") + "  }\n}\n";
  result.is_fabric = true;
  return result;
}

}  // namespace podsim
