// Reads them, chip by chip.
#include "cli/plan/chip_terms.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <functional>

#include "cli/options/numbers.h"
#include "engine/words.h"
#include "proto/catalog/catalog.h"
#include "scheduler/question/plan_limits.h"
#include "topology/fabric_spec.h"

namespace podsim {
namespace {

struct TermOption {
  const char* name;
  std::string ChipTermOptions::*text;
  double least, most;
  bool whole;
  void (*set)(ChipTerms&, double);
  const char *type, *help;
};

const std::vector<TermOption>& term_options() {
  static const std::vector<TermOption> all = {
      {"--from-day", &ChipTermOptions::from_day, 0, kPlanDays.most, false,
       [](ChipTerms& terms, double value) { terms.from_day = value; }, "CHIP=DAYS,...",
       "Lead time, or days to a release: training on the chip begins then: tpu_v7=60,b200=30"},
      {"--most-chips", &ChipTermOptions::most_chips, 1, kMaxChips, true,
       [](ChipTerms& terms, double value) { terms.most_chips = static_cast<int>(value); }, "CHIP=N,...",
       "Quota, or the largest block that is offered: h100=512"},
      {"--one-off-usd", &ChipTermOptions::one_off_usd, 0, kPlanUsd.most, false,
       [](ChipTerms& terms, double value) { terms.one_off_usd = value; }, "CHIP=USD,...",
       "What it costs once to move the job to the chip, such as to another stack: tpu_v5p=400e3"},
      {"--one-off-days", &ChipTermOptions::one_off_days, 0, kPlanDays.most, false,
       [](ChipTerms& terms, double value) { terms.one_off_days = value; }, "CHIP=DAYS,...",
       "How long that takes before training begins, while one waits for the chips: tpu_v5p=21"}};
  return all;
}

}  // namespace

void add_chip_term_options(CLI::App& verb, ChipTermOptions& options) {
  for (const TermOption& option : term_options())
    verb.add_option(option.name, options.*option.text, option.help)->type_name(option.type);
}

std::optional<std::map<std::string, ChipTerms>> chip_terms_of(const ChipTermOptions& options,
                                                              const Catalog& catalog) {
  std::map<std::string, ChipTerms> terms;
  for (const TermOption& option : term_options()) {
    const std::string& text = options.*option.text;
    if (text.empty()) continue;
    for (const std::string& part : split(text, ',')) {
      const std::size_t equals = part.find('=');
      const std::string chip = trim(part.substr(0, equals));
      const auto name = catalog.canonical(Catalog::Section::kChips, chip);
      if (equals != std::string::npos && !name) {
        spdlog::error("{}: the catalogue has no chip \"{}\"; {}", option.name, chip,
                      catalog.hint(Catalog::Section::kChips, chip));
        return std::nullopt;
      }
      const auto value = equals == std::string::npos
                             ? std::nullopt
                             : number_between(trim(part.substr(equals + 1)), option.least, option.most);
      if (!value || (option.whole && *value != std::floor(*value))) {
        spdlog::error("{} \"{}\": expected {}, numbers from {} to {}", option.name, part, option.type,
                      option.least, option.most);
        return std::nullopt;
      }
      option.set(terms[*name], *value);
    }
  }
  return terms;
}

}  // namespace podsim
