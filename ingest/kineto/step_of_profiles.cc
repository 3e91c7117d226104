// Events rank by rank in the order of their beginnings; collectives end on all ranks when the last one is
// done.
#include "ingest/kineto/step_of_profiles.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "engine/check.h"
#include "ingest/hlo/fields.h"

namespace podsim::kineto {
namespace {

constexpr std::int64_t kPicosecondsPerNanosecond = 1000;
// A kernel that begins so soon behind another was launched before that ended: it waited for the stream alone.
// Assumed: a kernel behind another on its stream begins 1 to 3 us later, one that waits for the host 10 or
// more.
constexpr std::int64_t kLaunchGapNs = 10'000;

Time ns(std::int64_t time) { return {time * kPicosecondsPerNanosecond}; }

std::optional<CollectiveKind> transfer_kind(const std::string& kind) {
  static const std::map<std::string, CollectiveKind> kKindsByWord = {
      {"all_reduce", CollectiveKind::kAllReduce},
      {"all_gather", CollectiveKind::kAllGather},
      {"reduce_scatter", CollectiveKind::kReduceScatter},
      {"all_to_all", CollectiveKind::kAllToAll},
      {"broadcast", CollectiveKind::kBroadcast},
      {"barrier", CollectiveKind::kBarrier},
      {"send_recv", CollectiveKind::kSendReceive},
      {"send", CollectiveKind::kSendReceive},
      {"recv", CollectiveKind::kSendReceive}};
  const auto found = kKindsByWord.find(kind);
  return found == kKindsByWord.end() ? std::nullopt : std::optional(found->second);
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Whether a mesh of PyTorch has an axis of this name behind it: "mesh_pp".
bool is_axis(const std::string& description, const std::string& axis) {
  return description == axis || description.ends_with("_" + axis);
}

// Groups of pipelines are called so by Megatron-LM ("PIPELINE_MODEL_PARALLEL_GROUP") and by meshes of PyTorch
// ("mesh_pp").
bool is_of_pipeline(const std::string& description) {
  const std::string name = lower_case(description);
  return name.find("pipeline_model_parallel") != std::string::npos || is_axis(name, "pp");
}

// Groups of parts of a model, sequences or experts, which more chips do not lengthen: called so as above.
bool is_of_one_replica(const std::string& description) {
  const std::string name = lower_case(description);
  const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
  if (has("data") || has("dp")) return false;
  return is_of_pipeline(name) || has("model_parallel") || has("tensor") || has("context") || has("expert") ||
         has("embedding") || is_axis(name, "tp") || is_axis(name, "cp") || is_axis(name, "ep");
}

// [rank] its place in the pipeline, as groups are listed; empty where none is of a pipeline.
std::vector<std::int32_t> stages_of(const std::vector<RankProfile>& ranks) {
  std::map<std::int64_t, std::int32_t> stage;
  for (const RankProfile& rank : ranks) {
    if (!rank.profile.run || !rank.profile.run->groups) continue;
    for (const ListedGroup& group : *rank.profile.run->groups)
      if (is_of_pipeline(group.description))
        for (std::size_t place = 0; place < group.ranks.size(); ++place)
          stage[group.ranks[place]] = static_cast<std::int32_t>(place);
  }
  std::vector<std::int32_t> stages;
  for (const RankProfile& rank : ranks) {
    const auto found = stage.find(rank.rank);
    if (!stage.empty()) stages.push_back(found == stage.end() ? -1 : found->second);
  }
  return stages;
}

// Ranks in steps of one size through all `world` ranks, from the first step on: of a data-parallel group,
// which has members among further ranks as well.
void extend(std::vector<std::int32_t>& group, std::int64_t world, std::int64_t chips) {
  const auto size = static_cast<std::int64_t>(group.size());
  if (size < 2 || world < size || chips <= world || chips % world != 0 || world % size != 0) return;
  const std::int64_t stride = world / size;
  if (group.front() >= stride) return;
  for (std::size_t i = 1; i < group.size(); ++i)
    if (group[i] - group[i - 1] != stride) return;
  for (std::int64_t rank = group.back() + stride; rank < chips; rank += stride)
    group.push_back(static_cast<std::int32_t>(rank));
}

class Builder {
 public:
  Builder(const std::vector<RankProfile>& ranks, const JoinedRanks& joined, std::int64_t chips)
      : ranks_(ranks), joined_(joined), chips_(chips) {
    const auto& run = ranks.front().profile.run;
    world_ = std::max(static_cast<std::int64_t>(ranks.size()), run ? run->world_size.value_or(0) : 0);
    for (const RankProfile& rank : ranks)
      if (rank.profile.run && rank.profile.run->groups)
        for (const ListedGroup& group : *rank.profile.run->groups)
          description_of_.try_emplace(group.name, group.description);
  }

  StepGraph build() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      collective_of_.emplace_back(ranks_[rank].profile.device_events.size(), -1);
      for (const DeviceEvent& event : ranks_[rank].profile.device_events)
        first_ns_ = std::min(first_ns_, event.begin_ns + joined_.shift_ns[rank]);
    }
    for (std::size_t c = 0; c < joined_.collectives.size(); ++c) {
      add_transfer(joined_.collectives[c]);
      for (const auto& [rank, event] : joined_.collectives[c].events)
        collective_of_[rank][event] = static_cast<std::int32_t>(c);
    }
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) add_rank(rank);
    graph_.stage = stages_of(ranks_);
    if (chips_ > world_) note_sizes();
    if (ranks_.size() == 1 && chips_ > 1)
      graph_.notes.push_back("one rank stands for all " + std::to_string(chips_) + " ranks");
    if (alone_ > 0)
      graph_.notes.push_back(std::to_string(alone_) +
                             " kernels of collectives have no counterpart and last as recorded");
    if (undescribed_ > 0)
      graph_.notes.push_back(std::to_string(undescribed_) +
                             " collectives do not say what they carry and last as recorded");
    return std::move(graph_);
  }

 private:
  struct Ended {
    std::int64_t end_ns;
    std::int32_t op;
    bool communicates;
  };

  const CollectiveCall& call_of(std::size_t rank, std::size_t event) const {
    const Profile& profile = ranks_[rank].profile;
    return profile.calls[static_cast<std::size_t>(profile.device_events[event].call)];
  }

  // Which groups have more ranks here than were recorded, and which could have, but are of one replica.
  void note_sizes() {
    std::string text;
    for (const auto& [recorded, here] : grown_)
      text += (text.empty() ? "on " + std::to_string(chips_) + " chips groups of " : " and groups of ") +
              std::to_string(recorded) + " ranks have " + std::to_string(here);
    if (!text.empty()) graph_.notes.push_back(text + ", which do as those recorded");
    for (const std::string& description : kept_)
      graph_.notes.push_back("groups called " + description + " have as many ranks as recorded");
    if (text.empty() && world_ > 1)
      graph_.notes.push_back("on " + std::to_string(chips_) + " chips no group has more ranks than recorded");
  }

  // As recorded, or with members on all chips.
  std::vector<std::int32_t> group_of(const JoinedCollective& collective, const CollectiveCall& call) {
    const auto described = description_of_.find(call.group.value_or(""));
    const std::string description = described == description_of_.end() ? "" : described->second;
    const std::vector<std::int32_t> recorded = recorded_group(collective, call);
    std::vector<std::int32_t> group = recorded;
    if (recorded.empty()) {  // of a rank alone, which says how many there are
      const std::int64_t size = call.group_size.value_or(chips_);
      group.resize(static_cast<std::size_t>(size >= world_ ? chips_ : std::min(chips_, size)));
      std::iota(group.begin(), group.end(), 0);
    } else {
      extend(group, world_, chips_);
    }
    const std::int64_t before =
        recorded.empty() ? call.group_size.value_or(chips_) : static_cast<std::int64_t>(recorded.size());
    const auto here = static_cast<std::int64_t>(group.size());
    if (here <= before) return group;
    if (is_of_one_replica(description)) {
      kept_.insert(description);
      if (recorded.empty()) group.resize(static_cast<std::size_t>(before));
      return recorded.empty() ? group : recorded;
    }
    grown_[before] = here;
    return group;
  }

  // Empty where a rank alone does not list the others.
  std::vector<std::int32_t> recorded_group(const JoinedCollective& collective,
                                           const CollectiveCall& call) const {
    std::vector<std::int32_t> group;
    if (call.ranks && call.ranks->find("...") == std::string::npos)
      for (const std::int64_t rank : hlo::list_of(*call.ranks))
        group.push_back(static_cast<std::int32_t>(rank));
    if (group.empty() && ranks_.size() > 1)
      for (const auto& [rank, event] : collective.events)
        group.push_back(static_cast<std::int32_t>(ranks_[rank].rank));
    return group;
  }

  void add_transfer(const JoinedCollective& collective) {
    const auto& [rank, event] = collective.events.front();
    const CollectiveCall& call = call_of(rank, event);
    RecordedTransfer transfer;
    const auto kind = transfer_kind(call.kind);
    const auto bytes = kind == CollectiveKind::kAllGather ? call.out_bytes : call.in_bytes;
    transfer.kind = kind.value_or(CollectiveKind::kBarrier);
    transfer.bytes = {static_cast<double>(bytes.value_or(0))};
    transfer.group = group_of(collective, call);
    transfer.recorded = ns(std::max<std::int64_t>(collective.transfer_ns, 0));
    const bool moves = kind && (bytes || kind == CollectiveKind::kBarrier) && transfer.group.size() > 1;
    transfer.lasts_as_recorded = !moves;
    undescribed_ += moves ? 0 : 1;
    graph_.transfers.push_back(std::move(transfer));
  }

  // The same for the k-th work of a name on every rank.
  std::int32_t work_of(WorkKind kind, const std::string& name) {
    const std::int64_t time = ++times_seen_[{kind, name}];
    const auto next = static_cast<std::int32_t>(graph_.kinds_of_work.size());
    const auto [found, is_new] = works_.try_emplace({kind, name, time}, next);
    if (is_new) graph_.kinds_of_work.push_back(kind);
    return found->second;
  }

  void add_op(StepOp op, std::int32_t work, std::initializer_list<std::int32_t> waits) {
    graph_.ops.push_back(op);
    graph_.work.push_back(work);
    for (const std::int32_t wait : waits)
      if (wait >= 0) graph_.waits.push_back(wait);
    graph_.first_wait.push_back(graph_.waits.size());
  }

  // When it is done in the clock of all ranks.
  std::int64_t end_of(std::size_t rank, std::size_t index) const {
    const DeviceEvent& event = ranks_[rank].profile.device_events[index];
    const std::int32_t collective = collective_of_[rank][index];
    if (collective < 0) return event.end_ns + joined_.shift_ns[rank];
    return joined_.collectives[static_cast<std::size_t>(collective)].last_end_ns;
  }

  void add_rank(std::size_t rank) {
    const std::vector<DeviceEvent>& events = ranks_[rank].profile.device_events;
    graph_.rank_number.push_back(ranks_[rank].rank);
    times_seen_.clear();
    std::map<std::pair<std::int32_t, std::int32_t>, Ended> last_of_stream;  // [device, stream]
    std::map<std::int64_t, Ended> by_end;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const DeviceEvent& event = events[i];
      const std::int64_t begin = event.begin_ns + joined_.shift_ns[rank];
      const bool communicates = event.work == DeviceWork::kCommunication;
      std::int32_t behind = -1, beside = -1;
      std::int64_t free_at = first_ns_;
      const auto before = last_of_stream.find({event.device, event.stream});
      const bool on_stream = before != last_of_stream.end();
      if (on_stream) {
        behind = before->second.op;
        free_at = before->second.end_ns;
      }
      if (!on_stream || begin - free_at > kLaunchGapNs) {
        auto latest = by_end.upper_bound(begin);
        if (latest != by_end.begin() && !((--latest)->second.communicates && communicates) &&
            latest->second.end_ns >= free_at) {
          beside = latest->second.op;
          free_at = latest->second.end_ns;
        }
      }
      if (begin > free_at) {  // the host
        StepOp gap;
        gap.rank = static_cast<std::int32_t>(rank);
        gap.node = i;
        gap.duration = ns(begin - free_at);
        add_op(gap, work_of(WorkKind::kHost, ranks_[rank].profile.name_at(event.name)), {behind, beside});
        behind = static_cast<std::int32_t>(graph_.ops.size()) - 1;
        beside = -1;
      }
      StepOp op;
      op.rank = static_cast<std::int32_t>(rank);
      op.node = i;
      op.transfer = collective_of_[rank][i];
      op.computes = event.work == DeviceWork::kCompute;
      if (op.transfer < 0) op.duration = ns(event.end_ns - event.begin_ns);
      alone_ += op.transfer < 0 && communicates ? 1 : 0;
      const auto number = static_cast<std::int32_t>(graph_.ops.size());
      if (op.transfer >= 0) graph_.transfers[static_cast<std::size_t>(op.transfer)].members.push_back(number);
      const WorkKind kind = op.computes ? WorkKind::kComputing : WorkKind::kCopying;
      add_op(op, op.transfer >= 0 ? -1 : work_of(kind, ranks_[rank].profile.name_at(event.name)),
             {behind, beside});
      const Ended ended = {std::max(end_of(rank, i), begin), number, communicates};
      last_of_stream[{event.device, event.stream}] = ended;
      by_end[ended.end_ns] = ended;
    }
  }

  const std::vector<RankProfile>& ranks_;
  const JoinedRanks& joined_;
  std::int64_t chips_;
  std::int64_t world_ = 0;  // ranks that were recorded, those without a profile too
  std::map<std::pair<WorkKind, std::string>, std::int64_t> times_seen_;  // on the rank at hand
  std::map<std::tuple<WorkKind, std::string, std::int64_t>, std::int32_t> works_;
  std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::max();
  std::vector<std::vector<std::int32_t>> collective_of_;  // [rank][event]
  std::int64_t alone_ = 0, undescribed_ = 0;
  std::map<std::string, std::string> description_of_;  // [name of a group]
  std::map<std::int64_t, std::int64_t> grown_;         // [ranks of a group as recorded] here
  std::set<std::string> kept_;                         // descriptions of groups that could have grown
  StepGraph graph_;
};

}  // namespace

StepGraph step_of_profiles(const std::vector<RankProfile>& ranks, const JoinedRanks& joined,
                           std::int64_t chips) {
  PODSIM_CHECK(!ranks.empty(), "a step is of ranks");
  PODSIM_CHECK(joined.ranks.size() == ranks.size() && joined.shift_ns.size() == ranks.size(),
               "these ranks were joined");
  return Builder(ranks, joined, chips).build();
}

}  // namespace podsim::kineto
