// podsim init: a first scenario to change and run.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "cli/inputs/verbs.h"
#include "cli/options/numbers.h"
#include "cli/options/options.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"
#include "planner/starter.h"
#include "report/text/text.h"

namespace podsim {
namespace {

struct InitVerb {
  StarterRequest request;
  std::vector<std::string> catalog_directories;
  std::string out;
};

int init(const InitVerb& verb) {
  const auto catalog = open_catalog(verb.catalog_directories);
  if (!catalog) return kInputError;
  if (!verb.out.empty() && std::filesystem::exists(verb.out)) {
    spdlog::error("--out {}: the file exists, and podsim init writes new files only", verb.out);
    return kInputError;
  }
  std::optional<Progress> progress(std::in_place, 1, "search", false);
  const Starter starter =
      starter_scenario(verb.request, *catalog, [&](double share) { progress->share_done(share); });
  progress.reset();
  if (starter.text.empty()) {
    spdlog::error("{}", starter.why);
    return kInputError;
  }
  emit(starter.text, verb.out);
  if (!verb.out.empty())
    emit("Wrote " + verb.out + ": " + fixed(starter.step_time_s, 4) + " s a step, " +
             fixed(starter.needed_gib, 2) + " of " + fixed(starter.capacity_gib, 2) +
             " GiB on the fullest chip. Now: podsim run " + verb.out + "\n",
         "");
  return kDone;
}

}  // namespace

void add_init(CLI::App& app, int& exit_code) {
  CLI::App& verb =
      *app.add_subcommand("init", "Write a first scenario of a model on a cluster, one that fits in memory");
  const auto options = std::make_shared<InitVerb>();
  StarterRequest& request = options->request;
  verb.add_option("--model", request.model, "Model: podsim catalog models")->required()->type_name("NAME");
  verb.add_option("--chip", request.chip, "Chip: podsim catalog chips")->required()->type_name("NAME");
  verb.add_option("--chips", request.chips, "How many")
      ->required()
      ->check(CLI::Range(1, kMostStarterChips))
      ->type_name("N");
  verb.add_option("--fabric", request.fabric, "Fabric; without it the usual one of the chip")
      ->type_name("NAME");
  verb.add_option("--stack", request.stack, "Stack, or the name of a framework; without it a generic one")
      ->type_name("NAME");
  verb.add_option("--sequence-tokens", request.sequence_tokens,
                  "Tokens of a sequence; without it as the model's")
      ->check(CLI::Range(1, 100'000'000))
      ->type_name("N");
  verb.add_option("--batch", request.batch_sequences,
                  "Sequences of a step on all chips; without it about 8,192 tokens a chip")
      ->check(CLI::Range(1, 100'000'000))
      ->type_name("N");
  real_number(verb.add_option("--usd-per-chip-hour", request.usd_per_chip_hour,
                              "Price of the chip; without it that of a price list, or 0 where none has it"),
              0, 1e5)
      ->type_name("USD");
  add_catalog_option(verb, options->catalog_directories);
  verb.add_option("--out", options->out, "Write to this new file instead of standard output")
      ->type_name("FILE");
  verb.footer(
      "It is the fastest of the usual layouts (data, ZeRO-1, FSDP, HSDP, tensor, pipeline, experts; "
      "microbatches; recompute) that leave 8% of memory free, to 3%; where none does, of those that fit. "
      "podsim search goes through all layouts. Exit code 2 where none fits; the message says how many chips "
      "would do.\n"
      "A stack that nobody names is a generic one: what a framework does as its documentation starts it "
      "(docs/guide/which-stack.md). --stack takes names of frameworks too: nanotron, deepspeed, accelerate, "
      "torchtune, megatron_lm, jax (on GPUs generic_compiled).\n"
      "Examples:\n"
      "  podsim init --model llama3_8b --chip h100 --chips 64 --out first.textproto\n"
      "  podsim init --model llama3_70b --chip tpu_v5p --chips 512 --sequence-tokens 8192 --batch 512\n"
      "  podsim init --model mixtral_8x7b --chip h100 --chips 64 | podsim run -");
  verb.callback([options, &exit_code] { exit_code = init(*options); });
}

}  // namespace podsim
