// Job arrays of Slurm and indexed jobs of Kubernetes, as files.
#include "cli/parts/parted_command.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/options/store_option.h"
#include "cli/parts/part_progress.h"
#include "cli/terminal/command_words.h"
#include "engine/sha256.h"
#include "proto/text/read_file.h"

namespace podsim {
namespace {

namespace fs = std::filesystem;
using Manifest = nlohmann::ordered_json;

// The words without these options and their values.
std::vector<std::string> without(const std::vector<std::string>& words,
                                 const std::vector<std::string>& options) {
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (std::ranges::count(options, name) == 0)
      rest.push_back(words[i]);
    else if (name == words[i])
      ++i;
  }
  return rest;
}

// A command line; words that begin with a variable are left to the shell.
std::string line_of(const PartedCommand& command, const std::vector<std::string>& words,
                    const std::string& behind = "") {
  std::string line = in_shell(command.program);
  for (const std::string& word : words)
    line += " " + (word.front() == '$' ? "\"" + word + "\"" : in_shell(word));
  return line + behind + "\n";
}

// Stores are written on a local disk, since the journal of SQLite does not work on network file systems, and
// put whole where they belong.
const std::string kScratch =
    "scratch=$(mktemp -d)\n"
    "trap 'rm -rf \"$scratch\"' EXIT\n";
std::string put(const std::string& from) {
  return "cp \"$scratch/" + from +
         "\" \"$store.$HOSTNAME.$$\"\n"
         "mv \"$store.$HOSTNAME.$$\" \"$store\"\n";
}

// A part that is there is not done again, and of two that do one part both have the same to say.
std::string script_of_part(const PartedCommand& command) {
  return "store=" + in_shell(command.folder) + "/part-$part.db\n" +
         "if [ -e \"$store\" ]; then exit 0; fi\n" + kScratch +
         line_of(command,
                 words_of_part(command, "$part/" + std::to_string(command.parts), "$scratch/part.db")) +
         put("part.db");
}

// Where nothing fits in memory, what the parts have is kept all the same.
std::string script_of_answer(const PartedCommand& command) {
  return "store=" + in_shell(command.store) + "\n" + kScratch + "cp " + in_shell(command.folder) +
         "/part-*.db \"$scratch\"\n" + "if [ -e \"$store\" ]; then cp \"$store\" \"$scratch/all.db\"; fi\n" +
         in_shell(command.program) + " store merge \"$scratch/all.db\" \"$scratch\"/part-*.db >&2\n" +
         "code=0\n" + line_of(command, words_of_answer(command, "$scratch/all.db"), " || code=$?") +
         put("all.db") + "exit $code\n";
}

// The array appends, so that a job that is requeued keeps what its first life said.
std::string slurm_script(const PartedCommand& command, const std::string& options,
                         const std::string& script) {
  return "#!/bin/bash\n#SBATCH --job-name=" + command.name + "\n#SBATCH --requeue\n" + options +
         "set -euo pipefail\ncd " + in_shell(command.directory) + "\n" + script;
}

// Where a pod finds the scenarios, and the volume.
constexpr const char *kScenarioFolder = "/scenarios", *kCatalogFolder = "/catalog",
                     *kVolumeFolder = "/podsim";

std::string name_of_file(const std::string& path) { return fs::path(path).filename().string(); }

std::string catalog_in_pod(std::size_t i) { return kCatalogFolder + ("/" + std::to_string(i + 1)); }

// Texts by the names of their files, as a pod finds them in a folder.
Manifest texts_of(const std::vector<std::string>& files) {
  Manifest texts = Manifest::object();
  std::vector<Problem> problems;
  for (const std::string& file : files)
    if (const auto input = read_input(file, problems)) texts[name_of_file(file)] = input->text;
  return texts;
}

// What a pod reads: for each folder the name of its ConfigMap, where it lies, and its files.
struct PodFolder {
  std::string name, map, path;
  std::vector<std::string> files;
};

std::vector<PodFolder> folders_of(const std::string& name, const PodOptions& pod) {
  std::vector<PodFolder> folders = {{"scenarios", name, kScenarioFolder, pod.files}};
  for (std::size_t i = 0; i < pod.catalog_directories.size(); ++i) {
    const std::string of = "catalog-" + std::to_string(i + 1);
    folders.push_back({of, name + "-" + of, catalog_in_pod(i), files_of_catalog(pod.catalog_directories[i])});
  }
  return folders;
}

PartedCommand in_pod(PartedCommand command, const PodOptions& pod) {
  for (std::string& word : command.words)
    if (std::ranges::count(pod.files, word) > 0) word = kScenarioFolder + ("/" + name_of_file(word));
  for (std::size_t i = 0; i < pod.catalog_directories.size(); ++i) {
    const std::string& here = pod.catalog_directories[i];
    const std::string there = catalog_in_pod(i) + (fs::is_regular_file(here) ? "/" + name_of_file(here) : "");
    for (std::string& word : command.words)
      for (const char* before : {"", "--catalog=", "--prices="})
        if (word == before + here) word = before + there;
  }
  command.program = "podsim";
  command.directory = "/";
  command.store = kVolumeFolder + ("/" + name_of_file(command.store));
  command.folder = kVolumeFolder + ("/" + command.name);
  return command;
}

Manifest job_of(const std::string& name, const PartedCommand& command, const PodOptions& pod,
                const std::string& script, Manifest spec) {
  Manifest container = {{"name", "podsim"}, {"image", pod.image}};
  container["command"] = Manifest::array({"/bin/bash", "-euo", "pipefail", "-c", script});
  Manifest mounts = Manifest::array(), volumes = Manifest::array();
  for (const PodFolder& folder : folders_of(command.name, pod)) {
    mounts.push_back({{"name", folder.name}, {"mountPath", folder.path}});
    volumes.push_back({{"name", folder.name}, {"configMap", {{"name", folder.map}}}});
  }
  mounts.push_back({{"name", "runs"}, {"mountPath", kVolumeFolder}});
  volumes.push_back({{"name", "runs"}, {"persistentVolumeClaim", {{"claimName", pod.claim}}}});
  container["volumeMounts"] = mounts;
  Manifest inside = {{"restartPolicy", "Never"}};
  inside["containers"] = Manifest::array({container});
  inside["volumes"] = volumes;
  spec["template"] = {{"spec", inside}};
  return {{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"metadata", {{"name", name}}}, {"spec", spec}};
}

}  // namespace

PartedCommand parted_command(const std::vector<std::string>& words, const std::vector<std::string>& files,
                             const std::string& store, int parts) {
  PartedCommand command;
  command.words = without(words, {"--engine", "--parts", "--image", "--claim", "--store", "--progress"});
  command.parts = parts;
  std::string question = model_version() + "\n" + std::to_string(parts);
  for (const std::string& word : command.words) question += "\n" + word;
  std::vector<Problem> problems;
  for (const std::string& file : files)
    if (const auto input = read_input(file, problems)) question += "\n" + input->text;
  constexpr std::size_t kShort = 8;
  command.name = "podsim-" + command.words.front() + "-" + sha256(question).substr(0, kShort);
  command.program = fs::read_symlink("/proc/self/exe").string();
  command.directory = fs::current_path().string();
  command.store = fs::absolute(store).lexically_normal().string();
  command.folder = command.store + "." + command.name;
  return command;
}

std::vector<std::string> words_of_part(const PartedCommand& command, const std::string& shard,
                                       const std::string& store) {
  auto words =
      without(command.words, {"--out", "--html", "--certificate", "--why-not", "--format", "--color"});
  words.insert(words.end(), {"--shard", shard, "--store", store});
  if (words.front() == "search")
    words.insert(words.end(),
                 {"--progress", progress_file(command.folder, shard.substr(0, shard.find('/')))});
  return words;
}

std::vector<std::string> words_of_answer(const PartedCommand& command, const std::string& store) {
  auto words = command.words;
  words.insert(words.end(), {"--store", store});
  return words;
}

std::string slurm_parts(const PartedCommand& command) {
  return slurm_script(command,
                      "#SBATCH --output=" + command.folder +
                          "/part-%a.log\n#SBATCH --open-mode=append\n#SBATCH --array=1-" +
                          std::to_string(command.parts) + "\n",
                      "part=$SLURM_ARRAY_TASK_ID\n" + script_of_part(command));
}

std::string slurm_answer(const PartedCommand& command) {
  return slurm_script(command,
                      "#SBATCH --output=" + command.folder +
                          "/answer.txt\n#SBATCH --error=" + command.folder + "/answer.log\n",
                      script_of_answer(command));
}

std::vector<std::string> files_of_catalog(const std::string& directory) {
  if (fs::is_regular_file(directory)) return {directory};
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(directory))
    if (const auto kind = entry.path().extension(); kind == ".textproto" || kind == ".csv")
      files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

std::size_t bytes_of_texts(const PodOptions& pod) {
  std::size_t most = 0;
  for (const PodFolder& folder : folders_of("", pod))
    most = std::max(most, texts_of(folder.files).dump().size());
  return most;
}

std::string kubernetes_parts(const PartedCommand& command, const PodOptions& pod) {
  Manifest items = Manifest::array();
  for (const PodFolder& folder : folders_of(command.name, pod))
    items.push_back({{"apiVersion", "v1"},
                     {"kind", "ConfigMap"},
                     {"metadata", {{"name", folder.map}}},
                     {"data", texts_of(folder.files)}});
  const PartedCommand there = in_pod(command, pod);
  constexpr int kTriesOfEach = 6;
  const Manifest job = job_of(
      command.name, command, pod,
      "mkdir -p " + in_shell(there.folder) + "\npart=$((JOB_COMPLETION_INDEX + 1))\n" + script_of_part(there),
      {{"completions", command.parts},
       {"parallelism", command.parts},
       {"completionMode", "Indexed"},
       {"backoffLimitPerIndex", kTriesOfEach}});
  items.push_back(job);
  const Manifest list = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", items}};
  return list.dump(2) + "\n";
}

std::string kubernetes_answer(const PartedCommand& command, const PodOptions& pod) {
  return job_of(command.name + "-answer", command, pod, script_of_answer(in_pod(command, pod)),
                {{"backoffLimit", 0}})
             .dump(2) +
         "\n";
}

}  // namespace podsim
