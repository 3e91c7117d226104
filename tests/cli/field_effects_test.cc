// Every field of a scenario changes a figure of the answer, or podsim says why it does not.
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "cli/weeks/availability_json.h"
#include "cli/weeks/reliability_json.h"
#include "prediction/predict.h"
#include "prediction/weeks.h"
#include "proto/options.pb.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/load_availability.h"
#include "proto/scenario/load_reliability.h"
#include "proto/scenario/scenario_kind.h"
#include "proto/text/parse.h"
#include "proto/writing/write.h"

namespace podsim::field_effects_test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using nlohmann::json;

const std::filesystem::path kFolder = PODSIM_SOURCE_DIR "/tests/cli/effects";

const Catalog& built_in() {
  static const Catalog catalog;
  return catalog;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> names_of_bases() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    if (entry.path().extension() == ".textproto") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

// The numbers and verdicts of an answer, without names, and without what only repeats the question or tells
// how it was computed.
json figures_of(const json& answer) {
  static const std::set<std::string> repeated = {
      "seed", "seeds", "steps", "chip_classes", "link_classes", "group_classes", "events", "periods_skipped"};
  json figures = answer.is_array() ? json::array() : json::object();
  if (!answer.is_structured()) return answer.is_string() ? json() : answer;
  for (const auto& [key, value] : answer.items()) {
    if (repeated.count(key)) continue;
    if (answer.is_array())
      figures.push_back(figures_of(value));
    else
      figures[key] = figures_of(value);
  }
  return figures;
}

struct Answer {
  std::optional<json> figures;  // nothing where the scenario is refused
  std::vector<Problem> told;    // problems and warnings
};

Answer answer(const std::string& text, const std::vector<Override>& overrides) {
  const ScenarioKind kind = scenario_kind("base.textproto", text);
  Answer result;
  const auto tell = [&](const std::vector<Problem>& more) {
    result.told.insert(result.told.end(), more.begin(), more.end());
  };
  const auto keep = [&](const std::string& written) { result.figures = figures_of(json::parse(written)); };
  if (kind.availability) {
    const LoadAvailabilityResult loaded = load_availability("base.textproto", text, built_in(), overrides);
    tell(loaded.problems);
    tell(loaded.warnings);
    if (loaded.question) keep(availability_json(*loaded.question, podsim::answer(*loaded.question)));
  } else if (kind.reliability) {
    const LoadReliabilityResult loaded = load_reliability("base.textproto", text, built_in(), overrides);
    tell(loaded.problems);
    tell(loaded.warnings);
    if (loaded.question) keep(reliability_json(predict_weeks(*loaded.question, {})));
  } else {
    const LoadResult loaded = load_scenario("base.textproto", text, built_in(), overrides);
    tell(loaded.problems);
    tell(loaded.warnings);
    if (!loaded.spec) return result;
    const Prediction prediction = predict_step(*loaded.spec, {});
    keep(prediction.jobs ? report_json(*prediction.jobs) : report_json(prediction.report));
  }
  return result;
}

// A field of a base scenario that --set can reach.
struct Place {
  std::string path;  // "job.mesh[0].size"
  const FieldDescriptor* field;
  std::vector<std::string> values;  // other than the present one
};

// Names that other fields refer to, by the name of the field.
const std::map<std::string, std::vector<std::string>>& names_of_fields() {
  static const std::map<std::string, std::vector<std::string>> names = {
      {"chip", {"h200", "tpu_v4"}},
      {"fabric", {"dgx_a100", "dgx_h200", "v4_pod"}},
      {"prices", {"list_2026"}},
      {"price_term", {"committed_1y", "on_demand"}},
      {"transport", {"rocev2", "ideal"}},
      {"model", {"llama3_70b", "t5_large"}},
      {"stack", {"megatron_2022", "maxtext_2023", "torchtitan"}},
      {"jitter", {"typical"}},
      {"lengths", {"long_tail_32k"}},
      {"failures", {"tpu_v4"}},
      {"axis", {"data", "tensor", "fsdp"}},
      {"sharding", {"fsdp", "data", "[{},{},{}]"}},
      {"recompute_policy", {"full", "save_qkv_proj"}},
      {"keep", {"ffn up"}},
      {"offload", {"ffn up"}},
      {"recompute_modules", {"core_attn", "mlp"}},
      {"kind", {"chip", "nic", "nvlink", "leaf", "nvswitch", "ici"}},
      {"together", {"host", "all"}},
      {"attention_kernel", {"unfused", "flash1", "cudnn"}},
      {"gemm", {"ffn up"}},
      {"matmul", {"ffn up"}},
      {"dimension", {"embed", "batch"}},
      {"along", {"columns", "rows"}},
      {"dims", {"batch sequence embed"}},
  };
  return names;
}

std::vector<std::string> texts_of(const FieldDescriptor& field) {
  const auto known = names_of_fields().find(field.name());
  return known == names_of_fields().end() ? std::vector<std::string>{"other"} : known->second;
}

// Some numbers in the range of the field.
std::vector<std::string> numbers_of(const FieldDescriptor& field, std::optional<double> now) {
  std::istringstream range(field.options().GetExtension(schema::range));
  char open = 0, comma = 0, close = 0;
  double low = 0, high = 0;
  range >> open >> low >> comma >> high >> close;
  const bool whole = field.cpp_type() != FieldDescriptor::CPPTYPE_DOUBLE;
  const std::vector<double> wanted =
      now ? std::vector<double>{*now * 2, *now / 2, *now + 1, *now - 1, *now * 0.9}
          : std::vector<double>{0.5, 2, 1, 3, 0.001, 300};
  std::vector<std::string> values;
  for (double x : wanted) {
    if (whole) x = std::trunc(x);
    const bool inside = (open == '(' ? x > low : x >= low) && (close == ')' ? x < high : x <= high);
    if (!inside || x == now) continue;
    values.push_back(json(x).dump());
    if (whole) values.back() = std::to_string(static_cast<std::int64_t>(x));
  }
  return values;
}

double number_in(const Message& message, const FieldDescriptor& field, int element) {
  const auto* r = message.GetReflection();
  const bool one = element < 0;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return one ? r->GetInt32(message, &field) : r->GetRepeatedInt32(message, &field, element);
    case FieldDescriptor::CPPTYPE_UINT64:
      return static_cast<double>(r->GetUInt64(message, &field));
    default:
      return one ? r->GetDouble(message, &field) : r->GetRepeatedDouble(message, &field, element);
  }
}

std::vector<std::string> values_of(const Message* message, const FieldDescriptor& field) {
  const auto* r = message ? message->GetReflection() : nullptr;
  const bool there =
      message && (field.is_repeated() ? r->FieldSize(*message, &field) > 0 : r->HasField(*message, &field));
  std::vector<std::string> values;
  std::string now;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return there ? std::vector<std::string>{r->GetBool(*message, &field) ? "false" : "true"}
                   : std::vector<std::string>{"true", "false"};
    case FieldDescriptor::CPPTYPE_ENUM:
      for (int i = 0; i < field.enum_type()->value_count(); ++i)
        if (field.enum_type()->value(i)->number() != 0) values.push_back(field.enum_type()->value(i)->name());
      if (there && !field.is_repeated()) now = r->GetEnum(*message, &field)->name();
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      values = texts_of(field);
      if (there && !field.is_repeated()) now = r->GetString(*message, &field);
      break;
    default: {
      std::optional<double> number;
      if (there) number = number_in(*message, field, field.is_repeated() ? 0 : -1);
      return numbers_of(field, number);
    }
  }
  values.erase(std::remove(values.begin(), values.end(), now), values.end());
  return values;
}

// All fields of the blocks that the message has, and of overrides also those that it lacks.
void find_places(const Message* message, const Descriptor& type, const std::string& path, bool partial,
                 std::vector<Place>& places) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const std::string at = path.empty() ? field.name() : path + "." + field.name();
    const bool override_block = partial || field.name().ends_with("_override");
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      places.push_back({at, &field, values_of(message, field)});
    } else if (field.is_repeated()) {
      const auto* r = message ? message->GetReflection() : nullptr;
      for (int k = 0; r && k < r->FieldSize(*message, &field); ++k)
        find_places(&r->GetRepeatedMessage(*message, &field, k), *field.message_type(),
                    at + "[" + std::to_string(k) + "]", override_block, places);
    } else {
      const bool there = message && message->GetReflection()->HasField(*message, &field);
      const bool written_in_full = partial && field.message_type() == schema::Program::descriptor();
      if (there || (override_block && !written_in_full))
        find_places(there ? &message->GetReflection()->GetMessage(*message, &field) : nullptr,
                    *field.message_type(), at, override_block, places);
    }
  }
}

struct Base {
  std::string name, text;
  std::vector<Place> places;
};

Base base_of(const std::string& name) {
  Base base{name, read(kFolder / (name + ".textproto")), {}};
  Document document(name, base.text);
  schema::Scenario scenario;
  EXPECT_TRUE(parse(document, scenario)) << name;
  find_places(&scenario, *schema::Scenario::descriptor(), "", false, base.places);
  return base;
}

enum class Outcome { kChanged, kTold, kSilent, kUntried };

// The message is about this field, or about a block that it is in.
bool speaks_of(const Problem& problem, const Place& place) {
  if (problem.file == "--set") return true;
  const std::size_t end = problem.message.find(" has no effect");
  if (end == std::string::npos) return false;
  const std::string subject = problem.message.substr(0, end);
  return place.path == subject || place.path.starts_with(subject + ".") ||
         place.path.starts_with(subject + "[");
}

Outcome try_field(const Base& base, const json& before, const Place& place) {
  bool silent = false, told = false;
  for (const std::string& value : place.values) {
    const Answer after = answer(base.text, {{place.path, value}});
    if (after.figures && *after.figures != before) return Outcome::kChanged;
    const bool spoken = std::any_of(after.told.begin(), after.told.end(),
                                    [&](const Problem& problem) { return speaks_of(problem, place); });
    told = told || spoken || !after.figures;
    silent = silent || (after.figures && !spoken);
    if (spoken && after.figures) return Outcome::kTold;
  }
  return silent ? (told ? Outcome::kTold : Outcome::kSilent) : told ? Outcome::kTold : Outcome::kUntried;
}

std::string key_of(const FieldDescriptor& field) {
  return field.containing_type()->name() + "." + field.name();
}

struct Excuse {
  bool always = false;  // else in some scenarios
  std::string why;
};

// Fields that may change no figure without a word.
std::map<std::string, Excuse> excused() {
  std::istringstream lines(read(kFolder / "excused.csv"));
  std::map<std::string, Excuse> excuses;
  std::string line, field, silent, why;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    std::getline(cells, field, ',');
    std::getline(cells, silent, ',');
    std::getline(cells, why);
    EXPECT_TRUE((silent == "always" || silent == "sometimes") && !why.empty()) << line;
    excuses[field] = {silent == "always", why};
  }
  return excuses;
}

class FieldEffects : public ::testing::TestWithParam<std::string> {};

TEST_P(FieldEffects, what_changes_no_figure_is_told) {
  const Base base = base_of(GetParam());
  const Answer before = answer(base.text, {});
  ASSERT_TRUE(before.figures) << (before.told.empty() ? "" : format_problem(before.told.front()));
  const auto excuses = excused();
  for (const Place& place : base.places) {
    if (excuses.count(key_of(*place.field))) continue;
    const Outcome outcome = try_field(base, *before.figures, place);
    EXPECT_TRUE(outcome == Outcome::kChanged || outcome == Outcome::kTold || outcome == Outcome::kUntried)
        << base.name << ": --set " << place.path << "=" << place.values.front()
        << " changes no figure, and nothing is said (" << key_of(*place.field) << ")";
  }
}

// Scenarios whose every field is asked about; the others show single fields at work.
const std::string kAskedWhole[] = {"encoder_decoder", "gpu_adversities", "gpu_chance", "gpu_experts",
                                   "gpu_paths",       "gpu_plain",       "gpu_rich",   "gpu_server",
                                   "images",          "masked",          "measured",   "tpu_pod"};

INSTANTIATE_TEST_SUITE_P(Scenarios, FieldEffects, ::testing::ValuesIn(kAskedWhole),
                         [](const auto& scenario) { return scenario.param; });

// All fields of a message and of what it holds.
void add_keys(const Descriptor& type, std::set<const Descriptor*>& seen, std::set<std::string>& keys) {
  if (!seen.insert(&type).second) return;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.message_type())
      add_keys(*field.message_type(), seen, keys);
    else
      keys.insert(key_of(field));
  }
}

TEST(EveryField, changes_a_figure_of_some_scenario_or_is_told) {
  std::set<const Descriptor*> seen;
  std::set<std::string> missing;
  add_keys(*schema::Scenario::descriptor(), seen, missing);
  EXPECT_GT(missing.size(), 400u);
  for (const std::string& name : names_of_bases()) {
    const Base base = base_of(name);
    const Answer before = answer(base.text, {});
    ASSERT_TRUE(before.figures) << name;
    for (const Place& place : base.places) {
      if (!missing.count(key_of(*place.field))) continue;
      const Outcome outcome = try_field(base, *before.figures, place);
      if (outcome == Outcome::kChanged || outcome == Outcome::kTold) missing.erase(key_of(*place.field));
    }
  }
  std::set<std::string> never;
  for (const auto& [field, excuse] : excused())
    if (excuse.always) never.insert(field);
  EXPECT_EQ(missing, never);
}

}  // namespace
}  // namespace podsim::field_effects_test
