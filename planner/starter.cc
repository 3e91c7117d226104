// Writes each layout as a scenario and lets the loader, the memory and the simulated step judge it.
#include "planner/starter.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "planner/starter_layouts.h"
#include "prediction/memory_need.h"
#include "prediction/predict.h"
#include "prediction/step_length.h"
#include "proto/catalog/assumed_stacks.h"
#include "proto/catalog/chip_prices.h"
#include "proto/scenario/chosen_fabric.h"
#include "proto/scenario/load.h"
#include "report/text/text.h"
#include "workload/job/tensor_program.h"
#include "workload/model/program_graph.h"

namespace podsim {
namespace {

constexpr std::size_t kLayoutsSimulated = 6;
constexpr int kTokensPerChip = 8192;       // of a step
constexpr int kMostSamplesPerChip = 64;    // of a step, of short samples
constexpr int kMostSequences = 1'000'000;  // of a step
constexpr int kUsualSequence = 4096;       // tokens of a language model that does not say
constexpr int kEncoderSequence = 512;      // beside a decoder
constexpr int kShortSequence = 1024;       // below it a chip takes all of its samples at once
constexpr int kImagePixels = 224;          // per side

// What is the same for all layouts on a number of chips.
struct Frame {
  StarterRequest request;  // complete
  std::string precision;
  std::string price_line;  // empty = the usual list has one
  StarterSetting setting;
};

std::string commented(const std::string& line, const std::string& comment) {
  constexpr std::size_t kColumn = 44;
  return line + std::string(line.size() < kColumn ? kColumn - line.size() : 1, ' ') + "# " + comment + "\n";
}

// What attention of a program's samples has where these have no tokens: patches of an image; 1 = none.
int largest_sequence(const ModelProgram& model) {
  std::int64_t most = 1;
  for (const ModelPart& part : model.parts)
    for (const Tensor& tensor : part.graph.tensors)
      for (const TensorDim& dim : tensor.dims)
        if (dim.logical == "sequence") most = std::max(most, dim.blocks.front().size);
  return static_cast<int>(std::min<std::int64_t>(most, kTokensPerChip));
}

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

// What a cluster has to say of the price of its chip; nothing where the usual list has one.
std::string price_line(const StarterRequest& request, const Catalog& catalog) {
  const std::string own = "  usd_per_chip_hour: ";
  if (request.usd_per_chip_hour) return own + shortest(*request.usd_per_chip_hour) + "\n";
  std::vector<PriceRow> rows = price_rows(catalog);
  std::erase_if(rows,
                [&](const PriceRow& row) { return row.chip != request.chip || row.term != kOnDemandTerm; });
  if (std::ranges::count(rows, kUsualPrices, &PriceRow::list) > 0) return "";
  if (rows.empty()) return commented(own + "0", "no list has a price of " + request.chip + ": write yours");
  return commented("  prices: " + quoted(rows.front().list), "podsim catalog prices " + request.chip);
}

std::string cluster_text(const Frame& frame) {
  std::string text =
      "cluster {\n" + commented("  chip: " + quoted(frame.request.chip), "podsim catalog chips");
  text += "  chips: " + std::to_string(frame.request.chips) + "\n";
  text += commented("  fabric: " + quoted(frame.request.fabric), "podsim catalog fabrics");
  if (frame.setting.slices > 1)
    text +=
        commented("  slices: " + std::to_string(frame.setting.slices), "joined by the data-center network");
  return text + frame.price_line + "}\n";
}

std::string scenario_text(const Frame& frame, const StarterLayout& layout) {
  const StarterRequest& request = frame.request;
  std::string text = "question: \"How long is a step of " + request.model + " on " +
                     std::to_string(request.chips) + " " + request.chip +
                     ", and where does the time go?\"\n" + cluster_text(frame) + "job {\n";
  text += commented("  model: " + quoted(request.model), "podsim catalog models");
  text += commented("  stack: " + quoted(request.stack),
                    "how a training framework runs it; podsim catalog stacks");
  for (const StarterAxis& axis : layout.axes)
    text += commented("  mesh { name: " + quoted(axis.name) +
                          " size: " + (axis.size == 0 ? "rest" : std::to_string(axis.size)) + " }",
                      axis.comment);
  for (const std::string& sharding : layout.shardings) text += "  sharding: " + quoted(sharding) + "\n";
  for (const std::string& rule : layout.rules) text += "  " + rule + "\n";
  text += commented("  global_batch_sequences: " + std::to_string(*request.batch_sequences),
                    "of one step, all chips");
  if (layout.microbatch > 0)
    text +=
        commented("  microbatch_sequences: " + std::to_string(layout.microbatch), "of one replica at a time");
  text += "  sequence_tokens: " + std::to_string(*request.sequence_tokens) + "\n";
  text += "  precision: " + frame.precision + "\n";
  return text +
         commented("  recompute: " + layout.recompute, "none, selective or full: less memory, more compute") +
         "}\n";
}

class Search {
 public:
  Search(const StarterRequest& request, const Catalog& catalog) : catalog_(catalog), asked_(request) {}

  Starter run() {
    if (!names_known() || !frame_for(asked_.chips)) return none();
    if (auto best = fastest(fitting())) return *best;
    if (nearest_.capacity.value == 0) return none();  // no layout is valid, and why_ says of one why
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
    if (name.empty()) return true;
    if (const auto found = catalog_.canonical(section, name)) {
      name = *found;
      return true;
    }
    why_ = "the catalogue has no " + what + " \"" + name + "\"; " + catalog_.hint(section, name);
    return false;
  }

  bool names_known() {
    if (!find(Catalog::Section::kModels, "model", asked_.model) ||
        !find(Catalog::Section::kChips, "chip", asked_.chip) ||
        !find(Catalog::Section::kFabrics, "fabric", asked_.fabric) ||
        !find(Catalog::Section::kStacks, "stack", asked_.stack))
      return false;
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
    setting.experts = model_ && model_->experts ? model_->experts->experts : 0;
    setting.layers = model_ ? model_->layers : 0;
    return sizes_known();
  }

  // The stack, the sequence and the batch.
  bool sizes_known() {
    const bool gpus = frame_.setting.domain > 0;
    const std::vector<std::string> stacks =
        !frame_.request.stack.empty()
            ? std::vector{frame_.request.stack}
            : assumed_stacks(gpus ? KnownOfSoftware::kGpu : KnownOfSoftware::kTorus);
    for (const std::string& stack : stacks) {
      frame_.request.stack = stack;
      const int sequence = asked_.sequence_tokens.value_or(usual_sequence());
      set_sizes(sequence, sequence);
      const auto candidate = plain();
      if (!candidate) continue;
      plain_warnings_ = candidate->warnings;
      if (candidate->spec.job.program) set_program_sizes(candidate->spec.job);
      return true;
    }
    frame_.request.stack = asked_.stack;
    return false;
  }

  std::optional<Candidate> plain() { return loaded(starter_layouts(frame_.setting).front().front()); }

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
    Candidate candidate{scenario_text(frame_, layout), {}};
    LoadResult result = load_scenario("podsim init", candidate.text, catalog_, {});
    if (!result.spec) {
      if (why_.empty()) why_ = format_problem(result.problems.front());
      return std::nullopt;
    }
    candidate.spec = *std::move(result.spec);
    candidate.warnings = result.warnings.size();
    return candidate;
  }

  // Of each layout the mildest degree that fits, a few of them.
  std::vector<Candidate> fitting() {
    std::vector<Candidate> found;
    for (const auto& degrees : starter_layouts(frame_.setting)) {
      for (const StarterLayout& layout : degrees) {
        auto candidate = loaded(layout);
        if (!candidate || candidate->warnings > plain_warnings_) continue;  // an axis may have no use
        const MemoryNeed need = memory_needs(candidate->spec).front();
        if (nearest_.capacity.value == 0 || need.needed < nearest_.needed) nearest_ = need;
        if (!need.fits()) continue;
        found.push_back(*std::move(candidate));
        break;
      }
      if (found.size() == kLayoutsSimulated) break;
    }
    return found;
  }

  // Throws StepTooLong where none of them can be simulated.
  std::optional<Starter> fastest(const std::vector<Candidate>& candidates) const {
    std::optional<Starter> best;
    std::optional<StepTooLong> too_long;
    for (const Candidate& candidate : candidates) {
      try {
        const Report report = predict_step(candidate.spec, {}).report;
        const double step = report.step_time.in_seconds();
        if (!report.memory.fits || (best && best->step_time_s <= step)) continue;
        best = Starter{candidate.text, step, report.memory.total, report.memory.capacity, ""};
      } catch (const StepTooLong& refusal) {
        too_long = refusal;
      }
    }
    if (!best && too_long) throw StepTooLong(*too_long);
    if (best) best->text = heading(*best, candidates.size()) + best->text;
    return best;
  }

  std::string heading(const Starter& best, std::size_t simulated) const {
    return "# Written by podsim init: of " + std::to_string(simulated) +
           (simulated == 1 ? " usual layout that fits" : " usual layouts that fit") +
           " in memory the one with the shortest step, " + fixed(best.step_time_s, 4) +
           " s\n# as predicted then, with " + fixed(best.needed_gib, 2) + " of " +
           fixed(best.capacity_gib, 2) +
           " GiB in use on the fullest chip. docs/guide/scenarios.md has all fields.\n";
  }

  // The fewest chips on which a layout fits, by doubling.
  std::string enough() {
    int chips = asked_.chips;
    while (chips <= kMostStarterChips / 2) {
      chips *= 2;
      const std::string before = why_;
      const bool possible = frame_for(chips) && !fitting().empty();
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
  StarterRequest asked_;
  Frame frame_;
  std::optional<Model> model_;
  std::string why_;
  std::size_t plain_warnings_ = 0;  // of data parallelism alone
  MemoryNeed nearest_;
};

}  // namespace

Starter starter_scenario(const StarterRequest& request, const Catalog& catalog) {
  return Search(request, catalog).run();
}

}  // namespace podsim
