// What is in a store, looked at and joined as a whole. Throws StoreFailure (planner/store/database.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/store/store.h"

namespace podsim {

struct StoredStudy {
  std::int64_t id = 0;
  std::string command, question, version, state;
  int shard = 1, shards = 1;
  double gap = 0;
  std::int64_t rows = 0;
};

struct StoreContents {
  struct OfVersion {
    std::string version;
    std::int64_t results = 0;
    double cpu_s = 0;  // that they took
  };
  std::int64_t scenarios = 0;
  std::vector<OfVersion> versions;
  std::vector<StoredStudy> studies;  // in order of their numbers
};
StoreContents contents_of(const std::string& path);

struct StoredResult {
  std::string key, version, name;
  MainFigures figures;
  std::int64_t cpu_us = 0;
};

// All results, in order of keys and versions.
void each_result(const std::string& path, const std::function<void(const StoredResult&)>& told);

// Those that were kept last, newest first.
std::vector<StoredResult> newest_results(const std::string& path, std::size_t most);

// A scenario whose key begins so, with its report by each version.
struct StoredReports {
  StoredScenario scenario;
  struct OfVersion {
    std::string version, report;
  };
  std::vector<OfVersion> reports;
};
std::vector<StoredReports> stored_reports(const std::string& path, const std::string& key_prefix);

// The scenario of this very key, and what was kept last of its reports, whatever version made it.
struct NewestReport {
  StoredScenario scenario;
  std::string version, report;  // empty where it has none
};
std::optional<NewestReport> newest_report(const std::string& path, const std::string& key);

// The rows of a study and of all shards of the same question and version, in the order of their places. Where
// shards have ranked their rows each for itself, and so have the same places: the fastest first, at most as
// many as the longest of them has.
struct StudyAnswer {
  StoredStudy study;
  std::vector<StoredResult> rows;  // `name` = the label in the study
  std::vector<int> missing;        // shards that are not in the store, or are not done
};
StudyAnswer answer_of(const std::string& path, std::int64_t study);

struct MergeCounts {
  std::int64_t results = 0, known = 0;  // that were read, and of them there before
};
// What other stores have, too; in any order, and as often as you like. Throws where two stores have different
// figures of one scenario and version; nothing of that store is then written.
MergeCounts merge_stores(const std::string& into, const std::vector<std::string>& from);

// What is wrong with the file itself, a sentence each: pages that SQLite cannot read, rows without their
// other half.
std::vector<std::string> damage_of(const std::string& path);

}  // namespace podsim
