// Every example that podsim's help shows can be typed as it stands. Files without a folder are the user's
// own: the test has one of each name; all others lie in the repository.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace podsim::examples_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = PODSIM_SOURCE_DIR;

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string output_of(const std::string& arguments) {
  std::string text;
  std::FILE* pipe = popen((std::string(PODSIM_BINARY) + " " + arguments).c_str(), "r");
  for (int c = 0; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  if (pipe != nullptr) pclose(pipe);
  return text;
}

// The names below "Subcommands:".
std::vector<std::string> verbs() {
  std::istringstream help(output_of("--help"));
  std::vector<std::string> names;
  bool below = false;
  for (std::string line; std::getline(help, line);) {
    if (line.rfind("Subcommands:", 0) == 0) {
      below = true;
    } else if (below && line.size() > 2 && line.rfind("  ", 0) == 0 && line[2] != ' ') {
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
    } else if (below && !line.empty() && line.front() != ' ') {
      break;
    }
  }
  return names;
}

// Lines such as "  podsim run scenarios/llama3_70b_512_h100.textproto", without what they pipe into.
std::vector<std::string> examples_of(const std::string& verb) {
  std::istringstream help(output_of(verb + " --help"));
  std::vector<std::string> found;
  for (std::string line; std::getline(help, line);) {
    const std::size_t start = line.find_first_not_of(' ');
    if (start != std::string::npos && line.compare(start, 7, "podsim ") == 0)
      found.push_back(line.substr(start, line.find(" | ") - start));
  }
  return found;
}

// Steps 100 to 120 of one worker.
std::string trace() {
  std::string rows = "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc\n";
  for (int step = 100; step <= 120; ++step) {
    const std::string at = "0,0,0," + std::to_string(step) + ",";
    rows += at + "forward-compute,0,1,0,0,0,0\n" + at + "backward-compute,1,2,0,0,0,0\n";
    rows += at + "gc,4,0,0,-1,-1,-1\n";
    for (const char* type : {"layernorm-grads-all-reduce", "embedding-grads-all-reduce",
                             "optimizer-clip-main-grad", "optimizer"})
      rows += at + type + ",4,0.25,0,-1,-1,-1\n";
  }
  return rows;
}

constexpr const char* kJob =
    "cluster { chip: \"h100\" chips: 512 fabric: \"dgx_h100\" }\n"
    "job {\n"
    "  model: \"llama3_8b\" stack: \"megatron_bridge_2025\" sharding: \"fsdp\" sharding: \"megatron_sp\"\n"
    "  mesh { name: \"fsdp\" size: 128 } mesh { name: \"tensor\" size: 4 }\n"
    "  global_batch_sequences: 512 microbatch_sequences: 1 sequence_tokens: 4096 recompute: full\n"
    "}\n";

// A folder with the repository's scenarios and the user's own files.
class Examples : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / ".config" / "fish" / "completions");  // it is the user's home, too
    fs::create_symlink(PODSIM_BINARY, folder_ / "podsim");
    fs::create_symlink(kRoot / "scenarios", folder_ / "scenarios");
    for (const char* name : {"job.textproto", "a.textproto", "b.textproto", "c.textproto"}) write(name, kJob);
    for (const char* name : {"weeks.textproto", "gpu.textproto", "tpu.textproto"})
      write(name, content_of(kRoot / "tests" / "hostile" / "inputs" / "weeks.textproto"));
    write("trace.csv", trace());
    write("trace.csv.gz", trace());  // plain text is read under this name too
    write("meta.yaml", "dsp_size: 1\nprecision: double\n");
    write("my_table.csv",
          "system,gpus,nodes,network,collective,algo,bytes,time_us,busbw_GBps,source\n"
          "ours,16,2,ours,all-gather,ring,1048576,60,0,measured\n");
    write("my_steps.csv", "step_time_s\n1.0\n");
    const std::string runs = content_of(kRoot / "scenarios" / "measurements" / "gpu_runs.csv");
    const std::size_t first = runs.find('\n') + 1, second = runs.find('\n', first) + 1;
    write("one_of_them.csv", runs.substr(0, second));
    write("my_runs.csv", runs.substr(0, runs.find('\n', second) + 1));
    write("sweep_of_a_chip.csv.gz",
          "chip,software,dtype,gpus,bytes,collective,latency_ms\nh100,ours,half,8,1048576,all_gather,0.03\n");
    write("gemm.csv.gz", "chip,software,dtype,m,n,k,latency_ms\nh100,ours,bfloat16,4096,4096,4096,0.2\n");
    write("attention_forward.csv.gz",
          "chip,software,dtype,batch,sequence,heads,kv_heads,head_dim,window,latency_ms\n"
          "h100,ours,bfloat16,4,4096,32,8,128,0,1.2\n");
    const fs::path inputs = kRoot / "tests" / "hostile" / "inputs";
    write("step.mlir", content_of(inputs / "step.mlir"));
    write("module_0042.before_optimizations.txt", content_of(inputs / "before.hlo"));
    const std::string module = content_of(inputs / "module.hlo");
    write("module.hlo.gz", module);
    write("module_0042.after_optimizations.txt", module);
    const fs::path corpus = kRoot / "tests" / "fuzz" / "corpus";
    write("all_reduce_perf.log", content_of(corpus / "nccl_tests" / "all_reduce_8.txt"));
    for (const char* rank : {"0", "1", "2", "3"})
      write(std::string("step.") + rank + ".et",
            content_of(corpus / "chakra_traces" / ("dp." + std::string(rank) + ".et")));
    for (const char* rank : {"0", "1"})
      write(std::string("rank") + rank + ".pt.trace.json.gz",
            content_of(corpus / "kineto_profiles" / ("synthetic_rank" + std::string(rank) + ".json")));
    write("train_llama3.sh", content_of(corpus / "imports" / "train_1b.sh"));
    write("config.json", content_of(corpus / "imports" / "config.json"));
    for (const char* store : {"runs.db", "part-1.db", "part-2.db"})
      if (GetParam() == "store")
        run("podsim sweep scenarios/qwen3_14b_8_h100.textproto --over seed=1 --store " + std::string(store));
    if (GetParam() == "store")
      run("podsim sweep scenarios/qwen3_14b_8_h100.textproto --over seed=1,2 --engine kubernetes --parts 2 "
          "--store runs.db");
    if (GetParam() == "certificate")
      run("podsim search scenarios/qwen3_14b_8_h100.textproto --set space.tensor=1,2 --set space.pipeline=1 "
          "--set space.microbatch=1 --set space.context=1 --certificate proof.jsonl");
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  int run(const std::string& command) const {
    const std::string line = "cd '" + folder_.string() + "' && HOME=$PWD && PATH=$PWD:$PATH && { " + command +
                             " ; } >out 2>err </dev/null";
    const int status = std::system(line.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string errors() const { return content_of(folder_ / "err"); }

 private:
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }

  const fs::path folder_ = fs::path(::testing::TempDir()) / ("podsim_examples_" + std::to_string(getpid()));
};

TEST_P(Examples, of_the_help_can_be_typed_as_they_stand) {
  const std::vector<std::string> examples = examples_of(GetParam());
  EXPECT_FALSE(examples.empty()) << "podsim " << GetParam() << " --help shows no example";
  // What goes on until Ctrl-C gets it.
  const std::string ended = GetParam() == "serve" ? "timeout --foreground --preserve-status -s INT 1 " : "";
  for (const std::string& example : examples)
    EXPECT_EQ(run(ended + example), 0) << example << "\n" << errors();
}

INSTANTIATE_TEST_SUITE_P(Verbs, Examples, ::testing::ValuesIn(verbs()),
                         [](const ::testing::TestParamInfo<std::string>& each) { return each.param; });

TEST(ProgramHelp, begins_with_a_scenario_that_exists) {
  const std::string help = output_of("--help");
  const std::string begin = "podsim run ";
  const std::size_t at = help.find(begin);
  ASSERT_NE(at, std::string::npos);
  const std::size_t first = at + begin.size();
  EXPECT_TRUE(fs::exists(kRoot / help.substr(first, help.find_first_of(" \n", first) - first)));
}

}  // namespace
}  // namespace podsim::examples_test
