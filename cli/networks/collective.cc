// podsim collective: a table like that of nccl-tests, for one collective on one network.
#include "collectives/collective.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "cli/networks/network.h"
#include "cli/networks/verbs.h"
#include "cli/options/names.h"
#include "cli/options/numbers.h"
#include "cli/options/options.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"
#include "collectives/candidates.h"
#include "collectives/steps.h"
#include "engine/time_limits.h"
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
  bool bytes_given = false;
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

// The algorithm whose steps are simulated, and the one that would be fastest if it had steps.
struct StepChoice {
  std::optional<StepPlan> steps;
  Algorithm fastest;
};

// Of those that the library has, as a fluid plan is chosen, the fastest that has steps.
StepChoice choose_steps(const Fabric& fabric, const Collective& collective, std::span<const ChipId> group) {
  StepChoice choice{std::nullopt, plan(fabric, collective, group).algorithm};
  choice.steps = plan_steps(choice.fastest, fabric, collective, group);
  if (choice.steps) return choice;
  Time least = Time::max();
  for (const CollectivePlan& fluid : every_plan(fabric, collective, group, nullptr)) {
    if (predict(fabric, fluid) >= least) continue;
    auto planned = plan_steps(fluid.algorithm, fabric, collective, group);
    if (!planned) continue;
    least = predict(fabric, fluid);
    choice.steps = std::move(planned);
  }
  return choice;
}

// Says once for each pair of algorithms that another one than the fastest is simulated.
class OtherSteps {
 public:
  void tell(const StepChoice& choice, const Collective& collective) {
    if (choice.steps->algorithm == choice.fastest) return;
    if (!told_.emplace(choice.fastest, choice.steps->algorithm).second) return;
    spdlog::warn("{}, the fastest for {} of {} bytes, {}: {} is simulated in its place",
                 to_string(choice.fastest), to_string(collective.kind), fixed(collective.bytes.value, 0),
                 why_no_steps(choice.fastest, collective), to_string(choice.steps->algorithm));
  }

 private:
  std::set<std::pair<Algorithm, Algorithm>> told_;
};

// Throws StepTooLong, as a run does where a step takes so long.
void check_length(const Collective& collective, Time time) {
  const std::string what =
      std::string(to_string(collective.kind)) + " of " + fixed(collective.bytes.value, 0) + " bytes";
  check_delay(time.in_seconds(), what.c_str());
}

std::optional<Row> measure_stepwise(const Fabric& fabric, const Collective& collective,
                                    std::span<const ChipId> group, const std::optional<Algorithm>& pinned,
                                    const ShareTold& told, OtherSteps& others) {
  StepChoice choice;
  if (pinned)
    choice = {plan_steps(*pinned, fabric, collective, group), *pinned};
  else
    choice = choose_steps(fabric, collective, group);
  if (!choice.steps) return std::nullopt;
  others.tell(choice, collective);
  const Algorithm algorithm = choice.steps->algorithm;
  check_length(collective, predict(fabric, *plan_with(algorithm, fabric, collective, group)));
  return row_of(fabric, collective, group, algorithm, simulate_steps(fabric, *choice.steps, told));
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
    if (most == 1) return std::vector<double>{};
    std::vector<double> shares(ranks, (1 - most / n) / (n - 1));
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
  const std::string kind = hyphenated(verb.kind), name = hyphenated(verb.algorithm);
  if (verb.fidelity == "fluid") {
    spdlog::error("{} does not apply to {} of this group of {} chips", name, kind, chips);
  } else {
    spdlog::error(
        "{} cannot be simulated stepwise {} this group of {} chips: steps are known of rings, torus,"
        " halving-doubling, hierarchical and direct; trees and in-switch reductions take --fidelity fluid",
        name.empty() ? "a " + kind : name, name.empty() ? "in" : "for " + kind + " of", chips);
  }
}

// What --bytes says; nothing when it is wrong. A barrier has no bytes.
std::optional<std::vector<double>> sizes_of(const CollectiveVerb& verb, CollectiveKind kind) {
  const auto sizes = parse_byte_range(verb.bytes);
  if (!sizes)
    spdlog::error(
        "--bytes \"{}\": expected sizes such as 64MiB, 1MiB..16GiB, 1MiB..16GiBx4 or 8KB,1MB, up to 1PB",
        verb.bytes);
  if (!sizes || kind != CollectiveKind::kBarrier) return sizes;
  if (verb.bytes_given) spdlog::warn("--bytes has no effect: a barrier carries none");
  return std::vector<double>{0};
}

void warn_of_long_planning(const Fabric& fabric, CollectiveKind kind, std::size_t chips) {
  constexpr std::size_t kMany = 1024;  // pairs of more take seconds for each size
  if (kind != CollectiveKind::kAllToAll || !fabric.individual_switches || chips <= kMany) return;
  spdlog::warn(
      "the routes between all pairs of {} GPUs are planned one by one, which takes a while; --routing"
      " adaptive, where flows do not collide, takes a moment",
      chips);
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
  const CollectiveKind kind = value_named(verb.kind, kLastKind);
  const auto sizes = sizes_of(verb, kind);
  if (!sizes) return kInputError;
  const auto catalog = open_catalog(verb.catalog_directories);
  const auto network = catalog ? choose_network(*catalog, verb.network) : std::nullopt;
  const auto group = network ? group_of(verb.group, network->chips) : std::nullopt;
  if (!group) return kInputError;
  const auto shares = shares_of(verb, group->size());
  if (!shares) return kInputError;
  const Fabric fabric = build_fabric(*network);
  if (kind == CollectiveKind::kSendReceive && group->size() != 2) {
    spdlog::error("send-receive is from one chip to another: name both, such as --group 0,1, not {} chips",
                  group->size());
    return kInputError;
  }
  warn_of_long_planning(fabric, kind, group->size());
  std::optional<Algorithm> pinned;
  if (!verb.algorithm.empty()) pinned = value_named(verb.algorithm, kLastAlgorithm);
  std::vector<Row> rows;
  OtherSteps others;
  Progress progress(sizes->size(), "sizes", verb.quiet);
  const auto told = [&](double share) {
    progress.share_done((static_cast<double>(rows.size()) + share) / static_cast<double>(sizes->size()));
  };
  for (const double bytes : *sizes) {
    const Collective asked = {kind, {bytes}, *shares};
    const auto row = verb.fidelity == "fluid" ? measure_fluid(fabric, asked, *group, pinned)
                                              : measure_stepwise(fabric, asked, *group, pinned, told, others);
    if (!row) {
      explain_inapplicable(verb, group->size());
      return kInputError;
    }
    check_length(asked, row->time);
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
  verb.add_option("--bytes", options->bytes,
                  "Sizes: 64MiB, 1MiB..16GiB (doubling), 1MiB..16GiBx4 or a list; a barrier has none")
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
  verb.callback([options, &verb, &exit_code] {
    options->bytes_given = verb.count("--bytes") > 0;
    exit_code = collective(*options);
  });
}

}  // namespace podsim
