// Tables of names.
#include "ingest/launchers/torchtitan_names.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace podsim {

// Those of two years of its files.
std::string torchtitan_model(const std::string& name, const std::string& flavor) {
  static const std::map<std::string, std::string> kNames = {{"llama3/8B", "llama3_8b"},
                                                            {"llama3/70B", "llama3_70b"},
                                                            {"llama3/405B", "llama31_405b"},
                                                            {"llama4/17bx16e", "llama4_scout"},
                                                            {"llama4/17bx128e", "llama4_maverick"},
                                                            {"deepseek_v3/671B", "deepseek_v3"},
                                                            {"qwen3/0.6B", "qwen3_0_6b"},
                                                            {"qwen3/1.7B", "qwen3_1_7b"},
                                                            {"qwen3/4B", "qwen3_4b"},
                                                            {"qwen3/8B", "qwen3_8b"},
                                                            {"qwen3/14B", "qwen3_14b"},
                                                            {"qwen3/32B", "qwen3_32b"},
                                                            {"qwen3/30B-A3B", "qwen3_30b_a3b"},
                                                            {"qwen3/235B-A22B", "qwen3_235b_a22b"},
                                                            {"gpt_oss/20b", "gpt_oss_20b"},
                                                            {"gpt_oss/120b", "gpt_oss_120b"}};
  const std::string full = name + "/" + flavor;
  return kNames.count(full) != 0 ? kNames.at(full) : "";
}

std::string torchtitan_schedule(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  static const std::map<std::string, std::string> kOwn = {{"1f1b", "one_f_one_b"},
                                                          {"gpipe", "gpipe"},
                                                          {"interleaved1f1b", "interleaved"},
                                                          {"zbvzerobubble", "zero_bubble_v"}};
  return kOwn.count(name) != 0 ? kOwn.at(name) : "";
}

}  // namespace podsim
