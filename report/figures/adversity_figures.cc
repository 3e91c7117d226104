// Lists what adversities cost, what they chose, and the verdict.
#include "report/figures/adversity_figures.h"

#include <utility>

#include "report/figures/what_if_figures.h"

namespace podsim {
namespace {

Figure slow_entry(const SlowEntry& entry) {
  Figure element =
      Figure::group("", {
                            Figure("what", entry.what)
                                .field(1)
                                .is("an entry of `slow`, `background` or `nic_flap` in words; the list is "
                                    "there only with such entries"),
                            Figure("parts", entry.parts).field(2).is("parts drawn"),
                            Figure("chips", entry.chips).field(3).is("chips that compute slower"),
                            Figure("links", entry.links).field(4).is("directed links with less capacity"),
                        });
  if (!entry.flap) return element;
  append(element.parts,
         {
             Figure("stood_still_s", entry.flap->stood_still)
                 .field(5)
                 .is("of a flap: the longest that a transfer stood still on its links, of all seeds"),
             Figure("library_timeout_s", entry.flap->library_timeout).field(6).is("of a flap: the time-out"),
             Figure("restart", entry.flap->restart())
                 .field(7)
                 .is("of a flap: whether the standstill was longer"),
         });
  return element;
}

Figure verdict_figures(const StragglerVerdict& v) {
  return Figure::group(
             "verdict",
             {
                 Figure("S", v.slowdown)
                     .field("slowdown", 1)
                     .column(kLastColumn)
                     .is("ratio", "`step_time_s` over the step time of the same job without adversities"),
                 Figure("cause", v.cause)
                     .field(2)
                     .column(kLastColumn)
                     .is("the adversity, as in `fault_costs`, without which at least half of the delay goes; "
                         "where none does, all of them together; "
                         "`none` where S is below 1.001"),
                 Figure("share", v.share)
                     .field(3)
                     .column(kLastColumn)
                     .is("share", "of `straggler_delay_s` that goes without the cause; 0 of `none`"),
                 Figure("replay", v.replay)
                     .field(4)
                     .column(kLastColumn)
                     .is("in words: whether `what_if`, which does not know what was injected, agrees or "
                         "differs; or why there is no replay"),
             })
      .field(61)
      .message("VerdictEntry")
      .is("what slowed the job down, of all that was injected ([stragglers.md](../theory/stragglers.md)); "
          "only with adversities");
}

}  // namespace

std::vector<Figure> adversity_figures(const Report& r) {
  std::vector<Figure> costs, entries, parties, list;
  for (const FaultCost& fault : r.fault_costs) {
    costs.push_back(Figure::group(
        "", {
                Figure("what", fault.what)
                    .field(1)
                    .is("the slow chip, link or host, the part that failed, or the source of chance; of more "
                        "than eight the seven gravest and the others together, of more than 64 all as one"),
                Figure("cost_s", fault.cost)
                    .field(2)
                    .is("`step_time_s` minus the step time without this adversity and with all others"),
            }));
  }
  for (const SlowEntry& entry : r.slow_entries) entries.push_back(slow_entry(entry));
  for (const SlowParty& party : r.slow_parties) {
    parties.push_back(
        Figure::group("", {
                              Figure("who", party.who)
                                  .field(1)
                                  .is("the chips of one speed and pipeline stage that share what is drawn "
                                      "for chips: under jitter of chips a single one, with "
                                      "uneven documents a data rank; a chip that launches late is by itself"),
                              Figure("caused_chip_s", party.caused_chip_s)
                                  .field(2)
                                  .is("chip-s", "chip-seconds per step that others waited for it"),
                              Figure("waited_chip_s", party.waited_chip_s)
                                  .field(3)
                                  .is("chip-s", "chip-seconds per step that it waited for others"),
                          }));
  }
  list.push_back(Figure::list("fault_costs", std::move(costs))
                     .field(44)
                     .message("FaultCostEntry")
                     .is("what each adversity costs, dearest first; empty without adversities"));
  if (!entries.empty())
    list.push_back(Figure::list("slow_entries", std::move(entries))
                       .field(70)
                       .message("SlowEntryEntry")
                       .is("what each entry that names parts chose; only with such entries"));
  list.push_back(Figure::list("slow_parties", std::move(parties))
                     .field(38)
                     .message("SlowPartyEntry")
                     .is("who delayed the others, worst first; empty without adversities"));
  if (r.verdict) list.push_back(verdict_figures(*r.verdict));
  if (r.what_if)
    list.push_back(what_if_figures(*r.what_if)
                       .field(60)
                       .message("WhatIfEntry")
                       .is("slowdowns by what-if replay: `S`, `waste`, `M_W`, `M_S`, `S_by_optype`, "
                           "`S_by_dp_rank` with `dp_ranks_alike`, `S_by_stage`, "
                           "`culprits`, `likely_cause`, `T_s`, `T_ideal_s` "
                           "([stragglers.md](../theory/stragglers.md)); only with adversities, and missing "
                           "where `verdict.replay` says why"));
  return list;
}

}  // namespace podsim
