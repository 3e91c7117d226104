// Sharding rules and presets that change nothing of the job's model.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "proto/scenario.pb.h"
#include "proto/scenario/job_resolver.h"
#include "workload/job/job.h"
#include "workload/model/model_program.h"
#include "workload/model/rules_in_use.h"
#include "workload/sharding/presets.h"

namespace podsim {
namespace {

using Rules = std::vector<ShardingRule>;

// The rules of a preset that another does not have.
Rules beyond(const Rules& preset, const Rules& other) {
  Rules more = preset;
  std::erase_if(more,
                [&](const ShardingRule& rule) { return std::count(other.begin(), other.end(), rule) > 0; });
  return more;
}

Rules beyond_batch(Rules preset) {
  std::erase_if(preset, [](const ShardingRule& rule) { return rule.dimension == "batch"; });
  return preset;
}

class IdlePresets {
 public:
  IdlePresets(const Mesh& mesh, const std::set<std::string>& in_use) : mesh_(mesh), in_use_(in_use) {}

  struct Idle {
    std::string effect;     // what it does all the same: "has no effect beyond that of data"
    std::string dimension;  // that the model lacks
  };
  // Nothing where a preset has an effect of its own.
  std::optional<Idle> find(const std::string& preset) const {
    const Rules rules = *preset_rules(preset, mesh_);
    if (rules.empty()) return std::nullopt;  // of no axis of the mesh
    if (idle(rules)) return Idle{"has no effect", rules.front().dimension};
    for (const std::string& name : preset_names()) {
      const Rules smaller = *preset_rules(name, mesh_);
      const Rules more = beyond(rules, smaller);
      const bool part = more.size() + smaller.size() == rules.size() && !smaller.empty() && !more.empty();
      if (part && idle(more)) return Idle{"has no effect beyond that of " + name, more.front().dimension};
    }
    const Rules more = beyond_batch(rules);
    if (!more.empty() && idle(more)) return Idle{"cuts the batch alone", more.front().dimension};
    return std::nullopt;
  }

 private:
  bool idle(const Rules& rules) const {
    return std::none_of(rules.begin(), rules.end(),
                        [&](const ShardingRule& rule) { return in_use_.count(rule.dimension) > 0; });
  }

  const Mesh& mesh_;
  const std::set<std::string>& in_use_;
};

}  // namespace

// REQUIRES: the job is good.
void JobResolver::idle_rules() {
  if (job_.measured) return;
  std::set<std::string> in_use = dimensions_with_rules_in_use(job_, model_program(job_));
  const auto lacks = [&](const std::string& dimension) {
    return "no tensor of " + (job_.program ? "the program" : job_.model.name) + " has a dimension \"" +
           dimension + "\"";
  };
  for (int i = 0; i < choice_.rule_size(); ++i) {
    const std::string& dimension = choice_.rule(i).dimension();
    if (!in_use.count(dimension))
      document_.warn_idle(at("rule[" + std::to_string(i) + "]"), lacks(dimension));
  }
  // megatron_sp is the usual word for matmuls that are cut, also of programs without tokens between blocks.
  in_use.insert("residual_sequence");
  const IdlePresets presets(job_.mesh, in_use);
  for (int i = 0; i < choice_.sharding_size(); ++i) {
    const std::string& name = choice_.sharding(i);
    const auto idle = presets.find(name);
    if (!idle) continue;
    document_.warn(at("sharding[" + std::to_string(i) + "]"),
                   name + " " + idle->effect + ": " + lacks(idle->dimension));
  }
}

}  // namespace podsim
