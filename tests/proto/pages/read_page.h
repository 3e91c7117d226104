// Reads figures back from a page, as the text of HTML says them.
#pragma once

#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace podsim::testing {

inline std::string without_entities(std::string text) {
  const std::pair<const char*, const char*> entities[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  for (const auto& [entity, plain] : entities) {
    for (std::size_t at = 0; (at = text.find(entity, at)) != std::string::npos; ++at)
      text.replace(at, std::string(entity).size(), plain);
  }
  return text;
}

// Texts between `begin` and `end`, one after another.
inline std::vector<std::string> parts(const std::string& text, const std::string& begin,
                                      const std::string& end) {
  std::vector<std::string> found;
  for (std::size_t at = 0; (at = text.find(begin, at)) != std::string::npos;) {
    at += begin.size();
    found.push_back(text.substr(at, text.find(end, at) - at));
  }
  return found;
}

inline std::vector<std::string> cells(const std::string& row) {
  std::vector<std::string> found;
  const std::regex cell("<t[hd][^>]*>([^<]*)</t[hd]>");
  for (std::sregex_iterator at(row.begin(), row.end(), cell), end; at != end; ++at)
    found.push_back(without_entities((*at)[1]));
  return found;
}

// {key, value} of the tables of every figure: keys are those of a row and of a column one after the other.
inline std::vector<std::pair<std::string, std::string>> listed_values(const std::string& page) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const std::string& table : parts(page, "<table class=\"values\">", "</table>")) {
    const std::vector<std::string> heads = cells(parts(table, "<tr>", "</tr>").front());
    for (const std::string& text : parts(table.substr(table.find("<tbody>")), "<tr>", "</tr>")) {
      const std::vector<std::string> row = cells(text);
      for (std::size_t i = 1; i < row.size(); ++i) {
        if (heads[0] == "key" && i == 1) found.emplace_back(row[0], row[1]);
        if (heads[0] == "entry" && !row[i].empty()) found.emplace_back(row[0] + heads[i], row[i]);
        if (heads[0] == "figure" && heads[i].ends_with(']') && !row[i].empty())
          found.emplace_back(heads[i] + row[0], row[i]);
      }
    }
  }
  return found;
}

// {key, digits} of everything on the page that names a figure.
inline std::vector<std::pair<std::string, std::string>> figures_of_page(const std::string& page) {
  std::vector<std::pair<std::string, std::string>> found = listed_values(page);
  const std::string mark = " data-key=\"", value = "\" data-value=\"";
  for (std::size_t at = 0; (at = page.find(mark, at)) != std::string::npos;) {
    at += mark.size();
    const std::size_t end = page.find('"', at);
    if (page.compare(end, value.size(), value) != 0) {
      found.emplace_back(without_entities(page.substr(at, end - at)), "no digits");
      continue;
    }
    const std::size_t digits = end + value.size();
    found.emplace_back(without_entities(page.substr(at, end - at)),
                       without_entities(page.substr(digits, page.find('"', digits) - digits)));
  }
  return found;
}

}  // namespace podsim::testing
