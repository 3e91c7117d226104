// Looks up what is listed already.
#include "ingest/kineto/listed_once.h"

namespace podsim::kineto {

std::int32_t ListedOnce::name(const std::string& name, Profile& profile) {
  const auto [found, added] = names_.try_emplace(name, static_cast<std::int32_t>(profile.names.size()));
  if (added) profile.names.push_back(name);
  return found->second;
}

std::int32_t ListedOnce::call(const CollectiveCall& call, Profile& profile) {
  const auto [found, added] = calls_.try_emplace(call, static_cast<std::int32_t>(profile.calls.size()));
  if (added) profile.calls.push_back(call);
  return found->second;
}

std::int32_t ListedOnce::call(const std::string& kind, Profile& profile) {
  CollectiveCall of_kind;
  of_kind.kind = kind;
  return call(of_kind, profile);
}

}  // namespace podsim::kineto
