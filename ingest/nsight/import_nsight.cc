// Devices become ranks, which are told as those of other profiles are.
#include "ingest/nsight/import_nsight.h"

#include <utility>

#include "ingest/kineto/figures.h"
#include "ingest/kineto/import_kineto.h"
#include "ingest/nsight/device_profiles.h"
#include "ingest/nsight/tables.h"

namespace podsim {
namespace {

void add(Account& sum, const Account& own) {
  sum.of = own.of;
  sum.read += own.read;
  sum.used += own.used;
  for (const auto& [reason, count] : own.passed_over) sum.passed_over[reason] += count;
  for (const auto& [name, count] : own.unknown) sum.unknown[name] += count;
}

// Graphs that were recorded whole hide their kernels.
void note_graphs(const std::string& file, const nsight::Tables& tables, std::vector<std::string>& notes) {
  const auto graphs = tables.rows().find("CUPTI_ACTIVITY_KIND_GRAPH_TRACE");
  if (graphs != tables.rows().end() && graphs->second > 0)
    notes.push_back(file + ": " + std::to_string(graphs->second) +
                    " graphs were recorded as one piece each, without their kernels, which are missing here "
                    "(nsys profile --cuda-graph-trace=node)");
}

}  // namespace

bool is_nsight(std::string_view bytes) { return bytes.starts_with("SQLite format 3"); }

std::optional<Imported> import_nsight(const std::vector<InputText>& files, const Stated& stated,
                                      std::vector<Problem>& problems) {
  const std::size_t had = problems.size();
  std::vector<kineto::RankProfile> devices;
  std::vector<std::string> notes;
  Account account;
  for (const InputText& file : files) {
    const auto tables = nsight::Tables::open(file.name, file.text, problems);
    if (!tables) continue;
    Account own;
    auto found = nsight::device_profiles(file.name, *tables, own, problems);
    if (!found) continue;
    if (found->empty())
      problems.push_back({file.name, 0, 0, "no device did anything: there is no row of kernels or copies", "",
                          "an export of Nsight Systems that traced CUDA (nsys profile --trace=cuda,nvtx)"});
    note_graphs(file.name, *tables, notes);
    add(account, own);
    for (kineto::RankProfile& device : *found) {
      device.rank = static_cast<std::int64_t>(devices.size());
      devices.push_back(std::move(device));
    }
  }
  if (problems.size() > had) return std::nullopt;
  account.check();
  const std::string title = files.front().name + (files.size() > 1 ? " and its sisters" : "") +
                            ": profile of Nsight Systems, " + std::to_string(devices.size()) + " devices";
  Figure each = devices_figure(devices);
  Imported imported = imported_profiles(std::move(devices), title, std::move(account), stated);
  imported.figures.front() = Figure("kind", std::string("nsight"));
  imported.figures.push_back(std::move(each));
  imported.notes = std::move(notes);
  return imported;
}

}  // namespace podsim
