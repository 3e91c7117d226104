// podsim certificate: goes through the proof of a search again.
#include "planner/search/certificate.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "cli/options/options.h"
#include "cli/options/store_option.h"
#include "cli/scenarios/batch.h"
#include "cli/search/verbs.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "engine/parallel_for.h"

namespace podsim {
namespace {

struct CertificateVerb {
  std::string what, file;
  int sample = 100, threads = 0;
  std::vector<std::string> catalogs;
};

int check_proof(const CertificateVerb& verb) {
  std::ifstream in(verb.file, std::ios::binary);
  if (!in || std::filesystem::is_directory(verb.file)) {
    spdlog::error("{}: cannot read the file", verb.file);
    return kInputError;
  }
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto catalog = open_catalog(verb.catalogs);
  if (!catalog) return kInputError;
  const CertificateVerdict verdict =
      check_certificate(text, model_version(), *catalog, verb.sample, threads_or_cores(verb.threads));
  for (const std::string& fault : verdict.faults) spdlog::error("{}: {}", verb.file, fault);
  if (!verdict.is_certificate) return kInputError;
  if (!verdict.holds()) return kInternalError;
  emit(verb.file + ": the proof holds: " + std::to_string(verdict.layouts) + " layouts, " +
           std::to_string(verdict.bounds) + " bounds computed again, " + std::to_string(verdict.simulated) +
           " layouts simulated again\n",
       "");
  return kDone;
}

}  // namespace

void add_certificate(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "certificate", "Go through the proof of a search again, layout by layout (search --certificate)");
  const auto options = std::make_shared<CertificateVerb>();
  verb.add_option("WHAT", options->what, "check")->required()->check(CLI::IsMember({"check"}));
  verb.add_option("FILE", options->file, "The certificate")->required();
  verb.add_option("--sample", options->sample, "Simulate so many layouts again, beside those of the answer")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str()
      ->type_name("N");
  verb.add_option("--threads", options->threads, "Threads; without it as many as the machine has cores")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  add_catalog_option(verb, options->catalogs);
  verb.footer(
      "Every layout of the space has to be there once, every bound has to be what it is when computed again "
      "and "
      "above what it has to beat, and simulated layouts have to take as long as it says. "
      "docs/theory/search.md says what that proves.\n"
      "Examples:\n"
      "  podsim certificate check proof.jsonl --sample 20\n"
      "Exit codes: 0 the proof holds, 1 it does not, or is of another version of podsim, 2 the file cannot "
      "be "
      "read, or is no certificate.");
  verb.callback([options, &exit_code] { exit_code = check_proof(*options); });
}

}  // namespace podsim
