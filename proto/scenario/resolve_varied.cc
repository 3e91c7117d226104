// Holds the path and the range against the schema.
#include "proto/scenario/resolve_varied.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "proto/plan.pb.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/point_value.h"
#include "proto/scenario/write_layout.h"
#include "report/text/text.h"

namespace podsim {
namespace {

using google::protobuf::FieldDescriptor;

// Fields, or the beginnings of their paths, that a plan asks for or chooses.
constexpr std::array<std::string_view, 11> kChosen = {"plan.",
                                                      "space.",
                                                      "cluster.chips",
                                                      "cluster.slices",
                                                      "job.mesh",
                                                      "job.pipeline",
                                                      "job.sharding",
                                                      "job.microbatch_sequences",
                                                      "job.recompute_layers",
                                                      "seed",
                                                      "steps"};

bool is_one_number(const FieldDescriptor& field) {
  return !field.is_repeated() && (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE ||
                                  field.cpp_type() == FieldDescriptor::CPPTYPE_INT32);
}

void check_range(const VariedNumber& varied, const std::string& place, Document& document) {
  if (!(varied.low < varied.high))
    document.report(place + ".low", place + ".low must be below high: one in ten lies below it");
  else if (varied.low <= 0 && varied.shape == VariedShape::kLognormal)
    document.report(place + ".low", place + ".low must be above 0 for a lognormal", "write shape: uniform");
  else if (varied.low < 0 && varied.factor)
    document.report(place + ".low", place + ".low must be at least 0: it is a factor");
}

void check_path(const VariedNumber& varied, const std::string& place, const VariedSetting& setting,
                Document& document) {
  const std::string path = place + ".path";
  const auto* field = field_at(*schema::Scenario::descriptor(), varied.path);
  if (field != nullptr && !is_one_number(*field))
    return document.report(path, varied.path + " is no number", "cluster.usd_per_chip_hour is one");
  if (std::ranges::any_of(kChosen, [&](std::string_view chosen) { return varied.path.starts_with(chosen); }))
    return document.report(path, varied.path + " is what a plan asks for or chooses, not what is unknown");
  if (varied.path.starts_with("reliability.") && !setting.weeks)
    return document.report(path, varied.path + " has no effect: nothing says how the run is saved",
                           "write plan { reserve { write_gb_per_s: 200 } }, or a block reliability");
  // A factor is of a number that is right already.
  const auto wrong_at = [&](double value) {
    return wrong_setting(document.text(), setting.overrides,
                         {varied.path, varied.factor ? "1" : shortest(value)});
  };
  const bool of_path = field == nullptr || varied.factor;
  if (const auto wrong = wrong_at(varied.low))
    return document.report(of_path ? path : place + ".low", wrong->message, wrong->hint);
  if (const auto wrong = wrong_at(varied.high))
    return document.report(place + ".high", wrong->message, wrong->hint);
  // Carbon of power may be that of a grid, which only a cluster tells.
  if (varied.factor && varied.path != "cluster.kg_per_kwh" &&
      !point_value(scenario_with_overrides(document.text(), setting.overrides), varied.path, {}))
    document.report(path, "the scenario says no " + varied.path + " to multiply",
                    "write it there, or the numbers themselves without factor");
}

}  // namespace

VariedNumber resolve_varied(const schema::VariedNumber& block, const std::string& place,
                            const VariedSetting& setting, Document& document) {
  VariedNumber varied;
  varied.path = block.path();
  varied.low = block.low();
  varied.high = block.high();
  varied.factor = block.factor();
  varied.chip = block.chip();
  if (block.has_shape())
    varied.shape = static_cast<VariedShape>(block.shape() - 1);
  else
    varied.shape = block.low() > 0 ? VariedShape::kLognormal : VariedShape::kUniform;
  check_range(varied, place, document);
  check_path(varied, place, setting, document);
  return varied;
}

}  // namespace podsim
