// Keys of a config.json by any of their names, also where other models wrap the language model.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingest/imported/imported.h"
#include "ingest/launchers/settings.h"

namespace podsim {

// Whoever asks for a key uses it, whichever of its names is stated.
class ModelKeys {
 public:
  // `from` and `needs` get what is found and what is missing.
  ModelKeys(Configuration& settings, std::map<std::string, std::string>& from, std::vector<Needed>& needs)
      : s_(settings), from_(from), needs_(needs) {}

  std::string key(const std::string& name) const;         // "text_config." before it where it is there
  const Setting* setting(const std::string& name) const;  // null where it is not written, not even as null
  bool stated(const std::string& name) const { return s_.has(key(name)); }
  std::string origin(const std::string& name) const;  // "layer_types, config.json:12"
  void say(const char* field, const std::string& name) { from_[field] = origin(name); }
  bool flag(const std::string& name, bool otherwise);
  std::optional<std::string> text(const std::string& name) { return s_.text(key(name)); }
  std::vector<std::string> list(const std::string& name) { return s_.list(key(name)); }
  void use(const std::string& name) { s_.use(key(name)); }
  void refuse(const std::string& name, const std::string& message, const std::string& hint);

  // The first of these names that is stated; none is more than a model has.
  std::optional<std::int64_t> whole(std::initializer_list<const char*> names, const char* field);
  // Needed where it is neither stated nor known otherwise.
  std::optional<std::int64_t> required(std::initializer_list<const char*> names, const char* field,
                                       std::optional<std::int64_t> otherwise = std::nullopt);

 private:
  Configuration& s_;
  std::map<std::string, std::string>& from_;
  std::vector<Needed>& needs_;
};

}  // namespace podsim
