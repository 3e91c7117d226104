// Line by line, comments in one column.
#include "planner/starter_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "proto/catalog/chip_prices.h"
#include "report/text/text.h"

namespace podsim {
namespace {

std::string commented(const std::string& line, const std::string& comment) {
  constexpr std::size_t kColumn = 44;
  return line + std::string(line.size() < kColumn ? kColumn - line.size() : 1, ' ') + "# " + comment + "\n";
}

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

std::string cluster_text(const StarterFrame& frame) {
  std::string text =
      "cluster {\n" + commented("  chip: " + quoted(frame.request.chip), "podsim catalog chips");
  text += "  chips: " + std::to_string(frame.request.chips) + "\n";
  text += commented("  fabric: " + quoted(frame.request.fabric), "podsim catalog fabrics");
  if (frame.setting.slices > 1)
    text +=
        commented("  slices: " + std::to_string(frame.setting.slices), "joined by the data-center network");
  return text + frame.price_line + "}\n";
}

}  // namespace

std::string price_line(const StarterRequest& request, const Catalog& catalog) {
  const std::string own = "  usd_per_chip_hour: ";
  if (request.usd_per_chip_hour) return own + shortest(*request.usd_per_chip_hour) + "\n";
  std::vector<PriceRow> rows = price_rows(catalog);
  std::erase_if(rows,
                [&](const PriceRow& row) { return row.chip != request.chip || row.term != kOnDemandTerm; });
  if (std::ranges::count(rows, kUsualPrices, &PriceRow::list) > 0) return "";
  if (rows.empty()) return commented(own + "0", "no list has a price of " + request.chip + ": write yours");
  return commented("  prices: " + quoted(rows.front().list), "podsim catalog prices " + request.chip);
}

std::string starter_text(const StarterFrame& frame, const StarterLayout& layout) {
  const StarterRequest& request = frame.request;
  std::string text = "question: \"How long is a step of " + request.model + " on " +
                     std::to_string(request.chips) + " " + request.chip +
                     ", and where does the time go?\"\n" + cluster_text(frame) + "job {\n";
  text += commented("  model: " + quoted(request.model), "podsim catalog models");
  text += commented("  stack: " + quoted(request.stack),
                    "how a training framework runs it; podsim catalog stacks");
  for (const StarterAxis& axis : layout.axes)
    text += commented("  mesh { name: " + quoted(axis.name) +
                          " size: " + (axis.size == 0 ? "rest" : std::to_string(axis.size)) + " }",
                      axis.comment);
  for (const std::string& sharding : layout.shardings) text += "  sharding: " + quoted(sharding) + "\n";
  for (const std::string& rule : layout.rules) text += "  " + rule + "\n";
  if (!layout.pipeline.empty())
    text += commented("  " + layout.pipeline, "pieces of a stage that take turns: shorter bubbles");
  text += commented("  global_batch_sequences: " + std::to_string(*request.batch_sequences),
                    "of one step, all chips");
  if (layout.microbatch > 0)
    text +=
        commented("  microbatch_sequences: " + std::to_string(layout.microbatch), "of one replica at a time");
  text += "  sequence_tokens: " + std::to_string(*request.sequence_tokens) + "\n";
  text += "  precision: " + frame.precision + "\n";
  return text +
         commented("  recompute: " + layout.recompute, "none, selective or full: less memory, more compute") +
         "}\n";
}

Starter with_heading(Starter best, std::int64_t layouts, double headroom, const std::string& others) {
  const std::string free =
      headroom > 0 ? ", with " + percent(headroom) + " of memory left free"
                   : "; none leaves " + percent(LayoutSpace{}.memory_headroom_share) + " of memory free";
  best.text = "# Written by podsim init: of " + std::to_string(layouts) +
              (layouts == 1 ? " usual layout" : " usual layouts") + " the fastest that fits" + free + others +
              ".\n# A step takes " + fixed(best.step_time_s, 4) + " s as predicted then, with " +
              fixed(best.needed_gib, 2) + " of " + fixed(best.capacity_gib, 2) +
              " GiB in use on the fullest chip. docs/guide/scenarios.md has all fields.\n" + best.text;
  return best;
}

}  // namespace podsim
