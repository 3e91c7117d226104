// Reads tables of what may be calibrated and composes the lines that move one number.
#include "calibration/calibration_table.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/check.h"
#include "engine/number_text.h"
#include "engine/spelling.h"
#include "engine/words.h"
#include "proto/text/csv_table.h"

namespace podsim {
namespace {

std::string meant(const std::string& word, const std::vector<std::string>& names) {
  const std::string close = closest_name(word, names);
  return close.empty() ? "" : "did you mean \"" + close + "\"?";
}

struct SectionName {
  const char* name;
  Catalog::Section section;
};
constexpr SectionName kSections[] = {{"chip", Catalog::Section::kChips},
                                     {"fabric", Catalog::Section::kFabrics},
                                     {"stack", Catalog::Section::kStacks}};

class Reader {
 public:
  Reader(const std::string& file, const std::string& text, const Catalog& catalog, CalibrationTable& table)
      : csv_(file, text), catalog_(catalog), table_(table) {}

  std::vector<Problem> read() {
    bool complete = true;
    for (const char* column :
         {"section", "entries", "paths", "kind", "start", "spread", "low", "high", "source"})
      complete = csv_.require(column) && complete;
    if (!complete) return csv_.problems();
    // Lines with starts first, wherever they stand, so that the others find their numbers.
    for (const CsvRow& row : csv_.rows())
      if (!text(row, "start").empty()) start(row);
    for (const CsvRow& row : csv_.rows()) move(row);
    return csv_.problems();
  }

 private:
  struct Named {
    std::size_t entry;  // its place in the line
    CalibratedNumber number;
  };

  const std::string& text(const CsvRow& row, const char* column) const { return csv_.cell(row, column).text; }

  std::optional<Catalog::Section> section_of(const CsvRow& row) {
    std::vector<std::string> names;
    for (const SectionName& known : kSections) {
      if (text(row, "section") == known.name) return known.section;
      names.emplace_back(known.name);
    }
    csv_.report(row, "section", "section is \"" + text(row, "section") + "\", not chip, fabric or stack",
                meant(text(row, "section"), names));
    return std::nullopt;
  }

  // Entry by entry, the paths of each. In a shared line an entry need not state every path, for what 8-bit
  // formats share is fp8 on one chip and int8 on another. Empty, and a problem told, where the catalogue
  // lacks a name.
  std::vector<Named> numbers_of(const CsvRow& row, bool shared) {
    std::vector<Named> numbers;
    const auto section = section_of(row);
    if (!section) return {};
    const auto entries = split(text(row, "entries"), '|'), paths = split(text(row, "paths"), '|');
    const auto known = catalog_.names(*section);
    for (std::size_t e = 0; e < entries.size(); ++e) {
      if (std::ranges::count(known, entries[e]) == 0) {
        csv_.report(row, "entries",
                    "the catalogue has no " + text(row, "section") + " \"" + entries[e] + "\"",
                    catalog_.hint(*section, entries[e]));
        return {};
      }
      for (const std::string& path : paths)
        if (catalog_.number(*section, entries[e], path))
          numbers.push_back({e, {*section, entries[e], path, 0, 0, 0}});
    }
    for (std::size_t e = 0; e < entries.size(); ++e) {
      for (const std::string& path : paths) {
        const bool stated = std::ranges::any_of(numbers, [&](const Named& named) {
          const bool this_path = named.number.path == path, this_entry = named.entry == e;
          return shared ? this_path : this_path && this_entry;
        });
        if (stated) continue;
        csv_.report(row, "paths", entries[e] + " does not state \"" + path + "\"",
                    meant(path, catalog_.numbers(*section, entries[e])));
        return {};
      }
      if (std::ranges::count(numbers, e, &Named::entry) > 0) continue;
      csv_.report(row, "entries", entries[e] + " states none of these paths");
      return {};
    }
    return numbers;
  }

  std::optional<std::size_t> index_of(const CalibratedNumber& number) const {
    for (std::size_t i = 0; i < table_.numbers.size(); ++i) {
      const CalibratedNumber& known = table_.numbers[i];
      if (known.section == number.section && known.entry == number.entry && known.path == number.path)
        return i;
    }
    return std::nullopt;
  }

  // One start for all numbers, one per entry, or one per number.
  std::optional<std::vector<double>> starts_of(const CsvRow& row, const std::vector<Named>& numbers) {
    std::vector<double> given;
    for (const std::string& part : split(text(row, "start"), '|')) {
      const auto value = whole_text_as<double>(part);
      if (!value) {
        csv_.report(row, "start", "start is \"" + part + "\"", "expected a number");
        return std::nullopt;
      }
      given.push_back(*value);
    }
    const std::size_t entries = numbers.back().entry + 1;
    if (given.size() != 1 && given.size() != entries && given.size() != numbers.size()) {
      csv_.report(row, "start",
                  std::to_string(given.size()) + " starts for " + std::to_string(numbers.size()) +
                      " numbers of " + std::to_string(entries) + " entries",
                  "give one, one per entry or one per number");
      return std::nullopt;
    }
    std::vector<double> starts;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      starts.push_back(given.size() == 1         ? given[0]
                       : given.size() == entries ? given[numbers[i].entry]
                                                 : given[i]);
    return starts;
  }

  void start(const CsvRow& row) {
    const std::vector<Named> numbers = numbers_of(row, false);
    if (numbers.empty()) return;
    const auto starts = starts_of(row, numbers);
    const auto low = csv_.number(row, "low", CsvNumber::kNotNegative),
               high = csv_.number(row, "high", CsvNumber::kNotNegative);
    if (!starts || !low || !high) return;
    if (text(row, "source").empty())
      csv_.report(row, "source", "the start has no source", "say what it is held true from");
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      CalibratedNumber number = numbers[i].number;
      number.start = (*starts)[i];
      number.low = *low;
      number.high = *high;
      const std::string name = number.entry + " " + number.path;
      if (number.start < *low || number.start > *high) {
        csv_.report(row, "start", "the start of " + name + " is not between low and high");
      } else if (number.start == 0 && text(row, "kind") == "scale") {
        csv_.report(row, "start", name + " starts at 0, which no factor moves", "use kind add");
      } else if (index_of(number)) {
        csv_.report(row, "start", "another line starts " + name + " already");
      } else {
        table_.numbers.push_back(number);
      }
    }
  }

  void move(const CsvRow& row) {
    CalibrationParameter parameter;
    parameter.name = text(row, "entries") + " " + text(row, "paths");
    parameter.adds = text(row, "kind") == "add";
    if (!parameter.adds && text(row, "kind") != "scale")
      csv_.report(row, "kind", "kind is \"" + text(row, "kind") + "\", not scale or add",
                  meant(text(row, "kind"), {"scale", "add"}));
    parameter.spread = csv_.number(row, "spread", CsvNumber::kPositive).value_or(0);
    const bool shared = text(row, "start").empty();
    if (shared && !(text(row, "low").empty() && text(row, "high").empty()))
      csv_.report(row, "low", "bounds belong to the line that starts a number",
                  "leave low and high empty here");
    // What is wrong with the numbers of a line with starts is told already.
    const std::vector<Named> numbers =
        shared || csv_.problems().empty() ? numbers_of(row, shared) : std::vector<Named>{};
    for (const Named& named : numbers) {
      const auto index = index_of(named.number);
      if (index) {
        parameter.numbers.push_back(*index);
      } else {
        csv_.report(row, "start", "no line starts " + named.number.entry + " " + named.number.path,
                    "give its start here or in a line of its own");
      }
    }
    table_.parameters.push_back(std::move(parameter));
  }

  CsvTable csv_;
  const Catalog& catalog_;
  CalibrationTable& table_;
};

}  // namespace

std::vector<double> CalibrationTable::values(const std::vector<double>& offsets) const {
  PODSIM_CHECK(offsets.size() == parameters.size(), "an offset for each parameter");
  std::vector<double> logarithm(numbers.size(), 0), sum(numbers.size(), 0), values;
  for (std::size_t p = 0; p < parameters.size(); ++p)
    for (const std::size_t number : parameters[p].numbers)
      (parameters[p].adds ? sum : logarithm)[number] += parameters[p].spread * offsets[p];
  for (std::size_t i = 0; i < numbers.size(); ++i)
    values.push_back(
        std::clamp(numbers[i].start * std::exp(logarithm[i]) + sum[i], numbers[i].low, numbers[i].high));
  return values;
}

std::vector<double> CalibrationTable::effect(std::size_t parameter) const {
  const CalibrationParameter& moving = parameters[parameter];
  std::vector<double> effect(numbers.size(), 0);
  for (const std::size_t number : moving.numbers)
    effect[number] = moving.adds ? moving.spread : moving.spread * numbers[number].start;
  return effect;
}

std::vector<Problem> add_calibration_lines(const std::string& file, const std::string& text,
                                           const Catalog& catalog, CalibrationTable& table) {
  return Reader(file, text, catalog, table).read();
}

}  // namespace podsim
