// TOML, YAML and JSON by their libraries, each as a flat list of keys with their places.
#include <toml++/toml.h>
#include <yaml.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "engine/words.h"
#include "ingest/launchers/settings.h"
#include "proto/text/json_tree.h"
#include "report/text/text.h"

namespace podsim {
namespace {

constexpr std::size_t kMostSettings = 100'000;
constexpr int kDeepestKey = 64;

// A scalar of TOML as it reads in other formats.
std::pair<Setting::Kind, std::string> scalar(const toml::node& node) {
  if (const auto* text = node.as_string()) return {Setting::Kind::kText, text->get()};
  if (const auto* flag = node.as_boolean()) return {Setting::Kind::kBoolean, flag->get() ? "true" : "false"};
  if (const auto* whole = node.as_integer()) return {Setting::Kind::kNumber, std::to_string(whole->get())};
  if (const auto* real = node.as_floating_point()) return {Setting::Kind::kNumber, shortest(real->get())};
  return {Setting::Kind::kText, "a date"};
}

// Behind a string that begins at `at`, of one line or of several.
std::size_t after_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string several(3, quote);
  if (text.substr(at, 3) == several) {
    std::size_t end = text.find(several, at + 3);
    while (end != std::string_view::npos && quote == '"' && text[end - 1] == '\\')
      end = text.find(several, end + 1);
    return end == std::string_view::npos ? text.size() : end + 3;
  }
  for (++at; at < text.size() && text[at] != quote && text[at] != '\n'; ++at)
    if (quote == '"' && text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

// The header of a table whose name begins with what no name has, "[.a]", at which the library would stop the
// program.
std::optional<std::size_t> header_without_name(std::string_view text) {
  int depth = 0;  // of lists over several lines
  bool begins_line = true;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = after_string(text, at);
      begins_line = false;
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '[' && begins_line && depth == 0) {
      std::size_t name = text.find_first_not_of(" \t", at + 1);
      if (name != std::string_view::npos && text[name] == '[') name = text.find_first_not_of(" \t", name + 1);
      if (name == std::string_view::npos) return std::nullopt;
      const auto first = static_cast<unsigned char>(text[name]);
      if (std::isalnum(first) == 0 &&
          std::string_view("_-\"'[]\r\n").find(text[name]) == std::string_view::npos)
        return name;
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (c == '\n') begins_line = true;
    if (c != '\n' && c != ' ' && c != '\t' && c != '\r') begins_line = false;
    ++at;
  }
  return std::nullopt;
}

void add_toml(const Document& document, const toml::table& table, const std::string& path,
              Configuration& settings) {
  for (const auto& [key, node] : table) {
    const std::string name = join_path(path, key.str());
    const toml::source_position begin = node.source().begin;
    if (const auto* inside = node.as_table()) {
      add_toml(document, *inside, name, settings);
      continue;
    }
    Setting setting =
        setting_at(document, name, {static_cast<int>(begin.line), static_cast<int>(begin.column)});
    if (const auto* array = node.as_array()) {
      setting.kind = Setting::Kind::kList;
      for (const toml::node& element : *array)
        setting.list.push_back(element.is_table() || element.is_array() ? "..." : scalar(element).second);
      setting.text = separated(setting.list, ",");
    } else {
      std::tie(setting.kind, setting.text) = scalar(node);
    }
    settings.set(std::move(setting));
  }
}

// Pulls the events of one document out of libyaml.
class YamlReader {
 public:
  YamlReader(Document& document, Configuration& settings) : document_(document), settings_(settings) {
    ok_ = yaml_parser_initialize(&parser_) != 0;
    const std::string& text = document.text();
    if (ok_)
      yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                   text.size());
  }
  ~YamlReader() {
    drop();
    if (ok_) yaml_parser_delete(&parser_);
  }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;

  bool read() {
    while (next()) {
      if (event_.type == YAML_STREAM_START_EVENT || event_.type == YAML_DOCUMENT_START_EVENT) continue;
      if (event_.type == YAML_STREAM_END_EVENT || event_.type == YAML_DOCUMENT_END_EVENT) break;
      if (event_.type != YAML_MAPPING_START_EVENT) return fail("expected keys and values, \"key: value\"");
      return mapping("", 0);
    }
    return document_.clean();
  }

 private:
  bool next() {
    drop();
    if (!ok_ || yaml_parser_parse(&parser_, &event_) == 0) {
      const TextPosition at = {static_cast<int>(parser_.problem_mark.line) + 1,
                               static_cast<int>(parser_.problem_mark.column) + 1};
      document_.report_at(at, std::string("not YAML: ") +
                                  (parser_.problem != nullptr ? parser_.problem : "it cannot be read"));
      return false;
    }
    have_ = true;
    return true;
  }

  void drop() {
    if (have_) yaml_event_delete(&event_);
    have_ = false;
  }

  TextPosition at() const {
    return {static_cast<int>(event_.start_mark.line) + 1, static_cast<int>(event_.start_mark.column) + 1};
  }

  bool fail(const std::string& message) {
    document_.report_at(at(), message);
    return false;
  }

  std::string value() const {
    return {reinterpret_cast<const char*>(event_.data.scalar.value), event_.data.scalar.length};
  }

  Setting::Kind kind(const std::string& text) const {
    if (event_.data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return Setting::Kind::kText;
    if (text.empty() || text == "~" || text == "null" || text == "None") return Setting::Kind::kNull;
    return Setting::Kind::kText;
  }

  bool mapping(const std::string& path, int depth) {
    if (depth > kDeepestKey) return fail("keys are nested too deeply");
    while (next()) {
      if (event_.type == YAML_MAPPING_END_EVENT) return true;
      if (event_.type != YAML_SCALAR_EVENT) return fail("expected the name of a key");
      const std::string name = join_path(path, value());
      const TextPosition place = at();
      if (!next() || !element(name, place, depth)) return false;
    }
    return false;
  }

  static std::string anchor_of(const yaml_char_t* name) {
    return name == nullptr ? "" : reinterpret_cast<const char*>(name);
  }

  // What the key `name` has, whose first event is here.
  bool element(const std::string& name, TextPosition place, int depth) {
    if (event_.type == YAML_MAPPING_START_EVENT) return inner_mapping(name, depth);
    if (event_.type == YAML_ALIAS_EVENT) return alias(name, place);
    Setting setting = setting_at(document_, name, place);
    std::string anchor;
    if (event_.type == YAML_SEQUENCE_START_EVENT) {
      anchor = anchor_of(event_.data.sequence_start.anchor);
      setting.kind = Setting::Kind::kList;
      if (!sequence(setting.list, depth + 1)) return false;
      setting.text = separated(setting.list, ",");
    } else if (event_.type == YAML_SCALAR_EVENT) {
      anchor = anchor_of(event_.data.scalar.anchor);
      setting.text = value();
      setting.kind = kind(setting.text);
    } else {
      return fail("expected a value of " + name);
    }
    if (!anchor.empty()) anchored_[anchor] = {{"", setting}};
    return set(std::move(setting));
  }

  bool set(Setting setting) {
    if (settings_.all().size() >= kMostSettings) return fail("more keys than a configuration has");
    settings_.set(std::move(setting));
    return true;
  }

  bool inner_mapping(const std::string& name, int depth) {
    const std::string anchor = anchor_of(event_.data.mapping_start.anchor);
    if (!mapping(name, depth + 1)) return false;
    if (anchor.empty()) return true;
    std::vector<std::pair<std::string, Setting>>& inside = anchored_[anchor];
    inside.clear();
    for (const Setting& setting : settings_.all())
      if (setting.name.starts_with(name + "."))
        inside.emplace_back(setting.name.substr(name.size() + 1), setting);
    return true;
  }

  // "*base" stands for what has "&base" before it; as the value of "<<" its keys join those around it, which
  // go before.
  bool alias(const std::string& name, TextPosition place) {
    const auto known = anchored_.find(anchor_of(event_.data.alias.anchor));
    if (known == anchored_.end())
      return fail("there is no &" + anchor_of(event_.data.alias.anchor) + " before this");
    const bool joins = name == "<<" || name.ends_with(".<<");
    const std::string path = !joins ? name : name.size() > 3 ? name.substr(0, name.size() - 3) : "";
    for (auto [inside, setting] : known->second) {
      setting.name = inside.empty() ? path : join_path(path, inside);
      setting.at = place;
      setting.source_line = std::string(document_.line(place.line));
      if (!(joins && settings_.has(setting.name)) && !set(std::move(setting))) return false;
    }
    return true;
  }

  bool sequence(std::vector<std::string>& values, int depth) {
    if (depth > kDeepestKey) return fail("lists are nested too deeply");
    while (next()) {
      if (event_.type == YAML_SEQUENCE_END_EVENT) return true;
      if (event_.type == YAML_SCALAR_EVENT) {
        values.push_back(value());
      } else if (event_.type == YAML_SEQUENCE_START_EVENT) {
        std::vector<std::string> inside;
        if (!sequence(inside, depth + 1)) return false;
        values.push_back("[" + separated(inside, ",") + "]");
      } else if (event_.type == YAML_MAPPING_START_EVENT) {
        Configuration aside;
        std::swap(aside, settings_);
        const bool read = mapping("", depth + 1);
        std::swap(aside, settings_);
        if (!read) return false;
        values.emplace_back("...");
      } else if (event_.type == YAML_ALIAS_EVENT) {
        const auto known = anchored_.find(anchor_of(event_.data.alias.anchor));
        values.push_back(
            known == anchored_.end() || known->second.empty() ? "..." : known->second.front().second.text);
      } else {
        return fail("expected a value");
      }
    }
    return false;
  }

  Document& document_;
  Configuration& settings_;
  std::map<std::string, std::vector<std::pair<std::string, Setting>>>
      anchored_;  // [&name] keys, and their values
  yaml_parser_t parser_ = {};
  yaml_event_t event_ = {};
  bool ok_ = false, have_ = false;
};

std::pair<Setting::Kind, std::string> scalar(const JsonTree& tree, std::int32_t at) {
  const JsonTree::Value& value = tree.at(at);
  switch (value.kind) {
    case JsonKind::kNull:
      return {Setting::Kind::kNull, ""};
    case JsonKind::kBoolean:
      return {Setting::Kind::kBoolean, value.number != 0 ? "true" : "false"};
    case JsonKind::kNumber:
      return {Setting::Kind::kNumber, shortest(value.number)};
    case JsonKind::kString:
      return {Setting::Kind::kText, tree.texts[static_cast<std::size_t>(value.text)]};
    case JsonKind::kArray:
    case JsonKind::kObject:
      break;
  }
  return {Setting::Kind::kText, "..."};
}

void add_json(const Document& document, const JsonTree& tree, std::int32_t object, const std::string& path,
              Configuration& settings) {
  for (std::int32_t at = tree.first_inside(object); at < tree.after(object); at = tree.after(at)) {
    const JsonTree::Value& value = tree.at(at);
    const std::string name = join_path(path, tree.texts[static_cast<std::size_t>(value.key)]);
    if (value.kind == JsonKind::kObject) {
      add_json(document, tree, at, name, settings);
      continue;
    }
    Setting setting = setting_at(document, name, document.position(value.key_offset));
    if (value.kind == JsonKind::kArray) {
      setting.kind = Setting::Kind::kList;
      for (std::int32_t element = tree.first_inside(at); element < tree.after(at);
           element = tree.after(element))
        setting.list.push_back(scalar(tree, element).second);
      setting.text = separated(setting.list, ",");
    } else {
      std::tie(setting.kind, setting.text) = scalar(tree, at);
    }
    settings.set(std::move(setting));
  }
}

template <class Read>
std::optional<Configuration> settings_of(const std::string& file, const std::string& text,
                                         std::vector<Problem>& problems, const Read& read) {
  Document document(file, text);
  Configuration settings;
  read(document, settings);
  const std::vector<Problem> found = document.problems();
  problems.insert(problems.end(), found.begin(), found.end());
  if (!found.empty()) return std::nullopt;
  return settings;
}

}  // namespace

std::optional<Configuration> read_toml(const std::string& file, const std::string& text,
                                       std::vector<Problem>& problems) {
  return settings_of(file, text, problems, [](Document& document, Configuration& settings) {
    if (const auto at = header_without_name(document.text())) {
      document.report_at(document.position(*at), "not TOML: the name of a table begins here",
                         "expected a letter, a digit, _, - or a string");
      return;
    }
    try {
      const toml::table table = toml::parse(document.text());
      add_toml(document, table, "", settings);
    } catch (const toml::parse_error& error) {
      const toml::source_position begin = error.source().begin;
      document.report_at({static_cast<int>(begin.line), static_cast<int>(begin.column)},
                         "not TOML: " + std::string(error.description()));
    }
  });
}

std::optional<Configuration> read_yaml(const std::string& file, const std::string& text,
                                       std::vector<Problem>& problems) {
  return settings_of(file, text, problems, [](Document& document, Configuration& settings) {
    YamlReader(document, settings).read();
  });
}

std::optional<Configuration> read_json_settings(const std::string& file, const std::string& text,
                                                std::vector<Problem>& problems) {
  return settings_of(file, text, problems, [](Document& document, Configuration& settings) {
    JsonTree tree;
    if (!parse_json_tree(document, static_cast<std::int32_t>(kMostSettings), tree)) return;
    if (tree.values.empty() || tree.at(0).kind != JsonKind::kObject)
      document.report_at({1, 1}, "expected an object: {\"key\": value}");
    else
      add_json(document, tree, 0, "", settings);
  });
}

}  // namespace podsim
