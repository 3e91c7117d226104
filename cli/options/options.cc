// Declares the shared options, with their help.
#include "cli/options/options.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/options/numbers.h"
#include "engine/words.h"

namespace podsim {

namespace {

// "h100:hbm=1.5x,price=1.2x" as fields of cluster.hypothetical; without "h100:" of whatever chip.
bool add_hypothetical(const std::string& text, std::vector<Override>& overrides) {
  if (text.empty()) return true;
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos) overrides.push_back({"cluster.hypothetical.chip", text.substr(0, colon)});
  for (std::string part : split(text.substr(colon == std::string::npos ? 0 : colon + 1), ',')) {
    const std::size_t equals = part.find('=');
    if (colon == 0 || equals == std::string::npos || equals == 0) {
      spdlog::error(
          "--hypothetical \"{}\": expected CHIP:PART=FACTOR, such as h100:hbm=1.5x or "
          "h100:matmul=2x,price=1.3x",
          text);
      return false;
    }
    if (part.ends_with('x')) part.pop_back();
    overrides.push_back({"cluster.hypothetical." + trim(part.substr(0, equals)), part.substr(equals + 1)});
  }
  return true;
}

constexpr const char* kPriceList = "cluster.prices";

}  // namespace

std::string LoadOptions::price_list() const { return std::filesystem::path(price_sheet).stem().string(); }

std::optional<std::vector<Override>> LoadOptions::overrides() const {
  std::vector<Override> found;
  if (!price_sheet.empty()) {
    const std::string list = price_list();
    if (list.find(',') != std::string::npos) {
      spdlog::error("--prices \"{}\": expected a file whose name has no comma, as the list is called like it",
                    price_sheet);
      return std::nullopt;
    }
    found.push_back({kPriceList, list});
  }
  for (const std::string& text : sets) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      spdlog::error("--set \"{}\": expected path=value, such as job.global_batch_sequences=512", text);
      return std::nullopt;
    }
    found.push_back({text.substr(0, equals), text.substr(equals + 1)});
    if (price_sheet.empty() || found.back().path != kPriceList) continue;
    spdlog::error("--set {} and --prices {} name two lists of prices: give one of them", text, price_sheet);
    return std::nullopt;
  }
  if (!add_hypothetical(hypothetical, found)) return std::nullopt;
  if (seed) found.push_back({"seed", std::to_string(*seed)});
  if (seeds) found.push_back({"seeds", std::to_string(*seeds)});
  return found;
}

void add_catalog_option(CLI::App& verb, std::vector<std::string>& directories) {
  verb.add_option(
          "--catalog", directories,
          "Folder of *.textproto files, or one of them, that add to the built-in catalogue or replace "
          "entries; of *.csv with prices too")
      ->allow_extra_args(false)
      ->type_name("DIR");
}

void add_load_options(CLI::App& verb, LoadOptions& options) {
  add_catalog_option(verb, options.catalog_directories);
  verb.add_option_function<std::string>(
          "--prices",
          [&options](const std::string& file) {
            options.catalog_directories.push_back(file);
            options.price_sheet = file;
          },
          "Prices of your own, in place of the list of the scenario: a table with the columns chip, term and "
          "usd_per_chip_hour")
      ->type_name("SHEET.csv");
  verb.add_option(
          "--set", options.sets,
          "Set a field of every scenario, such as job.mesh.tensor.size=4; may be repeated; where a table "
          "is made, =1,2,4 is three values (of a list field [a,b],[c] is two)")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  verb.add_option(
          "--hypothetical", options.hypothetical,
          "A chip that nobody sells, as factors on one that is sold: h100:hbm=1.5x,price=1.2x. Parts: "
          "matmul, hbm, hbm_capacity, scale_up, scale_out, host_link, power, price; other chips stay "
          "as they are")
      ->type_name("CHIP:PART=FACTOR");
  whole_number(
      verb.add_option("--seed", options.seed, "Seed of the random streams, instead of the scenario's"))
      ->type_name("N");
  whole_number(
      verb.add_option("--seeds", options.seeds,
                      "Draw what is random this many times, from --seed on, instead of the scenario's"),
      0, INT64_MAX)
      ->type_name("N");
}

void add_run_options(CLI::App& verb, RunOptions& options) {
  verb.add_option("--fold", options.fold,
                  "Simulate one of all chips that behave alike; off simulates each (same figures)")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  verb.add_option(
          "--steady", options.steady,
          "Jump over repetitions of loops that have become periodic; off simulates each (same figures)")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  whole_number(
      verb.add_option(
          "--threads", options.threads,
          "Scenarios, or draws of a scenario with seeds, simulated at the same time; 0 = one per core"),
      0, 1024)
      ->type_name("N");
  CLI::Option* quiet = verb.add_flag("--quiet", options.quiet, "No progress and no warnings");
  verb.add_flag_callback(
          "-v,--verbose", [] { spdlog::set_level(spdlog::level::debug); },
          "Tell on standard error how long each stage took: load, partition, lower, fold, simulate, report")
      ->excludes(quiet);
}

void add_output_options(CLI::App& verb, OutputOptions& options, const std::vector<std::string>& formats) {
  verb.add_option("--format", options.format, "How to write the result")
      ->check(CLI::IsMember(formats))
      ->capture_default_str();
  verb.add_option("--out", options.out, "Write to this file, or one file per scenario into this folder")
      ->type_name("PATH");
}

}  // namespace podsim
