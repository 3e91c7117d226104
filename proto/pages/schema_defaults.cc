// Reads the text of the schema, which the binary holds: descriptors have no comments.
#include "proto/pages/schema_defaults.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "engine/words.h"
#include "proto/pages/page_files.h"

namespace podsim {
namespace {

std::string scenario_schema() {
  for (const CatalogFile& file : page_files())
    if (file.name == "scenario.proto") return std::string(file.text);
  return "";
}

// "none" of "what layers keep; missing = none".
std::string told_default(const std::string& comment) {
  constexpr std::string_view kMissing = "missing = ";
  const std::size_t at = comment.find(kMissing);
  if (at == std::string::npos) return "";
  const std::string text = comment.substr(at + kMissing.size());
  return trim(text.substr(0, text.find(';')));
}

// "recompute" of "optional RecomputeName recompute = 13 [...];"; empty of what is no field.
std::string field_name(const std::string& line) {
  if (!line.starts_with("optional ") && !line.starts_with("repeated ")) return "";
  const std::vector<std::string> words = split(line.substr(0, line.find('=')), ' ');
  return words.size() < 3 ? "" : words[2];
}

// Goes through the lines of a schema, whose comments stand behind a field or on the lines above it.
class DefaultsReader {
 public:
  void read(const std::string& whole) {
    const std::string line = trim(whole);
    const std::size_t slashes = line.find("//");
    const std::string code = trim(line.substr(0, slashes));
    const std::string comment = slashes == std::string::npos ? "" : line.substr(slashes + 2);
    if (code.empty()) {
      above_ += comment;
      return;
    }
    if (code.ends_with('{')) {
      blocks_.push_back(split(code, ' ')[1]);
    } else if (code == "}") {
      blocks_.pop_back();
    } else if (!blocks_.empty()) {
      const std::string name = field_name(code), text = told_default(comment.empty() ? above_ : comment);
      if (!name.empty() && !text.empty()) defaults[blocks_.back() + "." + name] = text;
    }
    above_.clear();
  }

  std::map<std::string, std::string> defaults;  // "JobChoice.recompute" -> "none"

 private:
  std::vector<std::string> blocks_;  // that are open
  std::string above_;
};

std::map<std::string, std::string> read_defaults() {
  DefaultsReader reader;
  for (const std::string& line : split(scenario_schema(), '\n')) reader.read(line);
  return std::move(reader.defaults);
}

}  // namespace

std::string schema_default(const google::protobuf::FieldDescriptor& field) {
  static const std::map<std::string, std::string> kDefaults = read_defaults();
  const auto found =
      kDefaults.find(std::string(field.containing_type()->name()) + "." + std::string(field.name()));
  return found == kDefaults.end() ? "" : found->second;
}

}  // namespace podsim
