// Reads each rank, then joins them.
#include "ingest/kineto/import_kineto.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <set>

#include "engine/check.h"
#include "ingest/kineto/figures.h"
#include "ingest/kineto/ranks.h"
#include "ingest/kineto/read_profile.h"
#include "ingest/kineto/recorded_step.h"
#include "ingest/kineto/scenario_of_profile.h"
#include "ingest/kineto/step_of_profiles.h"

namespace podsim {
namespace {

// Of ".../rank3.json.gz" and "run_rank-3.json"; nothing of other names.
std::optional<std::int64_t> rank_of_file(const std::string& file) {
  constexpr std::string_view kWord = "rank";
  const std::size_t word = file.rfind(kWord);
  if (word == std::string::npos || file.find('/', word) != std::string::npos) return std::nullopt;
  const std::size_t digits = file.find_first_not_of("-_", word + kWord.size());
  std::int64_t rank = 0;
  if (digits == std::string::npos) return std::nullopt;
  const auto [rest, error] = std::from_chars(file.data() + digits, file.data() + file.size(), rank);
  return error == std::errc() && rank >= 0 ? std::optional(rank) : std::nullopt;
}

// In the order of their ranks: those of their headers, else of their names, else of the command line.
std::optional<std::vector<kineto::RankProfile>> read_ranks(const std::vector<InputText>& files,
                                                           std::vector<Problem>& problems) {
  const std::size_t had = problems.size();
  std::vector<kineto::RankProfile> ranks;
  for (const InputText& file : files) {
    auto profile = kineto::read_profile(file.name, file.text, problems);
    if (!profile) continue;
    if (profile->device_events.empty()) {
      problems.push_back({file.name, 0, 0,
                          "no device events: the profile was taken without the activity of a device", "",
                          "torch.profiler with ProfilerActivity.CUDA"});
      continue;
    }
    const auto place = static_cast<std::int64_t>(ranks.size());
    const auto stated = profile->run ? profile->run->rank : std::nullopt;
    const std::int64_t rank = stated ? *stated : rank_of_file(file.name).value_or(place);
    kineto::Summary summary = summarize(*profile);
    ranks.push_back({file.name, rank, *std::move(profile), std::move(summary)});
  }
  if (problems.size() > had) return std::nullopt;
  std::ranges::stable_sort(ranks, {}, &kineto::RankProfile::rank);
  for (std::size_t i = 1; i < ranks.size(); ++i)
    if (ranks[i].rank == ranks[i - 1].rank) {
      problems.push_back(
          {ranks[i].file, 0, 0,
           "rank " + std::to_string(ranks[i].rank) + " is that of " + ranks[i - 1].file + " too", "",
           "one file for each rank of a run"});
      return std::nullopt;
    }
  return ranks;
}

Account account_of_all(const std::vector<kineto::RankProfile>& ranks) {
  Account sum = account_of(ranks.front().profile);
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    const Account own = account_of(ranks[i].profile);
    sum.read += own.read;
    sum.used += own.used;
    for (const auto& [reason, count] : own.passed_over) sum.passed_over[reason] += count;
    for (const auto& [name, count] : own.unknown) sum.unknown[name] += count;
  }
  sum.check();
  return sum;
}

// A rank is told as one device.
void note_devices(const std::vector<kineto::RankProfile>& ranks, std::vector<std::string>& notes) {
  for (const kineto::RankProfile& rank : ranks) {
    std::set<std::int32_t> devices;
    for (const kineto::DeviceEvent& event : rank.profile.device_events)
      if (event.device >= 0 && event.work != kineto::DeviceWork::kMemory) devices.insert(event.device);
    if (devices.size() > 1)
      notes.push_back(rank.file + ": kernels of " + std::to_string(devices.size()) +
                      " devices, which are told as one: what one of them computes hides what another sends");
  }
}

}  // namespace

bool is_kineto(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  if (text[begin] == '{') return text.find("\"traceEvents\"") != std::string_view::npos;
  constexpr std::size_t kHead = 4096;
  return text[begin] == '[' && text.substr(begin, kHead).find("\"ph\"") != std::string_view::npos;
}

Imported imported_profiles(std::vector<kineto::RankProfile> profiles, const std::string& title,
                           Account account, const Stated& stated) {
  PODSIM_CHECK(!profiles.empty(), "there is a profile");
  const auto ranks = std::make_shared<const std::vector<kineto::RankProfile>>(std::move(profiles));
  Imported imported;
  const kineto::RankProfile& first = ranks->front();
  if (ranks->size() == 1) {
    imported.figures = profile_figures(first.profile, first.summary);
    imported.text = profile_text(title, first.profile, first.summary);
  } else {
    const kineto::JoinedRanks joined = join(*ranks);
    imported.figures = ranks_figures(*ranks, joined);
    imported.text = ranks_text(title, *ranks, joined);
  }
  imported.accounts = {std::move(account)};
  imported.figures.push_back(account_figure(imported.accounts.front()));
  imported.text += "\n" + account_text(imported.accounts.front());
  imported.ranks = static_cast<std::int64_t>(ranks->size());
  if (first.profile.run && first.profile.run->world_size)
    imported.ranks = std::clamp<std::int64_t>(*first.profile.run->world_size, imported.ranks, 1'000'000);
  imported.transfers_recorded = true;
  imported.recorded = recorded_step(*ranks);
  if (imported.recorded)
    imported.recorded->unrecorded = imported.ranks - static_cast<std::int64_t>(ranks->size());
  imported.scenario = kineto::scenario_of_profile(*ranks, stated, imported.needs_to_run);
  imported.step = [ranks](std::int64_t chips, const TransferTimer*) {
    return step_of_profiles(*ranks, join(*ranks), chips);
  };
  return imported;
}

Figure devices_figure(const std::vector<kineto::RankProfile>& devices) {
  std::vector<Figure> each;
  for (const kineto::RankProfile& device : devices) {
    std::vector<Figure> figures = profile_figures(device.profile, device.summary);
    figures.front() = Figure("plane", device.profile.devices.front().name);
    each.push_back(Figure::group("", std::move(figures)));
  }
  return Figure::list("device", std::move(each));
}

std::optional<Imported> import_kineto(const std::vector<InputText>& files, const Stated& stated,
                                      std::vector<Problem>& problems) {
  auto ranks = read_ranks(files, problems);
  if (!ranks) return std::nullopt;
  Account account = account_of_all(*ranks);
  const std::string& file = ranks->front().file;
  const std::string title = file + (ranks->size() == 1 ? ": profile"
                                                       : " and its sisters: profiles of " +
                                                             std::to_string(ranks->size()) + " ranks");
  std::vector<std::string> notes;
  note_devices(*ranks, notes);
  Imported imported = imported_profiles(*std::move(ranks), title, std::move(account), stated);
  imported.notes.insert(imported.notes.end(), notes.begin(), notes.end());
  return imported;
}

}  // namespace podsim
