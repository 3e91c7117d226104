// The list. A row says of a figure: key and value, field in proto/report.proto, column in CSV, what it is.
#include "report/figures/figures.h"

#include <utility>

#include "report/answer/result_header.h"
#include "report/figures/adversity_figures.h"
#include "report/figures/step_figures.h"
#include "report/text/text.h"

namespace podsim {
namespace {

std::vector<Figure> question_figures(const Report& r) {
  return {
      Figure("scenario", r.scenario)
          .field(1)
          .column(1)
          .is("name in the scenario, or its file name without the suffix"),
      Figure("question", r.question).field(2).column(2).is("the scenario's question, repeated"),
      Figure("chip", r.chip).field(3).column(4).is("catalogue name of the chip"),
      Figure("chips", r.chips).field(4).column(5).is("chips in all slices together"),
      Figure("fabric", r.fabric).field(5).column(6).is("catalogue name of the network"),
      Figure("model", r.model).field(6).column(3).is("catalogue name of the model"),
      Figure("stack", r.stack).field(7).column(7).is("catalogue name of the software stack"),
      Figure("seed", r.seed).field(8).column(8).is("seed of the random draws; of several the first"),
      Figure("steps", r.steps).field(9).column(9).is("simulated steps, of all seeds together"),
  };
}

std::vector<Figure> rate_figures(const Report& r) {
  return {
      Figure("model_flops_per_token_causal", r.model_flops_per_token_causal)
          .field(20)
          .column(37)
          .is("FLOP",
              "of forward and backward without recompute, attention scores counted for the causal half; with "
              "`lengths`, within the documents that were drawn"),
      Figure("model_flops_per_token_full", r.model_flops_per_token_full)
          .field(21)
          .column(38)
          .is("FLOP", "the same with every position attending to every position"),
      Figure("mfu_causal", r.mfu_causal)
          .field(22)
          .column(39)
          .is("share; this and the next three are 0 where FLOPs are not known ([measured "
              "layers](../guide/measured-layers.md))",
              "`model_flops_per_token_causal` x `tokens_per_s` over the dense peak of all chips in the "
              "matmul precision"),
      Figure("mfu_full", r.mfu_full)
          .field(23)
          .column(40)
          .is("share", "the same with `model_flops_per_token_full`"),
      Figure("hfu_full", r.hfu_full)
          .field(24)
          .column(41)
          .is("share", "as `mfu_full`, recomputed operations counted as well"),
      Figure("mfu_bf16_full", r.mfu_bf16_full)
          .field(25)
          .column(42)
          .is("share", "as `mfu_full`, against the bf16 peak, to compare precisions"),
  };
}

std::vector<Figure> memory_parts(const MemoryParts& m) {
  return {
      Figure("weights", m.weights).field("weights_gib", 1),
      Figure("gradients", m.gradients).field("gradients_gib", 2),
      Figure("optimizer", m.optimizer).field("optimizer_gib", 3),
      Figure("activations", m.activations).field("activations_gib", 4),
      Figure("logits", m.logits).field("logits_gib", 5),
      Figure("buffers", m.buffers).field("buffers_gib", 6),
      Figure("fragmentation", m.fragmentation).field("fragmentation_gib", 7),
  };
}

// Of the stage that needs most.
std::vector<Figure> defined_memory_parts(const MemoryParts& m) {
  constexpr int kFirstColumn = 53;
  const char* definitions[] = {
      "weights, 2 bytes each unless the recipe says otherwise ([precision.md](precision.md))",
      "gradients of the local shard",
      "master weights and moments",
      "what the backward pass needs, of all microbatches in flight",
      "the loss",
      "gathered weights, buffers of collectives and libraries",
      "lost to the allocator and libraries"};
  std::vector<Figure> parts = memory_parts(m);
  for (std::size_t part = 0; part < parts.size(); ++part)
    parts[part] =
        std::move(parts[part]).column(kFirstColumn + static_cast<int>(part)).is("GiB", definitions[part]);
  return parts;
}

std::vector<Figure> memory_figures(const MemoryReport& m) {
  std::vector<Figure> parts = {Figure("total", m.total).field("total_gib", 8).column(51),
                               Figure("capacity", m.capacity).field("capacity_gib", 9).column(52)};
  append(parts, defined_memory_parts(m));
  std::vector<Figure> stages, advice;
  for (const MemoryParts& stage : m.stages) {
    stages.push_back(Figure::group("", {Figure("total", stage.total).field("total_gib", 8)}));
    append(stages.back().parts, memory_parts(stage));
  }
  for (const MemoryChange& change : m.advice) {
    advice.push_back(Figure::group(
        "",
        {
            Figure("change", change.change).field(1).is("in the words of a scenario"),
            Figure("total_gib", change.total).field(2).is("GiB", "per chip of the fullest stage after it"),
            Figure("step_time_s", change.step_time).field(3).is("of the changed job, without adversities"),
            Figure("fits", change.fits)
                .field(4)
                .is("false when even this is not enough; it then comes nearest"),
        }));
  }
  return {
      Figure::group("memory_per_chip_gib", std::move(parts))
          .field("memory", 30)
          .message("MemoryEntry")
          .is("GiB",
              "of one chip of the pipeline stage that needs most: `total`, its parts, and the chip's "
              "`capacity`"),
      Figure::list("memory_by_stage_gib", std::move(stages))
          .field("memory.stage", 12)
          .message("MemoryStageEntry")
          .is("GiB", "the same of one chip of each pipeline stage"),
      Figure("memory_worst_stage", m.worst_stage)
          .field("memory.worst_stage", 10)
          .is("the stage that needs most, from 0"),
      Figure("fits", m.fits).field(31).column(61).is("is `total` at most `capacity`?"),
      Figure::list("memory_advice", std::move(advice))
          .field("memory.advice", 13)
          .message("MemoryChangeEntry")
          .is("when it does not fit: changes that would make it fit, fastest step first: single ones, and up "
              "to three pairs "
              "with faster steps; a set of changes where none is enough"),
  };
}

Figure link_figures(const std::vector<LinkUse>& uses) {
  std::vector<Figure> kinds;
  for (const LinkUse& use : uses) {
    kinds.push_back(
        Figure::group(use.kind, {
                                    Figure("kind", use.kind).field(1).not_in_json(),
                                    Figure("mean", use.mean_utilisation).field(2).column(kLastColumn),
                                    Figure("max", use.max_utilisation).field(3).column(kLastColumn),
                                }));
  }
  return Figure::by_name("link_utilisation", std::move(kinds))
      .field(37)
      .message("LinkUseEntry")
      .is("share",
          "by link kind (`nvlink`, `nic`, `trunk`, `ici`, `ici_optical` or `dcn`, as far as the network has "
          "them): the share of a step for which transfers take links up, at the rate that they reach: what "
          "libraries, transports and `network_share` leave of a link counts as taken. `mean` of all links "
          "of the kind, and `max` of the busiest; a link at 1 is never free");
}

std::vector<Figure> simulation_figures(const Report& r) {
  return {
      Figure::list("algorithms", values_of(r.algorithms))
          .field(39)
          .is("the algorithm that each collective uses"),
      Figure("chip_classes", r.chip_classes)
          .field(40)
          .is("classes of chips that behave alike: one of each was simulated"),
      Figure("group_classes", r.group_classes).field(41).is("classes of communicating groups"),
      Figure("link_classes", r.link_classes).field(42).is("classes of links"),
      Figure("events", r.events)
          .field(43)
          .is("events of the simulation, of all seeds, as `podsim` worked through them"),
      Figure("periods_skipped", r.periods_skipped)
          .field(52)
          .is("periods of loops that had become periodic and were jumped over "
              "([steady-state.md](../theory/steady-state.md))"),
  };
}

}  // namespace

std::vector<Figure> header_figures(const std::string& scenario_sha256) {
  const ResultHeader header = result_header(scenario_sha256);
  std::vector<Figure> list = {
      Figure("podsim", header.podsim).field(100).is("the version of podsim that made the result"),
      Figure("schema", header.schema)
          .field(101)
          .is("the version of the results' keys, 1: it rises when a key goes or comes to mean something "
              "else, not when one is added"),
  };
  if (!header.scenario_sha256.empty())
    list.push_back(
        Figure("scenario_sha256", header.scenario_sha256).field(102).is("SHA-256 of what was asked"));
  return list;
}

std::vector<Figure> throughput_figures(const Report& r) {
  return {
      Figure("tokens_per_step", r.tokens_per_step)
          .field(26)
          .column(43)
          .is("tokens", "global batch x sequence length"),
      Figure("tokens_per_s", r.tokens_per_s)
          .field(27)
          .column(44)
          .row("tokens/s", significant(r.tokens_per_s, 4))
          .is("tokens/s", "`tokens_per_step` / `step_time_s`"),
      Figure("tokens_per_s_per_chip", r.tokens_per_s_per_chip)
          .field(28)
          .column(45)
          .row("tokens/s per chip", significant(r.tokens_per_s_per_chip, 4))
          .is("tokens/s", "`tokens_per_s` / `chips`"),
      Figure("parameters", r.parameters).field(29).column(46).is("of the whole model"),
  };
}

std::vector<Figure> carbon_figures(const CarbonReport& carbon) {
  return {
      Figure("carbon_kg_per_million_tokens", carbon.kg_per_million_tokens)
          .field(72)
          .column(kLastColumn)
          .row("kg CO2e per million tokens", significant(carbon.kg_per_million_tokens, 4))
          .is("kg of CO2e",
              "of the power and of making the chips; this and the next four are missing where `cluster` has "
              "neither `grid` nor `kg_per_kwh`"),
      Figure("power_carbon_kg_per_hour", carbon.power_kg_per_hour)
          .field(73)
          .column(kLastColumn)
          .row("kg CO2e per hour, power", significant(carbon.power_kg_per_hour, 4))
          .is("kg of CO2e", "`power_kw` by the carbon of the grid"),
      Figure("power_carbon_low_kg_per_hour", carbon.low_power_kg_per_hour)
          .field(75)
          .column(kLastColumn)
          .is("kg of CO2e", "of `power_low_kw`"),
      Figure("power_carbon_high_kg_per_hour", carbon.high_power_kg_per_hour)
          .field(76)
          .column(kLastColumn)
          .is("kg of CO2e", "of `power_high_kw`"),
      Figure("making_carbon_kg_per_hour", carbon.making_kg_per_hour)
          .field(74)
          .column(kLastColumn)
          .row("kg CO2e per hour, making", significant(carbon.making_kg_per_hour, 4))
          .is("kg of CO2e",
              "of making all chips with their share of hosts, over the hours in which they are used "
              "(`scenarios/economics/`); 0 where it is not known"),
  };
}

Figure power_figures(const PowerReport& power) {
  const auto watts = [](const char* key, double w, int field) {
    return Figure(key, w).field(field).column(kLastColumn);
  };
  return Figure::group(
             "power",
             {
                 watts("chip_w", power.chip_w, 1).is("W", "mean of a chip alone: the sum of the next four"),
                 watts("idle_w", power.idle_w, 2).is("W", "of a chip without work"),
                 watts("matmul_w", power.matmul_w, 3)
                     .is("W", "more while its matrix units work, by FLOPs over what large matmuls sustain"),
                 watts("memory_w", power.memory_w, 4)
                     .is("W", "more while its memory works, by HBM bytes over what the best copy reaches"),
                 watts("waiting_w", power.waiting_w, 5)
                     .is("W",
                         "more between operations, while it waits for collectives, other chips and "
                         "launches"),
                 watts("communication_w", power.communication_w, 13)
                     .is("W",
                         "of `waiting_w`, for collectives and transfers that nothing hides; measured power "
                         "does not tell this wait from others, so that a second of it draws as much"),
                 watts("waiting_share", power.waiting_share, 6).is("ratio", "of the step that it so waits"),
                 watts("system_w", power.system_w, 7)
                     .is("W", "of a chip with its share of host, network cards and switches"),
                 watts("energy_low_j_per_token", power.energy_low_j_per_token, 8)
                     .is("J", "of `power_low_kw`"),
                 watts("energy_high_j_per_token", power.energy_high_j_per_token, 9)
                     .is("J", "of `power_high_kw`"),
                 watts("usd_per_hour", power.usd_per_hour, 10)
                     .is("USD", "of power, where the price list adds it; in `cost_usd_per_hour`"),
                 watts("low_usd_per_hour", power.low_usd_per_hour, 11).is("USD", "of `power_low_kw`"),
                 watts("high_usd_per_hour", power.high_usd_per_hour, 12).is("USD", "of `power_high_kw`"),
             })
      .field(77)
      .message("PowerEntry")
      .is("of the mean chip, by what it does, and the range of what its watts come to");
}

std::vector<Figure> cost_figures(const Report& r) {
  std::vector<Figure> list = {
      Figure("cost_usd_per_million_tokens", r.cost_usd_per_million_tokens)
          .field(33)
          .column(48)
          .row("USD per million tokens", fixed(r.cost_usd_per_million_tokens, 4))
          .is("USD", "`cost_usd_per_hour` over the tokens of an hour, in millions"),
      Figure("cost_usd_per_hour", r.cost_usd_per_hour)
          .field(32)
          .column(47)
          .row("USD per hour", fixed(r.cost_usd_per_hour, 2))
          .is("USD", "chips x price per chip-hour, and energy where the price list adds it"),
      Figure("price", r.price).field(34).column(60).is("price list and term"),
      Figure("energy_j_per_token", r.energy_j_per_token)
          .field(36)
          .column(50)
          .row("energy, J per token", significant(r.energy_j_per_token, 4))
          .is("J", "`power_kw` over `tokens_per_s`"),
      Figure("power_kw", r.power_kw)
          .field(35)
          .column(49)
          .row("power, kW", significant(r.power_kw, 4))
          .is("kW",
              "of all chips with their share of hosts, network cards and switches, times the facility's PUE"),
      Figure("power_low_kw", r.power.low_kw)
          .field(78)
          .column(kLastColumn)
          .row("power at least, kW", significant(r.power.low_kw, 4))
          .is("kW", "`power_kw` where watts are as low as they may be (`power_range` of the chip)"),
      Figure("power_high_kw", r.power.high_kw)
          .field(79)
          .column(kLastColumn)
          .row("power at most, kW", significant(r.power.high_kw, 4))
          .is("kW", "the same where they are as high"),
      power_figures(r.power),
  };
  if (r.carbon) append(list, carbon_figures(*r.carbon));
  return list;
}

std::vector<Figure> figures(const Report& report) {
  std::vector<Figure> list = question_figures(report);
  append(list, step_figures(report));
  append(list, rate_figures(report));
  append(list, throughput_figures(report));
  append(list, memory_figures(report.memory));
  append(list, cost_figures(report));
  list.push_back(link_figures(report.link_use));
  append(list, adversity_figures(report));
  append(list, simulation_figures(report));
  return list;
}

std::vector<Figure> own_figures(const JobReport& job) {
  return {
      Figure("name", job.name).field(1).column(kLastColumn, "job").is("name of the job"),
      Figure("first_chip", job.first_chip).field(2).column(kLastColumn).is("first of its chips"),
      Figure("chips", job.alone.chips).field(3).is("its chips"),
      Figure("step_time_alone_s", job.alone.step_time)
          .field(4)
          .column(kLastColumn)
          .is("`step_time_s` of the job at its place on the fabric when no other job runs"),
      Figure("step_time_together_s", job.together.step_time)
          .field(5)
          .is("the same while all jobs run, mean over the steps that count"),
      Figure("slowdown", job.slowdown())
          .field(6)
          .column(kLastColumn + 1)
          .is("ratio", "`step_time_together_s` / `step_time_alone_s`"),
      Figure("exposed_communication_alone_s", job.alone.exposed_communication)
          .field(7)
          .column(kLastColumn)
          .is("`exposed_communication_s.total` of the job alone"),
      Figure("exposed_communication_together_s", job.together.exposed_communication)
          .field(8)
          .is("the same while all jobs run"),
  };
}

std::vector<Figure> figures(const JobsReport& report) {
  std::vector<Figure> jobs;
  for (const JobReport& job : report.jobs) {
    jobs.push_back(Figure::group("", own_figures(job)));
    append(jobs.back().parts,
           {
               Figure::group("alone", figures(job.alone))
                   .field(9)
                   .message("RunReport")
                   .is("the whole report of the job alone, with the keys above; `scenario` is the scenario "
                       "and the job, joined by `/`"),
               Figure::group("together", figures(job.together))
                   .field(10)
                   .message("RunReport")
                   .is("the whole report of the job while all run; `fault_costs` stays empty"),
           });
  }
  return {
      Figure("scenario", report.scenario).field(1),
      Figure("question", report.question).field(2),
      Figure("chip", report.chip).field(3),
      Figure("chips", report.chips).field(4),
      Figure("fabric", report.fabric).field(5),
      Figure("seed", report.seed).field(6),
      Figure::list("jobs", std::move(jobs)).field(7).message("JobEntry"),
  };
}

}  // namespace podsim
