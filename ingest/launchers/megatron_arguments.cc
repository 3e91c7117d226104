// Words of commands, keys of YAML.
#include "ingest/launchers/megatron_arguments.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "ingest/launchers/shell.h"

namespace podsim {
namespace {

bool is_option(const std::string& word) { return word.starts_with("--") && word.size() > 2; }

// What a shell within the shell is given, bash -c "python train.py --num-layers 8", is a command of words
// itself.
std::vector<ShellWord> with_inner_words(const std::vector<ShellWord>& command) {
  std::vector<ShellWord> words;
  for (const ShellWord& word : command) {
    const bool inner =
        word.text.find(" --") != std::string::npos && word.text.find(".py") != std::string::npos;
    for (std::size_t at = 0; inner && at < word.text.size();) {
      const std::size_t begin = word.text.find_first_not_of(" \t\r\n", at);
      if (begin == std::string::npos) break;
      at = std::min(word.text.find_first_of(" \t\r\n", begin), word.text.size());
      words.push_back({word.text.substr(begin, at - begin), word.at});
    }
    if (!inner) words.push_back(word);
  }
  return words;
}

// Of the command that trains: what stands before the program is the launcher's.
void add_command(const Document& document, const std::vector<ShellWord>& command, Configuration& settings) {
  std::size_t program = 0;
  for (std::size_t i = 0; i < command.size(); ++i)
    if (command[i].text.ends_with(".py") || (i > 0 && command[i - 1].text == "-m")) program = i;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (!is_option(command[i].text)) continue;
    const std::string& word = command[i].text;
    const std::size_t equals = word.find('=');
    Setting setting = setting_at(document, argument_name(word.substr(0, equals)), command[i].at);
    if (i < program) setting.name = "launcher." + setting.name;
    if (equals != std::string::npos) setting.list.push_back(word.substr(equals + 1));
    for (std::size_t v = i + 1; v < command.size() && equals == std::string::npos && v != program; ++v) {
      if (is_option(command[v].text)) break;
      setting.list.push_back(command[v].text);
    }
    setting.kind = setting.list.empty()      ? Setting::Kind::kBoolean
                   : setting.list.size() > 1 ? Setting::Kind::kList
                                             : Setting::Kind::kText;
    for (const std::string& one : setting.list) setting.text += (setting.text.empty() ? "" : " ") + one;
    settings.set(std::move(setting));
  }
}

// Whether it has arguments of a model or its layout.
bool trains(const std::vector<ShellWord>& command) {
  return std::ranges::any_of(command, [](const ShellWord& word) {
    const std::string name = argument_name(word.text.substr(0, word.text.find('=')));
    return is_option(word.text) && (name == "num-layers" || name == "tensor-model-parallel-size" ||
                                    name == "micro-batch-size" || name == "hidden-size");
  });
}

bool starts_program(const std::vector<ShellWord>& command) {
  return std::ranges::any_of(
      command, [](const ShellWord& word) { return word.text.ends_with(".py") || word.text == "-m"; });
}

std::map<std::string, std::string> asked_of_program(const Configuration& command) {
  std::map<std::string, std::string> asked;
  for (const Setting& setting : command.all())
    if (!setting.name.starts_with("launcher.")) asked[setting.name] = setting.text;
  return asked;
}

}  // namespace

std::string argument_name(std::string name) {
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  std::replace(name.begin(), name.end(), '_', '-');
  static const std::map<std::string, std::string> kOthers = {
      {"num-moe-experts", "num-experts"},
      {"gated-linear-unit", "swiglu"},
      {"sequence-length", "seq-length"},
      {"seq-len", "seq-length"},
      {"tensor-parallel", "tensor-model-parallel-size"},
      {"expert-tensor-parallel-size", "expert-tensor-parallel-size"},
      {"moe-expert-model-parallel-size", "expert-model-parallel-size"},
      {"encoder-num-layers", "num-layers"},
      {"encoder-seq-length", "seq-length"},
      {"mtp-layers", "mtp-num-layers"},
      {"activations-checkpoint-granularity", "recompute-granularity"},
      {"activations-checkpoint-method", "recompute-method"},
      {"activations-checkpoint-num-layers", "recompute-num-layers"},
      {"qk-pos-emb-dim", "qk-pos-emb-head-dim"}};
  const auto found = kOthers.find(name);
  return found == kOthers.end() ? name : found->second;
}

std::optional<Configuration> read_megatron_script(const InputText& file, const Stated& stated,
                                                  std::vector<std::string>& notes,
                                                  std::vector<Problem>& problems) {
  Document document(file.name, file.text);
  const std::map<std::string, std::string> given(stated.settings.begin(), stated.settings.end());
  const ShellScript script = read_shell(document, given);
  const std::vector<Problem> found = document.problems();
  problems.insert(problems.end(), found.begin(), found.end());
  if (!found.empty()) return std::nullopt;
  Configuration settings;
  std::optional<std::map<std::string, std::string>> first;
  for (const auto& as_written : script.commands) {
    const std::vector<ShellWord> command = with_inner_words(as_written);
    if (!trains(command)) continue;
    Configuration of_command;
    add_command(document, command, of_command);
    const auto asked = asked_of_program(of_command);
    if (first && starts_program(command)) {
      if (asked != *first)
        notes.push_back(file.name + ":" + std::to_string(command.front().at.line) +
                        ": another command trains something else; the first one of the script is read");
      continue;
    }
    if (starts_program(command)) first = asked;
    settings.set_all(of_command);
  }
  for (const auto& [name, text] : script.batch) {
    Setting setting = setting_at(document, "launcher." + argument_name(name), {0, 0});
    setting.text = text;
    if (!settings.has(setting.name)) settings.set(std::move(setting));
  }
  return settings;
}

namespace {

// Keys of NeMo 1 that say in words what is a flag elsewhere.
void name_as_argument(const std::string& key, Setting& setting) {
  const bool gated =
      setting.text.find("swiglu") != std::string::npos || setting.text.find("geglu") != std::string::npos;
  if (key == "model.bias") setting.name = "add-bias-linear";
  if (key == "model.activation" && gated) setting.name = "swiglu", setting.text = "true";
  if (key == "model.optim.name" && setting.text == "distributed_fused_adam")
    setting.name = "use-distributed-optimizer", setting.text = "true";
}

}  // namespace

std::optional<Configuration> read_megatron_keys(const InputText& file, std::vector<Problem>& problems) {
  const auto read = read_yaml(file.name, file.text, problems);
  if (!read) return std::nullopt;
  const bool sections = std::any_of(read->all().begin(), read->all().end(), [](const Setting& setting) {
    return setting.name.starts_with("MODEL_ARGS.");
  });
  Configuration settings;
  for (Setting setting : read->all()) {
    const std::string name = setting.name;
    const bool outside = sections && !name.starts_with("MODEL_ARGS.");
    // Of a saved recipe the trainer knows the machines.
    static const std::map<std::string, std::string> kTrainer = {
        {"trainer.num_nodes", "launcher.nnodes"}, {"trainer.devices", "launcher.nproc-per-node"}};
    const auto trainer = kTrainer.find(name);
    setting.name = trainer != kTrainer.end() ? trainer->second
                   : outside                 ? "outside." + name
                                             : argument_name(name.substr(name.rfind('.') + 1));
    name_as_argument(name, setting);
    if (setting.kind == Setting::Kind::kNull && setting.text.empty() && name.find("--") != std::string::npos)
      setting.kind = Setting::Kind::kBoolean;
    settings.set(std::move(setting));
  }
  // A saved recipe says the opposite of what the arguments say.
  const std::array<std::pair<const char*, const char*>, 2> opposites = {
      {{"share-embeddings-and-output-weights", "untie-embeddings-and-output-weights"},
       {"add-bias-linear", "disable-bias-linear"}}};
  for (const auto& [positive, negative] : opposites) {
    if (!settings.has(positive)) continue;
    const bool is = settings.is_true(positive);
    Setting opposite;
    for (const Setting& setting : settings.all())
      if (setting.name == positive) opposite = setting;
    opposite.name = negative;
    opposite.text = is ? "false" : "true";
    settings.set(std::move(opposite));
    settings.use(negative);
  }
  return settings;
}

}  // namespace podsim
