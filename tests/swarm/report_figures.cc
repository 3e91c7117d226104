// Reads reports back: what the formats call otherwise gets its name in JSON here.
#include "tests/swarm/report_figures.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/check.h"
#include "proto/report.pb.h"
#include "report/text/text.h"

namespace podsim::testing {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::string number(double value) { return std::isfinite(value) ? shortest(value) : ""; }

std::string joined(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

void add_json(const nlohmann::json& value, const std::string& path, Figures& figures) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) add_json(inner, joined(path, key), figures);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      add_json(value[i], path + "[" + std::to_string(i) + "]", figures);
  } else if (value.is_string()) {
    figures[path] = value.get<std::string>();
  } else if (value.is_number_float()) {
    figures[path] = number(value.get<double>());
  } else if (!value.is_null()) {
    figures[path] = value.dump();
  }
}

// Times are picoseconds in textproto, seconds in JSON.
std::string scalar(const Message& message, const FieldDescriptor& field, int element) {
  const auto& r = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return number(element < 0 ? r.GetDouble(message, &field)
                                : r.GetRepeatedDouble(message, &field, element));
    case FieldDescriptor::CPPTYPE_INT64: {
      const std::int64_t value = r.GetInt64(message, &field);
      const bool time = field.name().ends_with("_ps");
      return time ? number(std::strtod(exact_seconds(Time{value}).c_str(), nullptr)) : std::to_string(value);
    }
    case FieldDescriptor::CPPTYPE_INT32:
      return std::to_string(r.GetInt32(message, &field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return std::to_string(r.GetUInt64(message, &field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return r.GetBool(message, &field) ? "true" : "false";
    default:
      PODSIM_CHECK(field.cpp_type() == FieldDescriptor::CPPTYPE_STRING, field.name());
      return element < 0 ? r.GetString(message, &field) : r.GetRepeatedString(message, &field, element);
  }
}

// What a field is called in JSON, where that is not its own name. {from block, from field, to}; in an element
// of a list the path of the list is rewritten before.
struct Renamed {
  const char *block, *field, *to;
};
constexpr Renamed kRenamed[] = {{"RunReport", "exposed", "exposed_communication_s.by"},
                                {"RunReport", "exposed_communication_ps", "exposed_communication_s.total"},
                                {"RunReport", "memory", ""},
                                {"MemoryEntry", "stage", "memory_by_stage_gib"},
                                {"MemoryEntry", "advice", "memory_advice"},
                                {"MemoryEntry", "worst_stage", "memory_worst_stage"},
                                {"MemoryChangeEntry", "total_gib", "total_gib"},
                                {"WhatIfEntry", "slowdown", "S"},
                                {"WhatIfEntry", "few_workers_gain", "M_W"},
                                {"WhatIfEntry", "last_stage_gain", "M_S"},
                                {"WhatIfEntry", "step_s", "T_s"},
                                {"WhatIfEntry", "ideal_step_s", "T_ideal_s"},
                                {"CulpritEntry", "slowdown", "S"},
                                {"VerdictEntry", "slowdown", "S"}};

std::string json_name(const FieldDescriptor& field) {
  const std::string& block = field.containing_type()->name();
  for (const Renamed& renamed : kRenamed)
    if (block == renamed.block && field.name() == renamed.field) return renamed.to;
  std::string name = field.name();
  if (name.ends_with("_ps")) return name.substr(0, name.size() - 3) + "_s";
  if (name.ends_with("_gib")) name.resize(name.size() - 4);
  return block == "MemoryEntry" ? "memory_per_chip_gib." + name : name;
}

// Lists that are objects in JSON: their elements have a key there.
bool add_keyed(const Message& element, const std::string& path, Figures& figures) {
  if (const auto* link = dynamic_cast<const schema::LinkUseEntry*>(&element)) {
    figures[path + "link_utilisation." + link->kind() + ".mean"] = number(link->mean());
    figures[path + "link_utilisation." + link->kind() + ".max"] = number(link->max());
  } else if (const auto* type = dynamic_cast<const schema::TypeSlowdownEntry*>(&element)) {
    figures[path + "S_by_optype." + type->optype()] = number(type->slowdown());
  } else if (const auto* rank = dynamic_cast<const schema::DataRankEntry*>(&element)) {
    figures[path + "S_by_dp_rank." + std::to_string(rank->data_rank())] = number(rank->slowdown());
    figures[path + "dp_ranks_alike." + std::to_string(rank->data_rank())] = std::to_string(rank->alike());
  } else {
    return false;
  }
  return true;
}

void add_message(const Message& message, const std::string& path, Figures& figures) {
  const auto& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const int elements = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < elements; ++i) {
      std::string name = joined(path, json_name(*field));
      if (field->name() == "by_stage") {
        name = joined(path, "S_by_stage." + std::to_string(i));
      } else if (field->is_repeated()) {
        name += "[" + std::to_string(i) + "]";
      }
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
        figures[name] = scalar(message, *field, field->is_repeated() ? i : -1);
        continue;
      }
      const Message& inner = field->is_repeated() ? reflection.GetRepeatedMessage(message, field, i)
                                                  : reflection.GetMessage(message, field);
      if (!add_keyed(inner, path.empty() ? "" : path + ".", figures))
        add_message(inner, json_name(*field).empty() ? path : name, figures);
    }
  }
}

// RFC 4180.
std::vector<std::vector<std::string>> csv_cells(const std::string& text) {
  std::vector<std::vector<std::string>> rows = {{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      if (quoted && i + 1 < text.size() && text[i + 1] == '"')
        rows.back().back() += text[i++];
      else
        quoted = !quoted;
    } else if (c == ',' && !quoted) {
      rows.back().emplace_back();
    } else if (c == '\n' && !quoted) {
      if (i + 1 < text.size()) rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  return rows;
}

std::string cell_figure(const std::string& cell) {
  char* end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  return !cell.empty() && *end == 0 && cell.find('.') != std::string::npos ? number(value) : cell;
}

// Exposed collectives by the names of axes and kind, as CSV has them.
void name_exposed(Figures& figures) {
  Figures named;
  for (const auto& [path, value] : figures) {
    const std::size_t list = path.find("exposed_communication_s.by[");
    if (list == std::string::npos || !path.ends_with(".time_s")) continue;
    const std::string element = path.substr(0, path.size() - 6), before = path.substr(0, list);
    named[before + "exposed_communication_s." + figures[element + "axes"] + "." + figures[element + "kind"]] =
        value;
  }
  figures.merge(named);
}

Figures without_nothing(Figures figures) {
  std::erase_if(figures, [](const auto& figure) {
    return figure.second.empty() || figure.second == "0" || figure.second == "-0";
  });
  return figures;
}

}  // namespace

Figures figures_of_json(const std::string& json) {
  Figures figures;
  add_json(nlohmann::json::parse(json), "", figures);
  return without_nothing(std::move(figures));
}

Figures figures_of_textproto(const std::string& textproto) {
  Figures figures;
  const bool jobs = textproto.find("JobsRunReport") != std::string::npos;
  schema::RunReport one;
  schema::JobsRunReport several;
  Message& report = jobs ? static_cast<Message&>(several) : one;
  PODSIM_CHECK(google::protobuf::TextFormat::ParseFromString(textproto, &report), textproto);
  add_message(report, "", figures);
  return without_nothing(std::move(figures));
}

Figures figures_of_csv(const std::string& csv, bool jobs) {
  const auto rows = csv_cells(csv);
  const std::vector<std::string> of_job = {"first_chip", "step_time_alone_s", "exposed_communication_alone_s",
                                           "slowdown"};
  Figures figures;
  for (std::size_t row = 1; row < rows.size(); ++row) {
    const std::string job = "jobs[" + std::to_string(row - 1) + "].";
    for (std::size_t c = 0; c < rows[row].size(); ++c) {
      const std::string& column = rows[0][c];
      std::string path = column;
      if (jobs) {
        const bool own = std::find(of_job.begin(), of_job.end(), column) != of_job.end();
        path = column == "job" ? job + "name" : own ? job + column : job + "together." + column;
      }
      figures[path] = cell_figure(rows[row][c]);
    }
  }
  return without_nothing(std::move(figures));
}

std::string first_missing(const Figures& part, const Figures& whole) {
  Figures all = whole;
  name_exposed(all);
  for (const auto& [path, value] : part) {
    const auto found = all.find(path);
    if (found == all.end()) return path + " = " + value + " is missing in the other format";
    if (found->second != value) return path + " is " + value + " and " + found->second;
  }
  return "";
}

std::string first_difference(const Figures& a, const Figures& b) {
  const std::string missing = first_missing(a, b);
  return missing.empty() ? first_missing(b, a) : missing;
}

}  // namespace podsim::testing
