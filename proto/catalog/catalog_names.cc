// What is said of names that the catalogue lacks, or has several entries for.
#include <algorithm>

#include "engine/spelling.h"
#include "proto/catalog/catalog.h"
#include "proto/catalog/catalog_entries.h"
#include "proto/catalog/entry_name.h"
#include "proto/text/assign.h"

namespace podsim {
namespace {

constexpr const char* kSectionWords[] = {"chip",       "fabric",         "model",           "stack",
                                         "price list", "transport",      "mix of failures", "jitter",
                                         "lengths",    "set of kernels", "library"};

}  // namespace

std::string hint_for_unknown_name(const Catalog::Entries& entries, Catalog::Section section,
                                  const std::string& name) {
  const std::vector<std::string> names = entry_names(entries, section);
  std::vector<std::string> known = names;
  for (const std::string& each : names) {
    std::ranges::copy(entry_aliases(entries, section, each), std::back_inserter(known));
    std::ranges::copy(loose_aliases(entries, section, each), std::back_inserter(known));
  }
  const std::string typed = without_organisation(name), near = closest_name(typed, known);
  if (const auto meant = near.empty() ? std::nullopt : canonical_name(entries, section, near))
    return "did you mean \"" + *meant + "\"?";
  const std::vector<std::string> kin = family(typed, names);
  return kin.empty() ? "it has: " + list_names(names) : "of this family it has: " + list_names(kin);
}

void report_unknown_name(const Catalog::Entries& entries, Catalog::Section section, const std::string& name,
                         const std::string& path, Document& document) {
  const std::string what = kSectionWords[static_cast<int>(section)];
  document.report(path, "the catalogue has no " + what + " \"" + name + "\"",
                  hint_for_unknown_name(entries, section, name));
}

void warn_of_loose_name(const Catalog::Entries& entries, Catalog::Section section, const std::string& name,
                        const std::string& path, Document& document) {
  const std::string key = entry_key(name), taken = canonical_name(entries, section, name).value_or(name);
  const auto same = [&](const std::string& loose) { return entry_key(loose) == key; };
  if (taken == name || std::ranges::none_of(loose_aliases(entries, section, taken), same)) return;
  std::vector<std::string> others;
  for (const std::string& other : entry_names(entries, section)) {
    std::vector<std::string> known = entry_aliases(entries, section, other);
    known.push_back(other);
    const auto begins = [&](const std::string& each) { return entry_key(each).starts_with(key); };
    if (other != taken && std::ranges::any_of(known, begins)) others.push_back(other);
  }
  document.warn(path, "\"" + name + "\" is taken as " + taken, "it could be: " + list_names(others));
}

}  // namespace podsim
