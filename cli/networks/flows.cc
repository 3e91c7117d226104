// podsim flows: the finish times of flows on any graph, and how busy that keeps its edges.
#include "scheduler/network/flows.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>

#include "cli/networks/verbs.h"
#include "cli/options/numbers.h"
#include "cli/options/options.h"
#include "cli/scenarios/batch.h"
#include "cli/scenarios/question.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "proto/cases/load_flows.h"
#include "proto/text/question_digest.h"
#include "proto/text/read_file.h"
#include "proto/writing/figure_json.h"
#include "proto/writing/result_json.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

struct FlowsVerb {
  std::vector<std::string> files;
  std::string convention = "after";
  std::string transport = "ideal";
  std::uint64_t seed = 1;
  std::vector<std::string> catalog_directories;
  bool each = false;  // flow, in the table
  int links = 5;
  OutputOptions output;
};

struct Simulated {
  FlowCaseFile input;
  FlowsResult result;
  bool ideal = true;  // transport

  const FlowCase& flows() const { return input.flows; }
};

// The largest |simulated - expected| / expected, of the flows that the file tells about; nothing without any,
// or under a transport that is not the ideal they are for.
std::optional<double> max_relative_error(const Simulated& simulated, LatencyConvention convention) {
  if (!simulated.ideal) return std::nullopt;
  const auto& expected = convention == LatencyConvention::kAfter ? simulated.input.expected_after_s
                                                                 : simulated.input.expected_first_s;
  if (expected.empty()) return std::nullopt;
  double worst = 0;
  for (std::size_t f = 0; f < expected.size(); ++f) {
    const double difference = std::abs(simulated.result.finish_s[f] - expected[f]);
    worst = std::max(worst, expected[f] > 0 ? difference / expected[f] : difference);
  }
  return worst;
}

double finish_of(const FlowsResult& result, const FlowJob& job) {
  return *std::max_element(result.finish_s.begin() + job.first, result.finish_s.begin() + job.end);
}

// Edges by falling utilisation, equal ones by number.
std::vector<std::size_t> busiest(const FlowsResult& result, std::size_t most) {
  std::vector<std::size_t> edges(result.edges.size());
  std::iota(edges.begin(), edges.end(), 0u);
  std::stable_sort(edges.begin(), edges.end(), [&](std::size_t a, std::size_t b) {
    return result.edges[a].utilisation > result.edges[b].utilisation;
  });
  edges.resize(std::min(edges.size(), most));
  return edges;
}

std::string microseconds(double seconds) { return fixed(seconds * 1e6, 6); }

// "4.3e-12"
std::string magnitude(double error) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1e", error);
  return text.data();
}

std::string flows_table(const Simulated& simulated, const FlowsVerb& verb, LatencyConvention convention) {
  const FlowCase& flows = simulated.flows();
  const FlowsResult& result = simulated.result;
  std::string text = flows.name + ": " + std::to_string(flows.flows.size()) + " flows, " +
                     std::to_string(flows.nodes) + " nodes, " + std::to_string(flows.edges.size()) +
                     " edges, latency convention \"" + verb.convention + "\"\n\n";
  std::vector<std::vector<std::string>> figures = {{"makespan us", microseconds(result.makespan_s)},
                                                   {"mean finish us", microseconds(result.mean_finish_s)},
                                                   {"solves", std::to_string(result.solves)}};
  if (const auto error = max_relative_error(simulated, convention))
    figures.push_back({"largest relative error", magnitude(*error)});
  text += align(figures);
  if (verb.links > 0 && !flows.edges.empty()) {
    std::vector<std::vector<std::string>> links = {{"edge", "from", "to", "bytes", "utilisation"}};
    for (const std::size_t e : busiest(result, static_cast<std::size_t>(verb.links)))
      links.push_back({std::to_string(e), std::to_string(flows.edges[e].from),
                       std::to_string(flows.edges[e].to), fixed(result.edges[e].bytes, 0),
                       percent(result.edges[e].utilisation)});
    text += "\n" + align(links);
  }
  if (!flows.jobs.empty()) {
    std::vector<std::vector<std::string>> jobs = {{"job", "flows", "finish us"}};
    for (std::size_t j = 0; j < flows.jobs.size(); ++j)
      jobs.push_back({std::to_string(j), std::to_string(flows.jobs[j].end - flows.jobs[j].first),
                      microseconds(finish_of(result, flows.jobs[j]))});
    text += "\n" + align(jobs);
  }
  if (verb.each && !flows.flows.empty()) {
    std::vector<std::vector<std::string>> each = {{"flow", "src", "dst", "bytes", "finish us"}};
    for (std::size_t f = 0; f < flows.flows.size(); ++f)
      each.push_back({std::to_string(f), std::to_string(flows.flows[f].source),
                      std::to_string(flows.flows[f].destination), shortest(flows.flows[f].bytes),
                      microseconds(result.finish_s[f])});
    text += "\n" + align(each);
  }
  return text;
}

Figure as_figures(const Simulated& simulated, const FlowsVerb& verb, LatencyConvention convention,
                  const std::string& sha256) {
  const FlowCase& flows = simulated.flows();
  const FlowsResult& result = simulated.result;
  std::vector<Figure> parts = {{"name", flows.name},
                               {"convention", verb.convention},
                               {"makespan_s", result.makespan_s},
                               {"mean_finish_s", result.mean_finish_s},
                               {"solves", result.solves}};
  if (const auto error = max_relative_error(simulated, convention))
    parts.emplace_back("max_relative_error", *error);
  std::vector<Figure> jobs, links;
  for (const FlowJob& job : flows.jobs)
    jobs.push_back(
        Figure::group("", {{"first", job.first}, {"end", job.end}, {"finish_s", finish_of(result, job)}}));
  if (!jobs.empty()) parts.push_back(Figure::list("jobs", std::move(jobs)));
  parts.push_back(Figure::list("finish_s", values_of(result.finish_s)));
  for (std::size_t e = 0; e < flows.edges.size(); ++e)
    links.push_back(Figure::group("", {{"edge", e},
                                       {"from", flows.edges[e].from},
                                       {"to", flows.edges[e].to},
                                       {"bytes", result.edges[e].bytes},
                                       {"utilisation", result.edges[e].utilisation}}));
  parts.push_back(Figure::list("links", std::move(links)));
  return result_figure(sha256, std::move(parts));
}

constexpr const char* kCsvHeader = "case,convention,flow,src,dst,bytes,start_s,finish_s\n";

std::string flows_csv(const Simulated& simulated, const FlowsVerb& verb) {
  std::string text;
  const std::string start = csv_text_cell(simulated.flows().name) + "," + verb.convention + ",";
  for (std::size_t f = 0; f < simulated.flows().flows.size(); ++f) {
    const Flow& flow = simulated.flows().flows[f];
    text += start + std::to_string(f) + "," + std::to_string(flow.source) + "," +
            std::to_string(flow.destination) + "," + shortest(flow.bytes) + "," + shortest(flow.start_s) +
            "," + shortest(simulated.result.finish_s[f]) + "\n";
  }
  return text;
}

// All cases, or nothing when one has problems; they are printed to standard error.
std::optional<std::vector<FlowCaseFile>> load_cases(const std::vector<std::string>& files) {
  std::vector<FlowCaseFile> cases;
  bool clean = true;
  for (const std::string& file : files) {
    LoadFlowsResult loaded = load_flow_case_file(file);
    print_problems(loaded.problems);
    clean &= loaded.file.has_value();
    if (!loaded.file) continue;
    if (loaded.file->flows.name.empty()) loaded.file->flows.name = file == "-" ? kStandardInput : file;
    cases.push_back(*std::move(loaded.file));
  }
  if (!clean) return std::nullopt;
  return cases;
}

// Nothing for an unknown name, which is said.
std::optional<TransportDraw> transport_named(const Catalog& catalog, const std::string& name,
                                             std::uint64_t seed) {
  if (auto transport = catalog.transport(name)) return TransportDraw{*std::move(transport), seed};
  spdlog::error("the catalogue has no transport \"{}\"; {}", name,
                catalog.hint(Catalog::Section::kTransports, name));
  return std::nullopt;
}

std::string flows_digest(const FlowsVerb& verb, const LookedUpEntries& entries, const std::string& file) {
  return entries.digest(sha256_of_files(
      "flows " + verb.convention + " " + verb.transport + " " + std::to_string(verb.seed), {file}));
}

int flows(const FlowsVerb& verb) {
  const LookedUpEntries entries;
  const auto catalog = open_catalog(verb.catalog_directories);
  const auto draw = catalog ? transport_named(*catalog, verb.transport, verb.seed) : std::nullopt;
  auto cases = draw ? load_cases(verb.files) : std::nullopt;
  if (!cases) return kInputError;
  const auto convention = verb.convention == "after" ? LatencyConvention::kAfter : LatencyConvention::kFirst;
  const std::string& format = verb.output.format;
  std::string text = format == "csv" ? kCsvHeader : "";
  std::vector<Figure> list;
  for (std::size_t i = 0; i < cases->size(); ++i) {
    Simulated simulated{std::move((*cases)[i]), {}, draw->transport.is_ideal()};
    simulated.result = simulate_flows(simulated.flows(), convention, *draw);
    if (!simulated.result.problem.empty()) {
      spdlog::error("{}: {}", verb.files[i], simulated.result.problem);
      return kInputError;
    }
    if (format == "json") {
      list.push_back(as_figures(simulated, verb, convention, flows_digest(verb, entries, verb.files[i])));
    } else if (format == "csv") {
      text += flows_csv(simulated, verb);
    } else {
      text += (i > 0 ? "\n" : "") + flows_table(simulated, verb, convention);
    }
  }
  if (format == "json")
    text = json_text(list.size() == 1 ? list.front() : Figure::list("", std::move(list)),
                     JsonNumbers::kWithPoint);
  emit(text, verb.output.out);
  return kDone;
}

}  // namespace

void add_flows(CLI::App& app, int& exit_code) {
  CLI::App& verb =
      *app.add_subcommand("flows", "Simulate flows on any graph: when each finishes, and how busy edges are");
  const auto options = std::make_shared<FlowsVerb>();
  verb.add_option("FILE", options->files, "Flow cases, JSON; - is standard input")->required();
  verb.add_option("--convention", options->convention,
                  "Latency of a route: waited for after draining, or first, before taking bandwidth")
      ->check(CLI::IsMember({"after", "first"}))
      ->capture_default_str();
  verb.add_option("--transport", options->transport,
                  "How fairly flows share edges (see podsim catalog transports)")
      ->capture_default_str()
      ->type_name("NAME");
  whole_number(verb.add_option("--seed", options->seed, "Of the weights that a transport draws"))
      ->capture_default_str()
      ->type_name("N");
  verb.add_flag("--flows", options->each, "List the finish time of every flow in the table");
  whole_number(verb.add_option("--links", options->links, "How many of the busiest edges the table lists"), 0,
               1'000'000)
      ->capture_default_str()
      ->type_name("N");
  verb.add_option("--format", options->output.format, "How to write the result; csv has a row for each flow")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  verb.add_option("--out", options->output.out, "Write to this file")->type_name("FILE");
  add_catalog_option(verb, options->catalog_directories);
  verb.footer(
      "Rates are max-min fair, in proportion to weights. When a case has expected_finish_s, the largest\n"
      "relative difference from it is shown too. JSON of several cases is a list.\n"
      "Examples:\n"
      "  podsim flows scenarios/flows/c01_torus444_perm_dor.json --flows\n"
      "  podsim flows scenarios/flows/*.json --convention first\n"
      "  podsim flows scenarios/flows/c04_leafspine64_perm_flowhash.json --transport rocev2\n"
      "  podsim flows scenarios/flows/c11_leafspine64_two_jobs_ring.json --format json --out result.json");
  verb.callback([options, &exit_code] { exit_code = flows(*options); });
}

}  // namespace podsim
