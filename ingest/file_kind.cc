// One row for each kind. Most are told by how a text begins, or by words that only one kind has.
#include "ingest/file_kind.h"

#include <algorithm>

#include "engine/check.h"
#include "engine/utf8.h"
#include "ingest/chakra/import_chakra.h"
#include "ingest/clusters/clusters.h"
#include "ingest/hlo/import_hlo.h"
#include "ingest/kineto/import_kineto.h"
#include "ingest/launchers/launchers.h"
#include "ingest/nccl_tests.h"
#include "ingest/nsight/import_nsight.h"
#include "ingest/partitioning/import_modules.h"
#include "ingest/stablehlo/import_stablehlo.h"
#include "ingest/xplane/import_xplane.h"
#include "proto/text/document.h"

namespace podsim {
namespace {

bool has(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

// From the first character that is not blank.
std::string_view head(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

bool is_json(std::string_view text) { return head(text).starts_with("{") || head(text).starts_with("["); }

bool is_binary(std::string_view text) { return has(text.substr(0, 512), std::string_view("\0", 1)); }

// A part of a module may lack its first line.
bool is_hlo(std::string_view text) {
  if (head(text).starts_with("HloModule")) return true;
  return !is_json(text) && !is_binary(text) && !is_stablehlo(text) && has(text, " parameter(") &&
         has(text, "{\n") && has(text, " = ");
}

// What people write by hand is small.
template <bool (*kIs)(std::string_view)>
bool is_small(std::string_view text) {
  constexpr std::size_t kMostBytes = 1u << 20;
  return text.size() <= kMostBytes && !is_binary(text) && kIs(text);
}

// Options of the command line that kinds use.
constexpr std::string_view kOfModules[] = {"--trips", "--mesh",   "--beside", "--chips",
                                           "--chip",  "--fabric", "--shape",  "--stack"};
constexpr std::string_view kOfProfiles[] = {"--chips", "--chip", "--fabric", "--shape", "--beside", "--slow"};
constexpr std::string_view kOfTraces[] = {"--chips",      "--fabric", "--shape",
                                          "--astra-ring", "--slow",   "--compute"};
constexpr std::string_view kOfMeasurements[] = {"--fit"};
constexpr std::string_view kOfLaunchers[] = {"--chips", "--model", "--chip", "--fabric", "--stack", "--set"};
constexpr std::string_view kOfLaunchersWithSlices[] = {"--chips",  "--slices", "--model", "--chip",
                                                       "--fabric", "--stack",  "--set"};
constexpr std::string_view kOfClusters[] = {"--fabric", "--chip"};

const std::vector<FileKind>& table() {
  using enum FileKind::Form;
  static const std::vector<FileKind> kinds = {
      {"hlo", "an HLO module as text", is_hlo, import_hlo_module, kClosed, false, kOfModules},
      {"xplane", "a profile of XProf", is_xplane, import_xplane, kRecords, false, kOfProfiles},
      {"kineto", "a profile of PyTorch", is_kineto, import_kineto, kStream, true, kOfProfiles},
      {"nsight", "a database that Nsight Systems exports", is_nsight, import_nsight, kRecords, true,
       kOfProfiles},
      {"chakra", "a Chakra execution trace", is_chakra, import_chakra, kRecords, true, kOfTraces},
      {"nccl-tests", "output of nccl-tests", is_nccl_tests, import_nccl_tests, kLog, false, kOfMeasurements},
      {"stablehlo", "a StableHLO module", is_stablehlo, import_stablehlo_module, kClosed, false, kOfModules},
      {"torchtitan", "a configuration of torchtitan", is_small<is_torchtitan>, import_torchtitan, kLines,
       false, kOfLaunchers},
      {"maxtext", "a configuration of MaxText", is_small<is_maxtext>, import_maxtext, kLines, true,
       kOfLaunchersWithSlices},
      {"deepspeed", "a configuration of DeepSpeed", is_small<is_deepspeed>, import_deepspeed, kClosed, false,
       kOfLaunchers},
      {"hf", "a config.json of Hugging Face", is_small<is_hugging_face>, import_hugging_face, kClosed, false,
       kOfLaunchersWithSlices},
      {"megatron", "arguments of Megatron-LM", is_small<is_megatron>, import_megatron, kLines, false,
       kOfLaunchers},
      {"nccl-topo", "an NCCL topology in XML", is_nccl_topology, import_nccl_topology, kClosed, false, {}},
      {"nccl-log", "a log of NCCL", is_nccl_log, import_nccl_log, kLog, false, {}},
      {"ibnetdiscover", "output of ibnetdiscover", is_ibnetdiscover, import_ibnetdiscover, kLog, false,
       kOfClusters},
      {"nvidia-smi",
       "output of nvidia-smi topo -m",
       is_small<is_nvidia_smi>,
       import_nvidia_smi,
       kLog,
       false,
       {}},
      {"slurm", "a topology.conf of Slurm", is_slurm, import_slurm, kLines, false, kOfClusters},
      {"json", "JSON", is_json, nullptr, kClosed, false, {}},
      {"binary", "binary", is_binary, nullptr, kRecords, false, {}},
  };
  return kinds;
}

// A byte that no text has: a control character, or what is not UTF-8. Colours of terminals are left alone.
std::optional<std::size_t> first_odd_byte(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::size_t length = utf8_length(text, at);
    const bool blank = c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\x1b';
    if (length == 0 || (is_control(c) && !blank)) return at;
    at += length;
  }
  return std::nullopt;
}

void check_characters(const InputText& file, std::vector<Problem>& problems) {
  const auto odd = first_odd_byte(file.text);
  if (!odd) return;
  Document document(file.name, file.text);
  constexpr const char* kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(file.text[*odd]);
  document.report_at(document.position(*odd),
                     std::string("a byte that no text has, 0x") + kDigits[byte / 16] + kDigits[byte % 16],
                     "characters in UTF-8: the file is damaged, or of another encoding");
  const std::vector<Problem> found = document.problems();
  problems.insert(problems.end(), found.begin(), found.end());
}

// Whoever writes lines ends the last one, and what goes on behind a line has another.
void note_last_line(const InputText& file, std::vector<std::string>& notes) {
  if (file.text.empty()) return;
  const bool ended = file.text.back() == '\n',
             goes_on = file.text.ends_with("\\\n") || file.text.ends_with("\\\r\n");
  if (ended && !goes_on) return;
  const auto lines = std::count(file.text.begin(), file.text.end(), '\n') + (ended ? 0 : 1);
  notes.push_back(file.name + ":" + std::to_string(lines) + ": the last line " +
                  (ended ? "goes on, but nothing follows" : "has no line break") +
                  ": the file may have been cut there");
}

// Behind its first line, which says what it is made of.
void note_unknown(Imported& imported) {
  const std::string names = unknown_names(imported.accounts);
  if (imported.scenario.empty() || names.empty()) return;
  const std::size_t end = std::min(imported.scenario.find('\n'), imported.scenario.size() - 1);
  std::string line = "# Not known to podsim, and left out here: ";
  for (const char c : names) line += is_control(c) ? ' ' : c;
  imported.scenario.insert(end + 1, line + ".\n");
}

}  // namespace

std::optional<Imported> import_files(const FileKind& kind, std::vector<InputText>& files,
                                     const Stated& stated, std::vector<Problem>& problems) {
  PODSIM_CHECK(kind.read != nullptr, "podsim reads files of the kind");
  using enum FileKind::Form;
  const std::size_t had = problems.size();
  if (kind.form == kClosed || kind.form == kLines)
    for (const InputText& file : files) check_characters(file, problems);
  if (problems.size() > had) return std::nullopt;
  auto imported = kind.read(files, stated, problems);
  if (imported && (kind.form == kLines || kind.form == kLog))
    for (const InputText& file : files) note_last_line(file, imported->notes);
  if (imported) note_unknown(*imported);
  return imported;
}

std::span<const FileKind> file_kinds() { return table(); }

const FileKind* file_kind(std::string_view text) {
  for (const FileKind& kind : table())
    if (kind.recognises(text)) return &kind;
  return nullptr;
}

const FileKind* file_kind_named(std::string_view name) {
  for (const FileKind& kind : table())
    if (kind.name == name) return &kind;
  return nullptr;
}

}  // namespace podsim
