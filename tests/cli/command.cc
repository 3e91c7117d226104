// Starts the binary through the shell and catches what it says.
#include "tests/cli/command.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace podsim {
namespace {

namespace fs = std::filesystem;

// A folder of this process, gone when it ends.
class Scratch {
 public:
  Scratch() { fs::create_directories(path_); }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  const fs::path path_ = fs::path(::testing::TempDir()) / ("podsim_cli_test_" + std::to_string(getpid()));
};

const fs::path& scratch() {
  static const Scratch folder;
  return folder.path();
}

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

CommandResult shell_command(const std::string& command) {
  const fs::path out = scratch() / "stdout", err = scratch() / "stderr";
  const std::string line = std::string("cd ") + PODSIM_SOURCE_DIR + " && { " + command + " ; } >" +
                           out.string() + " 2>" + err.string();
  const int status = std::system(line.c_str());
  CommandResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = content_of(out);
  result.err = content_of(err);
  return result;
}

}  // namespace

std::string read_file(const std::string& path) { return content_of(path); }

std::string temporary_file(const std::string& name, const std::string& content) {
  const fs::path path = scratch() / name;
  std::ofstream(path, std::ios::binary) << content;
  return path.string();
}

CommandResult podsim_command(const std::string& arguments) {
  return shell_command(std::string(PODSIM_BINARY) + " " + arguments);
}

CommandResult podsim_command_within(int mebibytes, const std::string& arguments) {
  return shell_command("ulimit -v " + std::to_string(mebibytes * 1024) + " && " + PODSIM_BINARY + " " +
                       arguments);
}

CommandResult limited_podsim_command(const std::string& arguments) {
  return shell_command("ulimit -v 262144 && timeout 1 " + std::string(PODSIM_BINARY) + " " + arguments);
}

std::string small_scenario() {
  return temporary_file("small.textproto", R"(name: "small"
question: "How long is a step of Llama 3 8B on 16 H100?"
cluster { chip: "h100" chips: 16 fabric: "dgx_h100" }
job {
  model: "llama3_8b"
  stack: "megatron_bridge_2025"
  mesh { name: "fsdp" size: 16 }
  sharding: "fsdp"
  global_batch_sequences: 32
  microbatch_sequences: 1
  sequence_tokens: 4096
  precision: bf16
  recompute: full
}
)");
}

}  // namespace podsim
