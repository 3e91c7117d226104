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

// {key, digits} of everything on the page that names a figure.
inline std::vector<std::pair<std::string, std::string>> figures_of_page(const std::string& page) {
  std::vector<std::pair<std::string, std::string>> found;
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
