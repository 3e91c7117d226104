// Parts by number, and all of them by an engine.
#include "cli/parts/parts.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "cli/parts/part_progress.h"
#include "cli/parts/parted_command.h"
#include "cli/terminal/command_words.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "engine/check.h"
#include "proto/text/quantities.h"

namespace podsim {
namespace {

namespace fs = std::filesystem;

constexpr int kMostParts = 100'000;
constexpr std::size_t kMostTextBytes = 1'000'000;  // of a ConfigMap of Kubernetes, with room for names

// The line that a program prints; nothing where it fails or is not there.
std::optional<std::string> output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  char buffer[256];
  while (fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
  if (pclose(pipe) != 0) return std::nullopt;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

int submit_to_slurm(const PartedCommand& command) {
  const std::string parts = command.folder + "/parts.sh", answer = command.folder + "/answer.sh";
  write_whole(parts, slurm_parts(command));
  write_whole(answer, slurm_answer(command));
  const auto array = output_of("sbatch --parsable " + in_shell(parts));
  const auto last =
      array ? output_of("sbatch --parsable --dependency=afterok:" + in_shell(*array) + " " + in_shell(answer))
            : std::nullopt;
  if (!last) {
    spdlog::error(
        "sbatch does not take jobs here; where it does: sbatch {}; when all parts are done: sbatch {}", parts,
        answer);
    return kInternalError;
  }
  emit(std::to_string(command.parts) + " parts are the job array " + *array + "; job " + *last +
           " joins them in " + command.store + " and answers in " + command.folder + "/answer.txt\n",
       "");
  return kDone;
}

int write_manifests(const PartedCommand& command, const PodOptions& pod) {
  if (const std::size_t bytes = bytes_of_texts(pod); bytes > kMostTextBytes) {
    spdlog::error(
        "--engine kubernetes: scenarios and --catalog have {} bytes in a folder, and a ConfigMap holds {}: "
        "put "
        "the entries into the image, or take only those that are needed",
        bytes, kMostTextBytes);
    return kInputError;
  }
  const std::string parts = command.folder + "/parts.json", answer = command.folder + "/answer.json";
  write_whole(parts, kubernetes_parts(command, pod));
  write_whole(answer, kubernetes_answer(command, pod));
  const auto applied = [](const std::string& file, const std::string& job) {
    return "kubectl apply -f " + in_shell(file) +
           "\nkubectl wait --for=condition=complete --timeout=-1s job/" + job + "\n";
  };
  const std::string last = command.name + "-answer";
  emit(applied(parts, command.name) + applied(answer, last) + "kubectl logs job/" + last + "\n", "");
  return kDone;
}

// Becomes the program that knows MPI, which stands beside this one: mpirun has started us as one of its
// ranks.
int become_rank(const PartedCommand& command) {
  const std::string program = (fs::path(command.program).parent_path() / "podsim-mpi").string();
  std::vector<std::string> words = {program, command.store, command.folder, std::to_string(command.parts)};
  words.insert(words.end(), command.words.begin(), command.words.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  spdlog::error("{} cannot be started: podsim was built where MPI was not found", program);
  return kInternalError;
}

}  // namespace

void add_part_options(CLI::App& verb, PartOptions& options) {
  verb.add_option("--shard", options.shard,
                  "Do this part only: 3/8; stores of all parts are joined by podsim store merge")
      ->type_name("I/N");
  verb.add_option("--engine", options.engine,
                  "Have the parts done by others, into the --store: a job array of Slurm, an indexed job of "
                  "Kubernetes, or, under mpirun, the ranks of MPI")
      ->check(CLI::IsMember({"slurm", "kubernetes", "mpi"}));
  verb.add_option("--parts", options.parts, "With --engine: how many")
      ->check(CLI::Range(1, kMostParts))
      ->capture_default_str()
      ->type_name("N");
  verb.add_option("--image", options.image, "With --engine kubernetes: the image that has podsim")
      ->capture_default_str()
      ->type_name("NAME");
  verb.add_option("--claim", options.claim, "With --engine kubernetes: the volume claim for parts and store")
      ->capture_default_str()
      ->type_name("NAME");
}

std::optional<CommandPart> part_of(const PartOptions& options) {
  if (options.shard.empty()) return CommandPart{};
  const auto number = [](const std::string& word) {
    const auto list = parse_index_list(word);
    return list && list->size() == 1 && list->front() <= kMostParts ? static_cast<int>(list->front()) : 0;
  };
  const std::size_t slash = options.shard.find('/');
  const CommandPart part{number(options.shard.substr(0, slash)),
                         slash == std::string::npos ? 0 : number(options.shard.substr(slash + 1))};
  if (part.number >= 1 && part.number <= part.of) return part;
  spdlog::error("--shard \"{}\": expected a part and how many there are, such as 3/8", options.shard);
  return std::nullopt;
}

std::optional<int> run_by_engine(const PartOptions& options, const PartedQuestion& question) {
  if (options.engine.empty()) return std::nullopt;
  if (question.store.empty() || !options.shard.empty()) {
    spdlog::error("{}", question.store.empty()
                            ? "--engine needs a --store, in which the results of all parts come together"
                            : "--engine gives each part its number itself: leave --shard out");
    return kInputError;
  }
  for (const std::string& file : question.files)
    if (!fs::is_regular_file(file)) {
      spdlog::error("--engine: {} is no file, and all parts are to read it", file);
      return kInputError;
    }
  const auto* words = CommandWords::current();
  PODSIM_CHECK(words != nullptr, "a verb is a command");
  std::vector<std::string> read = question.files;
  for (const std::string& directory : question.catalog_directories)
    for (const std::string& file : files_of_catalog(directory)) read.push_back(file);
  const PartedCommand command = parted_command(*words, read, question.store, options.parts);
  fs::create_directories(command.folder);
  write_part_count(command.folder, command.parts);
  if (options.engine == "slurm") return submit_to_slurm(command);
  if (options.engine == "mpi") return become_rank(command);
  return write_manifests(command,
                         {question.files, question.catalog_directories, options.image, options.claim});
}

}  // namespace podsim
