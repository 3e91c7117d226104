// The podsim-mpi program: the parts of a command, done by the ranks of an MPI job. podsim --engine mpi
// becomes it, with the words STORE FOLDER PARTS and those of the command.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include "cli/app.h"
#include "cli/parts/parted_command.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/messages.h"
#include "engine/memory.h"

namespace podsim {
namespace {

namespace fs = std::filesystem;

constexpr int kAsk = 1, kGive = 2, kNoneLeft = 0;

int rank_of_this() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int count_of_ranks() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

std::string store_of_part(const PartedCommand& command, int part) {
  return command.folder + "/part-" + std::to_string(part) + ".db";
}

// What is written to standard output meanwhile goes to a file.
class OutputToFile {
 public:
  explicit OutputToFile(const std::string& path) : before_(dup(STDOUT_FILENO)) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0) return;
    dup2(file, STDOUT_FILENO);
    close(file);
  }
  ~OutputToFile() {
    std::cout.flush();
    dup2(before_, STDOUT_FILENO);
    close(before_);
  }
  OutputToFile(const OutputToFile&) = delete;
  OutputToFile& operator=(const OutputToFile&) = delete;

 private:
  const int before_;
};

// A part that is there is not done again. Its store is on a local disk meanwhile, as that of a job of Slurm.
int do_part(const PartedCommand& command, int part) {
  const fs::path store = store_of_part(command, part);
  if (fs::exists(store)) return kDone;
  const fs::path scratch = fs::temp_directory_path() / (command.name + "-" + std::to_string(getpid()));
  fs::create_directories(scratch);
  int code = kDone;
  {
    const OutputToFile output(command.folder + "/part-" + std::to_string(part) + ".log");
    code = run_command(words_of_part(command, std::to_string(part) + "/" + std::to_string(command.parts),
                                     (scratch / "part.db").string()));
  }
  if (code == kDone) {
    const fs::path beside = store.string() + "." + std::to_string(rank_of_this());
    fs::copy_file(scratch / "part.db", beside, fs::copy_options::overwrite_existing);
    fs::rename(beside, store);
  }
  fs::remove_all(scratch);
  return code;
}

// Gives each rank that asks the next part, until all ranks know that there is none.
void give_parts(int parts) {
  int next = 1;
  for (int busy = count_of_ranks() - 1; busy > 0;) {
    int asked = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kAsk, MPI_COMM_WORLD, &asked, &status);
    if (asked == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // MPI itself would wait with all of a core
      continue;
    }
    MPI_Recv(nullptr, 0, MPI_INT, status.MPI_SOURCE, kAsk, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const int part = next <= parts ? next++ : kNoneLeft;
    busy -= part == kNoneLeft ? 1 : 0;
    MPI_Send(&part, 1, MPI_INT, status.MPI_SOURCE, kGive, MPI_COMM_WORLD);
  }
}

// The first exit code that is a failure.
int do_parts(const PartedCommand& command) {
  for (;;) {
    int part = kNoneLeft;
    MPI_Send(nullptr, 0, MPI_INT, 0, kAsk, MPI_COMM_WORLD);
    MPI_Recv(&part, 1, MPI_INT, 0, kGive, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (part == kNoneLeft) return kDone;
    if (const int code = do_part(command, part); code != kDone) return code;
  }
}

int join_parts(const PartedCommand& command) {
  const OutputToFile output(command.folder + "/merge.log");
  std::vector<std::string> merge = {"store", "merge", command.store};
  for (int part = 1; part <= command.parts; ++part) merge.push_back(store_of_part(command, part));
  return run_command(merge);
}

int answer(const PartedCommand& command) {
  const int code = join_parts(command);
  return code == kDone ? run_command(words_of_answer(command, command.store)) : code;
}

// Alone, a rank does everything.
int run_rank(const PartedCommand& command) {
  int code = kDone;
  if (count_of_ranks() == 1) {
    for (int part = 1; part <= command.parts && code == kDone; ++part) code = do_part(command, part);
    return code == kDone ? answer(command) : code;
  }
  if (rank_of_this() == 0)
    give_parts(command.parts);
  else
    code = do_parts(command);
  if (code != kDone) MPI_Abort(MPI_COMM_WORLD, code);
  return rank_of_this() == 0 ? answer(command) : kDone;
}

}  // namespace
}  // namespace podsim

int main(int argc, char** argv) {
  podsim::keep_freed_memory();
  podsim::set_up_log();
  constexpr int kWordsOfCommand = 4;
  if (argc <= kWordsOfCommand) {
    std::cerr << "podsim-mpi is what podsim --engine mpi becomes; see podsim search --help\n";
    return podsim::kInputError;
  }
  MPI_Init(&argc, &argv);
  podsim::PartedCommand command;
  command.name = "podsim-mpi";
  command.store = argv[1];
  command.folder = argv[2];
  command.parts = std::atoi(argv[3]);
  command.words.assign(argv + kWordsOfCommand, argv + argc);
  const int code = podsim::run_rank(command);
  MPI_Finalize();
  return code;
}
