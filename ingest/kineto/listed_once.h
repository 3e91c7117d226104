// The names and calls of a profile, each listed once however many events have it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "ingest/kineto/profile.h"

namespace podsim::kineto {

// Of one profile, to which nothing else adds names or calls while this lives.
class ListedOnce {
 public:
  // Index into Profile::names.
  std::int32_t name(const std::string& name, Profile& profile);
  // Index into Profile::calls.
  std::int32_t call(const CollectiveCall& call, Profile& profile);
  // Of a call of which nothing but the kind is known.
  std::int32_t call(const std::string& kind, Profile& profile);

 private:
  std::unordered_map<std::string, std::int32_t> names_;
  std::map<CollectiveCall, std::int32_t> calls_;
};

}  // namespace podsim::kineto
