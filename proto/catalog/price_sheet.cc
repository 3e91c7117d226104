// Cells to fields, with the place of those that are wrong.
#include "proto/catalog/price_sheet.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "engine/spelling.h"
#include "proto/catalog.pb.h"
#include "proto/catalog/catalog_entries.h"
#include "proto/catalog/contract_length.h"
#include "proto/catalog/price_offer.h"
#include "proto/text/assign.h"
#include "proto/text/csv_table.h"

namespace podsim {
namespace {

constexpr const char* kNumbers[] = {"usd_per_chip_hour", "low_usd_per_chip_hour", "high_usd_per_chip_hour",
                                    "minimum_days"};
constexpr const char* kTexts[] = {"chip", "term", "provider", "region", "date", "source"};

std::string text_literal(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + '"';
}

std::vector<std::string> kinds_of_contract() {
  std::vector<std::string> names;
  for (int kind = schema::Contract::Kind_MIN + 1; kind <= schema::Contract::Kind_MAX; ++kind)
    names.push_back(schema::Contract::Kind_Name(static_cast<schema::Contract::Kind>(kind)));
  return names;
}

// The name in the catalogue of a chip that a row calls so.
std::string chip_of_row(CsvTable& table, const CsvRow& row, const Catalog::Entries& entries) {
  const std::string said = table.cell(row, "chip").text;
  const auto known = canonical_name(entries, Catalog::Section::kChips, said);
  if (known || said.empty()) return known.value_or("");
  const std::string near = closest_name(said, entry_names(entries, Catalog::Section::kChips));
  if (!near.empty())
    table.report(row, "chip", "there is no chip \"" + said + "\"", "did you mean \"" + near + "\"?");
  return said;
}

// Numbers that a row has, as text; the days that it binds for go into `price`.
std::string numbers_of_row(CsvTable& table, const CsvRow& row, schema::ChipPrice& price) {
  std::string text;
  std::map<std::string, double> numbers;
  for (const std::string column : kNumbers) {
    if (table.cell(row, column).text.empty() && column != "usd_per_chip_hour") continue;
    const auto number = table.number(row, column, CsvNumber::kNotNegative);
    if (!number) continue;
    numbers[column] = *number;
    text += " " + column + ": " + table.cell(row, column).text;
    if (column == "minimum_days") price.set_minimum_days(*number);
  }
  const auto low = numbers.find("low_usd_per_chip_hour"), high = numbers.find("high_usd_per_chip_hour");
  if (low != numbers.end() && high != numbers.end() && low->second > high->second)
    table.report(row, low->first, "the lowest price is above the highest",
                 "expected at most high_usd_per_chip_hour");
  return text;
}

// `offers`: of the rows before.
std::string row_text(CsvTable& table, const CsvRow& row, const Catalog::Entries& entries,
                     std::set<std::string>& offers) {
  std::string text = "  price {";
  schema::ChipPrice price;
  for (const char* column : kTexts) {
    const std::string name = column;
    std::string value = name == "chip" ? chip_of_row(table, row, entries) : table.cell(row, column).text;
    if (value.empty() && (name == "chip" || name == "term")) {
      table.report(row, column, "the row has no " + name);
    }
    if (name == "chip") price.set_chip(value);
    if (value.empty() && name == "source") value = "own sheet";
    if (value.empty() && name == "date") value = "own sheet";
    if (!value.empty()) text += " " + name + ": " + text_literal(value);
  }
  price.set_term(table.cell(row, "term").text);
  price.set_provider(table.cell(row, "provider").text);
  price.set_region(table.cell(row, "region").text);
  text += numbers_of_row(table, row, price);
  if (const std::string kind = table.cell(row, "kind").text; !kind.empty()) {
    const std::vector<std::string> kinds = kinds_of_contract();
    schema::Contract::Kind known = schema::Contract::KIND_UNSPECIFIED;
    if (std::ranges::count(kinds, kind) == 0) {
      table.report(row, "kind", "there is no kind of contract \"" + kind + "\"",
                   suggest(kind, kinds, "expected"));
    } else if (schema::Contract::Kind_Parse(kind, &known)) {
      price.set_kind(known);
    }
    text += " kind: " + kind;
  }
  if (lacks_length(price)) table.report(row, "term", kLacksLength, kLengthHint);
  if (is_of_owned_chips(price)) table.report(row, "term", kOwnedIsNoRent, kOwnedHint);
  if (!offers.insert(offer_of(price)).second) table.report(row, "chip", kSaidBefore, kSaidBeforeHint);
  return text + " }\n";
}

}  // namespace

std::optional<std::string> as_catalog_text(const std::string& file, const std::string& text,
                                           const Catalog::Entries& entries, std::vector<Problem>& problems) {
  if (!file.ends_with(".csv")) return text;
  CsvTable table(file, text);
  for (const char* column : {"chip", "term", "usd_per_chip_hour"})
    if (!table.has(column)) return std::nullopt;
  std::string list = "prices {\n  name: " + text_literal(std::filesystem::path(file).stem().string()) + "\n";
  std::set<std::string> offers;
  for (const CsvRow& row : table.rows()) list += row_text(table, row, entries, offers);
  problems.insert(problems.end(), table.problems().begin(), table.problems().end());
  if (!table.problems().empty()) return std::nullopt;
  return list + "}\n";
}

}  // namespace podsim
