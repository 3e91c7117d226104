// Reads what parts wrote while they ran, and the stores of those that are done.
#include "cli/parts/part_progress.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cli/terminal/output.h"
#include "planner/store/contents.h"
#include "proto/text/read_file.h"
#include "report/text/text.h"

namespace podsim {
namespace {

namespace fs = std::filesystem;
using ProgressJson = nlohmann::json;

constexpr std::chrono::seconds kBetweenWords{2};
constexpr const char* kCountFile = "/count.json";

// Nothing where there is no such file, or one that is just being written.
std::optional<ProgressJson> read_json(const std::string& path) {
  std::vector<Problem> problems;
  if (!fs::exists(path)) return std::nullopt;
  const auto input = read_input(path, problems);
  ProgressJson json = input ? ProgressJson::parse(input->text, nullptr, false) : ProgressJson();
  return json.is_object() ? std::optional(std::move(json)) : std::nullopt;
}

struct AllParts {
  int of = 0, done = 0, under_way = 0;
  std::int64_t layouts = 0, simulated = 0;  // of those under way
  double best_s = 0, bound_s = 0;           // 0 = none yet
  bool bounded = true;                      // every part has a bound

  void add_best(double seconds) {
    if (seconds > 0 && (best_s == 0 || seconds < best_s)) best_s = seconds;
  }
  void add_bound(double seconds) {
    bounded = bounded && seconds > 0;
    if (seconds > 0 && (bound_s == 0 || seconds < bound_s)) bound_s = seconds;
  }
};

// The best of a part that is done is also its bound, but for the gap that it was content with.
void add_done(AllParts& all, const std::string& store) {
  ++all.done;
  for (const StoredStudy& study : contents_of(store).studies) {
    const StudyAnswer answer = answer_of(store, study.id);
    if (answer.rows.empty()) continue;
    const double best = std::ranges::min(answer.rows, {}, [](const StoredResult& each) {
                          return each.figures.step_time;
                        }).figures.step_time.in_seconds();
    all.add_best(best);
    all.add_bound(best * (1 - study.gap));
  }
}

void add_under_way(AllParts& all, const ProgressJson& progress) {
  ++all.under_way;
  all.layouts += progress.value("layouts", std::int64_t{0});
  all.simulated += progress.value("simulated", std::int64_t{0});
  all.add_best(progress.value("best_s", 0.0));
  all.add_bound(progress.value("bound_s", 0.0));
}

AllParts parts_of(const std::string& folder) {
  AllParts all;
  if (const auto count = read_json(folder + kCountFile)) all.of = count->value("parts", 0);
  for (int part = 1; part <= all.of; ++part) {
    const std::string number = std::to_string(part), store = folder + "/part-" + number + ".db";
    if (fs::exists(store))
      add_done(all, store);
    else if (const auto progress = read_json(progress_file(folder, number)))
      add_under_way(all, *progress);
    else
      all.bounded = false;
  }
  return all;
}

std::string progress_text(const AllParts& all) {
  std::string text = std::to_string(all.done) + " of " + std::to_string(all.of) + " parts are done, " +
                     std::to_string(all.under_way) + " under way";
  if (all.under_way > 0)
    text +=
        " with " + std::to_string(all.layouts) + " layouts, " + std::to_string(all.simulated) + " simulated";
  if (all.best_s > 0) text += "; best step " + fixed(all.best_s, 4) + " s";
  if (all.best_s > 0 && all.bounded && all.bound_s > 0)
    text += all.bound_s < all.best_s
                ? ", nothing is better by more than " + percent(1 - all.bound_s / all.best_s)
                : ", nothing is better";
  return text + "\n";
}

}  // namespace

void PartProgress::tell(const SearchProgress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (path_.empty() || now - told_ < kBetweenWords) return;
  told_ = now;
  ProgressJson json = {{"layouts", progress.layouts}, {"simulated", progress.simulated}};
  if (progress.incumbent.ps > 0) json["best_s"] = progress.incumbent.in_seconds();
  if (progress.bound.ps > 0) json["bound_s"] = progress.bound.in_seconds();
  write_whole(path_, json.dump() + "\n");
}

std::string progress_file(const std::string& folder, const std::string& part) {
  return folder + "/part-" + part + ".progress";
}

void write_part_count(const std::string& folder, int parts) {
  write_whole(folder + kCountFile, ProgressJson({{"parts", parts}}).dump() + "\n");
}

std::string parts_text(const std::string& store) {
  const fs::path whole = fs::absolute(store).lexically_normal();
  std::vector<std::string> folders;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(whole.parent_path(), unreadable))
    if (entry.is_directory() &&
        entry.path().filename().string().starts_with(whole.filename().string() + ".podsim-"))
      folders.push_back(entry.path().string());
  std::ranges::sort(folders);
  std::string text;
  for (const std::string& folder : folders)
    text += fs::path(folder).filename().string().substr(whole.filename().string().size() + 1) + ": " +
            progress_text(parts_of(folder));
  return text;
}

}  // namespace podsim
