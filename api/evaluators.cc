// A stack of evaluators, as many as ever were at work at once.
#include "api/evaluators.h"

#include <mutex>
#include <utility>
#include <vector>

namespace podsim {
namespace {

struct IdleEvaluators {
  std::mutex mutex;
  std::vector<std::unique_ptr<Evaluator>> stack;
};

// Never destroyed: threads may outlive main().
IdleEvaluators& idle_evaluators() {
  static auto* const idle = new IdleEvaluators;
  return *idle;
}

}  // namespace

const Catalog& shared_catalog() {
  static const auto* const catalog = new Catalog;
  return *catalog;
}

LentEvaluator::LentEvaluator() {
  IdleEvaluators& idle = idle_evaluators();
  const std::lock_guard lock(idle.mutex);
  if (idle.stack.empty()) {
    evaluator_ = std::make_unique<Evaluator>();
    return;
  }
  evaluator_ = std::move(idle.stack.back());
  idle.stack.pop_back();
}

void LentEvaluator::give_back() {
  IdleEvaluators& idle = idle_evaluators();
  const std::lock_guard lock(idle.mutex);
  idle.stack.push_back(std::move(evaluator_));
}

}  // namespace podsim
