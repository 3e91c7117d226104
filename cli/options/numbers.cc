// Puts a check before the conversion that the command-line library makes.
#include "cli/options/numbers.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "engine/number_text.h"
#include "report/text/text.h"

namespace podsim {
namespace {

// `written` is the number as the library will read it.
template <class Number, class Write>
CLI::Option* in_range(CLI::Option* option, Number least, Number most, const std::string& what,
                      Write written) {
  return option->transform(CLI::Validator(
      [=](std::string& text) {
        const auto value = whole_text_as<Number>(text);
        const bool good = value && *value >= least && *value <= most;
        if (!good)
          return what + " from " + written(least) + " to " + written(most) + ", not \"" + text + "\"";
        text = written(*value);
        return std::string();
      },
      ""));
}

}  // namespace

CLI::Option* whole_number(CLI::Option* option, std::uint64_t least, std::uint64_t most) {
  return in_range(option, least, most, "expected a whole number",
                  [](std::uint64_t value) { return std::to_string(value); });
}

std::optional<double> number_between(const std::string& text, double least, double most) {
  const auto value = whole_text_as<double>(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

CLI::Option* real_number(CLI::Option* option, double least, double most) {
  return in_range(option, least, most, "expected a number", [](double value) { return shortest(value); });
}

}  // namespace podsim
