// Finds the files and lays them over each other.
#include "ingest/launchers/maxtext_sources.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <utility>

#include "ingest/launchers/shell.h"

namespace podsim {
namespace {

// Of base.yml in 2025, for scripts without it.
constexpr std::array<std::pair<const char*, const char*>, 24> kDefaults = {{
    {"base_emb_dim", "2048"},
    {"base_num_query_heads", "16"},
    {"base_num_kv_heads", "16"},
    {"base_mlp_dim", "7168"},
    {"base_moe_mlp_dim", "-1"},
    {"base_num_decoder_layers", "16"},
    {"head_dim", "128"},
    {"mlp_activations", "silu,linear"},
    {"vocab_size", "32000"},
    {"logits_via_embedding", "false"},
    {"num_experts", "1"},
    {"num_experts_per_tok", "1"},
    {"capacity_factor", "-1"},
    {"first_num_dense_layers", "0"},
    {"shared_experts", "0"},
    {"per_device_batch_size", "12"},
    {"gradient_accumulation_steps", "1"},
    {"max_target_length", "2048"},
    {"remat_policy", "full"},
    {"attention", "autoselected"},
    {"ici_fsdp_parallelism", "-1"},
    {"dcn_data_parallelism", "-1"},
    {"dtype", "bfloat16"},
    {"weight_dtype", "float32"},
}};

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

// A file that the user gave, or that lies beside the script.
std::optional<Configuration> find_maxtext_file(const std::string& name, const std::string& script,
                                               const std::vector<InputText>& files,
                                               std::vector<Problem>& problems) {
  for (const InputText& file : files)
    if (file_name(file.name) == name) return read_yaml(file.name, file.text, problems);
  const std::filesystem::path folder = std::filesystem::path(script).parent_path();
  for (const auto& path : {folder / name, folder / "models" / name, folder / "configs" / name,
                           folder / "configs" / "models" / name}) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) continue;
    const auto text = read_file(path.string(), problems);
    return text ? read_yaml(path.string(), *text, problems) : std::nullopt;
  }
  return std::nullopt;
}

Setting plain_setting(const std::string& name, const std::string& text, const std::string& file) {
  Setting setting;
  setting.name = name;
  setting.text = text;
  setting.file = file;
  setting.kind = Setting::Kind::kText;
  if (name == "mlp_activations") {
    setting.kind = Setting::Kind::kList;
    setting.list = {"silu", "linear"};
  }
  return setting;
}

// ["silu","linear"], whose quotes a shell may have taken away.
std::vector<std::string> names_in_brackets(const std::string& text) {
  std::vector<std::string> names(1);
  for (const char c : text) {
    if (c == ',')
      names.emplace_back();
    else if (c != '[' && c != ']' && c != '"' && c != '\'' && c != ' ')
      names.back() += c;
  }
  return names;
}

// Arguments "key=value" of the command that starts MaxText.
Configuration key_values(const Document& document, const ShellScript& script,
                         std::vector<std::string>& configurations) {
  Configuration settings;
  for (const auto& command : script.commands) {
    const bool starts = std::any_of(command.begin(), command.end(), [](const ShellWord& word) {
      return word.text.ends_with(".yml") || word.text.find("per_device_batch_size=") != std::string::npos;
    });
    if (!starts) continue;
    bool begun = false;
    for (const ShellWord& word : command) {
      const std::size_t equals = word.text.find('=');
      const bool configuration = word.text.ends_with(".yml") && equals == std::string::npos;
      if (configuration) configurations.push_back(file_name(word.text));
      begun = begun || configuration || equals != std::string::npos;
      if (!begun || configuration) continue;
      Setting setting = plain_setting(word.text.substr(0, equals), "", document.file());
      if (equals != std::string::npos) setting.text = word.text.substr(equals + 1);
      if (setting.kind == Setting::Kind::kList) setting.list = names_in_brackets(setting.text);
      if (setting.name == "base_config") configurations.push_back(file_name(setting.text));
      setting.at = word.at;
      setting.source_line = std::string(document.line(word.at.line));
      settings.set(std::move(setting));
    }
  }
  return settings;
}

// Keys that a script sets as variables: M_PER_DEVICE_BATCH_SIZE=4, over base.yml. MaxText takes no key both
// so and as an argument.
void add_variables(const Document& document, const ShellScript& script, Configuration& said) {
  for (const auto& [variable, value] : script.variables) {
    const std::size_t place = document.text().find(variable + "=");
    if (!variable.starts_with("M_") || place == std::string::npos) continue;
    std::string key = variable.substr(2);
    std::ranges::transform(key, key.begin(), [](unsigned char c) { return std::tolower(c); });
    if (said.has(key)) {
      said.refuse(key, key + " is an argument, and " + variable + " is set", "expected one of them");
      continue;
    }
    Setting setting = plain_setting(key, value, document.file());
    if (setting.kind == Setting::Kind::kList) setting.list = names_in_brackets(value);
    setting.at = document.position(place);
    setting.source_line = std::string(document.line(setting.at.line));
    said.set(std::move(setting));
  }
}

}  // namespace

std::optional<MaxTextSources> read_maxtext(const std::vector<InputText>& files, const Stated& stated,
                                           const InputText& script, std::vector<Problem>& problems) {
  const std::size_t before = problems.size();
  std::vector<std::string> configurations;
  Configuration said;
  if (!script.name.ends_with(".yml")) {
    Document document(script.name, script.text);
    const std::map<std::string, std::string> given(stated.settings.begin(), stated.settings.end());
    const ShellScript shell = read_shell(document, given);
    const std::vector<Problem> found = document.problems();
    problems.insert(problems.end(), found.begin(), found.end());
    said = key_values(document, shell, configurations);
    add_variables(document, shell, said);
    problems.insert(problems.end(), said.problems().begin(), said.problems().end());
    if (found.empty() && configurations.empty() && said.all().empty()) {
      document.report_file(
          "there is no command with settings of MaxText: base.yml per_device_batch_size=4 ...");
      const std::vector<Problem> missing = document.problems();
      problems.insert(problems.end(), missing.begin(), missing.end());
    }
  } else {
    configurations.push_back(file_name(script.name));
  }
  for (const auto& [name, text] : stated.settings)
    if (!reads_variable(script.text, name)) {
      Setting setting = plain_setting(name, text, kStatedFile);
      if (setting.kind == Setting::Kind::kList) setting.list = names_in_brackets(text);
      said.set(std::move(setting));
    }
  MaxTextSources sources;
  for (const auto& [name, text] : kDefaults)
    sources.all.set(plain_setting(name, text, "base.yml of MaxText"));
  if (const auto base = find_maxtext_file("base.yml", script.name, files, problems))
    sources.all.set_all(*base);
  for (const Setting& setting : sources.all.all()) sources.assumed.insert(setting.name);
  Configuration over;
  for (const std::string& name : configurations)
    if (name != "base.yml")
      if (const auto more = find_maxtext_file(name, script.name, files, problems)) over.set_all(*more);
  over.set_all(said);
  const std::string model =
      over.text("model_name").value_or(sources.all.text("model_name").value_or("default"));
  if (model != "default") {
    if (const auto sizes = find_maxtext_file(model + ".yml", script.name, files, problems)) {
      sources.model_found = true;
      sources.all.set_all(*sizes);
      for (const Setting& setting : sizes->all()) sources.assumed.erase(setting.name);
    }
  }
  sources.all.set_all(over);
  for (const Setting& setting : over.all()) sources.assumed.erase(setting.name);
  if (problems.size() > before) return std::nullopt;
  return sources;
}

}  // namespace podsim
