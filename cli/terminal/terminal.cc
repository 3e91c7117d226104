// Asks the terminal for its width, and the environment for colours and letters.
#include "cli/terminal/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string_view>

#include "cli/terminal/output.h"
#include "engine/check.h"
#include "report/pictures/terminal_plot.h"

namespace podsim {
namespace {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool on_terminal() { return !CollectedOutput::any() && isatty(STDOUT_FILENO) == 1; }

// The first of these that is set decides the letters of a terminal.
bool has_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = environment(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string_view::npos || value.find("utf8") != std::string_view::npos;
  }
  return false;
}

TerminalLook look_of(const std::string& color) {
  TerminalLook look;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) look.columns = size.ws_col;
  look.colour = color == "always" || (environment("NO_COLOR").empty() && environment("TERM") != "dumb");
  look.unicode = has_unicode();
  return look;
}

}  // namespace

void add_color_option(CLI::App& verb, std::string& color) {
  verb.add_option("--color", color,
                  "Small plots below the table, in colour: auto on a terminal, without colour where NO_COLOR "
                  "is set; always in pipes too; never none at all")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str()
      ->type_name("WHEN");
}

bool draws_plots(const std::string& color) { return color == "always" || (color == "auto" && on_terminal()); }

void emit_plot(const Picture& picture, const std::string& color) {
  PODSIM_CHECK(draws_plots(color), "plots are drawn");
  const std::string plot = terminal_plot(picture, look_of(color));
  if (!plot.empty()) emit("\n" + plot, "");
}

}  // namespace podsim
