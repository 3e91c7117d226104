// Looks at how the text begins, and for words that only one kind has.
#include "ingest/file_kind.h"

#include "ingest/nccl_tests.h"

namespace podsim {
namespace {

bool has(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

}  // namespace

FileKind file_kind(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return FileKind::kUnknown;
  const std::string_view head = text.substr(begin);
  if (head.starts_with("HloModule")) return FileKind::kHlo;
  if (is_nccl_tests(text)) return FileKind::kNcclTests;
  if (head.starts_with("{") || head.starts_with("[")) return FileKind::kJson;
  if (head.starts_with("module ") || head.starts_with("module{") || has(text, "stablehlo."))
    return FileKind::kStableHlo;
  if (text.substr(0, 512).find('\0') != std::string_view::npos) return FileKind::kBinary;
  if (has(text, " parameter(") && has(text, "{\n") && has(text, " = ")) return FileKind::kHlo;
  return FileKind::kUnknown;
}

std::string describe(FileKind kind) {
  switch (kind) {
    case FileKind::kHlo:
      return "an HLO module as text";
    case FileKind::kNcclTests:
      return "output of nccl-tests";
    case FileKind::kStableHlo:
      return "a StableHLO module";
    case FileKind::kJson:
      return "JSON";
    case FileKind::kBinary:
      return "binary";
    case FileKind::kUnknown:
      return "of no kind that podsim knows";
  }
  return "";
}

}  // namespace podsim
