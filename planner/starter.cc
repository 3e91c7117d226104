// Searches the usual layouts of a model; of a program, writes each as a scenario and simulates it.
#include "planner/starter.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "planner/search/search.h"
#include "planner/space/even_batches.h"
#include "planner/starter_layouts.h"
#include "planner/starter_text.h"
#include "prediction/memory_need.h"
#include "prediction/predict.h"
#include "prediction/step_length.h"
#include "proto/catalog/assumed_stacks.h"
#include "proto/scenario/chosen_fabric.h"
#include "proto/scenario/load.h"
#include "report/text/text.h"
#include "workload/job/tensor_program.h"
#include "workload/model/program_graph.h"

namespace podsim {
namespace {

constexpr double kGap = 0.03;              // by which another usual layout of a model may be faster
constexpr double kAnyThatFits = 1;         // the same where it is no matter which
constexpr int kTokensPerChip = 8192;       // of a step
constexpr int kMostSamplesPerChip = 64;    // of a step, of short samples
constexpr int kMostSequences = 1'000'000;  // of a step
constexpr int kUsualSequence = 4096;       // tokens of a language model that does not say
constexpr int kEncoderSequence = 512;      // beside a decoder
constexpr int kShortSequence = 1024;       // below it a chip takes all of its samples at once
constexpr int kImagePixels = 224;          // per side

// What attention of a program's samples has where these have no tokens: patches of an image; 1 = none.
int largest_sequence(const ModelProgram& model) {
  std::int64_t most = 1;
  for (const ModelPart& part : model.parts)
    for (const Tensor& tensor : part.graph.tensors)
      for (const TensorDim& dim : tensor.dims)
        if (dim.logical == "sequence") most = std::max(most, dim.blocks.front().size);
  return static_cast<int>(std::min<std::int64_t>(most, kTokensPerChip));
}

class Search {
 public:
  Search(const StarterRequest& request, const Catalog& catalog, const std::function<void(double)>& share_done)
      : catalog_(catalog), share_done_(share_done), asked_(request) {}

  Starter run() {
    if (!names_known() || !frame_for(asked_.chips)) return none();
    if (const auto best = best_layout(kGap)) return *best;
    if (nearest_.capacity.value == 0) return none();  // no layout is valid, and why_ says why
    why_ = asked_.model + " does not fit on " + std::to_string(asked_.chips) + " " + asked_.chip +
           ": the layout that comes nearest needs " + gib(nearest_.needed) + " of the " +
           gib(nearest_.capacity) + " of a chip; ";
    why_ += enough();
    return none();
  }

 private:
  // A layout that fits, as text and loaded.
  struct Candidate {
    std::string text;
    Spec spec;
    std::size_t warnings = 0;
  };

  Starter none() const {
    Starter nothing;
    nothing.why = why_;
    return nothing;
  }

  // Writes the name as the catalogue does.
  bool find(Catalog::Section section, const std::string& what, std::string& name) {
    const bool usual = section == Catalog::Section::kFabrics || section == Catalog::Section::kStacks;
    if (name.empty() && usual) return true;
    if (const auto found = catalog_.canonical(section, name)) {
      name = *found;
      return true;
    }
    why_ = "the catalogue has no " + what + " \"" + name + "\"; " + catalog_.hint(section, name);
    return false;
  }

  bool names_known() {
    const std::string stack = asked_.stack;
    if (!find(Catalog::Section::kModels, "model", asked_.model) ||
        !find(Catalog::Section::kChips, "chip", asked_.chip) ||
        !find(Catalog::Section::kFabrics, "fabric", asked_.fabric) ||
        !find(Catalog::Section::kStacks, "stack", asked_.stack))
      return false;
    named_in_full_ = stack == asked_.stack;
    frame_.request = asked_;
    frame_.price_line = price_line(asked_, catalog_);
    model_ = catalog_.model(asked_.model);
    const bool bf16 =
        catalog_.number(Catalog::Section::kChips, asked_.chip, "matmul.bf16.sustained").has_value();
    frame_.precision = bf16 ? "bf16" : "fp16";
    if (!asked_.fabric.empty()) return true;
    const std::vector<std::string> fabrics = catalog_.fabrics_of(asked_.chip);
    if (fabrics.empty()) {
      why_ = "no fabric of the catalogue is built for " + asked_.chip + ": name one with --fabric";
      return false;
    }
    frame_.request.fabric = fabrics.front();
    return true;
  }

  // Everything but the layout. A torus takes as few slices as hold the chips.
  bool frame_for(int chips) {
    frame_.request.chips = chips;
    const int slices = std::max(1, fewest_slices(catalog_, frame_.request.fabric, chips));
    const auto [fabric, problems] = chosen_fabric(catalog_, {frame_.request.fabric, chips, {}, slices});
    if (!fabric) {
      why_ = problems.front().message;
      return false;
    }
    why_.clear();
    StarterSetting& setting = frame_.setting;
    setting.chips = chips;
    setting.slices = slices;
    setting.domain = fabric->gpu ? fabric->gpu->gpus_per_domain : 0;
    setting.slice_shape.clear();
    if (fabric->torus) setting.slice_shape.assign(fabric->torus->shape.begin(), fabric->torus->shape.end());
    return sizes_known();
  }

  // The stack, the sequence and the batch. Tried is one that comes out even on any layout.
  bool sizes_known() {
    for (const std::string& stack : stacks()) {
      frame_.request.stack = stack;
      const int sequence = asked_.sequence_tokens.value_or(usual_sequence());
      set_sizes(sequence, sequence);
      frame_.request.batch_sequences = frame_.request.chips;
      auto candidate = loaded(program_layouts(frame_.setting).front().front());
      if (!candidate) continue;
      plain_warnings_ = candidate->warnings;
      set_sizes(sequence, sequence);
      if (candidate->spec.job.program) set_program_sizes(candidate->spec.job);
      plain_ = std::move(candidate->spec);
      plain_->job.global_batch = *frame_.request.batch_sequences;
      return true;
    }
    frame_.request.stack = asked_.stack;
    return false;
  }

  // Those to try. The names "jax" and "xla" mean compilers of whole programs, whatever the chip.
  std::vector<std::string> stacks() const {
    const bool gpus = frame_.setting.domain > 0;
    if (asked_.stack.empty()) return assumed_stacks(gpus ? KnownOfSoftware::kGpu : KnownOfSoftware::kTorus);
    if (gpus && asked_.stack == assumed_stack(KnownOfSoftware::kXla) && !named_in_full_)
      return assumed_stacks(KnownOfSoftware::kXlaOnGpus);
    return {asked_.stack};
  }

  int usual_sequence() const {
    if (!model_) return kUsualSequence;
    if (model_->usual_sequence > 0) return model_->usual_sequence;
    if (model_->vision) {
      const int patches = kImagePixels / model_->vision->patch;
      return patches * patches + 1;
    }
    if (model_->learned_positions > 0) return std::min(model_->learned_positions, kTokensPerChip);
    return model_->decoder ? kEncoderSequence : kUsualSequence;
  }

  // A sample computes on so many positions, tokens or not.
  void set_sizes(int sequence, int positions) {
    frame_.request.sequence_tokens = sequence;
    frame_.setting.sequence = positions;
    frame_.setting.short_samples = positions < kShortSequence;
    const unsigned fill_chip = std::bit_floor(static_cast<unsigned>(kTokensPerChip / positions));  // 0 = none
    const int of_chip = std::clamp(static_cast<int>(fill_chip), 1, kMostSamplesPerChip);
    frame_.request.batch_sequences = asked_.batch_sequences.value_or(static_cast<int>(
        std::min<std::int64_t>(std::int64_t{of_chip} * frame_.request.chips, kMostSequences)));
  }

  // A program says by its dimensions whether its samples have tokens, and tables can be cut by rows.
  void set_program_sizes(const Job& job) {
    const ModelProgram model = program_graphs(job).model;
    const std::set<std::string> dimensions = rule_dimensions(job, model);
    if (!asked_.sequence_tokens && !has_tokens(*job.program)) set_sizes(1, largest_sequence(model));
    frame_.setting.cut_weights = dimensions.count("param_embed") > 0;
    frame_.setting.cut_rows = dimensions.count("param_rows") > 0;
  }

  // Nothing for a layout that this job cannot have.
  std::optional<Candidate> loaded(const StarterLayout& layout) {
    Candidate candidate{starter_text(frame_, layout), {}};
    LoadResult result = load_scenario("podsim init", candidate.text, catalog_, {});
    if (!result.spec) {
      if (why_.empty())
        why_ = result.problems.front().message +
               (asked_.stack.empty() ? "" : "; without --stack one is taken that the chip can run");
      return std::nullopt;
    }
    candidate.spec = *std::move(result.spec);
    candidate.warnings = result.warnings.size();
    return candidate;
  }

  // The fastest that leaves the headroom free, or where none does, that fits. Throws StepTooLong where none
  // of them can be simulated.
  std::optional<Starter> best_layout(double gap) {
    nearest_ = {};
    for (const double headroom : {LayoutSpace{}.memory_headroom_share, 0.0}) {
      auto best = plain_->job.program ? fastest(fitting(headroom), headroom) : found(headroom, gap);
      const bool all_too_large = nearest_.capacity.value > 0 && !nearest_.fits();
      if (best || (all_too_large && headroom > 0)) return best;
    }
    return std::nullopt;
  }

  // ---- Of a model

  // Of many chips the lightest layouts are looked at first: where none of these fits, the bounds of thousands
  // of others would take minutes.
  bool too_large(double headroom) {
    constexpr int kManyChips = 1024;
    if (frame_.request.chips <= kManyChips) return false;
    std::int64_t layouts = 0;
    for (const LayoutSpace& usual : usual_spaces(frame_.setting)) {
      LayoutSpace wanted = lightest_of(usual, frame_.request.chips);
      wanted.memory_headroom_share = headroom;
      SearchOptions options;
      options.top = 1;
      options.gap = kAnyThatFits;
      const SearchAnswer answer = search(Space(*plain_, wanted), options);
      if (!answer.best.empty()) return false;
      layouts += answer.counts.layouts;
      if (answer.miss) note(MemoryNeed{"", answer.miss->needed, plain_->cluster.chip.hbm_capacity});
    }
    return layouts > 0;
  }

  std::optional<Starter> found(double headroom, double gap) {
    if (too_large(headroom)) return std::nullopt;
    std::optional<FoundLayout> best;
    std::int64_t layouts = 0;
    std::string too_long;
    const std::vector<LayoutSpace> spaces = usual_spaces(frame_.setting);
    for (std::size_t s = 0; s < spaces.size(); ++s) {
      LayoutSpace wanted = spaces[s];
      wanted.memory_headroom_share = headroom;
      SearchOptions options;
      options.top = 1;
      options.gap = gap;
      options.admits = [this](const FoundLayout& each) { return written(each.layout).has_value(); };
      if (share_done_)
        options.progress = [&](const SearchProgress& so_far) {
          if (so_far.to_do == 0) return;
          const double of_space = static_cast<double>(so_far.done) / static_cast<double>(so_far.to_do);
          share_done_((static_cast<double>(s) + of_space) / static_cast<double>(spaces.size()));
        };
      const SearchAnswer answer = search(Space(*plain_, wanted), options);
      layouts += answer.counts.layouts;
      if (answer.miss) note(MemoryNeed{"", answer.miss->needed, plain_->cluster.chip.hbm_capacity});
      if (!answer.refused.empty()) too_long = answer.refused.front().why;
      if (answer.best.empty()) continue;
      const FoundLayout& first = answer.best.front();
      if (!best || first.figures.step_time < best->figures.step_time) best = first;
    }
    if (!best && !too_long.empty()) throw StepTooLong(too_long);
    if (layouts == 0) why_ = uneven_batch();
    if (!best) return std::nullopt;
    return with_heading(simulated(*written(best->layout)), layouts, headroom,
                        ", and no other is faster by more than " + percent(kGap));
  }

  std::optional<Candidate> written(const JobLayout& layout) {
    auto candidate = loaded(starter_layout(layout, *plain_));
    if (candidate && candidate->warnings > plain_warnings_) return std::nullopt;  // an axis may have no use
    return candidate;
  }

  std::string uneven_batch() const {
    LayoutSpace one_at_a_time = usual_spaces(frame_.setting).front();
    one_at_a_time.microbatch = {1};
    std::string others;
    for (const int batch : nearest_even_batches(*plain_, one_at_a_time))
      if (batch != plain_->job.global_batch)
        others += (others.empty() ? "; " : " or ") + std::to_string(batch);
    return why_uneven() + others + (others.empty() ? "" : " would");
  }

  // ---- Of a program

  // Of each layout the mildest degree that leaves so much free.
  std::vector<Candidate> fitting(double headroom) {
    std::vector<Candidate> found;
    for (const auto& degrees : program_layouts(frame_.setting)) {
      for (const StarterLayout& layout : degrees) {
        auto candidate = loaded(layout);
        if (!candidate || candidate->warnings > plain_warnings_) continue;  // an axis may have no use
        const MemoryNeed need = memory_needs(candidate->spec).front();
        note(need);
        if (need.needed > (1 - headroom) * need.capacity) continue;
        found.push_back(*std::move(candidate));
        break;
      }
    }
    if (nearest_.capacity.value == 0)
      why_ = why_uneven() + "; a multiple of " + std::to_string(frame_.request.chips) + " would";
    return found;
  }

  std::optional<Starter> fastest(const std::vector<Candidate>& candidates, double headroom) const {
    std::optional<Starter> best;
    std::optional<StepTooLong> too_long;
    for (const Candidate& candidate : candidates) {
      try {
        const Starter starter = simulated(candidate);
        if (!best || starter.step_time_s < best->step_time_s) best = starter;
      } catch (const StepTooLong& refusal) {
        too_long = refusal;
      }
    }
    if (!best && too_long) throw StepTooLong(*too_long);
    if (!best) return std::nullopt;
    return with_heading(*best, static_cast<std::int64_t>(candidates.size()), headroom, "");
  }

  // ---- Of both

  void note(const MemoryNeed& need) {
    if (nearest_.capacity.value == 0 || need.needed < nearest_.needed) nearest_ = need;
  }

  std::string why_uneven() const {
    return "a batch of " + std::to_string(*frame_.request.batch_sequences) +
           " sequences comes out even on no usual layout of " + frame_.request.model + " on " +
           std::to_string(frame_.request.chips) + " " + frame_.request.chip;
  }

  Starter simulated(const Candidate& candidate) const {
    const Report report = predict_step(candidate.spec, {}).report;
    return {candidate.text, report.step_time.in_seconds(), report.memory.total, report.memory.capacity, ""};
  }

  // The fewest chips on which a layout fits, by doubling.
  std::string enough() {
    int chips = asked_.chips;
    while (chips <= kMostStarterChips / 2) {
      chips *= 2;
      const std::string before = why_;
      const bool possible = frame_for(chips) && best_layout(kAnyThatFits).has_value();
      why_ = before;
      if (possible) return std::to_string(chips) + " chips would do";
    }
    if (chips == asked_.chips)
      return "more chips were not tried: twice as many are above the " + std::to_string(kMostStarterChips) +
             " that a first scenario has at most";
    return "none of the usual layouts would fit on twice as many either" +
           (chips > 2 * asked_.chips ? ", nor on any doubling up to " + std::to_string(chips) : "");
  }

  const Catalog& catalog_;
  const std::function<void(double)>& share_done_;
  StarterRequest asked_;
  StarterFrame frame_;
  std::optional<Model> model_;
  std::string why_;
  bool named_in_full_ = true;  // the stack, by its own name
  std::optional<Spec> plain_;  // without model parallelism, and with the batch that is asked for
  std::size_t plain_warnings_ = 0;
  MemoryNeed nearest_;
};

}  // namespace

Starter starter_scenario(const StarterRequest& request, const Catalog& catalog,
                         const std::function<void(double)>& share_done) {
  return Search(request, catalog, share_done).run();
}

}  // namespace podsim
