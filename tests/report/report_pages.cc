// Walks the list of figures with one of everything in it.
#include "tests/report/report_pages.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "engine/check.h"
#include "report/figures/every_figure.h"
#include "report/figures/figures.h"
#include "report/figures/scaling_figures.h"
#include "report/pictures/detail_figures.h"

namespace podsim::testing {
namespace {

const std::string kTableHead = "| key | unit | definition |\n|---|---|---|\n";

std::string row(const std::string& key, const Figure& figure) {
  return "| `" + key + "` | " + (figure.unit.empty() ? "" : figure.unit + " ") + "| " + figure.definition +
         " |\n";
}

std::string rows(const std::string& above, const std::vector<Figure>& figures) {
  std::string text;
  for (const Figure& figure : figures) {
    if (figure.in_json && !figure.definition.empty()) text += row(above + figure.key, figure);
  }
  return text;
}

std::string nested_rows(const std::string& above, const std::vector<Figure>& figures) {
  std::string text;
  for (const Figure& figure : figures) {
    const bool list = figure.shape == Figure::Shape::kList;
    const std::string path = above + figure.key + (list ? "[]." : ".");
    if (!list) text += rows(path, figure.parts) + nested_rows(path, figure.parts);
    if (list) text += rows(path, figure.parts[0].parts);
  }
  return text;
}

// Of a report, with what `--detail` and `scale` add.
std::vector<Figure> all_figures() {
  std::vector<Figure> all = figures(every_figure());
  StepDetail detail;
  detail.collectives.emplace_back();
  detail.operations.emplace_back();
  detail.links.emplace_back();
  detail.near.emplace_back();
  append(all, detail_figures(detail));
  WholeRun run;
  run.carbon_t = 1;
  append(all, scaling_figures({.scaling = "weak", .run = run}));
  return all;
}

std::vector<Figure> with_header(std::vector<Figure> figures) {
  std::vector<Figure> all = header_figures("number");
  append(all, std::move(figures));
  return all;
}

// Numbers of fields that are gone, which must not come back with another meaning.
const std::map<std::string, std::string> kReserved = {{"MemoryEntry", "  reserved 11;\n"}};

const char* type_of(const Figure& figure) {
  constexpr std::array kTypes = {"", "bool", "int32", "int64", "uint64", "double", "int64", "string"};
  PODSIM_CHECK(figure.value.index() > 0, "every figure is known");
  return kTypes.at(figure.value.index());
}

// Messages by name, in the order in which they are needed.
class Schema {
 public:
  std::string text;

  void add_message(const std::string& type, const std::vector<Figure>& figures) {
    if (fields_.contains(type)) return;
    fields_[type] = kReserved.contains(type) ? kReserved.at(type) : "";
    add_fields(type, figures);
    text += "\nmessage " + type + " {\n" + fields_[type] + "}\n";
  }

 private:
  // Of messages that other figures' fields reach into, before those messages are written.
  void add_fields(const std::string& type, const std::vector<Figure>& figures) {
    for (const Figure& figure : figures) {
      if (figure.field_name.empty() && figure.shape == Figure::Shape::kGroup) add_fields(type, figure.parts);
      if (!figure.field_name.empty() && figure.field_name.find('.') == std::string::npos) {
        std::vector<Figure> parts = parts_of(figure);
        if (figure.shape == Figure::Shape::kGroup) append(parts, reaching_into(figure, figures));
        add_field(type, figure, parts);
      }
    }
  }

  // Those whose dotted names begin with the figure's, without it.
  static std::vector<Figure> reaching_into(const Figure& into, const std::vector<Figure>& figures) {
    std::vector<Figure> found;
    for (Figure figure : figures) {
      if (!figure.field_name.starts_with(into.field_name + ".")) continue;
      figure.field_name.erase(0, into.field_name.size() + 1);
      found.push_back(figure);
    }
    return found;
  }

  static std::vector<Figure> parts_of(const Figure& figure) {
    if (figure.shape == Figure::Shape::kGroup) return figure.parts;
    return figure.shape == Figure::Shape::kValue ? std::vector<Figure>() : figure.parts[0].parts;
  }

  void add_field(const std::string& type, const Figure& figure, const std::vector<Figure>& parts) {
    const bool one = figure.shape == Figure::Shape::kValue || figure.shape == Figure::Shape::kGroup;
    if (!figure.message_type.empty()) add_message(figure.message_type, parts);
    const std::string of = !figure.message_type.empty() ? figure.message_type
                           : one                        ? type_of(figure)
                                                        : type_of(figure.parts[0]);
    fields_[type] += std::string(one ? "  optional " : "  repeated ") + of + " " + figure.field_name + " = " +
                     std::to_string(figure.field_number) + ";\n";
  }

  std::map<std::string, std::string> fields_;
};

}  // namespace

std::string report_page(const std::string& page) {
  const std::vector<Figure> one = all_figures(), several = figures(every_figure_of_jobs());
  const std::string tables[] = {rows("", with_header(one)), rows("jobs[].", several.back().parts[0].parts),
                                nested_rows("", one)};
  std::string text;
  std::size_t at = 0;
  for (const std::string& table : tables) {
    const std::size_t begin = page.find(kTableHead, at);
    PODSIM_CHECK(begin != std::string::npos, "the page has a table");
    text += page.substr(at, begin - at) + kTableHead + table;
    at = page.find("\n\n", begin) + 1;
  }
  return text + page.substr(at);
}

std::string report_schema() {
  Schema schema;
  schema.add_message("RunReport", with_header(all_figures()));
  schema.add_message("JobsRunReport", with_header(figures(every_figure_of_jobs())));
  return "// The reports of runs, as written by --format textproto; docs/reference/report.md defines every "
         "figure.\n"
         "// tests/report/update writes this file.\n"
         "syntax = \"proto3\";\n\npackage podsim.schema;\n" +
         schema.text;
}

}  // namespace podsim::testing
