// What a file of another tool holds, and what a user says beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingest/imported/account.h"
#include "proto/text/problem.h"
#include "proto/text/read_file.h"
#include "report/figures/figure.h"
#include "scheduler/replay/step_graph.h"

namespace podsim {

namespace hlo {
struct Machine;
}

// What files do not tell. Options of podsim import have these names.
struct Stated {
  std::map<std::string, std::int64_t> trips;  // [loop] how often it runs
  std::optional<std::int64_t> chips, slices;
  std::string model, chip, fabric, stack;  // names of the catalogue; empty where they are not stated
  std::string chip_from = "--chip", fabric_from = "--fabric";  // why they are these
  std::vector<std::pair<std::string, std::string>>
      settings;                                            // of a launcher, by name: over those of the file
  std::vector<std::pair<std::string, std::int64_t>> mesh;  // axes to partition a module for, major to minor
  bool roofline = false;   // computations take what the chip needs for their operations and bytes
  bool partition = false;  // modules that no compiler has partitioned, for `on_machine` and `beside`
  bool plan = false;       // the layout is to be found: what a step has, where nobody says it, may be assumed
};

// What has to be stated before it could be run.
struct Needed {
  std::string what, option;  // "chips", "--chips"
};

// Times of one collective by message size.
struct MeasuredTimes {
  struct Row {
    std::int64_t bytes = 0;
    double time_us = 0;
  };
  std::string collective;             // as podsim spells it; empty where the file does not tell
  std::int64_t ranks = 0, hosts = 0;  // 0 = the file does not tell
  std::vector<Row> rows;              // in which something moved, and nothing was wrong
};

// What a step of a recorded run took.
struct RecordedStep {
  std::int64_t steps = 0;       // that it is the middle one of
  bool by_marks = false;        // no step follows another: each is as long as the host's mark of it
  std::int64_t unrecorded = 0;  // ranks that took part, and have no profile
  Time step, computing, communicating, exposed;  // exposed: of communicating, while nothing was computed
};

struct Imported {
  std::vector<Figure> figures;            // for programs
  std::string text;                       // for people, the account at its end
  std::vector<Account> accounts;          // of each part that has one
  std::vector<std::string> notes = {};    // what gives reason to doubt that the files are whole
  std::vector<Needed> needs = {};         // to know all figures
  std::vector<Needed> needs_to_run = {};  // and to write a scenario
  // In text format, or a fabric; empty where something is missing or nothing can run.
  std::string scenario = {};
  bool is_fabric = false;
  // The step of ranks that have traces, on so many chips; null where files say nothing of who waits for whom.
  // With a timer, which may be null, one rank is kept of those that do alike.
  std::function<StepGraph(std::int64_t chips, const TransferTimer* timer)> step = {};
  std::optional<RecordedStep> recorded = {};  // of a profile that marks steps
  // What a compiled module does on a chip and a fabric; null where files are none.
  std::function<Imported(const hlo::Machine& machine)> on_machine = {};
  // Its collectives beside those of a dump of the same module that a compiler partitioned; nothing, and
  // problems, where that cannot be read. Null where files are no modules.
  std::function<std::optional<Imported>(const InputText& dump, std::vector<Problem>& problems)> beside = {};
  std::optional<MeasuredTimes> measured = {};  // of collectives
  std::int64_t ranks = 0;                      // that have traces
  bool transfers_recorded = false;             // their times, so that the step runs without a fabric
};

// "needs chips (--chips)", a line for each; empty where nothing is missing.
std::string needs_text(const std::vector<Needed>& needs);

// With the account behind the figures, and what is missing and the account behind the text.
Imported begun_import(std::vector<Figure> figures, const std::string& text, std::vector<Needed> needs,
                      Account account);

FigureValue known(const std::optional<std::int64_t>& number);
FigureValue known(const std::optional<std::string>& text);

// A list of what is missing.
Figure needs_figure(const std::vector<Needed>& needs);

}  // namespace podsim
