// Evaluators that threads take in turn, so that what one call has learned the next one knows.
#pragma once

#include <memory>

#include "prediction/evaluator.h"
#include "proto/catalog/catalog.h"

namespace podsim {

// The built-in one, which all calls share.
const Catalog& shared_catalog();

// An evaluator of this thread alone for as long as one lives; the one that was given back last. Where it is
// not given back, as after an exception, it is gone with all that it knows.
class LentEvaluator {
 public:
  LentEvaluator();
  Evaluator* operator->() { return evaluator_.get(); }
  void give_back();  // REQUIRES: it is whole

 private:
  std::unique_ptr<Evaluator> evaluator_;
};

}  // namespace podsim
