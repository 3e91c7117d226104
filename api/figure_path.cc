// Walks figures along a name.
#include "api/figure_path.h"

#include <cstdlib>
#include <string_view>

namespace podsim {
namespace {

bool ends_key(std::string_view rest) { return rest.empty() || rest.front() == '.' || rest.front() == '['; }

const Figure* element(const Figure& list, std::string_view& rest) {
  const std::size_t close = rest.find(']');
  if (rest.empty() || rest.front() != '[' || close == std::string_view::npos || close == 1 || close > 10)
    return nullptr;
  const std::string digits(rest.substr(1, close - 1));
  if (digits.find_first_not_of("0123456789") != std::string::npos) return nullptr;
  const std::size_t index = std::strtoul(digits.c_str(), nullptr, 10);
  rest.remove_prefix(close + 1);
  return index < list.parts.size() ? &list.parts[index] : nullptr;
}

const Figure* part(const Figure& group, std::string_view& rest) {
  if (!rest.empty() && rest.front() == '.') rest.remove_prefix(1);
  const Figure* found = nullptr;
  for (const Figure& each : group.parts) {
    if (!each.in_json || !rest.starts_with(each.key) || !ends_key(rest.substr(each.key.size()))) continue;
    if (found == nullptr || each.key.size() > found->key.size()) found = &each;
  }
  if (found != nullptr) rest.remove_prefix(found->key.size());
  return found;
}

void visit_below(const Figure& figure, const std::string& name,
                 const std::function<void(const std::string&, const Figure&)>& visit) {
  if (!figure.in_json) return;
  if (figure.shape == Figure::Shape::kValue) return visit(name, figure);
  for (std::size_t i = 0; i < figure.parts.size(); ++i) {
    const std::string& key = figure.parts[i].key;
    const bool list = figure.shape == Figure::Shape::kList;
    visit_below(figure.parts[i],
                list           ? name + "[" + std::to_string(i) + "]"
                : name.empty() ? key
                               : name + "." + key,
                visit);
  }
}

}  // namespace

const Figure* figure_named(const Figure& whole, const std::string& name) {
  const Figure* at = &whole;
  std::string_view rest = name;
  do {
    if (at->shape == Figure::Shape::kValue) return nullptr;
    at = at->shape == Figure::Shape::kList ? element(*at, rest) : part(*at, rest);
  } while (at != nullptr && !rest.empty());
  return at;
}

void visit_named_figures(const Figure& whole,
                         const std::function<void(const std::string& name, const Figure&)>& visit) {
  visit_below(whole, "", visit);
}

}  // namespace podsim
