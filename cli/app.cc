// Parses the command line, suggests what a mistyped word may have meant, and turns failures into exit codes.
#include "cli/app.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/command_text.h"
#include "cli/command_words.h"
#include "cli/licences.h"
#include "cli/messages.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/version.h"

namespace podsim {
namespace {

// What the parser rejected, said so that the user can mend it.
std::string explain(const CLI::App& app, const std::vector<std::string>& words,
                    const CLI::ParseError& error) {
  const CommandText command = describe(app);
  const auto first =
      std::find_if(words.begin(), words.end(), [](const std::string& word) { return word[0] != '-'; });
  const VerbText* scope = first == words.end() ? &command.program : find_verb(command, *first);
  if (scope == nullptr) return unknown_verb(command, *first);
  const std::vector<std::string> options = flag_names(*scope);
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (name.rfind("--", 0) != 0 || std::find(options.begin(), options.end(), name) != options.end())
      continue;
    return "unknown option \"" + name + "\"" + did_you_mean(name, options);
  }
  return error.what();
}

int parse_and_run(CLI::App& app, const std::vector<std::string>& words, const int& exit_code) {
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // it takes words from the back
    return exit_code;
  } catch (const CLI::Success& wanted) {  // --help, --version
    std::ostringstream out, err;
    const int code = app.exit(wanted, out, err);
    emit(out.str(), "");
    tell(err.str());
    return code;
  } catch (const CLI::ParseError& error) {
    if (words.empty()) {
      emit(app.help(), "");
      return kInputError;
    }
    std::vector<std::string> visible = words;
    std::erase(visible, "");
    spdlog::error("{}", visible.empty() ? "name a verb" : explain(app, visible, error));
    const bool of_verb = !visible.empty() && find_verb(describe(app), visible.front()) != nullptr;
    tell("See podsim " + (of_verb ? visible.front() + " " : "") + "--help.\n");
    return kInputError;
  }
}

}  // namespace

int run_command(const std::vector<std::string>& words) {
  const CommandWords remembered(words);
  CLI::App app("podsim predicts the step time, cost and energy of a training job on a GPU or TPU cluster.",
               "podsim");
  app.set_version_flag("--version", "podsim " + version() + (commit().empty() ? "" : " (" + commit() + ")"));
  app.add_flag_callback(
      "--licences",
      [] {
        emit(licences(), "");
        throw CLI::Success();
      },
      "Print the licences of podsim and of what it is made of");
  app.require_subcommand(1);
  app.footer(
      "Begin with: podsim run scenarios/llama3_70b_512_h100.textproto\nEach verb explains itself: podsim "
      "help run");
  int exit_code = kDone;
  for (const auto add_verb :
       {add_run,     add_own,         add_compare,      add_scale,       add_sweep,   add_search,
        add_plan,    add_sensitivity, add_breakeven,    add_certificate, add_store,   add_collective,
        add_flows,   add_shard,       add_replay,       add_whatif,      add_explain, add_validate,
        add_catalog, add_draw,        add_availability, add_reliability, add_check,   add_init,
        add_import,  add_inference,   add_fleet,        add_serve,       add_help,    add_completion,
        add_man}) {
    add_verb(app, exit_code);
  }
  try {
    return parse_and_run(app, words, exit_code);
  } catch (const InputWouldBeLost& refusal) {
    spdlog::error("{}", refusal.what());
    return kInputError;
  } catch (const std::exception& failure) {
    spdlog::critical("{}", failure.what());
    return kInternalError;
  }
}

int run_app(int argc, char** argv) {
  set_up_log();
  const int exit_code = run_command({argv + 1, argv + argc});
  if (std::cout.flush()) return exit_code;
  spdlog::critical("cannot write to standard output");
  return kInternalError;
}

}  // namespace podsim
