// Prices by chip, term and provider.
#include "cli/inputs/price_text.h"

#include "proto/writing/figure_json.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {

std::string prices_table(const std::vector<PriceRow>& rows, int chips, const std::string& name) {
  std::vector<std::vector<std::string>> cells = {
      {"chip", "term", "provider", "region", "USD/chip-h", "low", "high", "at least days", "date", "list"}};
  if (chips > 1) cells.front().emplace_back("USD/h of " + name);
  for (const PriceRow& row : rows) {
    cells.push_back({row.chip, row.term, row.provider.empty() ? "market" : row.provider,
                     row.region.empty() ? "-" : row.region, significant(row.usd_per_chip_hour, 4),
                     row.low < row.high ? significant(row.low, 4) : "-",
                     row.low < row.high ? significant(row.high, 4) : "-",
                     row.minimum_days > 0 ? significant(row.minimum_days, 4) : "-", row.date, row.list});
    if (chips > 1) cells.back().push_back(fixed(chips * row.usd_per_chip_hour, 2));
  }
  std::string text;
  if (chips > 1) text = name + " is a slice of " + std::to_string(chips) + " chips.\n\n";
  text += align(cells) + "\n";
  for (const PriceRow& row : rows)
    text += "  " + row.chip + " " + row.term + (row.provider.empty() ? "" : " of " + row.provider) + ": " +
            row.source + "\n";
  return text;
}

std::string prices_json(const std::vector<PriceRow>& rows, int chips) {
  std::vector<Figure> list;
  for (const PriceRow& row : rows)
    list.push_back(Figure::group("", {{"list", row.list},
                                      {"chip", row.chip},
                                      {"term", row.term},
                                      {"provider", row.provider},
                                      {"region", row.region},
                                      {"usd_per_chip_hour", row.usd_per_chip_hour},
                                      {"low_usd_per_chip_hour", row.low},
                                      {"high_usd_per_chip_hour", row.high},
                                      {"usd_per_hour", chips * row.usd_per_chip_hour},
                                      {"minimum_days", row.minimum_days},
                                      {"date", row.date},
                                      {"source", row.source}}));
  return json_text(result_figure("", {{"chips", chips}, Figure::list("prices", std::move(list))}),
                   JsonNumbers::kWithPoint);
}

}  // namespace podsim
