// Cuts the step where collectives begin.
#include "ingest/kineto/scenario_of_profile.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "ingest/hlo/fields.h"
#include "ingest/kineto/intervals.h"
#include "ingest/launchers/scenario_text.h"
#include "report/text/text.h"

namespace podsim::kineto {
namespace {

// What goes before a collective on the rank, and the collective itself.
struct Segment {
  std::int64_t own_ns = 0;  // elapsed, without communication that nothing hides
  const CollectiveCall* call = nullptr;
  bool hidden = false;  // most of it lies beside computations
};

struct RecordedLayers {
  std::vector<Segment> segments;
  std::int64_t tail_ns = 0;                      // behind the last collective
  std::map<std::string, std::int64_t> left_out;  // collectives by what they do not tell
};

// The step in the middle of those that another follows, else of those that are marked; null where there is
// none.
const StepTime* middle_step(const Summary& summary) {
  std::vector<const StepTime*> steps;
  for (const StepTime& step : summary.steps)
    if (step.to_next_ns && step.launched > 0) steps.push_back(&step);
  if (steps.empty())
    for (const StepTime& step : summary.steps)
      if (step.launched > 0) steps.push_back(&step);
  if (steps.empty()) return nullptr;
  std::ranges::stable_sort(steps, {}, [](const StepTime* step) { return step->lasts_ns(); });
  return steps[(steps.size() - 1) / 2];
}

// In the words of scenarios; empty where these have none.
std::string kind_in_scenario(const std::string& kind) {
  static const std::set<std::string> kKnown = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                               "broadcast"};
  return kKnown.contains(kind) ? kind : "";
}

std::int64_t bytes_of(const CollectiveCall& call) {
  return (call.kind == "all_gather" ? call.out_bytes : call.in_bytes).value_or(0);
}

// Whether a scenario can have it sent anew: of others it keeps the recorded time.
bool can_be_sent(const CollectiveCall& call, std::int64_t world) {
  return !kind_in_scenario(call.kind).empty() && bytes_of(call) > 0 && call.group_size.value_or(world) > 1;
}

RecordedLayers layers_of(const RankProfile& rank, const StepTime& step, std::int64_t world) {
  const std::vector<const DeviceEvent*> events = launched_in(rank.profile, step.step);
  const auto call_of = [&](const DeviceEvent& event) -> const CollectiveCall* {
    return event.call < 0 ? nullptr : &rank.profile.calls[static_cast<std::size_t>(event.call)];
  };
  const Intervals work =
      union_if(events, [](const DeviceEvent& event) { return event.work != DeviceWork::kCommunication; });
  const Intervals communication = union_if(events, [&](const DeviceEvent& event) {
    const CollectiveCall* call = call_of(event);
    return event.work == DeviceWork::kCommunication && call != nullptr && can_be_sent(*call, world);
  });
  const Intervals beside = intersection_of(work, communication);
  const auto own = [&](std::int64_t begin, std::int64_t end) {
    const Intervals window = {{begin, end}};
    return end - begin - length_ns(intersection_of(communication, window)) +
           length_ns(intersection_of(beside, window));
  };
  RecordedLayers layers;
  std::int64_t at = events.front()->begin_ns;
  const std::int64_t end = at + step.lasts_ns();
  for (const DeviceEvent* event : events) {
    const CollectiveCall* call = call_of(*event);
    if (call == nullptr) continue;
    if (kind_in_scenario(call->kind).empty()) {
      ++layers.left_out[call->kind];
    } else if (bytes_of(*call) == 0) {
      ++layers.left_out["collectives that do not say what they carry"];
    } else if (can_be_sent(*call, world)) {
      const Intervals window = {{event->begin_ns, event->end_ns}};
      const std::int64_t hidden_ns = length_ns(intersection_of(work, window));
      const std::int64_t begin = std::clamp(event->begin_ns, at, end);
      layers.segments.push_back({own(at, begin), call, 2 * hidden_ns > event->end_ns - event->begin_ns});
      at = begin;
    }
  }
  layers.tail_ns = own(at, std::max(at, end));
  return layers;
}

std::string us_text(std::int64_t ns) { return shortest(static_cast<double>(ns) / 1e3); }

// The ranks of a collective, by the kernel or by the header of the file; empty where they are not known.
std::vector<std::int64_t> ranks_of(const Profile& profile, const CollectiveCall& call) {
  if (call.ranks && call.ranks->find("...") == std::string::npos) return hlo::list_of(*call.ranks);
  if (profile.run && profile.run->groups && call.group)
    for (const ListedGroup& group : *profile.run->groups)
      if (group.name == *call.group) return group.ranks;
  return {};
}

// From each of these ranks to the next; nothing where that differs.
std::optional<std::int64_t> stride_of(const std::vector<std::int64_t>& ranks) {
  if (ranks.size() < 2) return std::nullopt;
  const std::int64_t stride = ranks[1] - ranks[0];
  for (std::size_t i = 1; i < ranks.size(); ++i)
    if (ranks[i] - ranks[i - 1] != stride) return std::nullopt;
  return stride > 0 ? std::optional(stride) : std::nullopt;
}

// Writes layers and the mesh that their collectives go along: the largest groups that are not of all ranks,
// so many ranks apart, with ranks outside and between.
class Writer {
 public:
  Writer(ScenarioText& text, const RecordedLayers& layers, const Profile& profile, std::int64_t world)
      : text_(text), layers_(layers), world_(world) {
    const CollectiveCall* largest = nullptr;
    for (const Segment& segment : layers.segments) {
      const std::int64_t size = segment.call->group_size.value_or(world);
      if (size >= world || world % size != 0 || size <= group_) continue;
      group_ = size;
      largest = segment.call;
    }
    outer_ = world;
    if (largest == nullptr) return;
    const auto stride = stride_of(ranks_of(profile, *largest));
    stride_known_ = stride && world % (group_ * *stride) == 0;
    between_ = stride_known_ ? *stride : 1;
    outer_ = world / group_ / between_;
  }

  // Sequences of a step of one microbatch: the batch is cut along `data`.
  std::int64_t sequences() const { return outer_ > 1 ? outer_ : between_; }

  void write_layers() {
    const std::vector<Segment>& all = layers_.segments;
    const auto is_gradient = [](const Segment& segment) {
      return segment.hidden && (segment.call->kind == "all_reduce" || segment.call->kind == "reduce_scatter");
    };
    const auto backward = std::ranges::find_if(all, is_gradient);
    for (auto segment = all.begin(); segment != backward; ++segment)
      write_layer(*segment, "forward_us", "forward_collective");
    for (auto segment = all.end(); segment != backward;) {
      --segment;
      if (segment->hidden)
        write_layer(*segment, "weight_gradient_us", "weight_gradient_collective");
      else
        write_layer(*segment, "input_gradient_us", "input_gradient_collective");
    }
    if (all.empty()) {
      text_.open("layer");
      text_.line("name: \"step\"", "nothing is sent");
      text_.line("forward_us: " + us_text(layers_.tail_ns), "of the rank, with gaps between kernels");
      text_.close();
    } else {
      text_.line("update_us: " + us_text(layers_.tail_ns), "behind the last collective");
    }
  }

  void write_mesh() {
    if (outer_ > 1) write_axis("data", outer_, group_ == 0 ? "all ranks" : "all ranks by the groups below");
    if (group_ > 0)
      write_axis("group", group_,
                 "ranks of the largest group that is not of all, " +
                     (!stride_known_  ? "taken for neighbours: the file does not say how they lie"
                      : between_ == 1 ? "neighbours"
                                      : std::to_string(between_) + " apart"));
    if (between_ > 1) write_axis(outer_ > 1 ? "neighbours" : "data", between_, "ranks between those");
    text_.line("sharding: \"data\"");
  }

 private:
  void write_layer(const Segment& segment, const char* time, const char* collective) {
    const CollectiveCall& call = *segment.call;
    text_.open("layer");
    const auto number = &segment - layers_.segments.data() + 1;
    text_.line("name: " + in_quotes("until " + call.kind + " " + std::to_string(number)),
               "in the order of the step");
    text_.line(std::string(time) + ": " + us_text(segment.own_ns), "of the rank, with gaps between kernels");
    const std::int64_t size = call.group_size.value_or(world_);
    const std::string axis = group_ == 0 || size == world_                    ? ""
                             : size == group_                                 ? " axis: \"group\""
                             : between_ > 1 && outer_ > 1 && size == between_ ? " axis: \"neighbours\""
                                                                              : " axis: \"data\"";
    text_.line(std::string(collective) + " { kind: " + kind_in_scenario(call.kind) + axis +
                   " bytes: " + std::to_string(bytes_of(call)) + " }",
               std::to_string(size) + " ranks, " + (segment.hidden ? "beside computations" : "waited for"));
    text_.close();
  }

  void write_axis(const char* name, std::int64_t size, const std::string& from) {
    text_.line("mesh { name: \"" + std::string(name) + "\" size: " + std::to_string(size) + " }", from);
  }

  ScenarioText& text_;
  const RecordedLayers& layers_;
  std::int64_t world_;
  std::int64_t group_ = 0;                // ranks of groups that are not of all; 0: there are none
  std::int64_t outer_ = 1, between_ = 1;  // groups beside each other, and within each other
  bool stride_known_ = false;
};

}  // namespace

std::string scenario_of_profile(const std::vector<RankProfile>& ranks, const Stated& stated,
                                std::vector<Needed>& needs) {
  const RankProfile& rank = ranks.front();
  const StepTime* step = middle_step(rank.summary);
  if (step == nullptr) needs.push_back({"a step, ended by profiler.step()", ""});
  need_cluster(stated, needs);
  if (!needs.empty()) return "";
  const auto& run = rank.profile.run;
  const std::int64_t world =
      std::max(static_cast<std::int64_t>(ranks.size()), run ? run->world_size.value_or(1) : 1);
  const RecordedLayers layers = layers_of(rank, *step, world);
  ScenarioText text;
  text.comment("From " + rank.file + ", by podsim import: step " + std::to_string(step->step.number) +
               " of rank " + std::to_string(rank.rank) + ", of " +
               fixed(static_cast<double>(step->lasts_ns()) / 1e6, 3) + " ms.");
  if (!step->to_next_ns) text.comment("No step follows it: it is as long as the mark of it on the host.");
  for (const auto& [what, count] : layers.left_out)
    text.comment("As long as recorded, whatever the fabric: " + count_text(count) + " " + what + ".");
  add_cluster(text, stated, world,
              run && run->world_size ? "world size of the profile" : "one for each profile", 1, "");
  text.open("job");
  text.open("measured_layers");
  text.line("name: " + in_quotes("step of " + rank.file.substr(rank.file.find_last_of('/') + 1)));
  Writer writer(text, layers, rank.profile, world);
  writer.write_layers();
  text.close();
  writer.write_mesh();
  text.line("stack_override { gradients_overlapped: true }",
            "collectives that ran beside computations do so here");
  text.line("global_batch_sequences: " + std::to_string(writer.sequences()),
            "not in a profile: one step, one microbatch");
  text.line("microbatch_sequences: 1", "not in a profile");
  text.line("sequence_tokens: 1", "not in a profile: figures of tokens are those of steps");
  text.close();
  return text.text();
}

}  // namespace podsim::kineto
