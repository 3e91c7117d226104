// Pages: their figures are those of the JSON, and whatever scenarios are called stays text.
#include "proto/pages/page.h"

#include <gtest/gtest.h>

#include <regex>

#include "engine/sha256.h"
#include "proto/pages/json_digits.h"
#include "proto/pages/picture_json.h"
#include "proto/pages/value_tables.h"
#include "tests/proto/pages/read_page.h"

namespace podsim::page_test {
namespace {

using podsim::testing::figures_of_page;

const std::string kHostile = "</script><img src=x onerror=alert(1)>\"'&\xe2\x80\xae\xff";

Page example(const std::string& name) {
  Page page{.title = name, .question = name};
  page.json =
      R"({"step_time_s": 8.271800000001, "by": [{"name": "a", "share": 0.1}, {"name": "b", "share": 25}], "ok": true})";
  page.figures = {{"step", {"8.27 s", "step_time_s"}, name}};
  page.answer = name;
  Picture picture{.id = "p", .title = name, .summary = name};
  picture.y.names = {name};
  picture.series = {{name, "compute", MarkShape::kBox, {{0, 0, 8.27, name, name, "step_time_s"}}, name}};
  PagePanel panel{"one", name, {name}, {picture}, {}, {{name, {name}, {{{name}, {"25", "by[1].share"}}}}},
                  name};
  page.panels = {panel};
  page.meanings = {{"by.share", {"share", name}}};
  page.command = name;
  page.origins = {{name, name, {name}, {{name, {name}, {{{name}}}}}, {{name, name}}}};
  return page;
}

TEST(JsonDigits, are_those_of_the_text_under_the_keys_that_lead_there) {
  const auto values = json_values(R"({"a": 1.50, "b": [1e3, {"c": -7}], "d": {"e": "x"}, "f": null})");
  ASSERT_EQ(values.size(), 5u);
  EXPECT_EQ(values[0].key + "=" + values[0].text, "a=1.50");
  EXPECT_EQ(values[1].key + "=" + values[1].text, "b[0]=1e3");
  EXPECT_EQ(values[2].key + "=" + values[2].text, "b[1].c=-7");
  EXPECT_EQ(values[3].key + "=" + values[3].text, "d.e=x");
  EXPECT_FALSE(values[4].number);
  EXPECT_EQ(json_values("[{\"a\": 2}]").at(0).key, "[0].a");
}

TEST(Page, every_figure_has_the_digits_of_the_json_and_every_value_stands_on_it) {
  const Page page = example("plain");
  std::map<std::string, std::string> digits;
  for (const JsonValue& value : json_values(page.json)) digits[value.key] = value.text;
  std::map<std::string, int> shown;
  for (const auto& [key, text] : figures_of_page(html_page(page))) {
    ASSERT_EQ(digits.count(key), 1u) << key;
    EXPECT_EQ(text, digits[key]) << key;
    ++shown[key];
  }
  EXPECT_EQ(shown.size(), digits.size());
  EXPECT_EQ(shown["step_time_s"], 3) << "the first figures, the picture, the list of all";
  EXPECT_EQ(shown["by[1].share"], 2);
}

TEST(ValueTables, have_every_value_once_under_its_key) {
  const auto values = json_values(
      R"({"a": 1, "l": [{"x": 2, "y": {"z": 3}}, {"y": {"z": 4}, "w": [{"v": 5}]}], "n": [6, 7], "b": 8})");
  const ValueTables tables = value_tables(values);
  std::multimap<std::string, std::string> found, expected;
  for (const JsonValue& value : values) expected.emplace(value.key, value.text);
  for (const JsonValue* value : tables.single) found.emplace(value->key, value->text);
  EXPECT_EQ(found.size(), 4u) << "a, n[0], n[1] and b";
  ASSERT_EQ(tables.lists.size(), 2u);
  EXPECT_EQ(tables.lists[0].figures, (std::vector<std::string>{".x", ".y.z"}));
  EXPECT_EQ(tables.lists[1].entries, (std::vector<std::string>{"l[1].w[0]"}));
  for (const ValueList& list : tables.lists)
    for (const auto& [place, value] : list.at)
      found.emplace(list.entries[place.first] + list.figures[place.second], value->text);
  EXPECT_EQ(found, expected);
}

TEST(ValueTables, of_a_text_that_is_a_list_have_its_objects_as_entries) {
  const auto values = json_values(R"([{"a": 1}, {"a": 2}])");
  const ValueTables tables = value_tables(values);
  ASSERT_EQ(tables.lists.size(), 1u);
  EXPECT_EQ(tables.lists[0].list, "");
  EXPECT_EQ(tables.lists[0].entries, (std::vector<std::string>{"[0]", "[1]"}));
}

TEST(Page, names_of_scenarios_stay_text) {
  const std::string page = html_page(example(kHostile)), plain = html_page(example("plain"));
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  for (const char* part : {"<script", "</script>", "<svg", "</svg>", "<section", "<td"})
    EXPECT_EQ(count(page, part), count(plain, part)) << part;
  EXPECT_EQ(count(page, "<img"), 0u);
  EXPECT_EQ(count(page, "\xff"), 0u) << "no bytes that are not UTF-8";
  EXPECT_GT(count(page, "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"), 5u);
}

TEST(Page, admits_its_own_style_and_scripts_alone) {
  const std::string page = html_page(example("plain"));
  const std::size_t begin = page.find("<style>") + 7, end = page.find("</style>");
  EXPECT_NE(page.find("style-src 'sha256-" + sha256_base64(page.substr(begin, end - begin)) + "'"),
            std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(page.find("unsafe"), page.find("unsafe-inline")) << "nothing is admitted by its place";
  EXPECT_EQ(page.substr(0, page.find("<script")).find(" style=\""), std::string::npos);
  std::size_t scripts = 0;
  const std::string open = "<script>";
  for (std::size_t at = 0; (at = page.find(open, at)) != std::string::npos; ++scripts) {
    at += open.size();
    const std::string script = page.substr(at, page.find("</script>", at) - at);
    EXPECT_NE(page.find("'sha256-" + sha256_base64(script) + "'"), std::string::npos);
  }
  EXPECT_EQ(scripts, has_page_scripts() ? 1u : 0u);
  const std::string library = "<script type=\"text/plain\" id=\"charts\">";
  const std::size_t at = page.find(library);
  ASSERT_EQ(at != std::string::npos, has_page_scripts());
  if (at == std::string::npos) return;
  const std::size_t text = at + library.size();
  EXPECT_NE(
      page.find("'sha256-" + sha256_base64(page.substr(text, page.find("</script>", text) - text)) + "'"),
      std::string::npos);
}

TEST(Page, loads_nothing) {
  const std::string page = html_page(example("plain"));
  const std::string markup = page.substr(0, page.find("<script"));
  EXPECT_FALSE(std::regex_search(markup, std::regex("(src|href)=\"[^#\"]")));
  EXPECT_EQ(markup.find("url(h"), markup.find("url(http"));
}

TEST(Page, is_the_same_for_the_same_result) { EXPECT_EQ(html_page(example("x")), html_page(example("x"))); }

TEST(Page, drawings_are_images_in_which_nothing_can_run) {
  Page page = example("plain");
  page.panels.front().drawings = {{kHostile, {"<svg onload='alert(1)'/>", 9, 9, 1, 1, {{0, 0, kHostile}}}}};
  const std::string text = html_page(page);
  EXPECT_NE(text.find("src=\"data:image/svg+xml;charset=utf-8,%3Csvg onload=%27alert(1)%27/%3E\""),
            std::string::npos);
  EXPECT_EQ(text.find("onload='"), std::string::npos);
  EXPECT_NE(text.find("id=\"drawings\">[{"), std::string::npos) << "what its boxes tell";
  EXPECT_NE(text.find("alt=\"&lt;/script&gt;"), std::string::npos);
}

TEST(PictureJson, says_once_what_a_figure_is_that_several_marks_show) {
  Picture picture{.id = "p", .title = "p", .summary = "p"};
  picture.series = {{"a", "compute", MarkShape::kBox, {{0, 0, 1, "", "", "x"}, {1, 0, 1, "", "", "y"}}},
                    {"b", "compute", MarkShape::kBox, {{2, 0, 1, "", "", "x"}, {3, 0, 1}}}};
  const std::string json =
      pictures_json({&picture, 1}, [](const std::string& key) { return key == "x" ? "what x is" : ""; });
  EXPECT_NE(json.find("\"meanings\":[\"what x is\"]"), std::string::npos) << json;
  EXPECT_NE(json.find("\"meaning\":[0,-1]"), std::string::npos) << json;
}

TEST(DrawingJson, says_once_what_several_boxes_carry) {
  const Drawing drawing{"", 9, 9, 1, 1, {{0, 0, "chip 0: x 3%"}, {1, 0, "chip 1: x 3%"}, {2, 0, "chip 2"}}};
  const Drawing* const one = &drawing;
  const std::string json = drawings_json({&one, 1});
  EXPECT_NE(json.find(R"("names":["chip 0","chip 1","chip 2"],"loads":[": x 3%",""],"load":[0,0,1])"),
            std::string::npos)
      << json;
}

TEST(PictureJson, cannot_end_the_element_that_holds_it) {
  const Page page = example(kHostile);
  const std::string json = pictures_json(page.panels.front().pictures);
  EXPECT_EQ(json.find_first_of("<>&"), std::string::npos);
  EXPECT_NE(json.find("\\u003c/script\\u003e"), std::string::npos);
  bool found = false;
  for (const JsonValue& value : json_values(json)) found = found || value.text.starts_with("</script><img");
  EXPECT_TRUE(found) << "it says the same";
}

}  // namespace
}  // namespace podsim::page_test
