// Tables, CSV, JSON and sentences of a search.
#include "cli/search/search_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/binary_units.h"
#include "engine/number_text.h"
#include "engine/words.h"
#include "prediction/memory_advice.h"
#include "proto/text/assign.h"
#include "proto/writing/result_json.h"
#include "report/text/align.h"
#include "report/text/text.h"
#include "workload/pipeline/schedules.h"

namespace podsim {
namespace {

std::string with_sign(double share) { return (share >= 0 ? "+" : "") + percent(share); }

double over(Time time, Time best) { return time.in_seconds() / best.in_seconds() - 1; }

std::string counted(std::int64_t n) { return significant(static_cast<double>(n), 1); }

std::string proof_text(const SearchAnswer& answer) {
  const SearchCounts& counts = answer.counts;
  std::string text = "Proof: " + counted(counts.layouts) + " layouts; " + counted(counts.no_room) +
                     " do not fit in memory, " + counted(counts.by_lighter) +
                     " are bounded out by lighter layouts, " + counted(counts.by_passes) +
                     " by passes alone, " + counted(counts.by_stages) + " by stages and streams, " +
                     counted(counts.by_relaxed) + " by a step without contention, " +
                     counted(counts.simulated) + " simulated";
  if (counts.known > 0) text += " (" + counted(counts.known) + " of them before: taken from the store)";
  if (counts.too_long > 0) text += ", " + counted(counts.too_long) + " refused as too long";
  if (counts.open > 0) text += ", " + counted(counts.open) + " open";
  const std::string none = counts.too_long > 0 ? ". No other layout is faster" : ". No layout is faster";
  if (answer.proven && answer.gap == 0) return text + none + ".\n";
  text += none + " by more than " + percent(answer.gap);
  if (!answer.proven) return text + ": the search was stopped.\n";
  return text +
         (answer.may_lack ? ", where the search ended: after the best, layouts may be missing.\n" : ".\n");
}

// Layouts that might be better and cannot be simulated, the first of them.
std::string refused_text(const SearchAnswer& answer) {
  constexpr std::size_t kMostTold = 5;
  std::string text;
  const std::size_t told = std::min(answer.refused.size(), kMostTold);
  for (std::size_t i = 0; i < told; ++i)
    text += "Refused: " + to_string(answer.refused[i].layout) + ": " + answer.refused[i].why + ".\n";
  if (told < answer.refused.size())
    text +=
        "Refused likewise: " + counted(static_cast<std::int64_t>(answer.refused.size() - told)) + " more.\n";
  return text;
}

std::string tightness_text(const char* level, const Tightness& tightness) {
  const std::vector<double>& shares = tightness.shares;
  if (shares.empty()) return "";
  const auto at = [&](double quantile) {
    return percent(shares[static_cast<std::size_t>(quantile * static_cast<double>(shares.size() - 1))]);
  };
  return "Bound of " + std::string(level) + " over the simulated step: " + at(0.1) +
         " at the tenth percentile, " + at(0.5) + " at the median, " + at(1) + " at most.\n";
}

// Values of a layout by the names of the space block.
std::vector<std::pair<std::string, std::string>> layout_words(const JobLayout& layout) {
  return {{"tensor", std::to_string(layout.tensor)},
          {"context", std::to_string(layout.context)},
          {"pipeline", std::to_string(layout.pipeline)},
          {"expert", std::to_string(layout.expert)},
          {"expert_tensor", std::to_string(layout.expert_tensor)},
          {"data", std::to_string(layout.batch_ranks())},
          {"sharding", to_string(layout.sharding)},
          {"fsdp_group", std::to_string(layout.group)},
          {"microbatch", std::to_string(layout.microbatch)},
          {"schedule", std::string(schedule_traits(layout.schedule).name)},
          {"chunks", std::to_string(layout.chunks)},
          {"recompute", to_string(layout.recompute)},
          {"recompute_layers", std::to_string(layout.recompute_layers)}};
}

template <class Value>
std::string list(const std::vector<Value>& values, auto&& word) {
  return separated(values, ", ", word);
}

// The place among so many, as wide as the last of them.
std::string place(std::size_t i, std::size_t all) {
  std::string number = std::to_string(i + 1);
  return number.insert(0, std::to_string(all).size() - number.size(), ' ');
}

std::string number_word(int value) { return std::to_string(value); }

}  // namespace

std::string search_table(const Space& space, const SearchAnswer& answer, bool verbose) {
  const MainFigures& first = answer.best.front().figures;
  const Spec& spec = space.spec();
  const double capacity = spec.cluster.chip.hbm_capacity.value / kBytesPerGib;
  std::vector<std::vector<std::string>> rows = {
      {"layout", "step s", "over best", "tokens/s/chip", "MFU", "GiB", "USD/Mtoken", "J/token"}};
  for (std::size_t i = 0; i < answer.best.size(); ++i) {
    const MainFigures& step = answer.best[i].figures;
    rows.push_back({place(i, answer.best.size()) + "  " + to_string(answer.best[i].layout),
                    fixed(step.step_time.in_seconds(), 4),
                    i == 0 ? "" : with_sign(over(step.step_time, first.step_time)),
                    significant(step.tokens_per_s_per_chip, 4), percent(step.mfu_causal),
                    fixed(step.memory_gib, 1), significant(step.cost_usd_per_million_tokens, 4),
                    significant(step.energy_j_per_token, 4)});
  }
  std::string text = spec.name + ": " + spec.job.model.name + " on " +
                     std::to_string(spec.cluster.fabric.chips) + " " + spec.cluster.chip.name + ", " +
                     fixed(capacity, 1) + " GiB a chip of which " +
                     percent(space.values().memory_headroom_share) + " stay free\n\n" + align(rows) + "\n";
  if (answer.best.size() > 1) text += "Against the first:\n";
  for (std::size_t i = 1; i < answer.best.size(); ++i) {
    const std::string why = difference(answer.best[i].figures, first);
    text += "  " + place(i, answer.best.size()) + "  " +
            with_sign(over(answer.best[i].figures.step_time, first.step_time)) +
            (why.empty() ? "" : ": " + why) + "\n";
  }
  if (answer.own)
    text += "The scenario's own layout, " + to_string(answer.own->layout) + ", takes " +
            fixed(answer.own->figures.step_time.in_seconds(), 4) + " s, " +
            with_sign(over(answer.own->figures.step_time, first.step_time)) + ".\n";
  text += proof_text(answer) + refused_text(answer);
  if (verbose && answer.counts.put_off > 0)
    text += counted(answer.counts.put_off) +
            " took so many events that they were put off until nothing else could be better.\n";
  if (verbose)
    text += tightness_text("lighter layouts", answer.of_lighter) +
            tightness_text("passes alone", answer.of_passes) +
            tightness_text("stages and streams", answer.of_stages) +
            tightness_text("the step without contention", answer.of_relaxed);
  return text;
}

std::string search_csv(const SearchAnswer& answer) {
  std::string text;
  for (const auto& [name, value] : layout_words(answer.best.front().layout)) text += name + ",";
  text +=
      "step_time_s,memory_gib,tokens_per_s_per_chip,mfu_causal,cost_usd_per_million_tokens,energy_j_per_"
      "token\n";
  for (const FoundLayout& found : answer.best) {
    for (const auto& [name, value] : layout_words(found.layout)) text += csv_cell(value) + ",";
    const MainFigures& step = found.figures;
    text += exact_seconds(step.step_time) + "," + shortest(step.memory_gib) + "," +
            shortest(step.tokens_per_s_per_chip) + "," + shortest(step.mfu_causal) + "," +
            shortest(step.cost_usd_per_million_tokens) + "," + shortest(step.energy_j_per_token) + "\n";
  }
  return text;
}

std::string search_json(const Space& space, const SearchAnswer& answer) {
  using OrderedJson = nlohmann::ordered_json;
  OrderedJson json = result_json<OrderedJson>(question_sha256(answer.asked, {space.spec().sha256}));
  json["scenario"] = space.spec().name;
  OrderedJson rows = OrderedJson::array();
  for (const FoundLayout& found : answer.best) {
    OrderedJson row;
    for (const auto& [name, value] : layout_words(found.layout)) {
      const bool number =
          !value.empty() && std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
      row[name] = number ? OrderedJson(std::stoi(value)) : OrderedJson(value);
    }
    row["step_time_s"] = found.figures.step_time.in_seconds();
    row["memory_gib"] = found.figures.memory_gib;
    row["tokens_per_s_per_chip"] = found.figures.tokens_per_s_per_chip;
    row["mfu_causal"] = found.figures.mfu_causal;
    row["cost_usd_per_million_tokens"] = found.figures.cost_usd_per_million_tokens;
    row["energy_j_per_token"] = found.figures.energy_j_per_token;
    rows.push_back(row);
  }
  json["layouts"] = rows;
  json["proof"] = {{"layouts", answer.counts.layouts},
                   {"no_room", answer.counts.no_room},
                   {"by_lighter", answer.counts.by_lighter},
                   {"by_passes", answer.counts.by_passes},
                   {"by_stages", answer.counts.by_stages},
                   {"by_relaxed", answer.counts.by_relaxed},
                   {"simulated", answer.counts.simulated},
                   {"known", answer.counts.known},
                   {"too_long", answer.counts.too_long},
                   {"open", answer.counts.open},
                   {"gap", answer.gap},
                   {"proven", answer.proven}};
  json["refused"] = OrderedJson::array();
  for (const RefusedLayout& each : answer.refused)
    json["refused"].push_back({{"layout", to_string(each.layout)}, {"why", each.why}});
  return json.dump(2) + "\n";
}

std::string empty_space_text(const Space& space) {
  const LayoutSpace& values = space.values();
  std::string text = "no layout of the space is one that " + space.spec().name + " can have on " +
                     std::to_string(space.spec().cluster.fabric.chips) + " chips: tensor " +
                     list(values.tensor, number_word) + "; context " + list(values.context, number_word) +
                     "; pipeline " + list(values.pipeline, number_word) + "; expert " +
                     list(values.expert, number_word);
  if (const auto own = layout_of(space.spec())) text += ". The job's own layout would be " + to_string(*own);
  return text;
}

std::string infeasible_text(const Space& space, const SearchAnswer& answer) {
  if (answer.counts.layouts == 0 && answer.proven) return empty_space_text(space);
  if (!answer.refused.empty())
    return "no layout that fits in memory can be simulated. Of " + counted(answer.counts.too_long) + ", " +
           to_string(answer.refused.front().layout) + ": " + answer.refused.front().why;
  if (!answer.miss) return "the search was stopped before any layout was simulated";
  const NearestMiss& miss = *answer.miss;
  std::string text = "no layout fits in memory. " + to_string(miss.layout) + " comes nearest: it needs " +
                     gib(miss.needed) + " and may use " + gib(miss.room) + " of a chip, short by " +
                     gib(miss.needed - miss.room);
  const Spec spec = with_layout(space.spec(), miss.layout);
  if (miss.needed <= spec.cluster.chip.hbm_capacity)
    return text + "; memory_headroom_fraction: " +
           fixed(std::max(0.0, 1 - miss.needed / spec.cluster.chip.hbm_capacity - 0.0005), 3) +
           " would let it in";
  const auto advice = memory_advice(spec, build_fabric(spec.cluster.fabric), 0);
  if (!advice.empty())
    text += "; " + advice.front().change + " brings it to " + fixed(advice.front().total, 2) + " GiB";
  return text;
}

namespace {

// The value of an enumeration up to `last` that has this name, or nothing.
template <class Enum>
std::optional<Enum> called(const std::string& name, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (to_string(Enum(i)) == name) return Enum(i);
  return std::nullopt;
}

// Puts a value that is a word into the layout, and says what is wrong with it.
std::string set_word(JobLayout& layout, const std::string& name, const std::string& value) {
  if (name == "schedule") {
    const auto schedule = schedule_named(value);
    if (!schedule) return "there is no schedule \"" + value + "\"";
    layout.schedule = *schedule;
    if (const auto chunks = schedule_traits(*schedule).chunks) layout.chunks = *chunks;
    return "";
  }
  const auto sharding = called(value, StateSharding::kHsdp);
  const auto recompute = called(value, Recompute::kFull);
  if (name == "sharding" ? !sharding : !recompute) return name + " cannot be \"" + value + "\"";
  if (name == "sharding") layout.sharding = *sharding;
  if (name == "recompute") layout.recompute = *recompute;
  return "";
}

// The same of a value that is a number.
std::string set_number(JobLayout& layout, const std::string& name, const std::string& value) {
  const int number = whole_text_as<int>(value).value_or(-1);
  if (number < (name == "recompute_layers" ? 0 : 1))
    return name + " needs a whole number, not \"" + value + "\"";
  if (name == "tensor") layout.tensor = number;
  if (name == "context") layout.context = number;
  if (name == "pipeline") layout.pipeline = number;
  if (name == "expert") layout.expert = number;
  if (name == "expert_tensor") layout.expert_tensor = number;
  if (name == "microbatch") layout.microbatch = number;
  if (name == "chunks")
    layout.chunks = number,
    layout.schedule = number > 1 ? PipelineSchedule::kInterleaved : PipelineSchedule::k1F1B;
  if (name == "fsdp_group") layout.group = number;
  if (name == "recompute_layers") layout.recompute_layers = number;
  return "";
}

// Tensor groups of experts as far as nobody says them, then data groups of what is left of the chips.
AskedLayout filled(JobLayout layout, bool expert_tensor_said, int chips) {
  if (layout.expert == 1) layout.expert_tensor = layout.tensor;
  if (layout.expert > 1 && !expert_tensor_said)
    layout.expert_tensor = std::min(layout.expert_tensor, layout.tensor);
  if (layout.tensor % layout.expert_tensor != 0 || layout.expert * layout.expert_tensor % layout.tensor != 0)
    return {{},
            "experts over " + std::to_string(layout.expert) + " x " + std::to_string(layout.expert_tensor) +
                " chips do not lie on whole tensor groups of " + std::to_string(layout.tensor)};
  layout.data = 1;
  const int others = layout.chips();
  if (chips % others != 0)
    return {
        {},
        "its axes make " + std::to_string(others) + " chips, which does not divide " + std::to_string(chips)};
  layout.data = chips / others;
  return {canonical(layout), ""};
}

}  // namespace

AskedLayout asked_layout(const Space& space, const std::string& words, const SearchAnswer& answer) {
  JobLayout layout = answer.best.front().layout;
  bool expert_tensor_said = false;
  const std::vector<std::string> names = {"tensor",        "context",    "pipeline",  "expert",
                                          "expert_tensor", "microbatch", "schedule",  "chunks",
                                          "sharding",      "fsdp_group", "recompute", "recompute_layers"};
  for (const std::string& word : split(words, ',')) {
    const std::size_t equals = word.find('=');
    const std::string name = trim(word.substr(0, equals));
    const std::string value = equals == std::string::npos ? "" : trim(word.substr(equals + 1));
    if (std::ranges::find(names, name) == names.end())
      return {{}, "there is no axis \"" + name + "\"; " + suggest(name, names, "there are")};
    const bool is_word = name == "schedule" || name == "sharding" || name == "recompute";
    const std::string problem = (is_word ? set_word : set_number)(layout, name, value);
    if (!problem.empty()) return {{}, problem};
    expert_tensor_said |= name == "expert_tensor";
  }
  return filled(layout, expert_tensor_said, space.spec().cluster.fabric.chips);
}

namespace {

std::string against(Time step, const FoundLayout& best) {
  return with_sign(over(step, best.figures.step_time)) + " over the " +
         fixed(best.figures.step_time.in_seconds(), 4) + " s of " + to_string(best.layout);
}

}  // namespace

std::string against_best_text(const JobLayout& layout, const MainFigures& figures, const FoundLayout& best) {
  const std::string name = to_string(layout);
  if (layout == best.layout) return name + " is the fastest layout that was found.";
  return name + " takes " + fixed(figures.step_time.in_seconds(), 4) + " s, " +
         against(figures.step_time, best) + ": " + difference(figures, best.figures) + ".";
}

WhyNot why_not(const Space& space, const JobLayout& layout, const SearchAnswer& answer) {
  const FoundLayout& best = answer.best.front();
  const std::string name = to_string(layout);
  if (layout == best.layout)
    return {layout, "fastest", best.figures.step_time.in_seconds(),
            against_best_text(layout, best.figures, best)};
  const LayoutFate fate = fate_of(space, layout, Time::max());
  switch (fate.kind) {
    case LayoutFate::Kind::kIllegal:
      return {layout, "illegal", std::nullopt, name + " is no layout of this job: " + fate.why + "."};
    case LayoutFate::Kind::kNoRoom:
      return {layout, "no_room", std::nullopt,
              name + " does not fit: it needs " + gib(fate.needed) + " and may use " + gib(fate.room) +
                  " of a chip, " + gib(fate.needed - fate.room) + " less."};
    case LayoutFate::Kind::kBounded:
      return {layout, "bounded", fate.bound.in_seconds(),
              name + " takes at least " + fixed(fate.bound.in_seconds(), 4) + " s, " +
                  against(fate.bound, best) + "."};
    case LayoutFate::Kind::kTooLong:
      return {layout, "too_long", std::nullopt, name + " cannot be simulated: " + fate.why + "."};
    case LayoutFate::Kind::kSimulated:
      break;
  }
  return {layout, "simulated", fate.figures->step_time.in_seconds(),
          against_best_text(layout, *fate.figures, best)};
}

std::string why_not_json(const Space& space, const WhyNot& why, const SearchAnswer& answer) {
  auto json = nlohmann::ordered_json::parse(search_json(space, answer));
  json["scenario_sha256"] =
      question_sha256(answer.asked + " --why-not " + to_string(why.layout), {space.spec().sha256});
  json["why_not"] = {{"layout", to_string(why.layout)}, {"fate", why.fate}};
  if (why.step_time_s) json["why_not"]["step_time_s"] = *why.step_time_s;
  json["why_not"]["text"] = why.text;
  return json.dump(2) + "\n";
}

std::string why_not_csv(const WhyNot& why) {
  return "layout,fate,step_time_s,text\n" + csv_text_cell(to_string(why.layout)) + "," + why.fate + "," +
         (why.step_time_s ? shortest(*why.step_time_s) : "") + "," + csv_text_cell(why.text) + "\n";
}

}  // namespace podsim
