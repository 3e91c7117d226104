// Rules for the schema itself: what the loader relies on in every field.
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "proto/catalog.pb.h"
#include "proto/plan.pb.h"
#include "proto/reliability.pb.h"
#include "proto/scenario.pb.h"
#include "proto/text/ranges.h"
#include "scheduler/question/plan_limits.h"
#include "scheduler/reliability/weeks/training_run.h"
#include "topology/fabric_spec.h"

namespace podsim::schema_test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Calls `visit` for every field of a message and of what it holds.
template <class Visit>
void each_field(const Descriptor* type, std::set<const Descriptor*>& seen, Visit visit) {
  if (!seen.insert(type).second) return;
  for (int i = 0; i < type->field_count(); ++i) {
    visit(*type->field(i));
    if (type->field(i)->message_type()) each_field(type->field(i)->message_type(), seen, visit);
  }
}

template <class Visit>
void each_field(Visit visit) {
  std::set<const Descriptor*> seen;
  each_field(schema::Scenario::descriptor(), seen, visit);
  each_field(schema::Catalog::descriptor(), seen, visit);
  EXPECT_GT(seen.size(), 20u);
}

TEST(Schema, every_number_has_a_range_and_nothing_else_has) {
  // A number, or a word such as "rest" or "auto".
  const std::set<std::string> open = {"podsim.schema.MeshAxis.size", "podsim.schema.Reserve.spares",
                                      "podsim.schema.Reserve.checkpoint"};
  each_field([&](const FieldDescriptor& field) {
    const bool number = open.contains(field.full_name()) ||
                        field.cpp_type() == FieldDescriptor::CPPTYPE_INT32 ||
                        field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE ||
                        field.cpp_type() == FieldDescriptor::CPPTYPE_UINT64;
    EXPECT_EQ(field.options().HasExtension(schema::range), number) << field.full_name();
  });
}

// Of "[1, 1e18]", whichever ends it has.
std::pair<double, double> range_of(const Descriptor* type, const std::string& field) {
  const FieldDescriptor* found = type->FindFieldByName(field);
  if (!found) throw std::runtime_error("no field " + field);
  const std::string text = found->options().GetExtension(schema::range);
  return {std::stod(text.substr(1)), std::stod(text.substr(text.find(',') + 1))};
}

TEST(Schema, what_options_of_a_plan_may_be_the_fields_of_its_block_may) {
  const auto same = [](const Descriptor* type, const std::string& field, const NumberRange& limits) {
    EXPECT_EQ(range_of(type, field), std::pair(limits.least, limits.most)) << type->name() << "." << field;
  };
  same(schema::Plan::descriptor(), "target_tokens", kPlanTokens);
  same(schema::Plan::descriptor(), "search_seconds", kPlanSearchSeconds);
  same(schema::Plan::descriptor(), "draws", kPlanDraws);
  same(schema::Plan::descriptor(), "report_choices", kPlanRows);
  same(schema::Deadline::descriptor(), "days", kPlanDays);
  same(schema::Deadline::descriptor(), "probability", kPlanProbability);
  same(schema::Budget::descriptor(), "usd", kPlanUsd);
  same(schema::Budget::descriptor(), "probability", kPlanProbability);
  same(schema::Available::descriptor(), "from_days", {0, kPlanDays.most});
  same(schema::Available::descriptor(), "most_chips", {1, kMaxChips});
  same(schema::OneOff::descriptor(), "usd", {0, kPlanUsd.most});
  same(schema::OneOff::descriptor(), "days", {0, kPlanDays.most});
}

TEST(Schema, no_run_is_longer_than_a_plan_may_be_and_none_is_paid_for_longer) {
  const auto most = [](const Descriptor* type, const std::string& field) {
    return range_of(type, field).second;
  };
  EXPECT_EQ(most(schema::Reliability::descriptor(), "days"), kPlanDays.most);
  EXPECT_EQ(most(schema::Reliability::descriptor(), "target_tokens"), kPlanTokens.most);
  EXPECT_EQ(most(schema::Contract::descriptor(), "minimum_days"), kPlanDays.most);
  EXPECT_EQ(most(schema::ChipPrice::descriptor(), "minimum_days"), kPlanDays.most);
}

TEST(Schema, what_fails_has_the_names_and_the_order_of_the_simulator) {
  using schema::FailureRate;
  ASSERT_EQ(FailureRate::Component_descriptor()->value_count(), static_cast<int>(kComponents) + 1);
  for (std::size_t i = 0; i < kComponents; ++i)
    EXPECT_EQ(FailureRate::Component_Name(static_cast<FailureRate::Component>(i + 1)),
              to_string(static_cast<Component>(i)));
}

TEST(Schema, every_number_is_of_a_type_that_the_loader_reads) {
  const std::set<FieldDescriptor::CppType> read = {
      FieldDescriptor::CPPTYPE_INT32,  FieldDescriptor::CPPTYPE_UINT64, FieldDescriptor::CPPTYPE_DOUBLE,
      FieldDescriptor::CPPTYPE_BOOL,   FieldDescriptor::CPPTYPE_ENUM,   FieldDescriptor::CPPTYPE_STRING,
      FieldDescriptor::CPPTYPE_MESSAGE};
  each_field([&](const FieldDescriptor& field) {
    EXPECT_EQ(read.count(field.cpp_type()), 1u) << field.full_name();
  });
}

TEST(Schema, missing_differs_from_zero) {
  each_field([](const FieldDescriptor& field) {
    EXPECT_TRUE(field.is_repeated() || field.has_presence()) << field.full_name();
  });
}

TEST(Schema, ranges_hold_at_their_closed_ends_only) {
  Document document("test", "");
  schema::JobChoice job;
  job.set_input_bytes_per_token(0);
  job.add_mesh()->set_size(schema::MeshAxis::Size(1'000'000));
  check_ranges(job, "", document);
  EXPECT_TRUE(document.clean());
  schema::Link link;
  link.set_latency_us(1e6);
  check_ranges(link, "", document);
  ASSERT_EQ(document.problems().size(), 1u);
  EXPECT_EQ(document.problems()[0].message, "latency_us must be at least 0 and below 1,000,000, not 1000000");
  EXPECT_FALSE(link.has_latency_us());
}

}  // namespace
}  // namespace podsim::schema_test
