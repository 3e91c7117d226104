// The page of a search: the layouts that it found, and how it went.
#pragma once

#include <span>

#include "planner/search/course.h"
#include "planner/search/search.h"
#include "proto/pages/page.h"

namespace podsim {

// `course` may be empty: how the search went is then left out.
Page search_page(const Space& space, const SearchAnswer& answer, std::span<const SearchMoment> course);

}  // namespace podsim
