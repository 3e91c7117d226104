// Descriptions of clusters by other tools, each as podsim import shows it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ingest/imported/imported.h"
#include "proto/text/problem.h"
#include "proto/text/read_file.h"

namespace podsim {

// topology.conf of Slurm: a tree of switches, or blocks of nodes.
bool is_slurm(std::string_view text);
std::optional<Imported> import_slurm(const std::vector<InputText>& files, const Stated& stated,
                                     std::vector<Problem>& problems);

// Output of ibnetdiscover: switches, adapters and the cables between them.
bool is_ibnetdiscover(std::string_view text);
std::optional<Imported> import_ibnetdiscover(const std::vector<InputText>& files, const Stated& stated,
                                             std::vector<Problem>& problems);

// The topology of one host that NCCL reads and writes as XML.
bool is_nccl_topology(std::string_view text);
std::optional<Imported> import_nccl_topology(const std::vector<InputText>& files, const Stated& stated,
                                             std::vector<Problem>& problems);

// nvidia-smi topo -m: how every two devices of a host are connected.
bool is_nvidia_smi(std::string_view text);
std::optional<Imported> import_nvidia_smi(const std::vector<InputText>& files, const Stated& stated,
                                          std::vector<Problem>& problems);

// What NCCL says under NCCL_DEBUG=INFO.
bool is_nccl_log(std::string_view text);
std::optional<Imported> import_nccl_log(const std::vector<InputText>& files, const Stated& stated,
                                        std::vector<Problem>& problems);

}  // namespace podsim
