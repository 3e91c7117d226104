// The kinds of files of other tools: how each is told by its content, and what reads it.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/imported/imported.h"
#include "proto/text/problem.h"
#include "proto/text/read_file.h"

namespace podsim {

struct FileKind {
  enum class Form {
    kClosed,   // text with an end that would be missed: brackets
    kLines,    // text that people write, which could end behind any line
    kLog,      // lines of programs, with whatever names and bars of progress these have
    kStream,   // text with an end and with whatever names programs have
    kRecords,  // binary
  };
  const char* name;         // of --as
  const char* description;  // "an HLO module as text"
  bool (*recognises)(std::string_view text);
  // Nothing, and problems, where a file cannot be read; null where podsim knows the kind but does not read
  // it. See import_files.
  std::function<std::optional<Imported>(std::vector<InputText>& files, const Stated& stated,
                                        std::vector<Problem>& problems)>
      read;
  Form form;
  bool together;                              // all files of this kind are one answer, not each by itself
  std::span<const std::string_view> options;  // of the command line that it uses
};

// In the order in which they are tried.
std::span<const FileKind> file_kinds();

// The first that recognises the text, not the name of its file; null where none does. O(text).
const FileKind* file_kind(std::string_view text);

// Null for a name that no kind has.
const FileKind* file_kind_named(std::string_view name);

// What the files hold, with notes where one may have been cut; nothing, and problems, where one cannot be
// read or has characters that no text has. Of many files the texts may be gone then. REQUIRES: kind.read.
std::optional<Imported> import_files(const FileKind& kind, std::vector<InputText>& files,
                                     const Stated& stated, std::vector<Problem>& problems);

}  // namespace podsim
