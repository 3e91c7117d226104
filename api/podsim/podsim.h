// podsim as a library: scenarios in, figures out, errors as values.
//
//   podsim::Expected<podsim::Scenario> job = podsim::Scenario::load("llama3_70b_512_h100.textproto");
//   if (!job) return complain(job.error().text());
//   job->set("job.microbatch_sequences", "2");
//   podsim::Expected<podsim::StepReport> report = job->evaluate();
//   if (report) use(report->number("step_time_s"));
//
// Figures are those of `podsim run`, to the last digit. Every function may be called from several threads at
// once, of one object those that are const. What is asked again in the same process is not made again:
// fabrics, placements, pieces of models. docs/guide/library.md has the rest.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

// Semantic versions: the second number rises when something is added; while the first is 0, also when
// something that is used now would not compile or link any more.
#define PODSIM_VERSION_MAJOR 0
#define PODSIM_VERSION_MINOR 1
#define PODSIM_VERSION_PATCH 0

#if defined(__GNUC__)
#define PODSIM_API __attribute__((visibility("default")))
#else
#define PODSIM_API
#endif

namespace podsim {
inline namespace v0 {

// Of the library that the program runs with, "0.1.0".
PODSIM_API std::string library_version();

// Something to mend, or worth a look, at its place in a text.
struct Diagnostic {
  std::string file;          // or the call whose argument it is
  int line = 0, column = 0;  // from 1; 0 = the whole file, or a field that set() gave
  std::string message;       // what is wrong
  std::string source_line;   // the line of the text, the setting, or the argument
  std::string hint;          // what was expected, or the nearest name; may be empty
  // As the command line prints it: place, message, line, hint.
  std::string text;
};

// Why there is no answer.
struct PODSIM_API Error {
  enum class Kind : unsigned char {
    kInput,       // what was asked must be changed
    kInfeasible,  // the question is a good one, and nothing answers it
    kCancelled,   // by the caller
    kInternal,    // podsim failed: a full disk, a fault of its own
  };
  Kind kind = Kind::kInput;
  std::string message;                  // empty where the diagnostics say it all
  std::vector<Diagnostic> diagnostics;  // all of them at once
  std::string text() const;             // of the whole, for people
};

// A value, or why there is none.
template <class T>
class Expected {
 public:
  Expected(T value) : held_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Expected(Error error) : held_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return std::holds_alternative<T>(held_); }
  // REQUIRES: there is a value.
  T& operator*() { return std::get<T>(held_); }
  const T& operator*() const { return std::get<T>(held_); }
  T* operator->() { return &std::get<T>(held_); }
  const T* operator->() const { return &std::get<T>(held_); }
  // REQUIRES: there is none.
  const Error& error() const { return std::get<Error>(held_); }

 private:
  std::variant<T, Error> held_;
};

// A figure: a number, truth, text, or nothing where it is not known. Times are in seconds.
using Value = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string>;

// How far a computation is.
struct Advance {
  double share = 0;                  // of all there is to do, [0, 1]; 0 where nobody knows
  std::int64_t done = 0, total = 0;  // draws of a scenario, rows of a sweep, groups of layouts of a search
  std::string text;                  // "12 of 64 settings"; of a plan the choice that is searched
};

// Told now and then, from any thread, one at a time. Returns whether to go on: false cancels; of a search and
// a plan the best so far is then the answer.
using Watch = std::function<bool(const Advance&)>;

// How to compute. No figure depends on it.
struct Effort {
  int threads = 1;  // 0 = as many as the machine has cores
  Watch watch = {};
  // Once it is true, all ends as where the watch says no; set when the watch does.
  std::atomic<bool>* stop = nullptr;
};

struct ReportContent;  // of the library's own

// The answer to a scenario: every figure of `podsim run`. A copy shares what it holds.
class PODSIM_API StepReport {
 public:
  explicit StepReport(std::shared_ptr<const ReportContent> content);

  // A figure by its key in JSON, parts by dots and elements by numbers: "step_time_s", "fits",
  // "memory_per_chip_gib.total", "fault_costs[0].cost_s", "jobs[1].slowdown". A name that there is not fails
  // with the nearest one.
  Expected<Value> figure(const std::string& name) const;
  // The same of a number, or of truth as 1 and 0. NaN where there is no such number: figure() says why.
  double number(const std::string& name) const;
  // The names of all single figures of this report, in the order of JSON. None where podsim fails: figure()
  // says why.
  std::vector<std::string> names() const;

  // "table", "json", "csv" or "textproto", as the command line prints it; empty for any other word, and where
  // podsim fails.
  std::string render(const std::string& format) const;
  std::string json() const { return render("json"); }
  // A picture of `podsim run --svg` as an SVG file, "breakdown" or another of picture_names(); empty for any
  // other word, where there is nothing to draw, of several jobs, and where podsim fails.
  std::string picture(const std::string& what) const;

  // The page that `podsim run --html` writes, and its panels alone, without scripts, to stand on a page of
  // others. Like some pictures they need a second look at the step, which is then simulated again.
  Expected<std::string> html() const;
  Expected<std::string> panels() const;

  // The step for viewers of traces: "perfetto" (binary) or "chrome" (JSON), as `podsim run --perfetto` and
  // `--chrome` write them. Fails for any other word, and of several jobs.
  Expected<std::string> trace(const std::string& format) const;

  // What the scenario has that is worth a look.
  const std::vector<Diagnostic>& warnings() const;

 private:
  std::shared_ptr<const ReportContent> content_;
};

// A question: the text of a scenario, and fields that were set since.
class PODSIM_API Scenario {
 public:
  // Text format or JSON; `name` stands in diagnostics. Fails where the text has no scenario's form or fields
  // have no such values; whether all of it makes sense evaluate() says.
  static Expected<Scenario> parse(std::string text, std::string name = "scenario");
  static Expected<Scenario> load(const std::string& path);

  // Sets a field by its path, as --set does: "job.mesh.tensor.size" to "4". The same path once more takes the
  // place of the first time. What the field cannot take is refused, and the scenario stays as it was.
  std::optional<Error> set(const std::string& path, const std::string& value);

  const std::string& text() const { return text_; }
  const std::string& name() const { return name_; }
  const std::vector<std::pair<std::string, std::string>>& settings() const { return settings_; }

  // The step, as `podsim run` tells it. Cancelled when the watch says so.
  Expected<StepReport> evaluate(const Effort& effort = {}) const;

 private:
  Scenario(std::string text, std::string name) : text_(std::move(text)), name_(std::move(name)) {}
  std::string text_, name_;
  std::vector<std::pair<std::string, std::string>> settings_;
};

// The values that a field takes, one after another.
struct SweptField {
  std::string path;
  std::vector<std::string> values;
};

// A scenario of a sweep and its answer.
struct SweepRow {
  std::vector<std::string> values;  // [swept path]
  Expected<StepReport> report;
};

// Every combination of the values, the last path fastest; several at a time where there are threads. Fails as
// a whole only when it is cancelled, or has more than 100,000 rows.
PODSIM_API Expected<std::vector<SweepRow>> sweep(const Scenario& scenario,
                                                 const std::vector<SweptField>& fields,
                                                 const Effort& effort = {});

// A layout that a search found.
struct RankedLayout {
  std::string layout;  // "tensor=4 pipeline=8 ..."
  double step_time_s = 0;
  double memory_gib = 0;  // of the fullest chip
  std::string scenario;   // with this layout, as text
};

// What to search for; docs/guide/planning.md.
struct SearchWish {
  int top = 10;
  double within = 0;    // all layouts that are slower by this share at most, too
  double gap = 0;       // stop where nothing can be faster by more than this share; not beside `within`
  bool pareto = false;  // all layouts that no other beats in both step and memory, however many; `within` and
                        // `gap` are 0 then
};

struct SearchResult {
  std::vector<RankedLayout> layouts;  // the fastest first
  bool proven = false;                // that nothing is faster, by more than the gap
  double gap = 0;                     // that is left
  std::string json;                   // as `podsim search --format json` prints it
};

// The fastest layouts of the scenario's job among those of its block `space`.
PODSIM_API Expected<SearchResult> search(const Scenario& scenario, const SearchWish& wish = {},
                                         const Effort& effort = {});

// A training run, and where it may be done. What is not set is that of the scenario's block `plan`, whose
// limits hold, or usual.
struct PlanWish {
  std::optional<double> tokens;    // to be trained
  std::vector<std::string> chips;  // empty = the block's choices, else the scenario's chip
  std::vector<int> counts;
  std::vector<std::string> price_terms;
  std::vector<std::string> precisions;
  std::optional<double> most_days, most_usd;  // from 0.001 to 36500, and from 1 to 1e12
  std::optional<std::string> minimise;        // "usd", "days", "energy", "carbon", "chips" or "regret"
  std::optional<double> gap;                  // of each search, a share
};

// A cluster with the fastest layout of the job on it.
struct PlannedCluster {
  std::string chip, fabric, stack, precision, price_term;
  int chips = 0;
  RankedLayout fastest;  // with this cluster in its scenario
  double days = 0, usd = 0, mwh = 0;
  bool meets_limits = true;
};

struct PlanResult {
  std::vector<PlannedCluster> clusters;  // those that meet the limits first, the best first
  std::string json;                      // as `podsim plan --format json` prints it
};

PODSIM_API Expected<PlanResult> plan(const Scenario& scenario, const PlanWish& wish,
                                     const Effort& effort = {});

// What a command line did.
struct CommandOutput {
  int exit_code = 0;
  std::string out, err;
};

// Runs a command line within the process: {"scale", "job.textproto", "--chips", "64,128"}. Output and
// messages are those of the program. Those of several threads wait for each other. Where the caller sets
// `stop`, a search or a plan ends with the best so far.
PODSIM_API CommandOutput command(const std::vector<std::string>& words,
                                 const std::atomic<bool>* stop = nullptr);

// A figure that reports may have.
struct FigureInfo {
  std::string name;  // as figure() takes it, with [] for any element and * for any key
  std::string type;  // "number", "integer", "boolean", "string", "object", "array"
  std::string unit;  // "s", "GiB"; empty where it has none
  std::string definition;
};
PODSIM_API std::vector<FigureInfo> figure_list();

// The pictures that reports may have.
PODSIM_API std::vector<std::string> picture_names();

// A field that scenarios may have.
struct FieldInfo {
  std::string message;  // "JobChoice": the block that it is in; the outermost is "Scenario"
  std::string name;     // "global_batch_sequences"
  std::string type;     // "number", "integer", "boolean", "string", or the name of a block
  bool repeated = false;
  std::vector<std::string> values;  // the names that it takes; empty = any
  std::string range;                // of numbers: "(0, 1]"; beside values: such a number is taken too
};
PODSIM_API std::vector<FieldInfo> scenario_fields();

}  // namespace v0
}  // namespace podsim
