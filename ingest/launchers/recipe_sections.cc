// Sections are those of NeMo 1 and 2 and of Megatron-Bridge.
#include "ingest/launchers/recipe_sections.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/check.h"
#include "proto/text/override.h"

namespace podsim {
namespace {

constexpr int kMostReferences = 32;  // to one another

// What "${PATH}" in the value of `path` names; empty where the value is no reference.
std::string referred_path(const std::string& path, const std::string& value) {
  if (!value.starts_with("${") || value.find('}') + 1 != value.size()) return "";
  std::string_view to = std::string_view(value).substr(2, value.size() - 3);
  if (to.empty() || to.find(':') != std::string_view::npos) return "";  // a function
  if (!to.starts_with('.')) return std::string(to);
  std::string_view section = path;
  while (to.starts_with('.')) {
    const std::size_t dot = section.rfind('.');
    section = dot == std::string_view::npos ? std::string_view() : section.substr(0, dot);
    to.remove_prefix(1);
  }
  return section.empty() ? std::string(to) : std::string(section) + "." + std::string(to);
}

bool is_among(std::string_view section, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, section) != names.end();
}

// Less counts more: what kind of section it is, and how deep. Nothing for one that is not of the training of
// the language model.
std::optional<std::pair<int, std::size_t>> rank_of_section(const std::string& path) {
  std::vector<std::string> sections = split(path, '.');
  sections.pop_back();
  const std::size_t depth = sections.size();
  if (depth == 0) return std::pair(1, depth);
  int kind = is_among(sections.front(), {"model", "train", "trainer"}) ? 1 : 2;
  for (const std::string& section : sections) {
    for (const char* other : {"validation", "test", "eval", "vision", "image", "audio", "teacher"})
      if (section.starts_with(other)) return std::nullopt;
    if (is_among(section, {"optim", "optimizer"})) kind = 3;
    if (is_among(section, {"ddp", "comm_overlap"})) kind = 0;
  }
  return std::pair(kind, depth);
}

bool is_said(const RecipeKey& key) { return key.setting.kind != Setting::Kind::kNull; }

bool same_value(const Setting& one, const Setting& other) {
  return std::ranges::equal(one.text, other.text, [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

// Whether `key` takes the place of what was found before it.
bool counts_more(const RecipeKey& key, const RecipeKey& before) {
  if (is_said(key) != is_said(before)) return is_said(key);
  const auto rank = rank_of_section(key.path), rank_before = rank_of_section(before.path);
  PODSIM_CHECK(rank && rank_before, "sections of training alone are compared");
  return *rank < *rank_before;
}

}  // namespace

Configuration with_references(const Configuration& recipe) {
  std::map<std::string, const Setting*> by_path;
  for (const Setting& setting : recipe.all()) by_path[setting.name] = &setting;
  Configuration resolved;
  for (const Setting& setting : recipe.all()) {
    const Setting* found = &setting;
    for (int i = 0; i < kMostReferences; ++i) {
      const auto next = by_path.find(referred_path(found->name, found->text));
      if (next == by_path.end()) break;
      found = next->second;
    }
    Setting value = setting;
    if (referred_path(found->name, found->text).empty())
      value.kind = found->kind, value.text = found->text, value.list = found->list;
    resolved.set(std::move(value));
  }
  return resolved;
}

Configuration chosen_by_section(std::vector<RecipeKey> keys,
                                std::map<std::string, std::string>& contradictions) {
  std::map<std::string, const RecipeKey*> best;
  for (const RecipeKey& key : keys) {
    if (!rank_of_section(key.path)) continue;
    const auto [found, added] = best.emplace(key.setting.name, &key);
    if (!added && counts_more(key, *found->second)) found->second = &key;
  }
  Configuration settings;
  for (const RecipeKey& key : keys) {
    Setting setting = key.setting;
    const auto found = best.find(setting.name);
    if (!rank_of_section(key.path)) {
      setting.name = "elsewhere." + key.path;
    } else if (found->second != &key) {
      const RecipeKey& chosen = *found->second;
      if (is_said(key) && !same_value(setting, chosen.setting))
        contradictions.emplace(setting.name, chosen.path + " is " + chosen.setting.text +
                                                 ", which is taken; " + key.path + " is " + setting.text +
                                                 " (line " + std::to_string(setting.at.line) + ")");
      setting.name = "again." + key.path;
    }
    settings.set(std::move(setting));
  }
  return settings;
}

}  // namespace podsim
