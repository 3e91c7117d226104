// Simulated steps in one file, so that nothing is simulated twice, whoever asks and whatever was ended when.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planner/store/main_figures.h"

namespace podsim {

// A question, by the SHA-256 of it and of all that its names mean (Spec::sha256).
struct StoredScenario {
  std::string key;
  std::string text;  // loads to this key
  std::string name;  // to be read by people
};

// What was asked of many scenarios. Studies of one question, version and shard are one.
struct StudyName {
  std::string command;
  std::string question;       // SHA-256 of what decides the answer
  int shard = 1, shards = 1;  // of 1 ... shards
};

enum class StudyState { kRunning, kStopped, kComplete };
const char* to_string(StudyState state);

// Of a study's answer, in order.
struct StudyRow {
  std::string key, label;
  std::int64_t place = 0;  // from 1 on in the answer of all shards; 0 = not known: its number in this one
};

// A step is a function of its scenario and of podsim's version: results of one version never change, and
// those of several are kept apart. For several threads at once. Throws StoreFailure
// (planner/store/database.h).
class Store {
 public:
  // The file is made where it is missing. `version` = of the model that results are asked of and kept for.
  Store(const std::string& path, std::string version);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  std::optional<MainFigures> figures(const std::string& key) const;
  std::optional<std::string> report(const std::string& key) const;  // as JSON

  // Kept once, and in the file when this returns, whatever ends the process then. Throws where other figures
  // are known of this key: one of the two is wrong.
  void keep(const StoredScenario& scenario, const MainFigures& figures, const std::string& report,
            std::int64_t cpu_us);

  std::int64_t begin_study(const StudyName& name);
  // Of a study that came to its end, by its question.
  struct Answer {
    double gap = 0;
    std::vector<StudyRow> rows;
  };
  std::optional<Answer> answer(const StudyName& name) const;

  // Replaces the rows of the study. `gap` = how much better anything could still be.
  void end_study(std::int64_t study, StudyState state, double gap, const std::vector<StudyRow>& rows);

 private:
  class Writer;
  const std::string version_;
  std::unique_ptr<Writer> writer_;
};

}  // namespace podsim
