// Writes pages. All that comes from scenarios is escaped; styles and scripts are admitted by their digests
// alone.
#include "proto/pages/page.h"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include "engine/check.h"
#include "engine/sha256.h"
#include "proto/pages/json_digits.h"
#include "proto/pages/page_files.h"
#include "proto/pages/picture_json.h"
#include "proto/pages/value_tables.h"
#include "report/answer/result_header.h"
#include "report/pictures/svg.h"

namespace podsim {
namespace {

constexpr std::size_t kMostValues = 8000;  // of the JSON, listed on the page
constexpr const char* kValuesEnd = "</tbody></table></div>\n";

std::string element(const std::string& tag, const std::string& text, const std::string& kind = "") {
  return "<" + tag + (kind.empty() ? "" : " class=\"" + kind + "\"") + ">" + escaped(text) + "</" + tag + ">";
}

// "memory_by_stage_gib[1].total" -> "memory_by_stage_gib.total"
std::string without_numbers(const std::string& key) {
  std::string plain;
  bool inside = false;
  for (const char c : key) {
    inside = (inside || c == '[') && c != ']';
    if (!inside && c != ']') plain += c;
  }
  return plain.starts_with('.') ? plain.substr(1) : plain;
}

// As part of an address: of drawings most is left as it is, which in base64 would be a third longer.
std::string in_address(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF", kPlain = " =/.,:;()-_[]*!~+@?$";
  std::string out;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    const auto byte = static_cast<unsigned char>(c);
    if (letter || kPlain.find(c) != std::string_view::npos)
      out += c;
    else
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return out;
}

class PageWriter {
 public:
  explicit PageWriter(const Page& page) : page_(page), values_(json_values(page.json)) {
    for (const JsonValue& value : values_) digits_.emplace(value.key, &value);
  }

  std::string text() const {
    const std::string style = picture_style() + std::string(page_file("page.css"));
    const std::string_view charts = page_file("charts.js"), script = page_file("page.js");
    std::string scripts = "script-src 'none'";
    if (has_page_scripts())
      scripts = "script-src 'sha256-" + sha256_base64(charts) + "' 'sha256-" + sha256_base64(script) + "'";
    std::string out =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-" +
        sha256_base64(style) + "'; " + scripts +
        "; img-src data:; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n" +
        element("title", page_.title + " - podsim") + "\n<style>" + style + "</style>\n</head>\n<body>\n" +
        "<svg class=\"patterns\" aria-hidden=\"true\" width=\"0\" height=\"0\">" + picture_patterns() +
        "</svg>\n" + head() + "<main>\n";
    for (const PagePanel& panel : page_.panels) out += panel_text(panel);
    out += origin() + all_values() + "</main>\n" + foot();
    if (has_page_scripts()) {
      const auto meaning = [this](const std::string& key) {
        const FigureMeaning* found = meaning_of(key);
        return found == nullptr ? std::string() : found->definition;
      };
      // The library is text until the still pictures are on the screen: page.js makes it a script then.
      out += "<script type=\"application/json\" id=\"pictures\">" + pictures_json(pictures(), meaning) +
             "</script>\n<script type=\"application/json\" id=\"drawings\">" + drawings_json(drawings()) +
             "</script>\n<script type=\"text/plain\" id=\"charts\">" + std::string(charts) +
             "</script>\n<script>" + std::string(script) + "</script>\n";
    }
    return out + "</body>\n</html>\n";
  }

  // The first panel is open, the others are unfolded by who reads.
  std::string panels() const {
    std::string out = "<table>";
    for (const PageFigure& figure : page_.figures)
      out += "<tr" + meaning_title(figure.value.key) + ">" + element("th", figure.name) + "<td" +
             figure_of(figure.value.key) + ">" + escaped(figure.value.text) + "</td>" +
             element("td", figure.below) + "</tr>";
    out += "</table>\n";
    if (!page_.answer.empty()) out += element("p", page_.answer) + "\n";
    for (const PagePanel& panel : page_.panels) {
      out += std::string("<details") + (&panel == page_.panels.data() ? " open" : "") + ">" +
             element("summary", panel.title) + "\n";
      for (const std::string& sentence : panel.sentences) out += element("p", sentence) + "\n";
      for (const Picture& picture : panel.pictures)
        out += "<div>" + with_digits(svg_file(picture)) + "</div>\n";
      for (const PageDrawing& drawing : panel.drawings) out += drawing_text(drawing);
      for (const PageTable& table : panel.tables) out += table_text(table);
      if (!panel.text.empty()) out += element("pre", panel.text) + "\n";
      out += "</details>\n";
    }
    return out;
  }

 private:
  // A figure says its key and the digits that the JSON has.
  std::string figure_of(const std::string& key) const {
    if (key.empty()) return "";
    const auto found = digits_.find(key);
    PODSIM_CHECK(found != digits_.end(), "the result has the figure " + key);
    return " data-key=\"" + escaped(key) + "\" data-value=\"" + escaped(found->second->text) + "\"";
  }

  const FigureMeaning* meaning_of(const std::string& key) const {
    std::string name = without_numbers(key);
    for (;;) {
      const auto found = page_.meanings.find(name);
      if (found != page_.meanings.end() && !found->second.definition.empty()) return &found->second;
      const std::size_t dot = name.rfind('.');
      if (dot == std::string::npos) return nullptr;
      name.resize(dot);
    }
  }

  std::string meaning_title(const std::string& key) const {
    const FigureMeaning* meaning = key.empty() ? nullptr : meaning_of(key);
    return meaning == nullptr ? "" : " title=\"" + escaped(meaning->definition) + "\"";
  }

  std::string head() const {
    std::string out = "<header>\n" + element("h1", page_.title) + "\n";
    if (!page_.question.empty()) out += element("p", page_.question, "question") + "\n";
    if (!page_.figures.empty()) out += "<div class=\"figures\">\n";
    for (const PageFigure& figure : page_.figures) {
      out += "<div class=\"figure\"" + meaning_title(figure.value.key) + ">" +
             element("span", figure.name, "name") + "<span class=\"value\"" + figure_of(figure.value.key) +
             ">" + escaped(figure.value.text) + "</span>" + element("span", figure.below, "below") +
             "</div>\n";
    }
    if (!page_.figures.empty()) out += "</div>\n";
    if (!page_.answer.empty()) out += element("p", page_.answer, "answer") + "\n";
    out += "<nav aria-label=\"Panels\">";
    for (const PagePanel& panel : page_.panels)
      out += "<a href=\"#" + escaped(panel.id) + "\">" + escaped(panel.title) + "</a> ";
    return out + "<a href=\"#origin\">Scenario</a> <a href=\"#values\">Every figure</a></nav>\n</header>\n";
  }

  std::string panel_text(const PagePanel& panel) const {
    std::string out = "<section id=\"" + escaped(panel.id) + "\" aria-labelledby=\"h-" + escaped(panel.id) +
                      "\">\n<h2 id=\"h-" + escaped(panel.id) + "\">" + escaped(panel.title) + "</h2>\n";
    for (const std::string& sentence : panel.sentences) out += element("p", sentence) + "\n";
    for (const Picture& picture : panel.pictures)
      out += "<figure class=\"drawn\" tabindex=\"0\" data-picture=\"" + escaped(picture.id) + "\">" +
             with_digits(svg_element(picture)) + "<figcaption>" + escaped(picture.summary) +
             "</figcaption></figure>\n";
    for (const PageDrawing& drawing : panel.drawings) out += drawing_text(drawing);
    for (const PageTable& table : panel.tables) out += table_text(table);
    if (!panel.text.empty()) out += "<pre tabindex=\"0\">" + escaped(panel.text) + "</pre>\n";
    return out + "</section>\n";
  }

  // An image, so that its style is its own and nothing in it can run.
  static std::string drawing_text(const PageDrawing& drawing) {
    return "<figure class=\"still\" tabindex=\"0\"><img alt=\"" + escaped(drawing.summary) +
           "\" src=\"data:image/svg+xml;charset=utf-8," + in_address(drawing.drawing.svg) +
           "\"><figcaption>" + escaped(drawing.summary) + "</figcaption></figure>\n";
  }

  // Marks of a drawing that name a figure get its digits.
  std::string with_digits(const std::string& svg) const {
    constexpr std::string_view kKey = " data-key=\"";
    std::string out;
    std::size_t at = 0;
    for (;;) {
      const std::size_t found = svg.find(kKey, at);
      if (found == std::string::npos) return out + svg.substr(at);
      const std::size_t begin = found + kKey.size(), end = svg.find('"', begin);
      out += svg.substr(at, found - at) + figure_of(unescaped(svg.substr(begin, end - begin)));
      at = end + 1;
    }
  }

  static std::string unescaped(std::string text) {
    for (const auto& [entity, plain] :
         {std::pair{"&lt;", "<"}, std::pair{"&gt;", ">"}, std::pair{"&quot;", "\""}, std::pair{"&#39;", "'"},
          std::pair{"&amp;", "&"}}) {
      for (std::size_t at = 0; (at = text.find(entity, at)) != std::string::npos; at += 1)
        text.replace(at, std::string_view(entity).size(), plain);
    }
    return text;
  }

  std::string table_text(const PageTable& table) const {
    std::string out = "<div class=\"wide\" tabindex=\"0\"><table>\n" +
                      (table.title.empty() ? "" : element("caption", table.title)) + "<thead><tr>";
    for (const std::string& name : table.head) out += "<th scope=\"col\">" + escaped(name) + "</th>";
    out += "</tr></thead><tbody>\n";
    for (const std::vector<PageText>& row : table.rows) {
      out += "<tr>";
      for (std::size_t column = 0; column < row.size(); ++column) {
        const std::string tag = column == 0 ? "th" : "td";
        out += "<" + tag + (column == 0 ? " scope=\"row\"" : "") + figure_of(row[column].key) +
               meaning_title(row[column].key) + ">" + escaped(row[column].text) + "</" + tag + ">";
      }
      out += "</tr>\n";
    }
    return out + "</tbody></table></div>\n";
  }

  std::string origin() const {
    std::string out =
        "<section id=\"origin\" aria-labelledby=\"h-origin\"><h2 id=\"h-origin\">Scenario</h2>\n";
    if (!page_.command.empty())
      out += "<p>Made by podsim " + escaped(result_header("").podsim) + " with</p><pre tabindex=\"0\">" +
             escaped(page_.command) + "</pre>\n";
    std::set<std::string> told;  // entries that stand there already
    for (const PageOrigin& each : page_.origins) {
      out += origin_text(each);
      for (const PageEntry& entry : each.entries)
        if (told.insert(entry.text).second) out += folded(entry.title, entry.text);
    }
    return out + "</section>\n";
  }

  static std::string folded(const std::string& summary, const std::string& text) {
    return "<details>" + element("summary", summary) + "<pre tabindex=\"0\">" + escaped(text) +
           "</pre></details>\n";
  }

  std::string origin_text(const PageOrigin& origin) const {
    std::string out = page_.origins.size() > 1 ? element("h3", origin.name) + "\n" : "";
    if (!origin.text.empty()) out += folded("The scenario as text", origin.text);
    for (const std::string& sentence : origin.sentences) out += element("p", sentence) + "\n";
    if (!origin.assumptions.empty()) out += "<details><summary>What is assumed</summary>\n";
    for (const PageTable& table : origin.assumptions) out += table_text(table);
    if (!origin.assumptions.empty()) out += "</details>\n";
    return out;
  }

  // Single values one below the other, and each list of objects as a table of its own.
  std::string all_values() const {
    const std::size_t shown = std::min(kMostValues, values_.size());
    const ValueTables tables = value_tables({values_.data(), shown});
    std::string out =
        "<section id=\"values\" aria-labelledby=\"h-values\"><h2 id=\"h-values\">Every figure</h2>\n"
        "<p>The values and keys of <code>--format json</code>, digit for digit.</p>\n"
        "<details><summary>" +
        std::to_string(values_.size()) + " values</summary>" + single_values(tables.single);
    for (const ValueList& list : tables.lists) out += value_list(list);
    out += "</details>\n";
    if (values_.size() > kMostValues)
      out += "<p>The first " + std::to_string(kMostValues) + " are listed.</p>\n";
    return out + "</section>\n";
  }

  std::string single_values(const std::vector<const JsonValue*>& values) const {
    if (values.empty()) return "";
    std::string out = values_begin("") + heads({"key", "value", "unit", "what it is"}) + "</thead><tbody>\n";
    std::set<std::string> told;  // a definition stands once
    for (const JsonValue* value : values)
      out += "<tr><th scope=\"row\">" + escaped(value->key) + "</th>" + element("td", value->text) +
             unit_and_meaning(value->key, told) + "</tr>\n";
    return out + kValuesEnd;
  }

  // The longer of entries and figures goes down.
  std::string value_list(const ValueList& list) const {
    return values_begin(list.list.empty() ? "the list" : list.list) +
           (list.entries.size() >= list.figures.size() ? entries_down(list) : figures_down(list)) +
           kValuesEnd;
  }

  std::string entries_down(const ValueList& list) const {
    std::string names, units, rows;
    for (const std::string& figure : list.figures) {
      const FigureMeaning* meaning = meaning_of(list.list + figure);
      names += "<th scope=\"col\"" + meaning_title(list.list + figure) + ">" + escaped(figure) + "</th>";
      units += element("td", meaning == nullptr ? "" : meaning->unit);
    }
    for (std::size_t entry = 0; entry < list.entries.size(); ++entry) {
      rows += "<tr><th scope=\"row\">" + escaped(list.entries[entry]) + "</th>";
      for (std::size_t figure = 0; figure < list.figures.size(); ++figure) rows += cell(list, entry, figure);
      rows += "</tr>\n";
    }
    return "<tr><th scope=\"col\">entry</th>" + names + "</tr><tr><td>unit</td>" + units +
           "</tr></thead><tbody>\n" + rows;
  }

  std::string figures_down(const ValueList& list) const {
    std::vector<std::string> names = {"figure"};
    names.insert(names.end(), list.entries.begin(), list.entries.end());
    names.insert(names.end(), {"unit", "what it is"});
    std::string out = heads(names) + "</thead><tbody>\n";
    std::set<std::string> told;
    for (std::size_t figure = 0; figure < list.figures.size(); ++figure) {
      out += "<tr><th scope=\"row\">" + escaped(list.figures[figure]) + "</th>";
      for (std::size_t entry = 0; entry < list.entries.size(); ++entry) out += cell(list, entry, figure);
      out += unit_and_meaning(list.list + list.figures[figure], told) + "</tr>\n";
    }
    return out;
  }

  static std::string cell(const ValueList& list, std::size_t entry, std::size_t figure) {
    const auto found = list.at.find({entry, figure});
    return element("td", found == list.at.end() ? "" : found->second->text);
  }

  static std::string values_begin(const std::string& caption) {
    return "<div class=\"wide\" tabindex=\"0\"><table class=\"values\">" +
           (caption.empty() ? "" : element("caption", caption)) + "<thead>";
  }

  static std::string heads(const std::vector<std::string>& names) {
    std::string out = "<tr>";
    for (const std::string& name : names) out += "<th scope=\"col\">" + escaped(name) + "</th>";
    return out + "</tr>";
  }

  std::string unit_and_meaning(const std::string& key, std::set<std::string>& told) const {
    const FigureMeaning* meaning = meaning_of(key);
    if (meaning == nullptr) return "<td></td><td></td>";
    const bool first = told.insert(meaning->definition).second;
    return element("td", meaning->unit) + element("td", first ? meaning->definition : "");
  }

  std::string foot() const {
    return "<footer>" +
           std::string(has_page_scripts()
                           ? "Pictures answer the pointer by Apache ECharts, Copyright The Apache Software "
                             "Foundation, Apache License 2.0."
                           : "Pictures are still: this podsim was built without the scripts of pages.") +
           "</footer>\n";
  }

  std::vector<Picture> pictures() const {
    std::vector<Picture> all;
    for (const PagePanel& panel : page_.panels)
      all.insert(all.end(), panel.pictures.begin(), panel.pictures.end());
    return all;
  }

  std::vector<const Drawing*> drawings() const {
    std::vector<const Drawing*> all;
    for (const PagePanel& panel : page_.panels)
      for (const PageDrawing& each : panel.drawings) all.push_back(&each.drawing);
    return all;
  }

  const Page& page_;
  const std::vector<JsonValue> values_;
  std::map<std::string, const JsonValue*> digits_;
};

}  // namespace

std::string_view page_file(std::string_view name) {
  for (const CatalogFile& file : page_files())
    if (file.name == name) return file.text;
  return {};
}

bool has_page_scripts() { return !page_file("charts.js").empty(); }

std::string html_page(const Page& page) { return PageWriter(page).text(); }

std::string html_panels(const Page& page) { return PageWriter(page).panels(); }

}  // namespace podsim
