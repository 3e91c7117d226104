// Words of commands, keys of YAML.
#include "ingest/launchers/megatron_arguments.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "ingest/launchers/recipe_sections.h"
#include "ingest/launchers/shell.h"
#include "ingest/launchers/slurm_options.h"

namespace podsim {
namespace {

bool is_option(const std::string& word) { return word.starts_with("--") && word.size() > 2; }

// What a shell within the shell is given, bash -c "python train.py --num-layers 8", is a command of words
// itself. A text that is none stays a word.
std::vector<ShellWord> words_within(const ShellWord& word, const Document& document,
                                    const ShellScript& script) {
  Document text(document.file(), word.text);
  const ShellScript within = read_shell(text, script.variables);
  if (!text.problems().empty()) return {word};
  std::vector<ShellWord> words;
  for (const std::vector<ShellWord>& command : within.commands)
    for (const ShellWord& part : command) words.push_back({part.text, word.at});
  return words;
}

std::vector<ShellWord> with_inner_words(const Document& document, const ShellScript& script,
                                        const std::vector<ShellWord>& command) {
  std::vector<ShellWord> words;
  for (const ShellWord& word : command) {
    if (word.text.find(" --") == std::string::npos || word.text.find(".py") == std::string::npos) {
      words.push_back(word);
      continue;
    }
    const std::vector<ShellWord> inner = words_within(word, document, script);
    words.insert(words.end(), inner.begin(), inner.end());
  }
  return words;
}

// Of the program that trains; what stands before it is the launcher's.
std::size_t training_program(const std::vector<ShellWord>& command) {
  std::size_t program = 0;
  for (std::size_t i = 0; i < command.size(); ++i)
    if (command[i].text.ends_with(".py") || (i > 0 && command[i - 1].text == "-m")) program = i;
  return program;
}

// Whether Slurm's tasks start a launcher that starts the ranks.
bool has_own_launcher(const std::vector<ShellWord>& command) {
  const auto starts_ranks = [](const ShellWord& word) {
    const std::string name = word.text.substr(word.text.rfind('/') + 1);
    return name == "torchrun" || name == "deepspeed" || name == "accelerate" || name == "ft_launcher" ||
           name.starts_with("torch.distributed.");
  };
  const auto program = command.begin() + static_cast<std::ptrdiff_t>(training_program(command));
  return std::any_of(command.begin(), program, starts_ranks);
}

std::string launcher_argument(const std::string& name, bool own_launcher) {
  const bool tasks = name == "ntasks" || name == "ntasks-per-node";
  return std::string("launcher.") + (own_launcher && tasks ? "launchers." : "") + name;
}

// "$@", and variables that nobody sets where they follow a value, stand for further arguments.
void leave_out_unread(std::vector<std::string>& values, Configuration& settings) {
  const auto first = std::ranges::find_if(values, is_unknown_word);
  if (!std::all_of(first, values.end(), is_unknown_word)) return;
  const bool may_be_value =
      first == values.begin() && first != values.end() && *first != "$@" && *first != "$*";
  const auto end = may_be_value ? first + 1 : first;
  settings.unread.insert(end, values.end());
  values.erase(end, values.end());
}

// "-N 2" and "-n 16" of srun.
void add_short_options(const Document& document, const std::vector<ShellWord>& command,
                       Configuration& settings) {
  const auto srun = std::ranges::find_if(
      command, [](const ShellWord& word) { return word.text == "srun" || word.text.ends_with("/srun"); });
  if (srun == command.end()) return;
  std::vector<std::string> words;  // up to the program that it starts
  bool takes_value = false;        // whether the next word may be the value of an option
  for (auto word = srun + 1; word != command.end(); ++word) {
    const bool option = word->text.starts_with("-");
    if (!option && !takes_value) break;
    const bool flag = word->text == "-l" || word->text == "-u" || word->text == "-v" || word->text == "-O";
    takes_value = option && !flag && word->text.find('=') == std::string::npos;
    words.push_back(word->text);
  }
  for (const SlurmOption& option : slurm_options(words)) {
    if (!option.is_short) continue;
    const auto word = srun + 1 + static_cast<std::ptrdiff_t>(option.word);
    Setting setting =
        setting_at(document, launcher_argument(option.name, has_own_launcher(command)), word->at);
    setting.text = option.value;
    settings.set(std::move(setting));
  }
}

void add_command(const Document& document, const std::vector<ShellWord>& command, Configuration& settings) {
  const std::size_t program = training_program(command);
  const bool own_launcher = has_own_launcher(command);
  bool begun = program == 0 && !command[0].text.ends_with(".py");
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string& word = command[i].text;
    if (!is_option(word)) {
      if (!begun && i > program && is_unknown_word(word)) settings.unread.insert(word);
      continue;
    }
    begun = begun || i > program;
    const std::size_t equals = word.find('=');
    Setting setting = setting_at(document, argument_name(word.substr(0, equals)), command[i].at);
    if (i < program) setting.name = launcher_argument(setting.name, own_launcher);
    if (equals != std::string::npos) setting.list.push_back(word.substr(equals + 1));
    for (std::size_t v = i + 1; v < command.size() && equals == std::string::npos && v != program; ++v) {
      if (is_option(command[v].text)) break;
      setting.list.push_back(command[v].text);
    }
    if (equals == std::string::npos) leave_out_unread(setting.list, settings);
    setting.kind = setting.list.empty()                                              ? Setting::Kind::kBoolean
                   : setting.list.size() > 1                                         ? Setting::Kind::kList
                   : equals == std::string::npos && is_unknown_word(setting.list[0]) ? Setting::Kind::kUnknown
                                                                                     : Setting::Kind::kText;
    for (const std::string& one : setting.list) setting.text += (setting.text.empty() ? "" : " ") + one;
    settings.set(std::move(setting));
  }
  add_short_options(document, command, settings);
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
      {"checkpoint-num-layers", "recompute-num-layers"},
      {"checkpoint-method", "recompute-method"},
      {"overlap-grad-sync", "overlap-grad-reduce"},
      {"overlap-param-sync", "overlap-param-gather"},
      {"ub-tp-comm-overlap", "tp-comm-overlap"},
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
  bool own_launcher = false;
  for (const auto& as_written : script.commands) {
    const std::vector<ShellWord> command = with_inner_words(document, script, as_written);
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
    if (starts_program(command)) {
      first = asked;
      own_launcher = has_own_launcher(command);
    }
    settings.set_all(of_command);
  }
  for (const auto& [name, text] : script.batch) {
    Setting setting = setting_at(document, launcher_argument(argument_name(name), own_launcher), {0, 0});
    setting.text = text;
    if (!settings.has(setting.name)) settings.set(std::move(setting));
  }
  return settings;
}

namespace {

constexpr char kFusedAdam[] = "distributed_fused_adam";

// Keys of NeMo 1 that say in words what is a flag elsewhere.
void name_as_argument(const std::string& key, Setting& setting) {
  const auto is_flag = [&](const char* name) {
    setting.name = name, setting.text = "true", setting.kind = Setting::Kind::kBoolean;
  };
  const bool gated =
      setting.text.find("swiglu") != std::string::npos || setting.text.find("geglu") != std::string::npos;
  if (key == "model.bias") setting.name = "add-bias-linear";
  if (key == "model.activation" && gated) is_flag("swiglu");
  if (key == "model.optim.name" && setting.text == kFusedAdam) is_flag("use-distributed-optimizer");
  if (key == "model.optim.grad_sync_dtype") {
    if (setting.text.starts_with("bf")) is_flag("grad-reduce-in-bf16");
    if (setting.text.ends_with("32")) is_flag("grad-reduce-in-fp32");
  }
}

// A saved recipe says the opposite of what the arguments say.
void add_opposites(Configuration& settings) {
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
}

}  // namespace

std::optional<Configuration> read_megatron_keys(const InputText& file,
                                                std::map<std::string, std::string>& contradictions,
                                                std::vector<Problem>& problems) {
  const auto read = read_yaml(file.name, file.text, problems);
  if (!read) return std::nullopt;
  const bool sections = std::any_of(read->all().begin(), read->all().end(), [](const Setting& setting) {
    return setting.name.starts_with("MODEL_ARGS.");
  });
  std::vector<RecipeKey> keys;
  std::optional<Setting> overlaps;  // of an optimizer that overlaps its reductions unless it says otherwise
  const Configuration resolved = with_references(*read);
  for (Setting setting : resolved.all()) {
    const std::string name = setting.name;
    const bool outside = sections && !name.starts_with("MODEL_ARGS.");
    // Of a saved recipe the trainer knows the machines.
    static const std::map<std::string, std::string> kTrainer = {
        {"trainer.num_nodes", "launcher.nnodes"}, {"trainer.devices", "launcher.nproc-per-node"}};
    const auto trainer = kTrainer.find(name);
    setting.name = trainer != kTrainer.end() ? trainer->second
                   : outside                 ? "outside." + name
                                             : argument_name(name.substr(name.rfind('.') + 1));
    if (name == "model.optim.name" && setting.text == kFusedAdam) overlaps = setting;
    name_as_argument(name, setting);
    if (setting.kind == Setting::Kind::kNull && setting.text.empty() && name.find("--") != std::string::npos)
      setting.kind = Setting::Kind::kBoolean;
    keys.push_back({name, std::move(setting)});
  }
  Configuration settings = chosen_by_section(std::move(keys), contradictions);
  if (overlaps && !settings.has("overlap-grad-reduce")) {
    overlaps->name = "overlap-grad-reduce";
    overlaps->text = "true";
    settings.set(*std::move(overlaps));
  }
  add_opposites(settings);
  return settings;
}

}  // namespace podsim
