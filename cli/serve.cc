// podsim serve: a page on this machine to edit scenarios and look at their reports.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "cli/comparisons/compare_page.h"
#include "cli/options/store_option.h"
#include "cli/scenarios/batch.h"
#include "cli/search/search_page.h"
#include "cli/search/search_text.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "cli/verbs.h"
#include "engine/parallel_for.h"
#include "proto/text/read_file.h"
#include "serve/access.h"
#include "serve/http_server.h"

namespace podsim {
namespace {

constexpr char kFirstScenario[] = R"(question: "How long is a step of Llama 3 8B on 64 H100?"
cluster {
  chip: "h100"
  chips: 64
  fabric: "dgx_h100"
}
job {
  model: "llama3_8b"
  stack: "megatron_bridge_2025"
  mesh { name: "data" size: 64 }
  sharding: "data"
  sharding: "zero1"
  global_batch_sequences: 128
  microbatch_sequences: 1
  sequence_tokens: 8192
  precision: bf16
  recompute: full
}
)";

struct ServeVerb {
  std::string file, store, docs, listen, token;
  int port = 8737;
  int threads = 1;
  std::vector<std::string> catalog_directories;
};

// Who may ask, and the name for browsers; nothing where the options are not as their help says, which is
// logged.
struct ServedAt {
  Access access;
  std::string host = "localhost", token = {};
};

std::optional<ServedAt> served_at(const ServeVerb& verb) {
  ServedAt at;
  if (!verb.token.empty()) {
    at.token = verb.token == "random" ? random_token() : verb.token;
    if (const std::string problem = explain_bad_token(at.token); !problem.empty()) {
      spdlog::error("--token: {}", problem);
      return std::nullopt;
    }
  }
  std::optional<ListenAddress> address;
  if (!verb.listen.empty()) {
    address = listen_address(verb.listen);
    if (!address) {
      spdlog::error(
          "--listen \"{}\": expected an address of this machine, such as 192.168.1.4 or 0.0.0.0 for all",
          verb.listen);
      return std::nullopt;
    }
    if (!address->own && at.token.empty()) {
      spdlog::error("--listen {}: others can reach it: add --token random, or a token of your own",
                    verb.listen);
      return std::nullopt;
    }
    at.host = address->unspecified ? machine_name() : address->in_url;
  }
  at.access = Access(!address ? "localhost" : address->unspecified ? "" : address->in_url, at.token);
  return at;
}

int serve(const ServeVerb& verb) {
  const auto at = served_at(verb);
  if (!at) return kInputError;
  const auto catalog = open_catalog(verb.catalog_directories);
  if (!catalog) return kInputError;
  std::string scenario = kFirstScenario;
  if (!verb.file.empty()) {
    std::vector<Problem> problems;
    const auto input = read_input(verb.file, problems);
    print_problems(problems);
    if (!input) return kInputError;
    scenario = input->text;
  }
  std::optional<Documents> documents;
  if (!verb.docs.empty()) {
    documents = Documents::open(verb.docs);
    if (!documents) {
      spdlog::error("--docs: {} has no index.html; ./dev site makes a folder of pages, build/site",
                    verb.docs);
      return kInputError;
    }
  }
  const Interrupt interrupt;
  std::optional<History> history;
  if (!verb.store.empty()) history.emplace(verb.store, model_version());
  Service service(*catalog, scenario, threads_or_cores(verb.threads), history ? &*history : nullptr,
                  {search_json, search_page, compare_page}, documents ? &*documents : nullptr);
  service.set_access(at->access);
  HttpServer server(service, verb.port, {}, verb.listen);
  emit("http://" + at->host + ":" + std::to_string(server.port()) + "/" +
           (at->token.empty() ? "" : "?token=" + at->token) + " until Ctrl-C\n",
       "");
  server.run(interrupt.asked());
  constexpr std::chrono::milliseconds kPatience{500};
  const bool ended =
      service.runs().end(kPatience);  // or in the midst of a long step, of which nothing is kept
  if (!ended && !CollectedMessages::any()) std::_Exit(kDone);  // a program of others goes on
  return kDone;
}

}  // namespace

void add_serve(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "serve", "Show a page on this machine to edit a scenario, run it and look at its report");
  const auto options = std::make_shared<ServeVerb>();
  verb.add_option("FILE", options->file, "Scenario that the editor shows first");
  verb.add_option("--port", options->port, "Port on this machine; 0 takes any that is free")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str()
      ->type_name("PORT");
  verb.add_option("--threads", options->threads, "Runs at a time; 0 is one per core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str()
      ->type_name("N");
  verb.add_option(
          "--store", options->store,
          "Keep the report of every run of one job in this file, as sweep does, but not of searches; the "
          "page lists them again after a restart. A run is simulated whether it is kept or not")
      ->type_name("FILE");
  verb.add_option("--docs", options->docs,
                  "Show the documentation too: the folder that ./dev site makes, build/site")
      ->type_name("FOLDER");
  verb.add_option(
          "--listen", options->listen,
          "Listen at this address instead, which others can reach: 192.168.1.4, or 0.0.0.0 for all of this "
          "machine; needs --token")
      ->type_name("ADDRESS");
  verb.add_option("--token", options->token,
                  "Answer only to who has this token, which the printed address holds; random draws one")
      ->type_name("TOKEN");
  add_catalog_option(verb, options->catalog_directories);
  verb.footer(
      "Nobody else can reach it without --listen: it listens on 127.0.0.1 and ::1, answers to no other name, "
      "and "
      "refuses what pages of other sites ask. No request names a path; only --store is written, and of "
      "--docs only what "
      "lies there is read. docs/guide/serve.md has "
      "its addresses for programs.\n"
      "Examples:\n"
      "  podsim serve scenarios/llama3_70b_512_h100.textproto --port 0\n"
      "  podsim serve --port 0 --threads 0\n"
      "  podsim serve --port 0 --store runs.db\n"
      "  podsim serve --port 0 --listen 0.0.0.0 --token random");
  verb.callback([options, &exit_code] { exit_code = serve(*options); });
}

}  // namespace podsim
