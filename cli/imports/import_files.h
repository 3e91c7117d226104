// The files of podsim import: read, told by their content, and put together where they have one answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ingest/file_kind.h"
#include "proto/text/read_file.h"

namespace podsim {

// Files that have one answer, and what they are.
struct FileGroup {
  const FileKind* kind = nullptr;
  std::vector<InputText> files;
};

// Of the kinds that podsim reads.
std::vector<std::string> names_of_file_kinds();

// Nothing where it cannot be read or is empty, which is said.
std::optional<InputText> read_import_file(const std::string& file);

// In the order in which their first files are named; patterns that no shell has expanded become the files
// that fit them. `as` names their kind; empty: their content does. Nothing where a file cannot be read, which
// is said.
std::optional<std::vector<FileGroup>> groups_of_files(const std::vector<std::string>& files,
                                                      const std::string& as);

}  // namespace podsim
