// Configurations of training launchers, each as podsim import shows it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ingest/imported/imported.h"
#include "proto/text/problem.h"
#include "proto/text/read_file.h"

namespace podsim {

// Arguments of Megatron-LM in a shell script, in the MODEL_ARGS of a YAML file, or as keys with underscores.
bool is_megatron(std::string_view text);
std::optional<Imported> import_megatron(const std::vector<InputText>& files, const Stated& stated,
                                        std::vector<Problem>& problems);

// The TOML files that torchtitan read until 2026.
bool is_torchtitan(std::string_view text);
std::optional<Imported> import_torchtitan(const std::vector<InputText>& files, const Stated& stated,
                                          std::vector<Problem>& problems);

// A script that starts MaxText, with base.yml and a model's file among the files or beside the script.
bool is_maxtext(std::string_view text);
std::optional<Imported> import_maxtext(const std::vector<InputText>& files, const Stated& stated,
                                       std::vector<Problem>& problems);

// The JSON of DeepSpeed.
bool is_deepspeed(std::string_view text);
std::optional<Imported> import_deepspeed(const std::vector<InputText>& files, const Stated& stated,
                                         std::vector<Problem>& problems);

// config.json of a model of Hugging Face.
bool is_hugging_face(std::string_view text);
std::optional<Imported> import_hugging_face(const std::vector<InputText>& files, const Stated& stated,
                                            std::vector<Problem>& problems);

}  // namespace podsim
