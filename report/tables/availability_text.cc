// Availability as tables.
#include "report/tables/availability_text.h"

#include <algorithm>

#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string count(double value) { return significant(value, 1); }

std::string question_heading(const AvailabilityQuestion& question) {
  const PodParts& pod = question.pod;
  std::string text = question.name + "\n";
  if (!question.question.empty()) text += question.question + "\n";
  text +=
      "\n" + pod.name + ": " + count(pod.chips()) + " chips, " + count(pod.blocks) + " " + pod.block + "s";
  if (pod.hosts_per_block > 1) text += " of " + std::to_string(pod.hosts_per_block) + " hosts";
  text += ", " + std::to_string(pod.chips_per_host) + " chips per host; ";
  text += question.simulate
              ? count(static_cast<double>(question.draws)) + " draws, seed " + std::to_string(question.seed)
              : std::string("closed form");
  return text + "\n\n";
}

// "99.0%", with as many decimals as the share has.
std::string share_up(double share) {
  int decimals = 1;
  while (decimals < 8 && std::stod(fixed(100 * share, decimals)) != 100 * share) ++decimals;
  return fixed(100 * share, decimals) + "%";
}

// A mean that may be beyond all measure.
std::string mean(double value) {
  if (value > 1e9) return "above 1e9";
  return value < 1e-4 ? "0.0000" : significant(value, 4);
}

std::vector<std::string> slice_name(const SliceAvailability& row) {
  return {std::string(to_string(row.policy)), share_up(row.host_availability), count(row.slice_chips)};
}

std::string slices_table(const AvailabilityQuestion& question, std::span<const SliceAvailability> rows) {
  std::vector<std::string> header = {"slices from", "hosts up", "chips", "goodput", "slices",
                                     "p5",          "p50",      "p95",   "most",    "at least 1"};
  if (question.simulate) header.insert(header.begin() + 4, "+-");
  for (const int wanted : question.at_least_slices) header.push_back("at least " + std::to_string(wanted));
  Rows table = {header};
  for (const SliceAvailability& row : rows) {
    std::vector<std::string> line = slice_name(row);
    line.push_back(fixed(100 * row.goodput(), 2) + "%");
    if (row.slices_error)
      line.push_back(fixed(100 * *row.slices_error * row.chips_per_slice_of_pod, 2) + "%");
    line.push_back(fixed(row.slices, 3));
    for (const int slices : {row.slices_p5, row.slices_p50, row.slices_p95, row.pool.most_slices()})
      line.push_back(std::to_string(slices));
    line.push_back(fixed(100 * row.any_slice, 2) + "%");
    for (const double reached : row.at_least) line.push_back(fixed(100 * reached, 2) + "%");
    table.push_back(line);
  }
  return align(table);
}

std::string job_table(const AvailabilityQuestion& question, std::span<const SliceAvailability> rows) {
  Rows table = {
      {"slices from", "hosts up", "chips", "starts at once", "wait h", "no restart", "restarts", "finish h"}};
  for (const SliceAvailability& row : rows) {
    std::vector<std::string> line = slice_name(row);
    if (!row.job) {
      line.push_back("never");
    } else {
      const JobOutlook& job = *row.job;
      for (const std::string& cell :
           {percent(job.starts_at_once), mean(job.wait_h), fixed(100 * job.without_restart, 2) + "%",
            mean(job.restarts), mean(job.finish_h)})
        line.push_back(cell);
    }
    line.resize(table.front().size());
    table.push_back(line);
  }
  const QueuedJob& job = *question.job;
  std::string text = "\nA job of " + significant(job.length_h, 4) + " h; what fails is mended in " +
                     significant(job.repair_h, 4) + " h on average, " + count(job.slices_in_use) +
                     " slices are others', ";
  text += job.checkpoint_every_h > 0 ? "a checkpoint every " + significant(job.checkpoint_every_h, 3) + " h"
                                     : std::string("no checkpoints");
  return text + "\n" + align(table);
}

// Where a free choice of cubes is worth most against fixed partitions.
std::string worth_of_choice(std::span<const SliceAvailability> rows) {
  const SliceAvailability *joined = nullptr, *fixed_at = nullptr;
  for (const SliceAvailability& any : rows) {
    for (const SliceAvailability& still : rows) {
      if (any.policy == SlicePolicy::kStaticPartitions || still.policy != SlicePolicy::kStaticPartitions ||
          any.slice_chips != still.slice_chips || any.host_availability != still.host_availability)
        continue;
      if (joined && any.goodput() - still.goodput() <= joined->goodput() - fixed_at->goodput()) continue;
      joined = &any;
      fixed_at = &still;
    }
  }
  constexpr double kWorthTelling = 0.001;
  if (!joined || joined->goodput() - fixed_at->goodput() < kWorthTelling) return "";
  return "\nA free choice is worth most for slices of " + count(joined->slice_chips) +
         " chips with hosts up " + share_up(joined->host_availability) + ": " + percent(joined->goodput()) +
         " of the chips are usable, " + percent(fixed_at->goodput()) + " in static partitions.\n";
}

}  // namespace

std::string availability_text(const AvailabilityQuestion& question, std::span<const SliceAvailability> rows) {
  std::string text = question_heading(question) + slices_table(question, rows);
  const auto optical = std::ranges::find_if(rows, [](const auto& row) { return row.optical_bandwidth < 1; });
  if (optical != rows.end())
    text += "\nTraffic is routed around optical links and switches that are down: on average " +
            share_up(optical->optical_bandwidth) + " of the optical bandwidth is there.\n";
  if (question.job) text += job_table(question, rows);
  return text + worth_of_choice(rows);
}

}  // namespace podsim
