// Loads what a scenario says to podsim plan.
#include "proto/scenario/load_plan.h"

#include <algorithm>

#include "proto/catalog/catalog_entries.h"
#include "proto/plan.pb.h"
#include "proto/scenario.pb.h"
#include "proto/text/assign.h"
#include "proto/text/parse.h"
#include "proto/text/quantities.h"
#include "proto/text/ranges.h"
#include "report/every_figure.h"
#include "report/figures.h"
#include "topology/fabric_spec.h"

namespace podsim {
namespace {

// Names that a limit may have.
std::vector<std::string> limit_keys() {
  std::vector<std::string> keys = number_paths(figures(every_figure()));
  keys.insert(keys.begin(), kPlanFigures.begin(), kPlanFigures.end());
  return keys;
}

class PlanResolver {
 public:
  PlanResolver(const schema::Plan& block, const Catalog::Entries& entries, Document& document)
      : block_(block), entries_(entries), document_(document) {}

  TrainingPlan resolve() {
    if (block_.has_target_tokens()) plan_.tokens = block_.target_tokens();
    if (block_.has_deadline()) {
      plan_.most_days = block_.deadline().days();
      if (block_.deadline().has_probability()) plan_.days_probability = block_.deadline().probability();
    }
    if (block_.has_budget()) {
      plan_.most_usd = block_.budget().usd();
      if (block_.budget().has_probability()) plan_.usd_probability = block_.budget().probability();
    }
    if (block_.has_objective()) plan_.objective = static_cast<PlanObjective>(block_.objective() - 1);
    if (block_.has_gap_fraction()) plan_.gap = block_.gap_fraction();
    for (int i = 0; i < block_.limit_size(); ++i) add_limit(i);
    for (int i = 0; i < block_.choice_size(); ++i) add_cluster(i);
    return std::move(plan_);
  }

 private:
  static std::string place(const char* field, int i) {
    return std::string("plan.") + field + "[" + std::to_string(i) + "]";
  }

  void add_limit(int i) {
    const schema::FigureLimit& of = block_.limit(i);
    if (const std::string wrong = wrong_limit_key(of.key()); !wrong.empty())
      document_.report(place("limit", i) + ".key", wrong);
    FigureLimit& limit = plan_.limits.emplace_back();
    limit.key = of.key();
    if (of.has_at_most()) limit.at_most = of.at_most();
    if (of.has_at_least()) limit.at_least = of.at_least();
    if (limit.at_most && limit.at_least && *limit.at_least > *limit.at_most)
      document_.report(place("limit", i), "no " + of.key() + " is at least and at most that");
  }

  void check_name(Catalog::Section section, const std::string& name, const std::string& path) {
    if (!name.empty() && !canonical_name(entries_, section, name))
      report_unknown_name(entries_, section, name, path, document_);
  }

  void add_cluster(int i) {
    const schema::ClusterOption& of = block_.choice(i);
    const std::string path = place("choice", i);
    check_name(Catalog::Section::kChips, of.chip(), path + ".chip");
    check_name(Catalog::Section::kFabrics, of.fabric(), path + ".fabric");
    check_name(Catalog::Section::kStacks, of.stack(), path + ".stack");
    ClusterOption& option = plan_.clusters.emplace_back();
    option.name = of.name();
    option.chip = of.chip();
    option.fabric = of.fabric();
    option.stack = of.stack();
    const auto counts = parse_count_range(of.chips());
    if (counts && counts->back() <= kMaxChips) {
      option.counts.assign(counts->begin(), counts->end());
    } else {
      document_.report(path + ".chips", path + ".chips must be counts of chips, not \"" + of.chips() + "\"",
                       "write a range such as 64..4096x2 or 64..512+64, or a list such as 64,96,128");
    }
    if (of.has_slices()) option.slices = of.slices();
    option.price_terms.assign(of.price_term().begin(), of.price_term().end());
    for (const int precision : of.precision())
      option.precisions.push_back(
          schema::PrecisionRecipe::Name_Name(static_cast<schema::PrecisionRecipe::Name>(precision)));
    option.terms.from_day = of.available().from_days();
    if (of.available().has_most_chips()) option.terms.most_chips = of.available().most_chips();
    option.terms.one_off_usd = of.one_off().usd();
    option.terms.one_off_days = of.one_off().days();
  }

  const schema::Plan& block_;
  const Catalog::Entries& entries_;
  Document& document_;
  TrainingPlan plan_;
};

}  // namespace

std::string wrong_limit_key(const std::string& key) {
  static const std::vector<std::string> keys = limit_keys();
  if (std::ranges::find(keys, key) != keys.end()) return "";
  return "no plan and no report has a figure \"" + key + "\"; " + suggest(key, keys, "there are");
}

LoadPlanResult load_plan(const std::string& file_name, const std::string& text, const Catalog& catalog,
                         const std::vector<Override>& overrides) {
  Document document(file_name, text);
  LoadPlanResult result;
  schema::Scenario scenario;
  if (parse(document, scenario)) {
    apply_overrides(overrides, scenario, document);
    check_ranges(scenario, "", document);
    check_required(scenario.plan(), "plan", document);
    if (document.clean()) result.plan = PlanResolver(scenario.plan(), catalog.entries(), document).resolve();
    if (!document.clean()) result.plan.reset();
  }
  result.problems = document.problems();
  return result;
}

}  // namespace podsim
