// Lines of JSON, written here and read by the check.
#include "planner/search/certificate.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "planner/search/certificate_lines.h"
#include "workload/pipeline/schedules.h"

namespace podsim {
namespace {

constexpr const char* kVerdicts[] = {"no_room_for_state", "no_room",   "lighter",  "passes", "stages",
                                     "relaxed",           "simulated", "too_long", "open"};

constexpr std::size_t kShardings = static_cast<std::size_t>(StateSharding::kHsdp) + 1,
                      kRecomputes = static_cast<std::size_t>(Recompute::kRemakeNamed) + 1;

// Number i as one of so many values.
template <class Value>
Value choice_at(const std::vector<int>& numbers, std::size_t i, std::size_t values) {
  if (numbers[i] < 0 || static_cast<std::size_t>(numbers[i]) >= values)
    throw std::out_of_range("number " + std::to_string(i + 1) + " of a layout is one of 0 to " +
                            std::to_string(values - 1) + ", not " + std::to_string(numbers[i]));
  return static_cast<Value>(numbers[i]);
}

// Whether its axes make so many chips that an int can count them, and experts that tensor ranks can hold.
bool makes_chips(const JobLayout& layout) {
  std::int64_t chips = 1;
  for (const int size : {layout.expert, layout.expert_tensor, layout.context, layout.pipeline, layout.data}) {
    chips *= size;  // those of expert and expert_tensor are `tensor` times their axis of the mesh
    if (chips > std::numeric_limits<int>::max()) return false;
  }
  return std::int64_t{layout.expert} * layout.expert_tensor % layout.tensor == 0;
}

}  // namespace

std::string to_string(LayoutVerdict verdict) { return kVerdicts[static_cast<std::size_t>(verdict)]; }

std::optional<LayoutVerdict> verdict_named(const std::string& name) {
  for (std::size_t i = 0; i < std::size(kVerdicts); ++i)
    if (name == kVerdicts[i]) return static_cast<LayoutVerdict>(i);
  return std::nullopt;
}

std::vector<int> numbers_of(const JobLayout& layout) {
  return {layout.tensor,
          layout.context,
          layout.pipeline,
          layout.expert,
          layout.expert_tensor,
          layout.data,
          static_cast<int>(layout.sharding),
          layout.group,
          static_cast<int>(layout.recompute),
          layout.recompute_layers,
          layout.microbatch,
          static_cast<int>(layout.schedule),
          layout.chunks};
}

JobLayout layout_of_numbers(const std::vector<int>& numbers) {
  const std::size_t count = numbers_of({}).size();
  if (numbers.size() != count)
    throw std::out_of_range("a layout is " + std::to_string(count) + " numbers, not " +
                            std::to_string(numbers.size()));
  JobLayout layout;
  std::size_t i = 0;
  // So many at least.
  const auto at_least = [&](int least) {
    if (numbers[i] < least)
      throw std::out_of_range("number " + std::to_string(i + 1) + " of a layout is " + std::to_string(least) +
                              " at least, not " + std::to_string(numbers[i]));
    return numbers[i++];
  };
  layout.tensor = at_least(1);
  layout.context = at_least(1);
  layout.pipeline = at_least(1);
  layout.expert = at_least(1);
  layout.expert_tensor = at_least(1);
  layout.data = at_least(1);
  layout.sharding = choice_at<StateSharding>(numbers, i++, kShardings);
  layout.group = at_least(1);
  layout.recompute = choice_at<Recompute>(numbers, i++, kRecomputes);
  layout.recompute_layers = at_least(0);
  layout.microbatch = at_least(1);
  layout.schedule = choice_at<PipelineSchedule>(numbers, i++, all_schedules().size());
  layout.chunks = at_least(1);
  if (!makes_chips(layout)) throw std::out_of_range("axes of a layout that make no chips");
  if (canonical(layout) != layout)
    throw std::out_of_range("a layout in other words than those of podsim search: " + to_string(layout));
  return layout;
}

std::string certificate_text(const CertificateHeader& header, const SearchAnswer& answer) {
  using Json = nlohmann::ordered_json;
  const Json first = {{"podsim", header.version}, {"scenario_sha256", header.sha256},
                      {"top", header.top},        {"within", header.within},
                      {"gap", header.gap},        {"scenario", header.scenario}};
  std::string text = first.dump() + "\n";
  for (const LayoutRecord& record : answer.records) {
    Json line = {{"layout", numbers_of(record.layout)}, {"verdict", to_string(record.verdict)}};
    if (record.memory.value > 0)
      line["bytes"] = record.memory.value;
    else
      line["ps"] = record.time.ps;
    text += line.dump() + "\n";
  }
  Json best = Json::array();
  for (const FoundLayout& found : answer.best)
    best.push_back({{"layout", numbers_of(found.layout)}, {"ps", found.figures.step_time.ps}});
  const Json last = {{"layouts", answer.counts.layouts}, {"best", best}};
  return text + last.dump() + "\n";
}

}  // namespace podsim
