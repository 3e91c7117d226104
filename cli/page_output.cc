// Completes pages with where they are from.
#include "cli/page_output.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>

#include "cli/output.h"
#include "proto/text/read_file.h"

namespace podsim {
namespace {

thread_local const std::vector<std::string>* command_words = nullptr;

// As one would type it.
std::string typed(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_-+=./:,@%") == std::string::npos;
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

CommandWords::CommandWords(const std::vector<std::string>& words) : outer_(command_words) {
  command_words = &words;
}
CommandWords::~CommandWords() { command_words = outer_; }

void add_html_option(CLI::App& verb, std::string& path) {
  verb.add_option("--html", path, "Also write a page to look at, which opens from disk without a network")
      ->type_name("PAGE.html");
}

void write_page(Page page, const std::string& file, const std::string& path) {
  if (command_words != nullptr) {
    page.command = "podsim";
    for (const std::string& word : *command_words) page.command += " " + typed(word);
  }
  std::vector<Problem> problems;
  if (!file.empty() && file != "-") {
    if (const auto input = read_input(file, problems)) page.scenario = input->text;
  }
  write_whole(path, html_page(page));
  if (!has_page_scripts())
    spdlog::warn(
        "the pictures of {} are still: this podsim was built without npm, which gets what they need to "
        "answer the pointer",
        path);
}

}  // namespace podsim
