// A valid scenario to break, and the problems of a text as the user would read them.
#pragma once

#include <string>
#include <vector>

#include "proto/scenario/load.h"

namespace podsim {

const Catalog& built_in();  // one catalogue for all tests

// 512 H100, Llama 3 70B, fsdp 128 x tensor 4; line numbers of the problems in the tests count in it.
std::string valid_scenario();

// The text with `from` replaced by `to`. `from` must occur once.
std::string replaced(std::string text, const std::string& from, const std::string& to);
std::string valid_but(const std::string& from, const std::string& to);

LoadResult load(const std::string& text, const std::vector<Override>& overrides = {},
                const std::string& file = "job.textproto");

// "line:column message | hint" of each problem; "--set message | hint" for those of an override.
std::vector<std::string> problems_of(const LoadResult& result);
std::vector<std::string> problems_of(const std::string& text, const std::vector<Override>& overrides = {},
                                     const std::string& file = "job.textproto");

using Lines = std::vector<std::string>;

}  // namespace podsim
