// The best layout of a cluster as a study of a store: searched to the end once, whoever asks.
#pragma once

#include <optional>
#include <string>

#include "planner/search/search.h"
#include "planner/store/store.h"

namespace podsim {

class StoredLayouts;

// By all that decides which layout is found: what the cluster is, which layouts are looked at, and what is
// good enough.
StudyName study_of_cluster(const std::string& cluster, const Spec& spec, const LayoutSpace& wanted,
                           double gap);

// As the search of `space` answered that was kept; nothing where none was, or its step is not there.
std::optional<SearchAnswer> kept_answer(const Store& store, const StudyName& study, const Space& space);

// REQUIRES: the answer is proven, and has a layout.
void keep_answer(Store& store, const StudyName& study, StoredLayouts& layouts, const SearchAnswer& answer);

}  // namespace podsim
