// Settings of launchers that say nothing about shapes, sizes or the layout, and why.
#pragma once

#include <string>

namespace podsim {

// By how their names begin. Empty for a name that is not known.
std::string why_not_used_by_megatron(const std::string& name);
std::string why_not_used_by_torchtitan(const std::string& name);
std::string why_not_used_by_maxtext(const std::string& name);
std::string why_not_used_by_deepspeed(const std::string& name);
std::string why_not_used_by_hugging_face(const std::string& name);

}  // namespace podsim
