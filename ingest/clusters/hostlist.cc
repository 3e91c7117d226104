// Splits at commas outside of brackets, then expands bracket by bracket.
#include "ingest/clusters/hostlist.h"

#include <cstdint>

#include "engine/number_text.h"

namespace podsim {
namespace {

constexpr std::size_t kMostHosts = 1'000'000;
using Names = std::vector<std::string>;

std::vector<std::string_view> at_commas(std::string_view list) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') ++depth;
    if (i < list.size() && list[i] == ']') --depth;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    parts.push_back(list.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

std::optional<std::int64_t> number_in(std::string_view digits) {
  const auto value = whole_text_as<std::int64_t>(digits);
  return value && *value >= 0 ? value : std::nullopt;
}

// "001-003" with as many digits as the first has.
bool add_range(std::string_view range, Names& names) {
  const std::size_t hyphen = range.find('-');
  const std::string_view first = range.substr(0, hyphen);
  const auto from = number_in(first);
  const auto to = hyphen == std::string_view::npos ? from : number_in(range.substr(hyphen + 1));
  if (!from || !to || *to < *from || *to - *from >= static_cast<std::int64_t>(kMostHosts)) return false;
  for (std::int64_t i = *from; i <= *to; ++i) {
    std::string digits = std::to_string(i);
    if (digits.size() < first.size()) digits.insert(0, first.size() - digits.size(), '0');
    names.push_back(std::move(digits));
  }
  return names.size() <= kMostHosts;
}

bool add_hosts(std::string_view word, Names& hosts) {
  Names begun = {""};
  while (!word.empty()) {
    const std::size_t open = word.find('[');
    for (std::string& name : begun) name += word.substr(0, open);
    if (word.substr(0, open).find(']') != std::string_view::npos) return false;
    if (open == std::string_view::npos) break;
    const std::size_t close = word.find(']', open);
    if (close == std::string_view::npos) return false;
    Names inside, all;
    for (const std::string_view range : at_commas(word.substr(open + 1, close - open - 1)))
      if (!add_range(range, inside)) return false;
    if (begun.size() * inside.size() > kMostHosts) return false;
    for (const std::string& name : begun)
      for (const std::string& one : inside) all.push_back(name + one);
    begun = std::move(all);
    word.remove_prefix(close + 1);
  }
  hosts.insert(hosts.end(), begun.begin(), begun.end());
  return hosts.size() <= kMostHosts;
}

}  // namespace

std::optional<std::vector<std::string>> hosts_of(std::string_view list) {
  Names hosts;
  for (const std::string_view word : at_commas(list))
    if (!word.empty() && !add_hosts(word, hosts)) return std::nullopt;
  return hosts;
}

}  // namespace podsim
