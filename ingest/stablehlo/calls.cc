// Functions by name first, then along their calls.
#include "ingest/stablehlo/calls.h"

#include <map>
#include <utility>

#include "engine/spelling.h"

namespace podsim::stablehlo {
namespace {

class CallCheck {
 public:
  explicit CallCheck(const Module& module) : module_(module) {}

  std::vector<CallProblem> problems() {
    for (const Function& function : module_.functions) {
      if (!by_name_.emplace(function.name, &function).second)
        problems_.push_back({"", "function @" + function.name + " is defined twice", ""});
      for (const std::string& callee : called_by(function)) calls_[function.name].push_back(callee);
    }
    for (const auto& [caller, callees] : calls_)
      for (const std::string& callee : callees) check_defined(callee);
    for (const Function& function : module_.functions)
      if (problems_.empty() && done_.count(function.name) == 0) follow(function.name, 1);
    return std::move(problems_);
  }

 private:
  void check_defined(const std::string& callee) {
    if (by_name_.count(callee) != 0) return;
    std::vector<std::string> names;
    for (const auto& [name, known] : by_name_) names.push_back(name);
    const std::string near = closest_name(callee, names);
    problems_.push_back({callee, "function @" + callee + " is not defined",
                         near.empty() ? "" : "did you mean \"@" + near + "\"?"});
  }

  void follow(const std::string& function, int depth) {
    constexpr int kDeepest = 1000;
    done_[function] = false;
    for (const std::string& callee : calls_[function]) {
      const auto seen = done_.find(callee);
      if (seen != done_.end() && !seen->second)
        problems_.push_back({callee, "function @" + callee + " calls itself", ""});
      else if (depth == kDeepest)
        problems_.push_back({callee, "functions call each other more than 1,000 deep", ""});
      else if (seen == done_.end())
        follow(callee, depth + 1);
    }
    done_[function] = true;
  }

  const Module& module_;
  std::vector<CallProblem> problems_;
  std::map<std::string, const Function*> by_name_;
  std::map<std::string, std::vector<std::string>> calls_;  // [caller]
  std::map<std::string, bool> done_;                       // false: under way
};

}  // namespace

std::vector<CallProblem> call_problems(const Module& module) { return CallCheck(module).problems(); }

}  // namespace podsim::stablehlo
