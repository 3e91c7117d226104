// Reports of runs that outlive the server: in a store, where other verbs find them too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/store/contents.h"
#include "planner/store/store.h"
#include "prediction/predict.h"
#include "scheduler/question/spec.h"

namespace podsim {

// For several threads at once. Throws StoreFailure (planner/store/database.h).
class History {
 public:
  // The file is made where it is missing; `version` = of the model.
  History(const std::string& path, const std::string& version) : path_(path), store_(path, version) {}

  // A step of one job; others have no report that a store could keep. It is in the file when this returns.
  void keep(const Spec& spec, const std::string& text, const Prediction& prediction);

  // What is in the file, and so outlives whatever ends the server: newest first.
  std::vector<StoredResult> newest(std::size_t most) const { return newest_results(path_, most); }

  // By its whole key: what was kept last.
  std::optional<NewestReport> find(const std::string& key) const { return newest_report(path_, key); }

 private:
  const std::string path_;
  Store store_;
};

}  // namespace podsim
