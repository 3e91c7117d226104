// A first scenario as text, with a comment on what each of its lines is.
#pragma once

#include <cstdint>
#include <string>

#include "planner/starter_layouts.h"
#include "planner/starter_request.h"
#include "proto/catalog/catalog.h"

namespace podsim {

// What is the same for all layouts on a number of chips.
struct StarterFrame {
  StarterRequest request;  // complete
  std::string precision;
  std::string price_line;  // empty = the usual list has one
  StarterSetting setting;
};

// What a cluster has to say of the price of its chip; empty where the usual list has one.
std::string price_line(const StarterRequest& request, const Catalog& catalog);

std::string starter_text(const StarterFrame& frame, const StarterLayout& layout);

// The starter with a heading: the fastest of so many layouts that leave this share of memory free. `others` =
// what is known of those that were not simulated.
Starter with_heading(Starter best, std::int64_t layouts, double headroom, const std::string& others);

}  // namespace podsim
