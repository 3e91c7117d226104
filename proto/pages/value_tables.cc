// Cuts keys at their last list.
#include "proto/pages/value_tables.h"

#include <algorithm>

namespace podsim {
namespace {

// The place of a name in a list of them, which gains it where it is new.
std::size_t place_in_list(std::vector<std::string>& names, const std::string& name,
                          std::map<std::string, std::size_t>& places) {
  const auto [found, added] = places.try_emplace(name, names.size());
  if (added) names.push_back(name);
  return found->second;
}

}  // namespace

ValueTables value_tables(std::span<const JsonValue> values) {
  struct Places {
    std::size_t list;
    std::map<std::string, std::size_t> entries, figures;
  };
  ValueTables tables;
  std::map<std::string, Places> known;  // by list
  for (const JsonValue& value : values) {
    const std::size_t open = value.key.rfind('['), close = value.key.rfind(']');
    if (open == std::string::npos || close + 1 == value.key.size()) {
      tables.single.push_back(&value);
      continue;
    }
    const std::string name = value.key.substr(0, open);
    const auto [found, added] = known.try_emplace(name, Places{tables.lists.size(), {}, {}});
    if (added) tables.lists.push_back({name, {}, {}});
    Places& places = found->second;
    ValueList& list = tables.lists[places.list];
    const std::size_t entry = place_in_list(list.entries, value.key.substr(0, close + 1), places.entries);
    const std::size_t figure = place_in_list(list.figures, value.key.substr(close + 1), places.figures);
    list.at[{entry, figure}] = &value;
  }
  return tables;
}

}  // namespace podsim
