// One row for each kind. Most are told by how a text begins, or by words that only one kind has.
#include "ingest/file_kind.h"

#include <algorithm>

#include "ingest/chakra/import_chakra.h"
#include "ingest/clusters/clusters.h"
#include "ingest/hlo/import_hlo.h"
#include "ingest/kineto/import_kineto.h"
#include "ingest/launchers/launchers.h"
#include "ingest/nccl_tests.h"
#include "ingest/stablehlo/import_stablehlo.h"

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

const std::vector<FileKind>& table() {
  static const std::vector<std::string> launcher = {"--chips",  "--model", "--chip",
                                                    "--fabric", "--stack", "--set"};
  static const std::vector<std::string> slices = {"--chips",  "--slices", "--model", "--chip",
                                                  "--fabric", "--stack",  "--set"};
  static const std::vector<FileKind> kinds = {
      {"hlo", "an HLO module as text", is_hlo, import_hlo, false, {"--trips"}},
      {"kineto", "a profile of PyTorch", is_kineto, import_kineto, true, {}},
      {"chakra",
       "a Chakra execution trace",
       is_chakra,
       import_chakra,
       true,
       {"--chips", "--fabric", "--shape", "--astra-ring"}},
      {"nccl-tests", "output of nccl-tests", is_nccl_tests, import_nccl_tests, false, {}},
      {"stablehlo", "a StableHLO module", is_stablehlo, import_stablehlo, false, {}},
      {"torchtitan", "a configuration of torchtitan", is_small<is_torchtitan>, import_torchtitan, false,
       launcher},
      {"maxtext", "a configuration of MaxText", is_small<is_maxtext>, import_maxtext, true, slices},
      {"deepspeed", "a configuration of DeepSpeed", is_small<is_deepspeed>, import_deepspeed, false,
       launcher},
      {"hf", "a config.json of Hugging Face", is_small<is_hugging_face>, import_hugging_face, false, slices},
      {"megatron", "arguments of Megatron-LM", is_small<is_megatron>, import_megatron, false, launcher},
      {"nccl-topo", "an NCCL topology in XML", is_nccl_topology, import_nccl_topology, false, {}},
      {"nccl-log", "a log of NCCL", is_nccl_log, import_nccl_log, false, {}},
      {"ibnetdiscover",
       "output of ibnetdiscover",
       is_ibnetdiscover,
       import_ibnetdiscover,
       false,
       {"--fabric", "--chip"}},
      {"nvidia-smi", "output of nvidia-smi topo -m", is_small<is_nvidia_smi>, import_nvidia_smi, false, {}},
      {"slurm", "a topology.conf of Slurm", is_slurm, import_slurm, false, {"--fabric", "--chip"}},
      {"json", "JSON", is_json, nullptr, false, {}},
      {"binary", "binary", is_binary, nullptr, false, {}},
  };
  return kinds;
}

}  // namespace

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
