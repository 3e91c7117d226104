// Lines of JSON, written here and read by the check.
#include "planner/search/certificate.h"

#include <nlohmann/json.hpp>

#include "planner/search/certificate_lines.h"

namespace podsim {
namespace {

constexpr const char* kVerdicts[] = {"no_room_for_state", "no_room",   "lighter",  "passes", "stages",
                                     "relaxed",           "simulated", "too_long", "open"};

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
  JobLayout layout;
  layout.tensor = numbers.at(0);
  layout.context = numbers.at(1);
  layout.pipeline = numbers.at(2);
  layout.expert = numbers.at(3);
  layout.expert_tensor = numbers.at(4);
  layout.data = numbers.at(5);
  layout.sharding = static_cast<StateSharding>(numbers.at(6));
  layout.group = numbers.at(7);
  layout.recompute = static_cast<Recompute>(numbers.at(8));
  layout.recompute_layers = numbers.at(9);
  layout.microbatch = numbers.at(10);
  layout.schedule = static_cast<PipelineSchedule>(numbers.at(11));
  layout.chunks = numbers.at(12);
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
