// Looks within before it looks without.
#include "ingest/launchers/model_keys.h"

#include <algorithm>

namespace podsim {

std::string ModelKeys::key(const std::string& name) const {
  return s_.has("text_config." + name) ? "text_config." + name : name;
}

const Setting* ModelKeys::setting(const std::string& name) const {
  const std::string at = key(name), within = "text_config." + name;
  const auto found = std::ranges::find_if(
      s_.all(), [&](const Setting& setting) { return setting.name == at || setting.name == within; });
  return found == s_.all().end() ? nullptr : &*found;
}

std::string ModelKeys::origin(const std::string& name) const {
  return key(name) + ", " + s_.place(key(name));
}

bool ModelKeys::flag(const std::string& name, bool otherwise) {
  return s_.boolean(key(name)).value_or(otherwise);
}

void ModelKeys::refuse(const std::string& name, const std::string& message, const std::string& hint) {
  s_.refuse(key(name), message, hint);
}

std::optional<std::int64_t> ModelKeys::whole(std::initializer_list<const char*> names, const char* field) {
  std::optional<std::int64_t> found;
  for (const char* name : names) {
    const std::string at = key(name);
    const auto number = s_.integer(at);
    if (!number) continue;
    if (*number < 0 || *number > 1'000'000'000) {
      s_.refuse(at, at + " is " + std::to_string(*number), "expected a size");
      continue;
    }
    if (found) continue;
    found = number;
    from_[field] = origin(name);
  }
  return found;
}

std::optional<std::int64_t> ModelKeys::required(std::initializer_list<const char*> names, const char* field,
                                                std::optional<std::int64_t> otherwise) {
  const std::string first = *names.begin();
  auto number = whole(names, field);
  if (number && *number == 0) s_.refuse(key(first), first + " is 0");
  if (!number) number = otherwise;
  if (!number) needs_.push_back({first, "--set " + first + "=N"});
  return number;
}

}  // namespace podsim
