// Descriptions of clusters: what a few lines say, what is refused, and the blocks of a scenario made of them.
#include "ingest/clusters/clusters.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ingest/clusters/hostlist.h"
#include "proto/catalog/catalog.h"
#include "proto/scenario/load.h"
#include "proto/writing/figure_json.h"

namespace podsim::clusters_test {
namespace {

using nlohmann::json;
using Read = decltype(&import_slurm);

std::string corpus(const std::string& name) {
  std::vector<Problem> problems;
  return *read_file(PODSIM_SOURCE_DIR "/tests/fuzz/corpus/imports/" + name, problems);
}

json figures_of(Read read, const std::string& text) {
  std::vector<Problem> problems;
  const auto imported = read({{"file", text}}, {}, problems);
  EXPECT_TRUE(imported) << (problems.empty() ? "" : format_problem(problems.front()));
  if (!imported) return {};
  return json::parse(json_text(Figure::group("", imported->figures), JsonNumbers::kShortest));
}

std::string problem_of(Read read, const std::string& text) {
  std::vector<Problem> problems;
  EXPECT_FALSE(read({{"file", text}}, {}, problems));
  return problems.empty() ? "" : format_problem(problems.front());
}

TEST(Hostlists, keep_leading_zeros_and_multiply_brackets) {
  EXPECT_EQ(*hosts_of("gpu[08-10,12]"), (std::vector<std::string>{"gpu08", "gpu09", "gpu10", "gpu12"}));
  EXPECT_EQ(*hosts_of("r[1-2]n[1-2],x"), (std::vector<std::string>{"r1n1", "r1n2", "r2n1", "r2n2", "x"}));
  EXPECT_FALSE(hosts_of("gpu[1-"));
  EXPECT_FALSE(hosts_of("gpu[3-1]"));
  EXPECT_FALSE(hosts_of("gpu[1-99999999]"));
}

TEST(Slurm, counts_tiers_from_the_leaves_up) {
  const json tree = figures_of(import_slurm, corpus("topology.conf"));
  EXPECT_EQ(tree["nodes"], 8);
  EXPECT_EQ(tree["tiers"][0], json({{"level", 0}, {"switches", 2}, {"children", {{"4", 2}}}}));
  EXPECT_EQ(tree["tiers"][1]["children"], json({{"2", 1}}));
  const json blocks = figures_of(import_slurm, corpus("blocks.conf"));
  EXPECT_EQ(blocks["plugin"], "topology/block");
  EXPECT_EQ(blocks["block_sizes"], json({18, 36}));
  EXPECT_EQ(blocks["nodes"], 36);
}

// Behind any of its lines the file would be a cluster too.
TEST(Slurm, goes_on_behind_a_backslash) {
  const json figures = figures_of(
      import_slurm,
      "SwitchName=leaf1 \\\n  Nodes=n[1-4]\nSwitchName=leaf2 Nodes=n[5-8] # four more\nSwitchName=top "
      "\\\n  Switches=leaf[1-2]\n");
  EXPECT_EQ(figures["nodes"], 8);
  EXPECT_EQ(figures["roots"], 1);
  EXPECT_NE(problem_of(import_slurm, "SwitchName=leaf1 \\\n  Nodse=n[1-4]\n").find(":2:3: no key nodse"),
            std::string::npos);
}

TEST(Slurm, doubts_a_file_whose_switches_have_nothing_in_common) {
  std::vector<Problem> problems;
  const std::string whole = "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\nSwitchName=c Switches=a,b\n";
  EXPECT_TRUE(import_slurm({{"f", whole}}, {}, problems)->notes.empty());
  const auto cut = import_slurm({{"f", whole.substr(0, whole.find("SwitchName=c"))}}, {}, problems);
  ASSERT_TRUE(cut);
  ASSERT_EQ(cut->notes.size(), 1u);
  EXPECT_NE(cut->notes[0].find("2 switches have none above them"), std::string::npos);
}

TEST(Slurm, refuses_trees_that_do_not_hang_together) {
  EXPECT_NE(problem_of(import_slurm, "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1\n")
                .find("file:2:14: node n1 is already under a"),
            std::string::npos);
  EXPECT_NE(problem_of(import_slurm, "SwitchName=a Switches=b\n").find("switch b is not defined"),
            std::string::npos);
  EXPECT_NE(
      problem_of(import_slurm, "SwitchName=a Switches=b\nSwitchName=b Switches=a\n").find("above and below"),
      std::string::npos);
  EXPECT_NE(problem_of(import_slurm, "SwitchName=a Nodes=n[1-\n").find("no list of names"),
            std::string::npos);
}

TEST(Slurm, refuses_keys_and_names_that_it_does_not_have) {
  EXPECT_NE(problem_of(import_slurm, "SwitchName=s0 Node=n[1-2]\n").find("no key node"), std::string::npos);
  EXPECT_NE(problem_of(import_slurm, "SwitchName=s0 Nodes=n1-2]\n").find("no list of names"),
            std::string::npos);
}

TEST(Ibnetdiscover, counts_cables_once_and_tells_hosts_from_aggregation) {
  const json network = figures_of(import_ibnetdiscover, corpus("ibnetdiscover.out"));
  EXPECT_EQ(network["leaf_switches"], 2);
  EXPECT_EQ(network["cables_between_switches"], 3);
  EXPECT_EQ(network["parallel_cables"], json({{"1", 1}, {"2", 1}}));
  EXPECT_EQ(network["end_ports_on_switches"], 6);
  EXPECT_EQ(network["aggregation_nodes"], 1);
  EXPECT_EQ(network["unnamed_end_ports"], 1);
  EXPECT_EQ(network["link_ends_by_rate"], json({{"4xHDR", 1}, {"4xNDR", 12}}));
  EXPECT_EQ(network["unread_lines"], 0);
}

TEST(Ibnetdiscover, prints_a_slower_link_among_its_findings) {
  std::vector<Problem> problems;
  const auto imported = import_ibnetdiscover({{"file", corpus("ibnetdiscover.out")}}, {}, problems);
  ASSERT_TRUE(imported);
  EXPECT_NE(imported->text.find("1 link ends run at 4xHDR, others at 4xNDR"), std::string::npos);
}

TEST(Ibnetdiscover, refuses_a_cable_to_a_switch_that_is_not_listed) {
  const std::string text = corpus("ibnetdiscover.out");
  EXPECT_NE(problem_of(import_ibnetdiscover, text.substr(0, text.find("Switch\t65 \"S-b1\"")))
                .find("switch S-b1 has cables, but is not listed"),
            std::string::npos);
}

TEST(Ibnetdiscover, takes_no_router_for_a_host) {
  const json figures = figures_of(import_ibnetdiscover,
                                  "Switch\t2 \"S-01\"\t\t# \"leaf\" base port 0 lid 1 lmc "
                                  "0\n[1]\t\"H-02\"[1](2) \t\t# \"node1 mlx5_0\" lid 2 "
                                  "4xHDR\n[2]\t\"R-03\"[1]\t\t# \"router\" lid 3 4xEDR\n");
  EXPECT_EQ(figures["end_ports_on_switches"], 1);
  EXPECT_EQ(figures["unnamed_end_ports"], 0);
  EXPECT_EQ(figures["link_ends_by_rate"], json({{"4xHDR", 1}, {"4xEDR", 1}}));
}

TEST(NcclTopology, tells_gpus_with_a_nic_behind_the_same_switch) {
  const json host = figures_of(import_nccl_topology, corpus("nccl_topo.xml"));
  EXPECT_EQ(host["gpus"], 2);
  EXPECT_EQ(host["gpus_with_nic_behind_same_switch"], 1);
  EXPECT_EQ(host["links"], json({{"nvlink 0x068000", 36}}));
  EXPECT_EQ(host["gpu_pci_gt_lanes"], json({512}));
  EXPECT_NE(problem_of(import_nccl_topology, "<system><cpu>").find("file:1:"), std::string::npos);
}

TEST(NcclTopology, refuses_numbers_that_are_none_and_links_without_count) {
  const auto host = [](const std::string& inside) {
    return "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0\" class=\"0x03" + inside +
           "</pci></cpu></system>\n";
  };
  figures_of(import_nccl_topology, host("0200\"><gpu dev=\"0\" sm=\"90\"/>"));
  EXPECT_NE(problem_of(import_nccl_topology, host("02)0\">")).find("class is"), std::string::npos);
  EXPECT_NE(
      problem_of(import_nccl_topology, host("0200\"><gpu><nvlink target=\"1\"/></gpu>")).find("no count"),
      std::string::npos);
}

TEST(NvidiaSmi, finds_the_nearest_nics_of_a_gpu) {
  const json matrix = figures_of(import_nvidia_smi, corpus("topo_m.txt"));
  EXPECT_EQ(matrix["nearest_nic"], json({{"GPU0", {"NIC0"}}, {"GPU1", {"NIC1"}}}));
  EXPECT_EQ(matrix["gpu_gpu"], json({{"NV18", 2}}));
}

TEST(NvidiaSmi, refuses_a_matrix_that_is_cut) {
  const std::string text = corpus("topo_m.txt");
  EXPECT_NE(
      problem_of(import_nvidia_smi, text.substr(0, text.find("\nGPU1"))).find("a column of GPU1, but no row"),
      std::string::npos);
  EXPECT_NE(problem_of(import_nvidia_smi, "\tGPU0\tGPU1\nGPU0\t X \tNV18\nGPU1\tQQ\t X \n")
                .find("file:3:6: GPU1 to GPU0 is \"QQ\""),
            std::string::npos);
}

TEST(NvidiaSmi, doubts_a_legend_that_lacks_adapters) {
  const std::string matrix =
      "\tGPU0\tNIC0\tNIC1\nGPU0\t X \tPIX\tSYS\nNIC0\tPIX\t X \tSYS\nNIC1\tSYS\tSYS\t X \n";
  std::vector<Problem> problems;
  const auto notes = [&](const std::string& legend) {
    return import_nvidia_smi({{"f", matrix + legend}}, {}, problems)->notes.size();
  };
  EXPECT_EQ(notes("\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n"), 0u);
  EXPECT_EQ(notes("\n  NIC0: mlx5_0\n"), 1u);
}

TEST(NvidiaSmi, refuses_links_without_number_and_columns_without_row) {
  const std::string matrix = "\tGPU0\tmlx5_0\tCPU Affinity\nGPU0\t X \tPIX\t0-1\nmlx5_0\tPIX\t X \n";
  EXPECT_EQ(figures_of(import_nvidia_smi, matrix)["nics"], 1);
  EXPECT_NE(problem_of(import_nvidia_smi, matrix.substr(0, matrix.find("\nmlx5_0"))).find("no row"),
            std::string::npos);
  const std::string two = "\tGPU0\tGPU1\nGPU0\t X \tNV\"8\nGPU1\tNV18\t X \n";
  EXPECT_NE(problem_of(import_nvidia_smi, two).find("NV\"8"), std::string::npos);
}

TEST(NcclLog, tells_hosts_behind_the_prefixes_of_launchers) {
  const json log = figures_of(import_nccl_log, corpus("nccl_info.log"));
  EXPECT_EQ(log["hosts"], 2);
  EXPECT_EQ(log["communicators"], 1);
  EXPECT_EQ(log["channels"], json({{"2 channels of 2 ranks", 2}}));
  EXPECT_EQ(log["connections_by_path"], json({{"NET/IB/GDRDMA", 1}}));
  EXPECT_EQ(log["adapters"], json({{"mlx5_0 IB", 1}, {"mlx5_1 RoCE", 1}}));
}

TEST(NcclLog, keeps_the_whole_path_of_a_connection_and_versions_without_a_prefix) {
  const std::string line = "node1:7:7 [0] NCCL INFO Channel 00";
  const json figures =
      figures_of(import_nccl_log, "NCCL version 2.18.1+cuda12.0\n" + line +
                                      "/0 : 1[0] -> 0[0] [receive] via NET/AWS Libfabric/3(0)/GDRDMA\n" +
                                      line + " : 0[b000] -> 1[c000] via P2P/IPC comm 0x7fb8 nRanks 02\n");
  EXPECT_EQ(figures["connections_by_path"], json({{"NET/AWS Libfabric/GDRDMA", 1}, {"P2P/IPC", 1}}));
  EXPECT_EQ(figures["versions"], json({"2.18.1+cuda12.0"}));
}

TEST(NcclLog, counts_communicators_of_versions_that_do_not_number_them) {
  const json log =
      figures_of(import_nccl_log,
                 "a:1:1 [0] NCCL INFO comm 0x7f rank 0 nranks 2 cudaDev 0 busId 1000 - Init COMPLETE\n"
                 "a:2:2 [1] NCCL INFO comm 0x7f rank 1 nranks 2 cudaDev 1 busId 2000 - Init COMPLETE\n"
                 "a:1:1 [0] NCCL INFO comm 0x80 rank 0 nranks 1 cudaDev 0 busId 1000 - Init COMPLETE\n"
                 "a:2:2 [1] NCCL INFO comm 0x80 rank 0 nranks 1 cudaDev 1 busId 2000 - Init COMPLETE\n");
  EXPECT_EQ(log["communicators"], 3);
  EXPECT_EQ(log["by_size"], json({{"1", 2}, {"2", 1}}));
}

// Rank 0 alone wrote of sixteen, as where the variable is set on one of them.
TEST(NcclLog, says_where_most_ranks_have_no_lines) {
  const auto log_of = [](int lines) {
    std::string text;
    for (int r = 0; r < lines; ++r)
      text += "n:" + std::to_string(10 + r) + ":1 [0] NCCL INFO ncclCommInitRank comm 0x5 rank " +
              std::to_string(r) + " nranks 16 cudaDev 0 busId 5 commId 0xa - Init START\n";
    std::vector<Problem> problems;
    const auto imported = import_nccl_log({{"log", text}}, {}, problems);
    return imported && !imported->notes.empty() ? imported->notes.front() : "";
  };
  EXPECT_EQ(log_of(1), "log: of 16 ranks 1 has lines here: hosts and their ranks are of these alone");
  EXPECT_EQ(log_of(16), "");
}

// The network alone is what the file has: a chip for each port of a host, of leaves that hold them all. Ports
// are numbered leaf by leaf, so that the slower one is the second.
TEST(Ibnetdiscover, is_a_network_of_ports_where_no_fabric_says_what_hosts_have) {
  std::vector<Problem> problems;
  const auto imported = import_ibnetdiscover({{"file", corpus("ibnetdiscover.out")}}, {}, problems);
  ASSERT_TRUE(imported);
  EXPECT_TRUE(imported->needs_to_run.empty());
  for (const char* line : {"chips: 6 ", "gpus_per_domain: 1 ", "nic { bandwidth_gb_per_s: 50 }",
                           "tier { down: 3 oversubscription: 2 }", "tier { down: 2 oversubscription: 1 }",
                           "slow_link { chip: 1 kind: \"nic\" speed_fraction: 0.5 }"})
    EXPECT_NE(imported->scenario.find(line), std::string::npos) << line << imported->scenario;
  std::string scenario = imported->scenario;
  const std::string begin = "cluster {\n";
  scenario.insert(scenario.find(begin) + begin.size(), "  chip: \"h100\"\n");
  scenario +=
      "job { model: \"llama3_8b\" stack: \"torchtitan\" mesh { name: \"fsdp\" size: rest }\n"
      "  sharding: \"fsdp\" global_batch_sequences: 12 sequence_tokens: 4096 }\n";
  const LoadResult loaded = load_scenario("job.textproto", scenario, Catalog(), {});
  EXPECT_TRUE(loaded.spec) << (loaded.problems.empty() ? "" : format_problem(loaded.problems.front()));
}

// Two leaves of hosts at 200 Gbit/s, `ports` of each host on its leaf, below two spines at 400.
std::string hosts_at_half_rate(int hosts_of_leaf, int ports, int uplinks) {
  std::string text;
  for (int leaf = 0; leaf < 2; ++leaf) {
    const std::string l = std::to_string(leaf);
    text += "Switch\t65 \"S-l" + l + "\"\t\t# \"leaf" + l + "\" enhanced port 0 lid 1 lmc 0\n";
    int port = 0;
    for (int host = 0; host < hosts_of_leaf; ++host)
      for (int adapter = 0; adapter < ports; ++adapter) {
        const std::string id = l + std::to_string(host) + std::to_string(adapter);
        text += "[" + std::to_string(++port) + "]\t\"H-" + id + "\"[1](" + id + ") \t\t# \"node" + l +
                std::to_string(host) + " mlx5_" + std::to_string(adapter) + "\" lid 9 4xHDR\n";
      }
    for (int up = 0; up < uplinks; ++up)
      text += "[" + std::to_string(++port) + "]\t\"S-s\"[" + std::to_string(leaf * uplinks + up + 1) +
              "]\t\t# \"spine\" lid 50 4xNDR\n";
    text += "\n";
  }
  text += "Switch\t65 \"S-s\"\t\t# \"spine\" enhanced port 0 lid 50 lmc 0\n";
  for (int leaf = 0; leaf < 2; ++leaf)
    for (int up = 0; up < uplinks; ++up)
      text += "[" + std::to_string(leaf * uplinks + up + 1) + "]\t\"S-l" + std::to_string(leaf) + "\"[" +
              std::to_string(hosts_of_leaf * ports + up + 1) + "]\t\t# \"leaf\" lid 1 4xNDR\n";
  return text;
}

std::string blocks_of(Read read, const std::string& text, const std::string& fabric) {
  Stated stated;
  stated.fabric = fabric;
  std::vector<Problem> problems;
  const auto imported = read({{"f", text}}, stated, problems);
  EXPECT_TRUE(imported) << (problems.empty() ? "" : format_problem(problems.front()));
  return imported ? imported->scenario : "";
}

void expect_lines(const std::string& text, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

TEST(Ibnetdiscover, has_nics_of_the_rate_of_host_ports_and_oversubscription_by_what_links_carry) {
  expect_lines(blocks_of(import_ibnetdiscover, hosts_at_half_rate(4, 1, 4), ""),
               {"nic { bandwidth_gb_per_s: 25 }", "tier { down: 4 oversubscription: 1 }"});
  expect_lines(blocks_of(import_ibnetdiscover, hosts_at_half_rate(4, 1, 2), ""),
               {"tier { down: 4 oversubscription: 1 }"});
  expect_lines(blocks_of(import_ibnetdiscover, hosts_at_half_rate(4, 1, 1), ""),
               {"tier { down: 4 oversubscription: 2 }"});
}

// A GPU has its part of the adapters of its host, and a leaf has the GPUs of its hosts.
TEST(Ibnetdiscover, gpus_that_share_an_adapter_share_its_rate) {
  expect_lines(blocks_of(import_ibnetdiscover, hosts_at_half_rate(4, 2, 4), "dgx_h100"),
               {"chips: 64 ", "nic { bandwidth_gb_per_s: 6.25 }", "tier { down: 32 oversubscription: 1 }"});
  expect_lines(blocks_of(import_ibnetdiscover, hosts_at_half_rate(4, 8, 16), "dgx_h100"),
               {"nic { bandwidth_gb_per_s: 25 }", "tier { down: 32 oversubscription: 1 }"});
}

// 12 nodes on leaves of 2, 2 and 8; 16 nodes of which 8 are at the upper switch.
TEST(Slurm, tiers_have_a_place_for_every_node_where_switches_differ) {
  expect_lines(blocks_of(import_slurm,
                         "SwitchName=leaf1 Nodes=n[1-2]\nSwitchName=leaf2 Nodes=n[3-4]\n"
                         "SwitchName=leaf3 Nodes=n[5-12]\nSwitchName=core Switches=leaf[1-3]\n",
                         "dgx_h100"),
               {"chips: 96 ", "tier { down: 32 ", "tier { down: 3 ", "the mean where they differ"});
  expect_lines(blocks_of(import_slurm,
                         "SwitchName=leaf1 Nodes=n[1-4]\nSwitchName=leaf2 Nodes=n[5-8]\n"
                         "SwitchName=core Switches=leaf[1-2] Nodes=n[9-16]\n",
                         "dgx_h100"),
               {"chips: 128 ", "tier { down: 64 ", "nodes at upper switches count as at leaves"});
}

// Files beside the one given, in other files' folders and within each other; each line counts.
TEST(Slurm, includes_files_beside_it_and_refuses_missing_ones_and_circles) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "slurm_include";
  std::filesystem::create_directories(folder / "racks");
  const auto write = [&](const char* name, const std::string& text) { std::ofstream(folder / name) << text; };
  const std::string main = (folder / "topology.conf").string();
  const auto given = [&](const std::string& text, std::vector<Problem>& problems) {
    return import_slurm({{main, text}}, {}, problems);
  };
  write("racks/one.conf", "SwitchName=leaf1 Nodes=n[1-4]\n");
  write("leaves.conf", "# leaves\ninclude racks/one.conf\nSwitchName=leaf2 Nodes=n[5-8]\n");
  std::vector<Problem> problems;
  const std::string whole = "Include leaves.conf # more\nSwitchName=core Switches=leaf[1-2]\n";
  const auto imported = given(whole, problems);
  ASSERT_TRUE(imported) << format_problem(problems.front());
  const json figures = json::parse(json_text(Figure::group("", imported->figures), JsonNumbers::kShortest));
  EXPECT_EQ(figures["switches"], 3);
  EXPECT_EQ(figures["nodes"], 8);
  EXPECT_EQ(imported->accounts.front().read, 6);

  const auto refused = [&](const std::string& text) {
    problems.clear();
    EXPECT_FALSE(given(text, problems)) << text;
    return problems.empty() ? "" : format_problem(problems.front());
  };
  EXPECT_NE(refused("Include none.conf\n").find("topology.conf:1:9: cannot read \"none.conf\""),
            std::string::npos);
  EXPECT_NE(refused("Include\n").find("Include names no file"), std::string::npos);
  write("leaves.conf", "Include circle.conf\n");
  write("circle.conf", "SwitchName=leaf3 Nodes=n9\n\nInclude leaves.conf\n");
  EXPECT_NE(refused("Include leaves.conf\n").find("circle.conf:3:9: \"leaves.conf\" includes itself"),
            std::string::npos);
  write("leaves.conf", "SwitchName=leaf1 Nodes=n1\nSwitchName=leaf2 Nodes=n1\n");
  EXPECT_NE(refused(whole).find("leaves.conf:2:18: node n1 is already under leaf1"), std::string::npos);
  write("leaves.conf", "SwitchName=leaf1 Switches=leaf9\n");
  EXPECT_NE(refused("Include leaves.conf\n").find("leaves.conf:1:18: switch leaf9 is not defined"),
            std::string::npos);
}

TEST(Clusters, make_blocks_of_a_scenario_to_which_a_job_is_added) {
  Stated stated;
  stated.fabric = "dgx_h100";
  stated.chip = "h100";
  const std::string job =
      "job { model: \"llama3_8b\" stack: \"torchtitan\" mesh { name: \"fsdp\" size: rest } sharding: "
      "\"fsdp\"\n"
      "  global_batch_sequences: 192 sequence_tokens: 4096 }\n";
  const Catalog catalog;
  for (const auto& [read, name] : {std::pair<Read, const char*>(import_slurm, "topology.conf"),
                                   std::pair<Read, const char*>(import_ibnetdiscover, "ibnetdiscover.out")}) {
    std::vector<Problem> problems;
    const auto imported = read({{name, corpus(name)}}, stated, problems);
    ASSERT_TRUE(imported);
    const LoadResult loaded = load_scenario("job.textproto", imported->scenario + job, catalog, {});
    EXPECT_TRUE(loaded.spec) << imported->scenario
                             << (loaded.problems.empty() ? "" : format_problem(loaded.problems.front()));
  }
}

}  // namespace
}  // namespace podsim::clusters_test
