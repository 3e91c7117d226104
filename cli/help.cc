// podsim help: the help text of podsim or of a verb.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command_text.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "cli/verbs.h"

namespace podsim {
namespace {

int help(const CLI::App& app, const std::string& name) {
  if (name.empty()) {
    emit(app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal), "");
    return kDone;
  }
  const CommandText command = describe(app);
  if (find_verb(command, name) == nullptr) {
    spdlog::error("{}", unknown_verb(command, name));
    return kInputError;
  }
  emit(app.get_subcommand(name)->help(app.get_name()), "");
  return kDone;
}

}  // namespace

void add_help(CLI::App& app, int& exit_code) {
  CLI::App& verb =
      *app.add_subcommand("help", "Explain podsim, or one of its verbs as podsim VERB --help does");
  const auto name = std::make_shared<std::string>();
  verb.add_option("VERB", *name, "The verb to explain; podsim itself without it");
  verb.footer("Examples:\n  podsim help\n  podsim help run");
  verb.callback([&app, name, &exit_code] { exit_code = help(app, *name); });
}

}  // namespace podsim
