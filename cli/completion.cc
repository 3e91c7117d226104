// podsim completion: scripts for bash, zsh and fish that offer every verb, option and listed value, else
// files.
#include "cli/completion.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "cli/verbs.h"
#include "engine/check.h"
#include "engine/words.h"

namespace podsim {
namespace {

std::string spaced(const std::vector<std::string>& words) { return separated(words, " "); }

// With a backslash before each of these characters.
std::string escaped(const std::string& text, const std::string& characters) {
  std::string safe;
  for (const char c : text) {
    if (characters.find(c) != std::string::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

// Between single quotes, for bash and zsh.
std::string quoted(const std::string& text) {
  std::string safe;
  for (const char c : text) safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + safe + "'";
}

// --- bash ---

// Lines of a case by "VERB OPTION": the listed values, or none where files are wanted.
std::string bash_values(const std::string& verb, const VerbText& text) {
  std::string lines;
  std::vector<std::string> with_files;
  for (const OptionText& option : text.options) {
    if (option.positional() || option.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& flag : option.flags) patterns.push_back("'" + verb + " " + flag + "'");
    if (option.choices.empty()) {
      with_files.insert(with_files.end(), patterns.begin(), patterns.end());
    } else {
      lines += "    " + separated(patterns, " | ") + ") words=" + quoted(spaced(option.choices)) + " ;;\n";
    }
  }
  if (!with_files.empty()) lines += "    " + separated(with_files, " | ") + ") ;;\n";
  return lines;
}

// A verb's options where one has been begun, else what stands by its position.
std::string bash_words(const VerbText& verb) {
  std::vector<std::string> choices;
  for (const OptionText& option : verb.options) {
    if (option.positional()) choices.insert(choices.end(), option.choices.begin(), option.choices.end());
  }
  return "        '" + verb.name + " -'*) words=" + quoted(spaced(flag_names(verb))) + " ;;\n" +
         (choices.empty() ? "" : "        '" + verb.name + " '*) words=" + quoted(spaced(choices)) + " ;;\n");
}

std::string bash_script(const CommandText& command) {
  std::string values, words;
  for (const VerbText& verb : command.verbs) {
    values += bash_values(verb.name, verb);
    words += bash_words(verb);
  }
  return R"(_podsim() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb= words= i
  # readline takes --fold=on for three words.
  if [[ $word == = ]]; then
    word=
  elif [[ $before == = ]] && ((COMP_CWORD > 1)); then
    before=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} == -* ]] || { verb=${COMP_WORDS[i]}; break; }
  done
  case "$verb $before" in
)" + values +
         R"(    *)
      case "$verb $word" in
        ' '*) words=)" +
         quoted(spaced(verb_names(command)) + " " + spaced(flag_names(command.program))) + " ;;\n" + words +
         R"(      esac
      ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _podsim podsim
)";
}

// --- zsh ---

// What follows an option or stands by itself: its name and how to complete it.
std::string zsh_value(const OptionText& option) {
  return ":" + escaped(option.value, ":\\") + ":" +
         (option.choices.empty() ? std::string("_files") : "(" + spaced(option.choices) + ")");
}

std::string zsh_arguments(const VerbText& verb, const std::string& indent) {
  std::string lines = indent + "_arguments";
  const auto add = [&](const std::string& argument) { lines += " \\\n" + indent + "  " + quoted(argument); };
  for (const OptionText& option : verb.options) {
    if (option.positional()) {
      add((option.repeated ? "*" : option.required ? "" : ":") + zsh_value(option));
      continue;
    }
    const std::string explained = "[" + escaped(option.description, "[]\\:") + "]";
    for (const std::string& flag : option.flags) {
      add((option.repeated ? "*" : "") + flag +
          (option.value.empty() ? explained : "=" + explained + zsh_value(option)));
    }
  }
  return lines + "\n";
}

std::string zsh_script(const CommandText& command) {
  std::string verbs, cases;
  for (const VerbText& verb : command.verbs) {
    verbs += "    " + quoted(verb.name + ":" + escaped(verb.description, "\\")) + "\n";
    cases += "    " + verb.name + ")\n" + zsh_arguments(verb, "      ") + "      ;;\n";
  }
  return "#compdef podsim\n_podsim() {\n  local -a verbs=(\n" + verbs + R"(  )
  if ((CURRENT == 2)); then
    _describe -t verbs verb verbs
)" + zsh_arguments(command.program, "    ") +
         R"(    return
  fi
  local verb=$words[2]
  shift words
  ((CURRENT--))
  case $verb in
)" + cases +
         R"(  esac
}
if [[ $funcstack[1] == _podsim ]]; then
  _podsim "$@"
else
  compdef _podsim podsim
fi
)";
}

// --- fish ---

std::string fish_quoted(const std::string& text) { return "'" + escaped(text, "'\\") + "'"; }

std::string fish_option(const OptionText& option, const std::string& where) {
  std::string line = "complete -c podsim -n " + where;
  for (const std::string& flag : option.flags)
    line += flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1);
  if (!option.choices.empty()) {
    line += (option.positional() ? " -f -a " : " -x -a ") + fish_quoted(spaced(option.choices));
  } else if (!option.value.empty()) {
    line += " -r -F";
  }
  return line + " -d " + fish_quoted(option.description) + "\n";
}

std::string fish_script(const CommandText& command) {
  std::string lines;
  for (const OptionText& option : command.program.options)
    lines += fish_option(option, "__fish_use_subcommand");
  for (const VerbText& verb : command.verbs) {
    lines += "complete -c podsim -n __fish_use_subcommand -f -a " + verb.name + " -d " +
             fish_quoted(verb.description) + "\n";
    for (const OptionText& option : verb.options) {
      if (option.positional() && option.choices.empty()) continue;  // files, as everywhere
      lines += fish_option(option, "'__fish_seen_subcommand_from " + verb.name + "'");
    }
  }
  return lines;
}

}  // namespace

std::vector<std::string> completion_shells() { return {"bash", "zsh", "fish"}; }

std::string completion_script(const CommandText& command, const std::string& shell) {
  if (shell == "bash") return bash_script(command);
  if (shell == "zsh") return zsh_script(command);
  PODSIM_CHECK(shell == "fish", "the command line admits only known shells");
  return fish_script(command);
}

void add_completion(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "completion", "Write the script with which a shell completes podsim's verbs and options");
  struct Options {
    std::string shell, out;
  };
  const auto options = std::make_shared<Options>();
  verb.add_option("SHELL", options->shell, "The shell")
      ->required()
      ->check(CLI::IsMember(completion_shells()));
  verb.add_option("--out", options->out, "Write to this file")->type_name("FILE");
  verb.footer(
      "Examples:\n"
      "  source <(podsim completion bash)\n"
      "  podsim completion fish --out ~/.config/fish/completions/podsim.fish\n"
      "docs/guide/install.md says where shells look for it.");
  verb.callback([&app, options, &exit_code] {
    emit(completion_script(describe(app), options->shell), options->out);
    exit_code = kDone;
  });
}

}  // namespace podsim
