// podsim collective: a table like that of nccl-tests, for one collective on one network.
#include "collectives/collective.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "cli/networks/network.h"
#include "cli/networks/verbs.h"
#include "cli/options/names.h"
#include "cli/options/numbers.h"
#include "cli/options/options.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"
#include "collectives/steps.h"
#include "proto/text/quantities.h"
#include "proto/text/question_digest.h"
#include "proto/writing/figure_json.h"
#include "proto/writing/result_json.h"
#include "report/text/align.h"
#include "report/text/text.h"
#include "scheduler/network/stepwise.h"

namespace podsim {
namespace {

struct CollectiveVerb {
  NetworkOptions network;
  std::string kind = "all-reduce";
  std::string bytes = "1MiB..16GiB";
  std::string group;
  std::string algorithm;
  std::string fidelity = "fluid";
  std::vector<double> receive_share;
  std::optional<double> imbalance;
  bool quiet = false;
  std::vector<std::string> catalog_directories;
  OutputOptions output;
};

constexpr CollectiveKind kLastKind = CollectiveKind::kBarrier;

struct Row {
  double bytes = 0;
  Time time, bound;
  Bandwidth algbw, busbw;
  Algorithm algorithm = Algorithm::kDirect;
};

Row row_of(const Fabric& fabric, const Collective& collective, std::span<const ChipId> group,
           Algorithm algorithm, Time time) {
  const double seconds = time.in_seconds();
  return {collective.bytes.value,
          time,
          lower_bound(fabric, collective, group),
          {seconds > 0 ? collective.bytes.value / seconds : 0},
          seconds > 0 ? bus_bandwidth(collective, static_cast<int>(group.size()), time) : Bandwidth{},
          algorithm};
}

std::optional<Row> measure_fluid(const Fabric& fabric, const Collective& collective,
                                 std::span<const ChipId> group, const std::optional<Algorithm>& pinned) {
  const auto chosen =
      pinned ? plan_with(*pinned, fabric, collective, group) : plan(fabric, collective, group);
  if (!chosen) return std::nullopt;
  return row_of(fabric, collective, group, chosen->algorithm, predict(fabric, *chosen));
}

// Without a pinned algorithm, the fastest fluid plan of those that have steps.
std::optional<Row> measure_stepwise(const Fabric& fabric, const Collective& collective,
                                    std::span<const ChipId> group, const std::optional<Algorithm>& pinned,
                                    const ShareTold& told) {
  std::optional<StepPlan> steps;
  Time fastest = Time::max();
  for (int a = 0; a <= static_cast<int>(kLastAlgorithm); ++a) {
    const auto algorithm = static_cast<Algorithm>(a);
    if (pinned && algorithm != *pinned) continue;
    const auto fluid = plan_with(algorithm, fabric, collective, group);
    if (!fluid || predict(fabric, *fluid) >= fastest) continue;
    auto planned = plan_steps(algorithm, fabric, collective, group);
    if (!planned) continue;
    fastest = predict(fabric, *fluid);
    steps = std::move(planned);
  }
  if (!steps) return std::nullopt;
  return row_of(fabric, collective, group, steps->algorithm, simulate_steps(fabric, *steps, told));
}

std::string time_in_us(Time time) { return fixed(time.in_seconds() * 1e6, 3); }

std::vector<std::vector<std::string>> cells(const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> table = {
      {"bytes", "time us", "algbw GB/s", "busbw GB/s", "of bound", "algorithm"}};
  for (const Row& row : rows) {
    const double of_bound = row.time.ps == 0 ? 1 : row.bound.in_seconds() / row.time.in_seconds();
    table.push_back({fixed(row.bytes, 0), time_in_us(row.time), fixed(row.algbw.value / 1e9, 3),
                     fixed(row.busbw.value / 1e9, 3), percent(of_bound),
                     std::string(to_string(row.algorithm))});
  }
  return table;
}

std::string as_json(const std::vector<Row>& rows, const std::string& sha256) {
  std::vector<Figure> list;
  for (const Row& row : rows) {
    list.push_back(Figure::group("", {{"bytes", row.bytes},
                                      {"time_s", row.time.in_seconds()},
                                      {"algbw_gb_per_s", row.algbw.value / 1e9},
                                      {"busbw_gb_per_s", row.busbw.value / 1e9},
                                      {"lower_bound_s", row.bound.in_seconds()},
                                      {"algorithm", std::string(to_string(row.algorithm))}}));
  }
  return json_text(result_figure(sha256, {Figure::list("rows", std::move(list))}), JsonNumbers::kWithPoint);
}

std::string sizes_csv(const std::vector<Row>& rows) {
  std::string text = "bytes,time_s,algbw_gb_per_s,busbw_gb_per_s,lower_bound_s,algorithm\n";
  for (const Row& row : rows) {
    text += shortest(row.bytes) + "," + exact_seconds(row.time) + "," + shortest(row.algbw.value / 1e9) +
            "," + shortest(row.busbw.value / 1e9) + "," + exact_seconds(row.bound) + "," +
            std::string(to_string(row.algorithm)) + "\n";
  }
  return text;
}

// The chips of --group, all of them without it; nothing when the list is wrong.
std::optional<std::vector<ChipId>> group_of(const std::string& text, int chips) {
  std::vector<ChipId> group(static_cast<std::size_t>(chips));
  std::iota(group.begin(), group.end(), 0);
  if (text.empty()) return group;
  const auto indices = parse_index_list(text);
  if (!indices) {
    spdlog::error("--group \"{}\": expected chips such as 0..7, 0..56+8 or 0,1,4", text);
    return std::nullopt;
  }
  group.clear();
  std::vector<bool> seen(static_cast<std::size_t>(chips));
  for (const std::int64_t index : *indices) {
    if (index >= chips || seen[static_cast<std::size_t>(index)]) {
      spdlog::error("--group: chip {} {}", index, index >= chips ? "is not in the fabric" : "is named twice");
      return std::nullopt;
    }
    seen[static_cast<std::size_t>(index)] = true;
    group.push_back(static_cast<ChipId>(index));
  }
  return group;
}

// What --receive-share or --imbalance say of an all-to-all, empty without them; nothing when they are wrong.
std::optional<std::vector<double>> shares_of(const CollectiveVerb& verb, std::size_t ranks) {
  if (verb.receive_share.empty() && !verb.imbalance) return std::vector<double>{};
  if (value_named(verb.kind, kLastKind) != CollectiveKind::kAllToAll) {
    spdlog::error("--receive-share and --imbalance are of --kind all-to-all, not {}", verb.kind);
    return std::nullopt;
  }
  if (verb.imbalance) {
    const double n = static_cast<double>(ranks), most = *verb.imbalance;
    if (most > n) {
      spdlog::error("--imbalance must be from 1 to the {} ranks, not {}", ranks, most);
      return std::nullopt;
    }
    std::vector<double> shares(ranks, 1 / n);
    if (most == 1) return shares;
    std::ranges::fill(shares, (1 - most / n) / (n - 1));
    shares[0] = most / n;
    return shares;
  }
  const double sum = std::accumulate(verb.receive_share.begin(), verb.receive_share.end(), 0.0);
  const bool shares = verb.receive_share.size() == ranks && std::abs(sum - 1) < 1e-9;
  if (shares && std::ranges::min(verb.receive_share) >= 0) return verb.receive_share;
  spdlog::error("--receive-share needs {} shares of at least 0 that are 1 together, not {} that are {}",
                ranks, verb.receive_share.size(), sum);
  return std::nullopt;
}

void explain_inapplicable(const CollectiveVerb& verb, std::size_t chips) {
  const std::string name = verb.algorithm.empty() ? "no algorithm" : hyphenated(verb.algorithm);
  if (verb.fidelity == "fluid") {
    spdlog::error("{} does not apply to {} of this group of {} chips", name, verb.kind, chips);
  } else {
    spdlog::error(
        "{} cannot be simulated stepwise for {} of this group of {} chips: steps are known of rings, torus,"
        " halving-doubling, hierarchical and direct; trees and in-switch reductions take --fidelity fluid",
        name, verb.kind, chips);
  }
}

std::string collective_digest(const CollectiveVerb& verb, const LookedUpEntries& entries) {
  std::string words = "collective " + question_words(verb.network) + " " + hyphenated(verb.kind) + " " +
                      verb.bytes + " [" + verb.group + "] [" + hyphenated(verb.algorithm) + "] " +
                      verb.fidelity;
  for (const double share : verb.receive_share) words += " " + shortest(share);
  if (verb.imbalance) words += " imbalance " + shortest(*verb.imbalance);
  return entries.digest(words);
}

int collective(const CollectiveVerb& verb) {
  const LookedUpEntries entries;
  const auto sizes = parse_byte_range(verb.bytes);
  if (!sizes) {
    spdlog::error(
        "--bytes \"{}\": expected sizes such as 64MiB, 1MiB..16GiB, 1MiB..16GiBx4 or 8KB,1MB, up to 1PB",
        verb.bytes);
    return kInputError;
  }
  const auto catalog = open_catalog(verb.catalog_directories);
  const auto network = catalog ? choose_network(*catalog, verb.network) : std::nullopt;
  const auto group = network ? group_of(verb.group, network->chips) : std::nullopt;
  if (!group) return kInputError;
  const auto shares = shares_of(verb, group->size());
  if (!shares) return kInputError;
  const Fabric fabric = build_fabric(*network);
  const CollectiveKind kind = value_named(verb.kind, kLastKind);
  if (kind == CollectiveKind::kSendReceive && group->size() != 2) {
    spdlog::error("send-receive is from one chip to another: name both, such as --group 0,1, not {} chips",
                  group->size());
    return kInputError;
  }
  std::optional<Algorithm> pinned;
  if (!verb.algorithm.empty()) pinned = value_named(verb.algorithm, kLastAlgorithm);
  std::vector<Row> rows;
  Progress progress(sizes->size(), "sizes", verb.quiet);
  const auto told = [&](double share) {
    progress.share_done((static_cast<double>(rows.size()) + share) / static_cast<double>(sizes->size()));
  };
  for (const double bytes : *sizes) {
    const Collective asked = {kind, {bytes}, *shares};
    const auto row = verb.fidelity == "fluid" ? measure_fluid(fabric, asked, *group, pinned)
                                              : measure_stepwise(fabric, asked, *group, pinned, told);
    if (!row) {
      explain_inapplicable(verb, group->size());
      return kInputError;
    }
    rows.push_back(*row);
    progress.one_done();
  }
  const std::string title = hyphenated(verb.kind) + " among " + std::to_string(group->size()) + " of " +
                            std::to_string(fabric.chips) + " chips, fabric " + fabric.name + "\n\n";
  const std::string& format = verb.output.format;
  emit(format == "json"  ? as_json(rows, collective_digest(verb, entries))
       : format == "csv" ? sizes_csv(rows)
                         : title + align(cells(rows)),
       verb.output.out);
  return kDone;
}

}  // namespace

void add_collective(CLI::App& app, int& exit_code) {
  CLI::App& verb =
      *app.add_subcommand("collective", "Predict a collective on a network: time and bandwidth by size");
  const auto options = std::make_shared<CollectiveVerb>();
  add_network_options(verb, options->network);
  verb.get_option("--fabric")->required();
  verb.add_option("--kind", options->kind, "Which collective")
      ->check(CLI::IsMember(names_up_to(kLastKind), hyphenated))
      ->capture_default_str();
  verb.add_option("--bytes", options->bytes, "Sizes: 64MiB, 1MiB..16GiB (doubling), 1MiB..16GiBx4 or a list")
      ->capture_default_str()
      ->type_name("SIZES");
  verb.add_option("--group", options->group, "Chips that take part: 0..7, 0..56+8 or 0,1,4; all by default")
      ->type_name("CHIPS");
  verb.add_option("--algorithm", options->algorithm, "Pin the algorithm; the fastest by default")
      ->check(CLI::IsMember(names_up_to(kLastAlgorithm), hyphenated))
      ->type_name("NAME");
  verb.add_option("--fidelity", options->fidelity,
                  "fluid: all transfers of a phase at once; stepwise: each transfer by itself")
      ->check(CLI::IsMember({"fluid", "stepwise"}))
      ->capture_default_str();
  real_number(verb.add_option(
                  "--receive-share", options->receive_share,
                  "All-to-all: the share of what a rank sends that goes to each rank, such as 0.4,0.2,0.4"),
              0, 1)
      ->delimiter(',')
      ->type_name("SHARES");
  real_number(
      verb.add_option("--imbalance", options->imbalance,
                      "All-to-all: the first rank takes in F times its fair share, the others what is "
                      "left"),
      1, INT32_MAX)
      ->excludes("--receive-share")
      ->type_name("F");
  verb.add_flag("--quiet", options->quiet, "No progress");
  add_catalog_option(verb, options->catalog_directories);
  add_output_options(verb, options->output, {"table", "json", "csv"});
  verb.footer(
      "Sizes are as in nccl-tests: the tensor of a rank for all-reduce, the whole result for all-gather.\n"
      "Examples:\n"
      "  podsim collective --fabric dgx_h100 --chips 64 --kind all-reduce --bytes 1MiB..16GiB\n"
      "  podsim collective --fabric v5p_pod --shape 8x8x8 --kind all-gather --bytes 1GiB --format json\n"
      "  podsim collective --fabric dgx_h100 --chips 64 --group 0..56+8 --algorithm ring\n"
      "  podsim collective --fabric dgx_h100 --chips 64 --kind all-to-all --bytes 64MiB --imbalance 1.5\n"
      "  podsim collective --fabric dgx_h100 --chips 512 --bytes 1GB --algorithm ring --fidelity stepwise");
  verb.callback([options, &exit_code] { exit_code = collective(*options); });
}

}  // namespace podsim
