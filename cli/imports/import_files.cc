// Patterns, contents, kinds.
#include "cli/imports/import_files.h"

#include <glob.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "cli/scenarios/batch.h"
#include "engine/words.h"

namespace podsim {

std::vector<std::string> names_of_file_kinds() {
  std::vector<std::string> names;
  for (const FileKind& kind : file_kinds())
    if (kind.read != nullptr) names.emplace_back(kind.name);
  return names;
}

std::optional<InputText> read_import_file(const std::string& file) {
  std::vector<Problem> problems;
  auto input = read_input(file, problems, kMostImportBytes);
  print_problems(problems);
  if (!input) return std::nullopt;
  if (input->text.find_first_not_of(" \t\r\n") == std::string::npos) {
    spdlog::error("{}: the file is empty", input->name);
    return std::nullopt;
  }
  return input;
}

namespace {

// A pattern that no shell has expanded becomes the files that fit it; what is no pattern, or fits none,
// stays.
std::vector<std::string> fitting_files(const std::vector<std::string>& files) {
  std::vector<std::string> all;
  for (const std::string& file : files) {
    glob_t found = {};
    if (glob(file.c_str(), GLOB_NOCHECK, nullptr, &found) == 0)
      all.insert(all.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
    else
      all.push_back(file);
    globfree(&found);
  }
  return all;
}

// Null where podsim does not read it, which is said.
const FileKind* kind_of(const InputText& input, const std::string& as) {
  const FileKind* kind = as.empty() ? file_kind(input.text) : file_kind_named(as);
  if (kind != nullptr && kind->read != nullptr) return kind;
  spdlog::error("{}: this is {}; podsim import reads {}", input.name,
                kind == nullptr ? "of no kind that podsim knows" : kind->description,
                separated(names_of_file_kinds(), ", "));
  return nullptr;
}

}  // namespace

std::optional<std::vector<FileGroup>> groups_of_files(const std::vector<std::string>& files,
                                                      const std::string& as) {
  std::vector<FileGroup> groups;
  bool all = true;
  for (const std::string& file : fitting_files(files)) {
    auto input = read_import_file(file);
    const FileKind* kind = input ? kind_of(*input, as) : nullptr;
    all = all && kind != nullptr;
    if (kind == nullptr) continue;
    const auto joined = std::find_if(groups.begin(), groups.end(), [&](const FileGroup& group) {
      return kind->together && group.kind == kind;
    });
    FileGroup& group = joined != groups.end() ? *joined : groups.emplace_back(FileGroup{kind, {}});
    group.files.push_back(*std::move(input));
  }
  if (!all) return std::nullopt;
  return groups;
}

}  // namespace podsim
