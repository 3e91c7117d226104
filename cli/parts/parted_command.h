// A command that is run in parts elsewhere, and the files that tell others how.
#pragma once

#include <string>
#include <vector>

namespace podsim {

// Paths are absolute where it is run.
struct PartedCommand {
  std::string name;                // "podsim-search-1a2b3c4d", another one for each question
  std::string program, directory;  // podsim, and where it is run
  std::vector<std::string> words;  // of the whole, without the store
  std::string store;               // for the results of all parts
  std::string folder;              // of the stores of parts
  int parts = 1;
};

// Files of entries in a folder after --catalog, by name.
std::vector<std::string> files_of_catalog(const std::string& directory);

// `words` stand after the program's name; `files` = what the command reads.
PartedCommand parted_command(const std::vector<std::string>& words, const std::vector<std::string>& files,
                             const std::string& store, int parts);

// The words of a part, which says nothing of the whole, and those of the answer from all parts.
std::vector<std::string> words_of_part(const PartedCommand& command, const std::string& shard,
                                       const std::string& store);
std::vector<std::string> words_of_answer(const PartedCommand& command, const std::string& store);

// Scripts for sbatch.
std::string slurm_parts(const PartedCommand& command);
std::string slurm_answer(const PartedCommand& command);

// Manifests for kubectl, with the scenarios in them; parts and store lie on a volume.
struct PodOptions {
  std::vector<std::string> files;                // that the command reads
  std::vector<std::string> catalog_directories;  // likewise
  std::string image, claim;
};
std::size_t bytes_of_texts(const PodOptions& pod);  // in the folder that has most
std::string kubernetes_parts(const PartedCommand& command, const PodOptions& pod);
std::string kubernetes_answer(const PartedCommand& command, const PodOptions& pod);

}  // namespace podsim
