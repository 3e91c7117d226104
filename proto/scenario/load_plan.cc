// Loads what a scenario says to podsim plan.
#include "proto/scenario/load_plan.h"

#include <algorithm>
#include <filesystem>

#include "engine/words.h"
#include "proto/catalog/catalog_entries.h"
#include "proto/catalog/owning_tables.h"
#include "proto/plan.pb.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/point_value.h"
#include "proto/scenario/read_scenario.h"
#include "proto/scenario/resolve.h"
#include "proto/scenario/resolve_varied.h"
#include "proto/text/assign.h"
#include "proto/text/parse.h"
#include "proto/text/quantities.h"
#include "proto/text/read_file.h"
#include "proto/text/set_fields.h"
#include "report/figures/every_figure.h"
#include "report/figures/figures.h"
#include "report/text/text.h"
#include "topology/fabric_spec.h"

namespace podsim {
namespace {

constexpr double kMostBatchTokens = 1e12;
// Weights of 2 bytes, and master weights and both moments of Adam of 4.
constexpr double kAdamBytesPerParameter = 14;

// Names that a limit may have.
std::vector<std::string> limit_keys() {
  std::vector<std::string> keys = number_paths(figures(every_figure()));
  keys.insert(keys.begin(), kPlanFigures.begin(), kPlanFigures.end());
  return keys;
}

class PlanResolver {
 public:
  // `overrides` are those of the command, which are in the block.
  PlanResolver(const schema::Scenario& scenario, const std::vector<Override>& overrides,
               const Catalog::Entries& entries, Document& document)
      : scenario_(scenario),
        block_(scenario.plan()),
        overrides_(overrides),
        entries_(entries),
        document_(document) {}

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
    for (const int objective : block_.objective())
      add_objective(schema::Objective::Name_Name(static_cast<schema::Objective::Name>(objective)),
                    plan_.objectives);
    if (block_.has_gap_fraction()) plan_.gap = block_.gap_fraction();
    if (block_.has_report_choices()) plan_.most_rows = block_.report_choices();
    if (block_.has_draws()) plan_.draws = block_.draws();
    if (block_.has_search_seconds()) plan_.search_seconds = block_.search_seconds();
    for (int i = 0; i < block_.limit_size(); ++i) add_limit(i);
    add_batches();
    add_layouts(block_.layout(), "plan.layout", plan_.settings);
    if (block_.has_carbon()) add_carbon();
    if (block_.has_reserve()) add_reserve();
    if (block_.has_own()) add_own();
    for (int i = 0; i < block_.choice_size(); ++i) add_cluster(i);
    for (int i = 0; i < block_.vary_size(); ++i) add_varied(i);
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

  // The catalogue's name of a chip; as it is written where that has none, which is told.
  std::string chip_named(const std::string& name, const std::string& path) {
    check_name(Catalog::Section::kChips, name, path);
    return canonical_name(entries_, Catalog::Section::kChips, name).value_or(name);
  }

  // A field that is to have this value in the scenario of a cluster; told at `from` where it cannot.
  void set(const std::string& from, const std::string& path, const std::string& value,
           std::vector<FieldSetting>& settings) {
    if (const auto wrong = wrong_setting(document_.text(), overrides_, {path, value}))
      document_.report(from, from + ": " + wrong->message, wrong->hint);
    settings.push_back({path, value});
  }
  void set(const std::string& from, const std::string& path, double value,
           std::vector<FieldSetting>& settings) {
    set(from, path, shortest(value), settings);
  }

  void add_batches() {
    if (!block_.has_global_batch_tokens()) return;
    const auto tokens = batch_tokens_of(block_.global_batch_tokens());
    if (tokens) {
      plan_.batch_tokens = *tokens;
      return;
    }
    document_.report("plan.global_batch_tokens",
                     "plan.global_batch_tokens must be tokens of a step up to 1e12, not \"" +
                         block_.global_batch_tokens() + "\"",
                     "write a range such as 4e6..16e6 or 4e6..16e6+1e6, or a list such as 4e6,8e6");
  }

  // Sets and words of layouts, as fields of the block space.
  void add_layouts(const schema::LayoutSets& layouts, const std::string& path,
                   std::vector<FieldSetting>& settings) {
    visit_fields(layouts, "", [&](const std::string& field) {
      const std::string from = path + "." + field, to = "space." + field;
      const auto& type = *schema::LayoutSets::descriptor()->FindFieldByName(field);
      const auto* reflection = layouts.GetReflection();
      if (type.is_repeated()) {
        std::string list;
        for (int i = 0; i < reflection->FieldSize(layouts, &type); ++i)
          list += (i > 0 ? "," : "") + reflection->GetRepeatedString(layouts, &type, i);
        return set(from, to, list, settings);
      }
      if (type.cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_DOUBLE)
        return set(from, to, reflection->GetDouble(layouts, &type), settings);
      const std::string said = reflection->GetString(layouts, &type);
      const auto numbers = parse_count_range(said);
      if (!numbers)
        return document_.report(from, from + " must be a set of numbers, not \"" + said + "\"",
                                "write a range such as 1..8x2 or 1..10+1, or a list such as 1,2,4");
      set(from, to, separated_numbers(*numbers, ","), settings);
    });
  }

  void add_carbon() {
    const schema::PowerCarbon& carbon = block_.carbon();
    if (carbon.has_region() && !grid_kg_per_kwh(carbon.region()))
      document_.report("plan.carbon.region", "no grid \"" + carbon.region() + "\"",
                       unknown_grid_hint(carbon.region()));
    if (carbon.has_kg_per_kwh())
      set("plan.carbon.kg_per_kwh", "cluster.kg_per_kwh", carbon.kg_per_kwh(), plan_.settings);
    else if (carbon.has_region())
      set("plan.carbon.region", "cluster.grid", carbon.region(), plan_.settings);
    for (int i = 0; i < carbon.embodied_kg_size(); ++i) {
      const schema::ChipKg& of = carbon.embodied_kg(i);
      const std::string path = "plan.carbon.embodied_kg[" + std::to_string(i) + "].chip";
      plan_.embodied_kg[chip_named(of.chip(), path)] = of.kg();
    }
  }

  void add_own() {
    const schema::Owning& own = block_.own();
    OwningTerms& terms = plan_.own.emplace();
    const std::pair<const char*, const char*> fields[] = {
        {"years", "cluster.owned.years"},
        {"interest", "cluster.owned.interest"},
        {"residual_share", "cluster.owned.residual_share"},
        {"utilisation", "cluster.owned.utilisation"},
        {"operation_share_per_year", "cluster.owned.operation_share_per_year"},
        {"usd_per_kwh", "cluster.usd_per_kwh"},
        {"pue", "cluster.pue"}};
    for (const auto& [from, to] : fields) {
      const auto& field = *schema::Owning::descriptor()->FindFieldByName(from);
      if (own.GetReflection()->HasField(own, &field))
        set(std::string("plan.own.") + from, to, own.GetReflection()->GetDouble(own, &field), terms.settings);
    }
    for (int i = 0; i < own.chip_usd_size(); ++i) {
      const std::string path = "plan.own.chip_usd[" + std::to_string(i) + "].chip";
      terms.chip_usd[chip_named(own.chip_usd(i).chip(), path)] = own.chip_usd(i).usd();
    }
  }

  void add_reserve() {
    const schema::Reserve& reserve = block_.reserve();
    const schema::Checkpoint& checkpoint = scenario_.reliability().checkpoint();
    std::vector<FieldSetting>& settings = plan_.settings;
    if (reserve.has_spares()) {
      plan_.choose_spares = reserve.spares() == schema::Reserve::auto_;
      if (!plan_.choose_spares)
        set("plan.reserve.spares", "reliability.spares.nodes", reserve.spares(), settings);
    }
    if (reserve.has_checkpoint()) {
      const bool chosen = reserve.checkpoint() == schema::Reserve::auto_;
      if (chosen ? checkpoint.has_interval_s() : checkpoint.has_auto_())
        document_.report("plan.reserve.checkpoint",
                         std::string("the block reliability says checkpoint.") +
                             (chosen ? "interval_s" : "auto") + " already",
                         "leave one of them out");
      if (chosen && !checkpoint.has_auto_())
        set("plan.reserve.checkpoint", "reliability.checkpoint.auto", "exact", settings);
      if (!chosen)
        set("plan.reserve.checkpoint", "reliability.checkpoint.interval_s", reserve.checkpoint(), settings);
    }
    if (reserve.has_write_gb_per_s()) add_writing(reserve, checkpoint);
    const bool saves = checkpoint.has_save_s() || checkpoint.has_write_gb_per_s();
    if (!saves && !reserve.has_write_gb_per_s())
      document_.report("plan.reserve",
                       "neither plan.reserve nor the block reliability says how long a save takes",
                       "write write_gb_per_s: 200 here");
    if (reserve.has_repair_s())
      set("plan.reserve.repair_s", "reliability.repair.time.mean_s", reserve.repair_s(), settings);
  }

  // How long a save takes by size and rate.
  void add_writing(const schema::Reserve& reserve, const schema::Checkpoint& checkpoint) {
    if (checkpoint.has_save_s())
      document_.report("plan.reserve.write_gb_per_s", "the block reliability says checkpoint.save_s already",
                       "leave one of them out");
    set("plan.reserve.write_gb_per_s", "reliability.checkpoint.write_gb_per_s", reserve.write_gb_per_s(),
        plan_.settings);
    if (!checkpoint.has_size_gb() &&
        (reserve.has_bytes_per_parameter() || !checkpoint.has_bytes_per_parameter()))
      set("plan.reserve.bytes_per_parameter", "reliability.checkpoint.bytes_per_parameter",
          reserve.has_bytes_per_parameter() ? reserve.bytes_per_parameter() : kAdamBytesPerParameter,
          plan_.settings);
  }

  void add_cluster(int i) {
    const schema::ClusterOption& of = block_.choice(i);
    const std::string path = place("choice", i);
    check_name(Catalog::Section::kChips, of.chip(), path + ".chip");
    check_name(Catalog::Section::kFabrics, of.fabric(), path + ".fabric");
    check_name(Catalog::Section::kStacks, of.stack(), path + ".stack");
    check_name(Catalog::Section::kFailures, of.failures(), path + ".failures");
    ClusterOption& option = plan_.clusters.emplace_back();
    option.name = of.name();
    option.chip = of.chip();
    option.fabric = of.fabric();
    option.stack = of.stack();
    if (of.has_scenario()) read_scenario(of.scenario(), path + ".scenario", option);
    const auto counts = parse_count_range(of.chips());
    if (const std::int64_t most = counts ? std::ranges::max(*counts) : 0; most > kMaxChips) {
      document_.report(path + ".chips", "of " + std::to_string(most) + " chips no layouts are searched, of " +
                                            std::to_string(kMaxChips) + " at most");
    } else if (counts) {
      option.counts.assign(counts->begin(), counts->end());
    } else if (of.has_chips() || !of.has_scenario()) {
      document_.report(path + ".chips", path + ".chips must be counts of chips, not \"" + of.chips() + "\"",
                       "write a range such as 64..4096x2 or 64..512+64, or a list such as 64,96,128");
    }
    option.slices.assign(of.slices().begin(), of.slices().end());
    for (int s = 0; s < of.slice_shape_size(); ++s) {
      const auto shape = parse_shape(of.slice_shape(s));
      if (shape)
        option.shapes.push_back(*shape);
      else
        report_shape(path + ".slice_shape[" + std::to_string(s) + "]", of.slice_shape(s));
    }
    option.price_terms.assign(of.price_term().begin(), of.price_term().end());
    for (const int precision : of.precision())
      option.precisions.push_back(
          schema::PrecisionRecipe::Name_Name(static_cast<schema::PrecisionRecipe::Name>(precision)));
    option.terms.from_day = of.available().from_days();
    if (of.available().has_most_chips()) option.terms.most_chips = of.available().most_chips();
    option.terms.one_off_usd = of.one_off().usd();
    option.terms.one_off_days = of.one_off().days();
    add_layouts(of.layout(), path + ".layout", option.settings);
    if (of.has_failures()) set(path + ".failures", "reliability.failures", of.failures(), option.settings);
    if (of.has_failure_factor())
      set(path + ".failure_factor", "reliability.failure_factor", of.failure_factor(), option.settings);
    if (of.has_preemption())
      option.preemption = PreemptionTerms{of.preemption().per_1000_node_days(), of.preemption().notice_s(),
                                          of.preemption().wait().mean_s()};
    const bool weeks = of.has_failures() || of.has_failure_factor() || of.has_preemption();
    if (weeks && !of.has_scenario() && !has_weeks())
      document_.report(path, "failures cost nothing without checkpoints: nobody says how they are saved",
                       "write plan { reserve { write_gb_per_s: 200 } }, or a block reliability");
  }

  void report_shape(const std::string& path, const std::string& shape) {
    document_.report(path, path + " must be lengths of a torus, not \"" + shape + "\"",
                     "write lengths such as 4x4x8");
  }

  bool has_weeks() const { return scenario_.has_reliability() || block_.has_reserve(); }

  // A scenario beside this file.
  void read_scenario(const std::string& name, const std::string& path, ClusterOption& option) {
    const auto file = (std::filesystem::path(document_.file()).parent_path() / name).lexically_normal();
    option.file = file.string();
    std::vector<Problem> problems;
    const auto text = read_file(option.file, problems);
    if (text) {
      Document read(option.file, *text);
      schema::Scenario scenario;
      if (parse(read, scenario) && !scenario.has_job())
        return document_.report(path, option.file + " has no job", "name a scenario that podsim run takes");
      problems = read.problems();
      option.text = *text;
      if (option.counts.empty() && scenario.cluster().has_chips())
        option.counts = {scenario.cluster().chips()};
      if (option.chip.empty()) option.chip = scenario.cluster().chip();
      if (problems.empty() &&
          (option.chip.empty() || (option.counts.empty() && !scenario.cluster().has_chips())))
        return document_.report(path, option.file + " names no cluster of so many chips",
                                "write chip and chips of the choice");
    }
    if (problems.empty()) return;
    const Problem& first = problems.front();
    document_.report(
        path, option.file + (first.line > 0 ? ":" + std::to_string(first.line) : "") + ": " + first.message,
        first.hint);
  }

  void add_varied(int i) {
    if (block_.vary(i).has_band()) {
      if (block_.vary(i).has_path())
        document_.report(place("vary", i), "the error band of the step is no number of the scenario",
                         "write a block vary for each");
      plan_.vary_step = block_.vary(i).band();
      return;
    }
    std::vector<Override> all = overrides_;
    for (const FieldSetting& setting : plan_.settings) all.push_back({setting.path, setting.value});
    VariedNumber varied = resolve_varied(block_.vary(i), place("vary", i), {has_weeks(), all}, document_);
    if (!varied.chip.empty()) varied.chip = chip_named(varied.chip, place("vary", i) + ".chip");
    // Two ranges of one number would both move it.
    if (std::ranges::any_of(plan_.vary, [&](const VariedNumber& other) { return other.overlaps(varied); }))
      document_.report(place("vary", i), "a range of " + varied.path + " has been given already",
                       "give one range of a number, or one for each chip");
    plan_.vary.push_back(std::move(varied));
  }

  const schema::Scenario& scenario_;
  const schema::Plan& block_;
  const std::vector<Override>& overrides_;
  const Catalog::Entries& entries_;
  Document& document_;
  TrainingPlan plan_;
};

}  // namespace

std::optional<std::vector<double>> batch_tokens_of(const std::string& text) {
  auto tokens = parse_number_range(text);
  const bool wrong =
      !tokens || std::ranges::any_of(*tokens, [](double each) { return each > kMostBatchTokens; });
  return wrong ? std::nullopt : tokens;
}

std::string wrong_limit_key(const std::string& key) {
  static const std::vector<std::string> keys = limit_keys();
  if (std::ranges::find(keys, key) != keys.end()) return "";
  return "no plan and no report has a figure \"" + key + "\"; " + suggest(key, keys, "there are");
}

LoadPlanResult load_plan(const std::string& file_name, const std::string& text, const Catalog& catalog,
                         const std::vector<Override>& overrides) {
  LoadPlanResult result;
  const auto resolve = [&](const schema::Scenario& scenario, Document& document) {
    refuse_unsearchable(scenario, document);  // of each cluster the layouts are searched
    if (document.clean())
      result.plan = PlanResolver(scenario, overrides, catalog.entries(), document).resolve();
    if (!document.clean()) result.plan.reset();
  };
  result.problems = read_scenario(file_name, text, overrides, RequiredFields::kOfPlan, resolve).problems;
  return result;
}

}  // namespace podsim
