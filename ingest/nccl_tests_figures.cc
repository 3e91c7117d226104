// Rows of nccl-tests as figures and as a table.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "ingest/nccl_tests.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

Figure timing_figure(const char* key, const NcclTiming& timing) {
  return Figure::group(key, {{"time_us", timing.time_us},
                             {"algbw", timing.algbw},
                             {"busbw", timing.busbw},
                             {"wrong", timing.wrong}});
}

Figure row_figure(const char* key, const NcclRow& row) {
  std::vector<Figure> parts = {{"bytes", row.bytes}, {"count", row.count},
                               {"dtype", row.dtype}, {"redop", row.redop},
                               {"root", row.root},   timing_figure("out", row.out_of_place)};
  if (row.in_place) parts.push_back(timing_figure("in", *row.in_place));
  return Figure::group(key, std::move(parts));
}

FigureValue unless_zero(std::int64_t number) { return number == 0 ? FigureValue() : FigureValue(number); }
FigureValue unless_empty(const std::string& text) { return text.empty() ? FigureValue() : FigureValue(text); }

std::int64_t wrong_results(const NcclTests& tests) {
  std::int64_t sum = 0;
  const auto add = [&](const NcclTiming& timing) {
    if (timing.wrong.find_first_not_of("0123456789") == std::string::npos)
      sum += std::strtoll(timing.wrong.c_str(), nullptr, 10);
  };
  for (const NcclRow& row : tests.rows) {
    add(row.out_of_place);
    if (row.in_place) add(*row.in_place);
  }
  return sum;
}

Account rows_account(const NcclTests& tests) {
  Account account{"lines", tests.lines, tests.used_lines, tests.passed_over, {}};
  account.check();
  return account;
}

std::string nccl_tests_text(const std::string& file, const NcclTests& tests) {
  const std::string kind = !tests.kind.empty() ? tests.kind : tests.inferred_kind;
  std::string text = file + ": nccl-tests";
  if (!kind.empty()) text += ", " + kind + (tests.kind.empty() ? " (inferred)" : "");
  if (tests.inferred_ranks > 0)
    text += ", " + std::to_string(tests.inferred_ranks) + " ranks" + (tests.ranks == 0 ? " (inferred)" : "");
  if (tests.hosts > 0) text += " on " + std::to_string(tests.hosts) + (tests.hosts == 1 ? " host" : " hosts");
  for (const std::string& device : tests.devices) text += ", " + device;
  std::vector<std::vector<std::string>> rows = {{"bytes", "time us", "algorithm GB/s", "bus GB/s", ""}};
  for (const NcclRow& row : tests.rows)
    rows.push_back({std::to_string(row.bytes), significant(row.out_of_place.time_us, 6),
                    fixed(row.out_of_place.algbw, 2), fixed(row.out_of_place.busbw, 2),
                    row.wrong()    ? "wrong results"
                    : row.usable() ? ""
                                   : "nothing moved"});
  return text + "\n\n" + align(rows) + "\n" + account_text(rows_account(tests));
}

// As podsim names it; empty for one that it has no model of.
std::string collective_named(std::string name) {
  if (name == "alltoall") return "all-to-all";
  std::replace(name.begin(), name.end(), '_', '-');
  for (const char* known : {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast"})
    if (name == known) return name;
  return "";
}

MeasuredTimes times_of(const NcclTests& tests, const Stated& stated) {
  MeasuredTimes times;
  times.collective = collective_named(!tests.kind.empty() ? tests.kind : tests.inferred_kind);
  times.ranks = stated.chips.value_or(tests.inferred_ranks);
  times.hosts = tests.hosts;
  for (const auto& [name, value] : stated.settings)
    if (name == "collective") times.collective = collective_named(value);
  for (const NcclRow& row : tests.rows)
    if (row.usable()) times.rows.push_back({row.bytes, row.out_of_place.time_us});
  return times;
}

}  // namespace

std::vector<Figure> nccl_tests_figures(const NcclTests& tests) {
  std::vector<Figure> usable;
  for (const NcclRow& row : tests.rows)
    if (row.usable())
      usable.push_back(Figure::group("", {{"bytes", row.bytes}, {"time_us", row.out_of_place.time_us}}));
  return {{"source", std::string("nccl-tests")},
          {"kind", unless_empty(tests.kind)},
          {"inferred_kind", unless_empty(tests.inferred_kind)},
          {"bus_factor", tests.bus_factor},
          {"ranks", unless_zero(tests.ranks)},
          {"inferred_ranks", unless_zero(tests.inferred_ranks)},
          {"hosts", unless_zero(tests.hosts)},
          Figure::list("devices", values_of(tests.devices)),
          {"rows", static_cast<std::int64_t>(tests.rows.size())},
          row_figure("first", tests.rows.front()),
          row_figure("last", tests.rows.back()),
          {"peak_busbw", tests.peak_busbw()},
          {"wrong_total", wrong_results(tests)},
          {"avg_busbw", known(tests.average_busbw)},
          Figure::list("usable", std::move(usable)),
          account_figure(rows_account(tests))};
}

std::optional<Imported> import_nccl_tests(const std::vector<InputText>& files, const Stated& stated,
                                          std::vector<Problem>& problems) {
  const auto& [file, text] = files.front();
  const std::vector<std::string_view> pieces = texts_of_tests(text);
  Imported imported;
  std::vector<Figure> all;
  for (const std::string_view piece : pieces) {
    const auto tests = read_nccl_tests(file, piece, problems);
    if (!tests) return std::nullopt;
    imported.figures = nccl_tests_figures(*tests);
    all.push_back(Figure::group("", imported.figures));
    imported.text += (imported.text.empty() ? "" : "\n") + nccl_tests_text(file, *tests);
    imported.accounts.push_back(rows_account(*tests));
    if (pieces.size() == 1) imported.measured = times_of(*tests, stated);
    if (!tests->average_busbw && imported.notes.empty())
      imported.notes.push_back(
          file + ": the line of the average that ends such an output is missing: it may have been cut");
  }
  if (pieces.size() == 1) return imported;
  imported.figures = {{"source", std::string("nccl-tests")},
                      {"tests", static_cast<std::int64_t>(pieces.size())},
                      Figure::list("test", std::move(all))};
  return imported;
}

}  // namespace podsim
