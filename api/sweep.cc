// Every combination of values, evaluated side by side.
#include <atomic>
#include <mutex>
#include <utility>

#include "api/errors.h"
#include "api/podsim/podsim.h"
#include "engine/parallel_for.h"

namespace podsim {
namespace {

constexpr std::size_t kMostRows = 100'000;

// [row][path]; nothing where there are too many.
std::optional<std::vector<std::vector<std::string>>> combinations(const std::vector<SweptField>& fields) {
  std::vector<std::vector<std::string>> rows = {{}};
  for (const SweptField& field : fields) {
    if (rows.size() * field.values.size() > kMostRows) return std::nullopt;
    std::vector<std::vector<std::string>> longer;
    for (const auto& row : rows)
      for (const std::string& value : field.values) {
        longer.push_back(row);
        longer.back().push_back(value);
      }
    rows = std::move(longer);
  }
  return rows;
}

Expected<StepReport> row_report(Scenario scenario, const std::vector<SweptField>& fields,
                                const std::vector<std::string>& values, const Effort& effort) {
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (const auto failure = scenario.set(fields[i].path, values[i])) return *failure;
  return scenario.evaluate(effort);
}

}  // namespace

inline namespace v0 {

Expected<std::vector<SweepRow>> sweep(const Scenario& scenario, const std::vector<SweptField>& fields,
                                      const Effort& effort) {
  using Rows = std::vector<SweepRow>;
  return guarded<Rows>([&]() -> Expected<Rows> {
    const auto values = combinations(fields);
    if (!values) return input_error("sweep", "fields", "the values have more than 100,000 combinations");
    std::vector<std::optional<Expected<StepReport>>> reports(values->size());
    std::mutex mutex;
    std::atomic<bool> own_stop = false;
    std::atomic<bool>& stopped = effort.stop != nullptr ? *effort.stop : own_stop;
    std::int64_t done = 0;
    const auto total = static_cast<std::int64_t>(values->size());
    Effort each;
    each.stop = &stopped;
    parallel_for(values->size(), effort.threads, [&](std::size_t i) {
      if (stopped) return;
      reports[i] = row_report(scenario, fields, (*values)[i], each);
      const std::lock_guard lock(mutex);
      ++done;
      const double share = static_cast<double>(done) / static_cast<double>(total);
      const Advance advance{share, done, total,
                            std::to_string(done) + " of " + std::to_string(total) + " settings"};
      if (!goes_on(effort, advance)) stopped = true;
    });
    if (stopped) throw CancelledByWatch();
    Rows rows;
    for (std::size_t i = 0; i < reports.size(); ++i) rows.push_back({(*values)[i], *std::move(reports[i])});
    return rows;
  });
}

}  // namespace v0
}  // namespace podsim
